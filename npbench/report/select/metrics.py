"""Metrics of a problem as reports use them: order, direction and labels."""

from __future__ import annotations

import re
from typing import Literal

from npbench.problem import PROBLEMS
from npbench.registry import installed

Direction = Literal["lower", "higher", "none"]
SECONDS = "seconds"  # selection and fit; shown beside the metrics of every problem


def better(problem: str, metric: str) -> Direction:
    """Return which way a metric is better: neither way if the problem bounds it."""
    known = installed().metrics.get(metric)
    return "none" if known is None or metric in PROBLEMS[problem].bounds else known.direction


def head(metric: str) -> str:
    """Return the head of the metric's column, with its usual name elsewhere, as in ``p_fa (FPR)``."""
    known = installed().metrics.get(metric)
    return f"{metric} ({known.known_as})" if known and known.known_as else metric


def symbols() -> dict[str, str]:
    r"""Return the head in LaTeX of each metric whose label has a subscript.

    >>> symbols()["p_fa (FPR)"]
    '$P_{\\mathrm{fa}}$ (FPR)'
    """
    found = {}
    for name, metric in installed().metrics.items():
        if match := re.fullmatch(r"([A-Z])_(\w+)", metric.label):
            symbol = rf"${match[1]}_{{\mathrm{{{match[2]}}}}}$"
            found[head(name)] = head(name).replace(name, symbol, 1)
    return found


def axis_title(metric: str) -> str:
    """Return the title of an axis."""
    if metric == SECONDS:
        return "training time [s]"
    known = installed().metrics.get(metric)
    return (known.label if known else "") or metric
