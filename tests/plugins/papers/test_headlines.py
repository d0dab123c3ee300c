"""Headlines of the published experiments are those on the pages of the papers."""

from pathlib import Path

import polars as pl
import pytest

from npbench import session
from npbench.commands.experiment import sections
from npbench.records.reading import conformed
from npbench.report.sheet import Cell, Sheet
from npbench_papers.headlines import HEADLINES, Tables, headline

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results" / "published"


@pytest.mark.parametrize("name", sorted(HEADLINES))
def test_headline_is_on_the_page(name):
    (path,) = PUBLISHED.glob(f"*/records/{'bach_table1' if name == 'bach_table2' else name}.parquet")
    made = sections(session.experiment([f"+experiment={name}"]), conformed(pl.read_parquet(path)))
    paper, here = headline(name, [sheet for section in made for sheet in section.sheets])
    page = ROOT / "docs" / f"{name.partition('_')[0]}.md"
    rows = (line for line in page.read_text(encoding="utf-8").splitlines() if f"| `{name}` |" in line)
    assert any(f"| {paper} | {here} |" in row for row in rows)


def test_numbers_of_chosen_rows_and_shares():
    rows = [["a", Cell("1", 1.0), "3/4"], ["a", Cell("-"), "0/2"], ["b", Cell("2", 2.0), "1/1"]]
    tables = Tables([Sheet("one", ["solver", "seconds", "kept"], rows), Sheet("other", ["solver"], [["a"]])])
    assert tables.numbers("seconds", solver="a") == [1.0]
    assert tables.span("seconds") == "1.0 to 2.0"
    assert tables.shares("kept") == "4 of 7"


def test_experiments_without_a_headline_get_dashes():
    assert headline("unknown", []) == ("-", "-")
