"""The range of false-positive rates as a parameter of estimators."""

from __future__ import annotations

from typing import Any

from npbench.problem import PartialAUC


def checked(fpr_range: Any) -> tuple[float, float]:
    """Return the two ends of the range.

    Raises
    ------
    ValueError
        If it is not two rates ``0 <= lo < hi <= 1``.

    Examples
    --------
    >>> checked((0, 0.1))
    (0, 0.1)
    """
    problem = PartialAUC(fpr_range)
    for fault in problem.faults():
        raise ValueError(fault.replace("problem.", ""))
    return problem.fpr_range
