"""The range of false-positive rates as a parameter of estimators."""

from __future__ import annotations

from numbers import Real
from typing import Any


def check_fpr_range(fpr_range: Any) -> None:
    """Raise a ValueError unless the range is a pair of rates ``0 <= lo < hi <= 1``.

    Examples
    --------
    >>> check_fpr_range((0, 0.1))
    >>> check_fpr_range((0.1, 0.1))
    Traceback (most recent call last):
    ValueError: fpr_range is (0.1, 0.1): expected two rates (lo, hi), 0 <= lo < hi <= 1, as in (0.02, 0.05)
    """
    ends = tuple(fpr_range)
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends) or not 0 <= ends[0] < ends[1] <= 1:
        raise ValueError(
            f"fpr_range is {fpr_range!r}: expected two rates (lo, hi), 0 <= lo < hi <= 1, as in (0.02, 0.05)"
        )
