"""How much goes into one figure: at most so many settings of solvers, and so many rows of panels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from npbench.report.chart import Chart, Panel

MOST_LABELS = 8  # that one figure can tell apart
MOST_ROWS = 5  # that a page has room for
MOST_DRAWN = 40  # settings side by side, by all figures together


def parts(records: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, list[str]]]:
    """Yield the records of at most 8 labels at a time, with a sentence on the split if there is one.

    Labels are split in order, so that the settings of a solver are together, and evenly. More than 40 are left out, as
    nobody would compare as many by eye.

    Examples
    --------
    >>> records = pl.DataFrame({"label": [f"np_svm C={C}" for C in range(9)]})
    >>> [(len(part), notes) for part, notes in parts(records)][1]
    (4, ['One figure cannot tell 9 settings apart: this is number 2 of 2, with np_svm C=5 to np_svm C=8.'])
    """
    labels = records["label"].unique().sort().to_list()
    if len(labels) > MOST_DRAWN:
        return
    size = math.ceil(len(labels) / math.ceil(len(labels) / MOST_LABELS)) if labels else 1
    groups = [labels[start : start + size] for start in range(0, len(labels), size)]
    for number, group in enumerate(groups, start=1):
        within = f"{group[0]} to {group[-1]}" if len(group) > 1 else group[0]
        note = f"One figure cannot tell {len(labels)} settings apart: this is number {number} of {len(groups)}, "
        yield records.filter(pl.col("label").is_in(group)), [f"{note}with {within}."] if len(groups) > 1 else []


def paged(name: str, title: str, rows: Sequence[Sequence[Panel]], notes: Sequence[str] = ()) -> list[Chart]:
    """Return charts of at most 5 rows each, numbered if there are several."""
    pages = [rows[start : start + MOST_ROWS] for start in range(0, len(rows), MOST_ROWS)]
    if len(pages) == 1:
        return [Chart(name, title, pages[0], notes)]
    return [
        Chart(f"{name}_{number}", f"{title} ({number} of {len(pages)})", page, notes)
        for number, page in enumerate(pages, start=1)
    ]


def numbered(charts: Sequence[Chart]) -> list[Chart]:
    """Return the charts with a number after the names that several have, as names are those of files.

    Examples
    --------
    >>> [chart.name for chart in numbered([Chart("roc", "", []), Chart("roc", "", []), Chart("dots", "", [])])]
    ['roc', 'roc_2', 'dots']
    """
    taken: set[str] = set()
    found = []
    for chart in charts:
        name, number = chart.name, 1
        while name in taken:
            number += 1
            name = f"{chart.name}_{number}"
        taken.add(name)
        found.append(replace(chart, name=name))
    return found


def file_name(*words: str) -> str:
    """Return the words as the name of a file.

    Examples
    --------
    >>> file_name("roc", "my data", "fpr_range=[0,0.1]")
    'roc_my-data_fpr_range-0-0.1'
    """
    return "_".join(re.sub(r"[^\w.]+", "-", word).strip("-") for word in words)
