"""A mistyped name is refused with the nearest known one."""

import pytest

from skml_kalda._core.messages import check_name, did_you_mean


def test_a_known_name_is_returned():
    assert check_name("method", "MLDA", {"kaLDA", "MLDA"}) == "MLDA"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("KALDA", r"'KALDA' is not a known method; did you mean 'kaLDA'\? \(known: MLDA, kaLDA\)$"),
        ("xyz", r"'xyz' is not a known method \(known: MLDA, kaLDA\)$"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, message):
    with pytest.raises(ValueError, match=message):
        check_name("method", name, iter(["kaLDA", "MLDA"]))


def test_nothing_is_suggested_when_nothing_is_near():
    assert did_you_mean("xyz", ["emotions", "yeast"]) == ""
    assert did_you_mean("yest", ["emotions", "yeast"]) == "; did you mean 'yeast'?"
