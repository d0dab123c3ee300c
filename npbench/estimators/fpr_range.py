"""Classifiers trained for the ranking in a range of false-positive rates."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np

from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.pauc_metrics import ranks_within


class Step(NamedTuple):
    """Partial AUC in training after a step of a greedy search."""

    iteration: int
    seconds: float
    objective: float


@keyword_parameters
class FprRangeClassifier(BinaryClassifier):
    """A classifier trained for the ranking of positives above negatives in a range of false-positive rates.

    Parameters
    ----------
    fpr_range : (float, float)
        Range of false-positive rates, ``0 <= lo < hi <= 1``; the problem fills it in. At least one training negative
        must be ranked in it.
    """

    fpr_range: tuple[float, float] = parameter(tuple, list, default=(0.0, 1.0))

    def _validate_params(self) -> None:
        super()._validate_params()
        ends = tuple(self.fpr_range)
        if len(ends) != 2 or not all(isinstance(end, Real) for end in ends) or not 0 <= ends[0] < ends[1] <= 1:
            raise ValueError(
                f"fpr_range is {self.fpr_range!r}: expected two rates (lo, hi), 0 <= lo < hi <= 1, as in (0.02, 0.05)"
            )

    def _ranks(self, signs: np.ndarray) -> tuple[int, int]:
        """Return ``first`` and ``last``: the negatives in the range have ranks first < j <= last."""
        return ranks_within(int(np.sum(signs < 0)), *self.fpr_range)
