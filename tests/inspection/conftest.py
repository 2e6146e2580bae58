"""Frames with names, a fitted reducer of each kind, and figures that are closed again."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skml_kalda import KernelKaLDA, MultiLabelKaLDA
from tests.conftest import made

FEATURES = [f"feature {number}" for number in range(8)]
LABELS = ["sea", "sun", "sand", "snow"]


@pytest.fixture
def frames():
    X, Y = made(unlabelled=0.1)
    return pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)


@pytest.fixture(params=[MultiLabelKaLDA(constraint="none"), KernelKaLDA(3)], ids=["linear", "rbf"])
def fitted(request, frames):
    return request.param.fit(*frames)


@pytest.fixture(autouse=True)
def _closed_figures():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def random_table(rows=40, columns=3, seed=0):
    values = np.random.default_rng(seed).normal(size=(rows, columns))
    return pd.DataFrame(values, [f"row {i}" for i in range(rows)], list("abcdefghijklmn")[:columns])
