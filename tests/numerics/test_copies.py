"""Copies of rows in every kind of table, and rows that repeat by nature."""

import tracemalloc

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


def test_odd_kinds_of_columns_are_compared():
    pandas = pytest.importorskip("pandas")
    words = pandas.get_dummies(pandas.DataFrame({"word": np.resize(["a", "b"], 60)}), sparse=True)
    table = pandas.concat([pandas.DataFrame(ROWS), words], axis=1).iloc[TAKEN]
    np.testing.assert_array_equal(copies(table), TAKEN)
    np.testing.assert_array_equal(copies(ROWS[TAKEN].astype(np.longdouble)), TAKEN)


def test_a_long_text_takes_the_room_of_one():
    rows = np.array([[f"id {row}", f"{row / 7}"] for row in range(2000)], dtype=object)
    rows[0, 0] = "x" * 100_000
    tracemalloc.start()
    assert len(copies(np.concatenate([rows, rows[:3]]))) == 2003
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_frames_with_words_are_compared(kind):
    np.testing.assert_array_equal(copies(frame(kind)), TAKEN)


def people(n, income):
    """Return a table of age, income and job."""
    rng = np.random.default_rng(1)
    ages, jobs = rng.integers(18, 80, n), rng.choice(["a", "b", "c"], n)
    return pl.DataFrame({"age": ages, "income": income(rng, n), "job": jobs})


def dollars(rng, n):
    return np.round(rng.lognormal(10, 1, n))


def bands(rng, n):
    return 10_000 * rng.integers(1, 10, n)


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        np.round(ROWS, 1),  # on a coarse grid
        sparse.csr_array(ROWS * (ROWS > -2)),
        people(100, dollars),
        people(100, bands).unique(maintain_order=True),
    ],
)
def test_rows_that_are_all_repeated_are_copies(table, times):
    n = table.shape[0]
    np.testing.assert_array_equal(copies(table[np.tile(np.arange(n), times)]), np.tile(np.arange(n), times))


@pytest.mark.parametrize("table", [ROWS, people(100, dollars)])
def test_rows_that_are_drawn_several_times_are_copies(table):
    n = table.shape[0]
    taken = np.random.default_rng(2).integers(0, n, 3 * n)
    assert len(np.unique(copies(table[taken]))) == len(np.unique(taken))


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("scale", [1.0, 0.0123, np.log])
def test_ages_and_bands_of_income_repeat_by_nature(n, scale):
    table = people(n, bands)
    age = np.log(table["age"]) if scale is np.log else scale * table["age"]
    assert len(np.unique(copies(table.with_columns(age.alias("age"))))) == n


@pytest.mark.parametrize(
    "table",
    [
        DRAWN.integers(0, 3, size=(60, 3)).astype(float),
        np.zeros((60, 3)),
        np.zeros((60, 0)),
        np.repeat([[dose, strain] for dose in range(8) for strain in range(1, 4)], 3, axis=0),  # a designed experiment
        np.c_[np.repeat(ROWS[:, 0], 3), np.ones(180)],
        np.array([[1.5, 2.5]] * 60),
        np.c_[ROWS[TAKEN, 0], np.ones(63)],  # one feature alone
        ["one", "one"],
        np.array(["one", "one"]),
        ROWS * (DRAWN.random((60, 3)) < 0.3),  # many rows of zeros
        pl.DataFrame({"a": ["x", "y"] * 30, "b": ["x", "y"] * 30}),
    ],
)
def test_what_repeats_by_nature_is_no_copy(table):
    np.testing.assert_array_equal(copies(table), np.arange(len(table)))
