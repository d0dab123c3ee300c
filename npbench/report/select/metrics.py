"""Metrics of a problem as reports use them: order, direction and labels."""

from __future__ import annotations

from typing import Literal

from npbench.problem import PROBLEMS
from npbench.registry import installed

Direction = Literal["lower", "higher", "none"]
SECONDS = "seconds"  # of selection and fit, shown beside the metrics of every problem


def better(problem: str, metric: str) -> Direction:
    """Return which way a metric is better: neither way if the problem bounds it.

    Examples
    --------
    >>> better("np", "p_fa"), better("np", "p_nd"), better("cost", "p_fa")
    ('none', 'lower', 'lower')
    """
    known = installed().metrics.get(metric)
    return "none" if known is None or metric in PROBLEMS[problem].bounds else known.direction


def axis_title(metric: str) -> str:
    """Return the title of an axis.

    Examples
    --------
    >>> axis_title("p_fa"), axis_title("auc"), axis_title("seconds")
    ('P_fa', 'auc', 'training time [s]')
    """
    if metric == SECONDS:
        return "training time [s]"
    known = installed().metrics.get(metric)
    return (known.label if known else "") or metric
