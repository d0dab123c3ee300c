"""The rule for claims, as docs/experiments.md states it in four steps, applied to every row of the pages on papers."""

import re
from math import isnan
from pathlib import Path

import pytest

from npbench_papers.verdicts import word

DOCS = Path(__file__).parents[3] / "docs"
INF = float("inf")
NUMBER = r"-?\d[\d.]*(?:e[-+]?\d+)?"
END = rf"(at most|at least|below|above) ({NUMBER})"
BOUNDS = re.compile(rf"(?:{END}|({NUMBER}) to ({NUMBER}))(?: in (\w+) cases)?(, as a number)?$")
HERE = re.compile(rf"(?:> )?({NUMBER})(?:.*?\[({NUMBER}), ({NUMBER})\])?.*; (\d+) of (\d+)$")


def rows(page):
    """Return what is measured, what is found here and the verdict, in the rows of a page's claims."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    table = text.partition("| section | the paper |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")][-3:] for line in table.splitlines()[2:]]


def by_the_rule(measured, here):
    """Return the word of steps 2 to 4; step 1 is about data and fits that a row does not show."""
    end, only, low, high, hold, as_number = BOUNDS.search(measured).groups()
    if end:
        low, high = (only, INF) if end in ("at least", "above") else (-INF, only)
    low, high = float(low), float(high)
    estimate, least, most, held, cases = map(float, (part or "nan" for part in HERE.search(here).groups()))
    has_limits, share = not isnan(least), held / cases
    compared = " - " in measured or " / " in measured
    same = float(" / " in measured)

    def is_inside(value):
        return low <= value <= high and not (end in ("below", "above") and value in (low, high))

    if hold == "some":
        return "agrees" if held else "differs"
    if not has_limits:
        least = most = estimate
    if not (is_inside(least) and is_inside(most)) and (has_limits or share < 0.5):
        if compared and not as_number and ((low >= same and least > same) or (high <= same and most < same)):
            return "agrees in direction"
        middle = not is_inside(estimate) and -INF not in (low, -high) and not least <= (low + high) / 2 <= most
        contains_an_end = least <= high and most >= low
        if contains_an_end and not middle:
            return "undecided" if least < most else "differs"
        return "differs: larger" if estimate > high else "differs: smaller"
    if share == 1 or (hold == "most" and share >= 0.5):
        return "agrees"
    return "agrees in direction" if share >= 0.5 else "differs"


@pytest.mark.parametrize("page", ["bach", "barlaud", "davenport", "gasso", "narasimhan"])
def test_written_rule_gives_every_printed_word(page):
    judged = [row for row in rows(page) if word(row[2]) not in ("not run", "stand-in", "fallback")]
    assert len(judged) > 10
    found = {(measured, here): (word(verdict), by_the_rule(measured, here)) for measured, here, verdict in judged}
    assert {row: words for row, words in found.items() if words[0] != words[1]} == {}


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        ("0.03 [0.021, 0.04]; 3 of 6", "differs: larger"),  # limits come before cases
        ("0.026 [0.011, 0.041]; 24 of 36", "differs: larger"),  # tested at the middle of two ends
        ("0.01 [0.001, 0.03]; 6 of 6", "undecided"),
        ("0.01 [0.001, 0.019]; 5 of 6", "agrees in direction"),
        ("0.01 (-0.1 to 0.1); 3 of 6", "agrees in direction"),
    ],
)
def test_written_rule_for_two_ends(here, expected):
    assert by_the_rule("p_nd: a - b, -0.02 to 0.02", here) == expected
