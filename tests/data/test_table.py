"""Columns of a table as numbers, times and days, from any format."""

from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from npbench.data.table import Table, days, numbers, times
from npbench.data.table_files import read_table
from npbench.errors import RequestError


def table(**columns):
    return Table(pl.DataFrame(columns))


@pytest.mark.parametrize(
    "ascending",
    [
        ["2026-01-31", "2026-01-31T00:00:01", "2026-02-01 00:00"],
        ["2026-01-31T10:00+02:00", "2026-01-31T09:00Z", "2026-01-31T08:00-02:00"],  # as text in reverse
        ["2026-W01-1", "2026-01-30", "20260131"],
        [2, 10, 100],
        [date(999, 1, 1), date(1000, 1, 1), date(1001, 1, 1)],
        [datetime(2026, 1, 1), datetime(2026, 1, 1, 1), datetime(2026, 1, 1, 10)],
    ],
)
def test_times_are_ordered_as_times(ascending):
    assert times(table(t=ascending), "t", "--time").arg_sort().to_list() == [0, 1, 2]
    assert times(table(t=ascending[::-1]), "t", "--time").arg_sort().to_list() == [2, 1, 0]


@pytest.mark.parametrize("wrong", ["9:05", "2026-1-9", "01/02/2026", "soon", None, ""])
def test_text_that_is_no_time_is_refused_with_its_place(wrong):
    with pytest.raises(RequestError, match="row 1"):
        times(table(t=["2026-01-31", wrong]), "t", "--time")
    with pytest.raises(RequestError, match="row 1"):
        times(table(t=[1.5, float("nan")]), "t", "--time")
    with pytest.raises(RequestError, match=r"--time column 'tine'.*did you mean 'time'"):
        times(table(time=["2026-01-31"]), "tine", "--time")
    with pytest.raises(RequestError, match="--time"):
        times(table(t=[[1], [2]]), "t", "--time")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s\n0.5\n1\n", [0.5, 1]),  # one column
        ("s;y\n0,5;1\n1,25;0\n", [0.5, 1.25]),
        ("\n\ns\ty\n.5\t1\n1e3\t0\n", [0.5, 1000]),
        ("s,y\r0,1\r2,0\r", [0, 2]),
        ('s,y\n"+0.5",1\n 2 ,0\n\n', [0.5, 2]),
        ("s|y\n?|1\n2|0", [None, 2]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_numbers_are_read_from_every_text(text, expected, encoding):
    Path("t.csv").write_text(text, encoding=encoding, newline="")
    assert numbers(read_table(Path("t.csv")), "s", "--score").to_list() == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("s;y\n1,234;1\n2,345;0\n", "--decimal comma"),  # thousands, or decimals
        ("s;y\n0.5;1\n2,5;0\n", "--decimal comma"),
        ("s,y\nlow,1\nhigh,0\n", "--score is 's', which holds words such as 'low'"),
        ("s,5\n1,2\n", "--header true"),
        ("S,y\n1,2\n", "--score column 's'"),
        ("s,y\n1,2\n3\n4,5\n", "line 3 has 1 column where the first has 2"),
        ("s,y\n1,2\n3,4,5\n", "line 3 has 3 columns"),
    ],
)
def test_tables_that_are_unclear_are_refused(text, words):
    Path("t.csv").write_text(text)
    with pytest.raises(RequestError, match=words):
        numbers(read_table(Path("t.csv")), "s", "--score")


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
