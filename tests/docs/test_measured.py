"""Tables of stored measurements."""

import re
from pathlib import Path

import polars as pl
import pytest

DOCS = Path(__file__).parents[2] / "docs"
TABLES = ("guardrails", "growth", "iterates", "overhead", "race", "ratios", "reported", "scale", "second_rate")
TABLES += ("selections",)


@pytest.fixture
def measured(script):
    return script("measured")


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_the_columns_of_the_head(measured, name):
    tables = re.findall(r"(?:^\|.*\n?)+", getattr(measured, name)(), re.MULTILINE)
    assert tables
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1
        assert len(table.splitlines()) > 2


def test_missing_numbers_and_bars_in_cells(measured):
    row = {"what": "||w||", "seconds": None}
    assert measured._cell("{what}", row) == r"\|\|w\|\|"
    assert measured._cell("{seconds:.2g}", row, "not reached") == "not reached"


def test_slower_ratios_are_bold(measured):
    assert [measured._ratio(value) for value in (2.345, 0.5, 250.2)] == ["2.3", "**0.5**", "250"]


def test_a_fit_stops_at_the_first_small_slack_or_at_its_last_iterate(measured):
    slacks = {1.0: [0.5, 0.09, 0.2, 0.01], 10.0: [0.5, 0.4]}
    rows = [
        {"split": 0, "C": C, "iteration": number, "slack": slack, "pauc": 10 * C + number}
        for C, column in slacks.items()
        for number, slack in enumerate(column, start=1)
    ]
    found = measured.at_slack(pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=0), 0.1)
    assert found.sort("C").select("C", "iteration", "pauc").rows() == [(1.0, 2, 12.0), (10.0, 2, 102.0)]
