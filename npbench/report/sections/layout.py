"""Limits on the content of one figure: labels, and rows of panels."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from npbench.report.chart import Chart, Panel

LABELS_PER_FIGURE = 8  # distinguishable by colour and marker
ROWS_PER_PAGE = 5
MAX_LABELS = 40  # over all figures together


def parts(records: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, list[str]]]:
    """Yield the records of at most 8 labels at a time, with a note if there are several parts.

    Labels are split in order and evenly, so that settings of a solver stay together. More than 40 labels yield nothing.
    """
    labels = records["label"].unique().sort().to_list()
    if len(labels) > MAX_LABELS:
        return
    size = math.ceil(len(labels) / math.ceil(len(labels) / LABELS_PER_FIGURE)) if labels else 1
    groups = [labels[start : start + size] for start in range(0, len(labels), size)]
    for place, group in enumerate(groups, start=1):
        within = f"{group[0]} to {group[-1]}" if len(group) > 1 else group[0]
        note = f"Part {place} of {len(groups)} of {len(labels)} settings: {within}."
        yield records.filter(pl.col("label").is_in(group)), [note] if len(groups) > 1 else []


def paged(name: str, title: str, rows: Sequence[Sequence[Panel]], notes: Sequence[str] = ()) -> list[Chart]:
    """Return charts of at most 5 rows each, numbered if there are several pages."""
    pages = [rows[start : start + ROWS_PER_PAGE] for start in range(0, len(rows), ROWS_PER_PAGE)]
    if len(pages) == 1:
        return [Chart(name, title, pages[0], notes)]
    n = len(pages)
    return [Chart(f"{name}_{k}", f"{title} ({k} of {n})", page, notes) for k, page in enumerate(pages, start=1)]


def unique_names(names: Iterable[str], separator: str = "_") -> list[str]:
    """Return the names with a number after each that is taken."""
    unique: dict[str, None] = {}
    for name in names:
        candidates = itertools.chain([name], (f"{name}{separator}{number}" for number in itertools.count(2)))
        unique[next(one for one in candidates if one not in unique)] = None
    return list(unique)
