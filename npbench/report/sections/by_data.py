"""Settings by data sets: the metric that judges a problem, one table for each of its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.sections.layout import file_name
from npbench.report.select.metrics import Direction, better
from npbench.report.select.pairing import Block, blocks, setting_text
from npbench.report.sheet import Cell, Sheet, spread


def sheets(records: pl.DataFrame, problem: str) -> Iterator[Sheet]:
    """Yield a table of mean and standard deviation for each setting of the problem, the best of each column marked."""
    metric = PROBLEMS[problem].judged_by
    direction = better(problem, metric)
    found = list(blocks(records, metric))
    for setting in dict.fromkeys(block.problem_params for block in found):
        same = [block for block in found if block.problem_params == setting]
        labels = sorted({label for block in same for label in block.labels})
        columns = [_cells(block, labels, direction) for block in same]
        title = f"{metric} by data set ({direction} is better), {setting_text(setting)}"
        rows = [[label, *cells] for label, *cells in zip(labels, *columns, strict=True)]
        name = file_name(f"{problem}-{setting_text(setting)}-by-data")
        if len(labels) > 1:
            yield Sheet(title, ["solver", *(block.dataset for block in same)], rows, name=name, detail=True)


def _cells(block: Block, labels: Sequence[str], direction: Direction) -> list[Cell]:
    """Return a cell for each label; all with the best mean, as shown, are marked."""
    values = [block.values[:, block.columns[label]] if label in block.columns else np.array([]) for label in labels]
    cells = [spread(one[np.isfinite(one)].tolist()) for one in values]
    means = [round(cell.value, 3) for cell in cells if cell.value is not None]
    best = max(means) if direction == "higher" else min(means)
    is_best = [cell.value is not None and round(cell.value, 3) == best for cell in cells]
    return [replace(cell, flag="best") if marked else cell for cell, marked in zip(cells, is_best, strict=True)]
