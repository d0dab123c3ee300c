"""Mean ranks of settings over data sets, and places that they share where the data sets cannot separate them."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from npbench.report.chart import Chart, Panel, Series, short_names
from npbench.report.escape import file_name
from npbench.report.select.metrics import better
from npbench.report.select.pairing import Block, blocks, setting_text
from npbench.report.sheet import MISSING, Cell, Row, Sheet, ends, number
from npbench.report.stats.paired import Limits
from npbench.report.stats.ranks import ranking

MIN_DATASETS, MIN_FOR_DIAGRAM = 3, 3  # data sets; settings
ROW_LABEL_WIDTH = 60  # characters
PLACES_NOTE = (
    "Place: shared by a method and those below that the data sets cannot separate from it (95 % for all pairs). "
    "Position: 95 % limits of the order by mean rank. Fewer than six data sets separate nothing: places follow ranks."
)
BARS_NOTE = "Bars are 95 % limits by the bootstrap over data sets. Methods of one colour share a place."


def rankings(records: pl.DataFrame, problem: str, metric: str) -> Iterator[tuple[Sheet, Chart | None]]:
    """Yield table and chart of the ranks by a metric for each setting of the problem with three data sets or more.

    The ranks are those in the largest complete table of settings and data sets.
    """
    direction = better(problem, metric)
    found = [] if direction == "none" else list(blocks(records, metric))
    for setting in dict.fromkeys(block.problem_params for block in found):
        same = [block for block in found if block.problem_params == setting]
        counts = Counter(label for block in same for label in block.labels)
        ordered = sorted(counts, key=lambda label: (-counts[label], label))
        tables = [_complete(same, ordered[:size]) for size in range(2, len(ordered) + 1)]
        if tables := [table for table in tables if len(table[0]) >= MIN_DATASETS]:
            datasets, means = max(tables, key=lambda table: table[1].size)
            notes = [PLACES_NOTE, f"Data sets: {', '.join(datasets)}."]
            if n_omitted := len(ordered) - means.shape[1]:
                notes.append(f"Settings missing on some of these: {n_omitted}.")
            title = f"{metric}: mean ranks over {len(datasets)} data sets, {setting_text(setting)}"
            name = file_name(f"{problem}-{setting_text(setting)}-{metric}-ranks")
            yield _shown(ordered[: means.shape[1]], means if direction == "lower" else -means, title, notes, name)


def _complete(same: Sequence[Block], labels: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return the data sets that have all of the labels on common splits, and the means over these."""
    datasets, means = [], []
    for block in same:
        if all(label in block.columns for label in labels):
            values = block.values[:, [block.columns[label] for label in labels]]
            if len(values := values[np.isfinite(values).all(axis=1)]):
                datasets.append(block.dataset)
                means.append(values.mean(axis=0))
    return datasets, np.array(means).reshape(-1, len(labels))


def _shown(
    labels: Sequence[str], values: np.ndarray, title: str, notes: Sequence[str], name: str
) -> tuple[Sheet, Chart | None]:
    found = ranking(values)
    order = np.lexsort([np.array(labels), found.ranks]).tolist()
    rows: list[Row] = [
        [labels[k], number(found.places[k], "d"), limits(found.place_limits[k]), number(found.ranks[k], ".2f")]
        for k in order
    ]
    sheet = Sheet(title, ["solver", "place", "position", "rank"], rows, notes, name, detail=True)
    columns = (labels, found.ranks, found.rank_limits, found.places)
    panel = diagram(*([column[k] for k in order] for column in columns))
    return sheet, None if panel is None else Chart(name, title, [[panel]], [BARS_NOTE])


def limits(places: Sequence[float]) -> Cell:
    """Return the limits of a place as a cell."""
    if np.isnan(places).any():
        return MISSING
    return Cell(" to ".join(dict.fromkeys(f"{place:.0f}" for place in places)), further=ends(places))


def diagram(
    labels: Sequence[str], ranks: Sequence[float], limits: Sequence[Limits], places: Sequence[int]
) -> Panel | None:
    """Draw mean ranks, the best on top, in colours of places with lines between them; None for few data sets."""
    if len(labels) < MIN_FOR_DIAGRAM or np.isnan(limits).any():
        return None
    rows = range(len(labels))[::-1]
    short = short_names(labels)
    texts = (f"{short[one]}  {rank:.2f}" for one, rank in zip(labels, ranks, strict=True))
    names = ["\n".join(textwrap.wrap(text, ROW_LABEL_WIDTH)) for text in texts]
    low, high = zip(*limits, strict=True)
    means = []
    for place in dict.fromkeys(places):
        same = [row for row, one in zip(zip(ranks, rows, low, high, strict=True), places, strict=True) if one == place]
        x, y, its_low, its_high = zip(*same, strict=True)
        means.append(Series(f"place={place}", x, y, its_low, its_high, joined=False))
    parted = [row + 0.5 for row, (one, other) in zip(rows[1:], itertools.pairwise(places), strict=True) if one != other]
    return Panel("", "mean rank (1 is best)", "", means, y_labels=names[::-1], parted=parted)
