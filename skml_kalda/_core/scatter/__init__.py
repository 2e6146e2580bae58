"""The scatter of labelled rows, in three forms.

`MomentScatter` keeps p × p numbers, `RowScatter` n × n, `ImplicitScatter` the sparse rows
themselves. All know the same moments (`base`); `choice` takes the cheapest.
"""

from skml_kalda._core.scatter.base import Scatter, Spectrum, label_gram
from skml_kalda._core.scatter.choice import AnyScatter, adds_up, scatter_form, scatter_of
from skml_kalda._core.scatter.density import Density
from skml_kalda._core.scatter.implicit import ImplicitScatter
from skml_kalda._core.scatter.moments import MomentScatter
from skml_kalda._core.scatter.remote import RemoteRows
from skml_kalda._core.scatter.rows import RowScatter
from skml_kalda._core.scatter.spectral import SpectralScatter

__all__ = [
    "AnyScatter",
    "Density",
    "ImplicitScatter",
    "MomentScatter",
    "RemoteRows",
    "RowScatter",
    "Scatter",
    "SpectralScatter",
    "Spectrum",
    "adds_up",
    "label_gram",
    "scatter_form",
    "scatter_of",
]
