"""Copies of rows in every kind of table, and rows that repeat by nature."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from npbench.numerics.copies import copies

DRAWN = np.random.default_rng(0)
ROWS = DRAWN.normal(size=(60, 3))
TAKEN = np.r_[:60, 3, 3, 7]
GAPS = np.where(DRAWN.random((60, 3)) < 0.2, np.nan, ROWS)


def frame(kind):
    columns = {"a": ROWS[TAKEN, 0], "b": ROWS[TAKEN, 1], "word": [f"id {row}" for row in TAKEN]}
    return pl.DataFrame(columns) if kind == "polars" else pytest.importorskip("pandas").DataFrame(columns)


@pytest.mark.parametrize(
    "table",
    [
        ROWS[TAKEN],
        ROWS[TAKEN].astype(object),
        np.asfortranarray(ROWS[TAKEN]),
        GAPS[TAKEN],
        sparse.csr_array(ROWS[TAKEN] * (ROWS[TAKEN] > -2)),
    ],
)
def test_copies_have_the_number_of_the_first(table):
    np.testing.assert_array_equal(copies(table), TAKEN)


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_frames_with_words_are_compared(kind):
    np.testing.assert_array_equal(copies(frame(kind)), TAKEN)


def test_a_table_of_pairs_consists_of_copies():
    np.testing.assert_array_equal(copies(np.vstack([ROWS, ROWS])), np.tile(np.arange(60), 2))


@pytest.mark.parametrize(
    "table",
    [
        DRAWN.integers(0, 3, size=(60, 3)).astype(float),
        np.zeros((60, 3)),
        np.c_[ROWS[TAKEN, 0], np.ones(63)],  # one feature alone
        ["one", "one"],
        np.array(["one", "one"]),
        ROWS * (DRAWN.random((60, 3)) < 0.3),  # many rows of zeros
        pl.DataFrame({"a": ["x", "y"] * 30, "b": ["x", "y"] * 30}),
    ],
)
def test_what_repeats_by_nature_is_no_copy(table):
    np.testing.assert_array_equal(copies(table), np.arange(len(table)))
