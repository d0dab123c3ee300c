"""Columns of a table as days."""

from datetime import date, datetime

import polars as pl
import pytest

from npbench.data.table import days


@pytest.mark.parametrize(
    "column",
    [
        [datetime(2026, 1, 2, 3), datetime(2026, 1, 2, 23)],
        ["2026-01-02 03:00", "2026-01-02T23:00:00Z"],
        [date(2026, 1, 2), date(2026, 1, 2)],
    ],
)
def test_times_of_one_day_are_one_group(column):
    assert days(pl.Series(column)).cast(pl.String).to_list() == ["2026-01-02"] * 2


def test_groups_that_are_no_times_stay():
    for column in (["a", "2026-01-02 03:00"], [1, 2], ["1", None]):
        assert days(pl.Series(column)).to_list() == column
