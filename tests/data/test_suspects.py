"""Warnings of features that give the label away, and of copies of rows; none without cause."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from npbench import load_dataset
from npbench.contracts import Dataset
from npbench.testing import datasets
from npbench.testing.check import Skipped

DRAWN = np.random.default_rng(0)
LABELS = np.repeat([0, 1], 30)
NOISE, OTHER = DRAWN.normal(size=(2, 60))


def loaded(tmp_path, rows=None, **columns):
    table = pl.DataFrame({"noise": NOISE, "other": OTHER, **columns, "label": LABELS})
    table[list(range(60)) if rows is None else rows].write_csv(tmp_path / "t.csv")
    return load_dataset(
        "file", path=str(tmp_path / "t.csv"), label="label", **({"group": "who"} if "who" in columns else {})
    )


@pytest.mark.parametrize(
    "leak", [NOISE + 10 * LABELS, -5.0 * LABELS - np.arange(60) % 3, np.where(LABELS, "b", np.resize(["a", "c"], 60))]
)
def test_a_feature_that_separates_the_classes_is_named(tmp_path, leak):
    with pytest.warns(UserWarning, match="leak"):
        loaded(tmp_path, leak=leak)


@pytest.mark.parametrize(
    ("rows", "columns", "found"),
    [
        ([*range(60), *range(3), 7, 7, 40], {}, "6 of 66 "),
        ([*range(60), *range(9)], {"other": np.resize([1.0, 2.0, 3.0], 60)}, "9 of 69 "),
        (np.resize(np.r_[0:10, 50:60], 60).tolist(), {}, "40 of 60 "),
    ],
)
def test_copies_of_rows_are_counted(tmp_path, rows, columns, found):
    with pytest.warns(UserWarning, match=found):
        loaded(tmp_path, rows, **columns)


def dense(path, X, y):
    np.savez(path.with_suffix(".npz"), X=X, y=y)
    return load_dataset("file", path=str(path.with_suffix(".npz")), label="y")


def svmlight(path, X, y):
    dump_svmlight_file(X, y, str(path.with_suffix(".svm")))
    return load_dataset("file", path=str(path.with_suffix(".svm")))


WORDS = np.where(DRAWN.random((60, 12)) < 0.5, DRAWN.normal(size=(60, 12)), 0.0)


@pytest.mark.parametrize("load", [dense, svmlight])
def test_formats_without_names_are_looked_at_too(tmp_path, load):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "t", WORDS, LABELS)
        load(tmp_path / "t", (WORDS > 0)[np.r_[:60, :9]] * 1.0, LABELS[np.r_[:60, :9]])  # of two values
    with pytest.warns(UserWarning, match="feature 12 "):
        load(tmp_path / "t", np.column_stack([WORDS, LABELS]), LABELS)
    with pytest.warns(UserWarning, match="9 of 69 "):
        load(tmp_path / "t", WORDS[np.r_[:60, :9]], LABELS[np.r_[:60, :9]])


def load_leak():
    """Return a table of a third party whose second column is the label."""
    return sparse.csr_array(np.column_stack([NOISE, LABELS])), 2 * LABELS - 1


def test_the_check_of_a_third_party_names_the_feature():
    with pytest.raises(Skipped, match="feature 1 "):
        datasets.leaks(Dataset(name="leak", load=f"{__name__}:load_leak"))


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (None, {}),
        (None, {"words": np.where(LABELS, "b", np.resize(["a", "c", "b"], 60))}),
        (None, {"almost": NOISE + np.where(np.arange(60) == 5, 20, 10 * LABELS)}),
        ([*range(10), *range(30, 60)], {"few": NOISE + 10 * LABELS}),  # ten negatives
        ([*range(60), *range(9)], {"noise": np.resize(np.arange(20), 60), "other": np.resize([1.0, 2.0, 3.0], 60)}),
        ([*range(60), *range(9)], {"who": np.arange(60)}),
        ([*range(60), *range(60)], {"noise": np.resize([1, 2], 60), "other": np.resize(["a", "b", "c"], 60)}),
    ],
)
def test_other_tables_are_read_without_a_warning(tmp_path, rows, columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded(tmp_path, rows, **columns)
