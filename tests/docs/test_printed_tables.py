"""Printed tables as HTML on the site: every cell arrives, and other text stays as it is."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ROWS = [["data", "n", "p_fa (FPR)", "verdict"], ["a & b", "9", "0.1±0.2*", "worse"], ["", "1000", "-", "kept, by far"]]


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import printed_tables

    return printed_tables.on_page_markdown


def test_all_cells_arrive_with_numbers_at_the_right(hook):
    printed = "".join(f"{a:7}{b:>4}  {c:>10}  {d}\n" for a, b, c, d in ROWS)
    page = hook(f"Before.\n\n```text\na title  of two parts\n{printed}\nA note.\n```\n\nAfter.\n")
    head, *body = ElementTree.fromstring(re.search("<table>.*</table>", page, re.DOTALL)[0])
    assert [[cell.text or "" for cell in row] for row in (head, *body)] == ROWS
    assert {cell.tag for cell in head} == {"th"}
    assert [cell.get("align") for cell in body[0]] == [None, "right", "right", None]
    for part in ("Before.\n", "```text\na title  of two parts\n```", "```text\nA note.\n```", "\nAfter.\n"):
        assert part in page


@pytest.mark.parametrize("text", ["| a  | b  | c  |\n| 1  | 2  | 3  |\n", "one  line  alone\n", "no table\nat all\n"])
def test_other_text_stays(hook, text):
    page = f"```text\n{text}```\n"
    assert hook(page) == page
