"""Missing values are refused, or their rows are dropped, before data are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from npbench.data import BinaryData
from npbench.data.loading import without_missing
from npbench.errors import RequestError

NAN = np.nan
X = np.array([[1.0, NAN, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, NAN, NAN], [0.0, 0.0, 0.0]])
Y = np.array([1, -1, 1, -1, 1])


def data(**optional):
    return BinaryData.checked(X, Y, "toy", **optional)


def test_refusal_names_places_and_remedies():
    with pytest.raises(RequestError) as caught:
        without_missing(data(), "refuse")
    for words in ("'toy'", "3 missing", "columns 1, 2 and rows 0, 3", "2 of 5 rows", "missing=impute", "missing=drop"):
        assert words in str(caught.value)
    assert "missing=keep" not in str(caught.value)
    with pytest.raises(RequestError, match="missing=keep"):
        without_missing(data(), "refuse", lambda: True)
    with pytest.raises(RequestError, match="in columns age, weight and rows 0, 3"):
        without_missing(data(columns=["size", "weight", "age"]), "refuse")


@pytest.mark.parametrize("missing", ["refuse", "drop", "impute"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_complete_data_are_unchanged(kind, missing):
    whole = BinaryData.checked(kind(np.nan_to_num(X)), Y)
    assert without_missing(whole, missing) is whole
    assert np.isnan(without_missing(data(), "impute").X).sum() == 3


def test_drop_leaves_out_incomplete_rows():
    named = data(categorical={2: ["old", "young"]}, groups=list("abbca"), columns=["size", "weight", "age"])
    kept = without_missing(named, "drop")
    assert kept.X.tolist() == X[[1, 2, 4]].tolist()
    assert kept.y.tolist() == [-1, 1, 1]
    assert kept.groups.tolist() == [0, 0, 1]
    assert kept.categorical.tolist() == [False, False, True]
    assert (kept.name, kept.columns, kept.words) == (named.name, named.columns, {2: ("old", "young")})
    same = BinaryData.checked(X[[1, 2, 4]], Y[[1, 2, 4]], groups=[5, 5, 3], categorical=[2])
    assert kept.sha256 == same.sha256 != named.sha256


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        (data(published=[[0, 1]]), "comes with divisions of all its rows"),
        (BinaryData.checked(X, [1, 1, 1, -1, 1], "toy"), "3 of 5 rows"),
    ],
)
def test_rows_that_cannot_be_dropped(faulty, words):
    with pytest.raises(RequestError) as caught:
        without_missing(faulty, "drop")
    assert words in str(caught.value)
    assert "use missing=impute" in str(caught.value)


@given(
    arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 3)), elements=st.sampled_from([NAN, 0.0, 1.0])),
    st.data(),
)
def test_dropped_data_are_complete_or_refused(features, draw):
    labels = draw.draw(arrays(np.int8, len(features), elements=st.sampled_from([-1, 1])))
    labels[:2] = [1, -1]
    complete = [not np.isnan(row).any() for row in features]
    try:
        kept = without_missing(BinaryData.checked(features, labels), "drop")
    except RequestError:
        assert len(set(labels[complete])) < 2
    else:
        assert kept.X.tolist() == features[complete].tolist()
        assert kept.y.tolist() == labels[complete].tolist()
