"""The methods as published: without regularisation, in the scale of their definition.

The defaults of the package are others, and have tests of their own.
"""

from functools import partial

import skml_kalda

LDA = partial(skml_kalda.LDA, ridge=0.0, normalize="B")
MLDA = partial(skml_kalda.MLDA, ridge=0.0, normalize="B")
RLDA = partial(skml_kalda.RLDA, ridge=0.1, normalize="B")
CCA = partial(skml_kalda.CCA, ridge=1e-4, normalize="B")
OPLS = partial(skml_kalda.OPLS, ridge=1e-4, normalize="B")
MLSI = partial(skml_kalda.MLSI, ridge=1e-6, normalize="B")
MLR = partial(skml_kalda.MLR, ridge=0.1)
SDPLDA = partial(skml_kalda.SDPLDA, ridge=1e-4)
TraceRatio = partial(skml_kalda.TraceRatio, ridge=0.0)
ULDA = partial(skml_kalda.ULDA, ridge=0.0)
OLDA = partial(skml_kalda.OLDA, ridge=0.0)
KernelKaLDA = partial(skml_kalda.KernelKaLDA, weights="labels", shrinkage=0.2)
MultiLabelKaLDA = partial(skml_kalda.MultiLabelKaLDA, shrinkage=None, tol=1e-8)
