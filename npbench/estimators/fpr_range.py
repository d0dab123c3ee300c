"""Classifiers trained for the ranking in a range of false-positive rates."""

from typing import Any, NamedTuple

import numpy as np

from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.pauc_metrics import ranks_within
from npbench.numerics.pauc_surrogates import threshold_within
from npbench.values import is_range


class Step(NamedTuple):
    """Objective in training after a step of a search."""

    iteration: int
    seconds: float
    objective: float


@keyword_parameters
class FprRangeClassifier(BinaryClassifier):
    """A classifier trained for the ranking of positives above negatives in a range of false-positive rates.

    Parameters
    ----------
    fpr_range : (float, float)
        Range of false-positive rates, ``0 <= lo < hi <= 1``, with a training negative or more; the problem fills it in.
    """

    fpr_range: tuple[float, float] = parameter(tuple, list, default=(0.0, 1.0))
    tpr_range = (0.0, 1.0)  # without annotation: not a parameter here

    def _validate_params(self) -> None:
        super()._validate_params()
        require_ranges(fpr_range=self.fpr_range, tpr_range=self.tpr_range)

    def _ranks(self, signs: np.ndarray) -> tuple[int, int]:
        """Return ``first`` and ``last``: the negatives in the range have ranks first < j <= last."""
        return ranks_within(int(np.sum(signs < 0)), *self.fpr_range)

    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return threshold_within(signs, scores, *self.fpr_range)


def require_ranges(**ranges: Any) -> None:
    """Raise a ValueError if one of the named ``ranges`` is not a range of rates."""
    for name, ends in ranges.items():
        if not is_range(ends):
            raise ValueError(f"{name} is {ends!r}: expected two rates (lo, hi), 0 <= lo < hi <= 1, as in (0.02, 0.05)")


def narrowed(n: int, end: int, progress: float) -> int:
    """Return the last rank of a range that narrows from n to ``end``, in equal ratios, as progress goes from 0 to 1."""
    return max(end, round(n * (end / n) ** min(1.0, progress)))
