"""Problems that solvers solve: their parameters, validation losses, and how reports show them.

Scores are ``decision_function`` values, larger for more positive samples and thresholded at 0. Labels are in
{-1, +1}. A tie (score 0) is an error for both classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from npbench.values import is_number, is_range

if TYPE_CHECKING:
    import numpy as np

    from npbench.numerics.pauc_metrics import Area

    Scored = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Number:
    """The parameter that charts are drawn against: its name, its symbol in charts, the title of the axis."""

    name: str
    symbol: str
    title: str


class Problem(ABC):
    """A problem: its estimator parameters, its validation loss, and how reports show it.

    Reports need nothing else from a problem, so a new problem is a change to this file alone.
    """

    name: ClassVar[str]  # on the command line
    title: ClassVar[str]  # one line about the problem
    headline: ClassVar[tuple[str, ...]]  # metrics in summaries, the most important first
    judged_by: ClassVar[str]  # metric by which solvers are compared
    panels: ClassVar[tuple[str, ...]]  # metrics in charts
    bounds: ClassVar[Mapping[str, str]] = MappingProxyType({})  # metrics, each with the parameter that bounds it
    number: ClassVar[Number | None] = None  # parameter that charts are drawn against; None if it is not one number
    ranks: ClassVar[bool] = False  # whether the loss depends on the order of the scores, not only on their signs

    @abstractmethod
    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""

    def parameters(self) -> dict[str, Any]:
        """Return the estimator parameters that the problem sets."""
        return asdict(self)  # type: ignore[call-overload]

    def measurable(self, n_pos: int, n_neg: int) -> bool:
        """Return whether the loss is defined for a part with these numbers of samples."""
        return True

    @abstractmethod
    def loss(self, folds: Scored) -> float:
        """Return the validation loss, to be minimised, of ``(y, scores)`` on each validation fold."""

    def fpr_window(self) -> tuple[float, float] | None:
        """Return the false-positive rates that the problem concerns, marked in ROC charts; None for all."""
        return None


class _OneFraction(Problem):
    """A problem whose only parameter is its number, in ]0, 1[."""

    def faults(self) -> list[str]:
        assert self.number is not None
        name, title = self.number.name, self.number.title
        value = getattr(self, name)
        if is_number(value) and 0 < value < 1:
            return []
        return [f"problem.{name} is {value!r}: the {title} must lie between 0 and 1, as in problem.{name}=0.05."]


@dataclass(frozen=True)
class NeymanPearson(_OneFraction):
    """Minimise the miss rate under a bound on the false-alarm rate: min P_nd subject to P_fa <= rho.

    The validation loss is ``J_val = P_nd + max(0, P_fa - rho) / rho`` (Gasso et al. 2011, section 5.4) with the
    rates pooled over the folds.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate, in ]0, 1[.
    """

    name: ClassVar[str] = "np"
    title: ClassVar[str] = "minimise misses P_nd subject to false alarms P_fa <= rho"
    headline: ClassVar[tuple[str, ...]] = ("p_fa", "p_nd", "np_score", "auc")
    judged_by: ClassVar[str] = "np_score"  # few misses alone are worth nothing where the bound is exceeded
    panels: ClassVar[tuple[str, ...]] = ("p_fa", "p_nd")
    bounds: ClassVar[Mapping[str, str]] = MappingProxyType({"p_fa": "rho"})
    number: ClassVar[Number | None] = Number("rho", "ρ", "bound on false alarms ρ")
    rho: float = 0.05

    def loss(self, folds: Scored) -> float:
        """Return J_val of the rates pooled over the folds."""
        from npbench.numerics.rates import np_score, pooled_rates

        return np_score(*pooled_rates(folds), self.rho)

    def fpr_window(self) -> tuple[float, float]:
        """Return the rates up to the bound."""
        return 0.0, self.rho


@dataclass(frozen=True)
class Cost(_OneFraction):
    """Minimise an asymmetric cost: min asymmetry P(miss) + (1 - asymmetry) P(false alarm), jointly with the class.

    The testing asymmetry of Bach, Heckerman and Horvitz (2006), section 2: ``C_+ / (C_+ + C_-)``.

    Parameters
    ----------
    asymmetry : float
        Share of the cost that a miss carries, in ]0, 1[.
    """

    name: ClassVar[str] = "cost"
    title: ClassVar[str] = "minimise asymmetry * misses + (1 - asymmetry) * false alarms, per sample"
    headline: ClassVar[tuple[str, ...]] = ("cost", "p_fa", "p_nd", "auc")
    judged_by: ClassVar[str] = "cost"
    panels: ClassVar[tuple[str, ...]] = ("cost", "p_fa", "p_nd")
    number: ClassVar[Number | None] = Number("asymmetry", "asymmetry", "asymmetry of costs")
    asymmetry: float = 0.5

    def loss(self, folds: Scored) -> float:
        """Return the mean cost per sample over the pooled folds."""
        import numpy as np

        y = np.concatenate([y for y, _ in folds])
        scores = np.concatenate([scores for _, scores in folds])
        wrong = ~(y * scores > 0)  # NaN is wrong too
        return float(np.mean(wrong * np.where(y > 0, self.asymmetry, 1 - self.asymmetry)))


@dataclass(frozen=True)
class QValue(_OneFraction):
    """Accept as many positives as possible at a q-value of at most q: P_fa <= q (1 - P_nd).

    The validation loss is 1 minus the share of positives whose q-value is at most q, averaged over the folds
    (Gasso et al. 2011, sections 4 and 5.6).

    Parameters
    ----------
    q : float
        Bound on the q-value, in ]0, 1[.
    """

    name: ClassVar[str] = "qvalue"
    ranks: ClassVar[bool] = True
    title: ClassVar[str] = "accept as many positives as possible at q-value <= q"
    headline: ClassVar[tuple[str, ...]] = ("accepted", "p_fa", "p_nd", "auc")
    judged_by: ClassVar[str] = "accepted"
    panels: ClassVar[tuple[str, ...]] = ("accepted", "p_fa")
    number: ClassVar[Number | None] = Number("q", "q", "bound on the q-value q")
    q: float = 0.01

    def loss(self, folds: Scored) -> float:
        """Return 1 minus the mean share of positives accepted at q-value <= q."""
        from npbench.numerics.rates import share_accepted

        return 1.0 - math.fsum(share_accepted(y, scores, self.q) for y, scores in folds) / len(folds)


@dataclass(frozen=True)
class PartialAUC(Problem):
    """Maximise the area under the ROC curve between two false-positive rates, and between two true-positive rates.

    The validation loss is 1 minus the normalised partial AUC of Narasimhan and Agarwal (ties count one half),
    averaged over the folds.

    Parameters
    ----------
    fpr_range : (float, float)
        Ends of the range of false-positive rates, ``0 <= lo < hi <= 1``.
    tpr_range : (float, float)
        Ends of the range of true-positive rates, ``0 <= lo < hi <= 1``. Other than (0, 1), it makes the area two-way:
        it is over pairs of a positive and a negative that are both ranked in their range.
    """

    name: ClassVar[str] = "pauc"
    ranks: ClassVar[bool] = True
    title: ClassVar[str] = "maximise the area under the ROC curve for false-positive rates in fpr_range"
    headline: ClassVar[tuple[str, ...]] = ("pauc", "tpr", "auc")
    judged_by: ClassVar[str] = "pauc"
    panels: ClassVar[tuple[str, ...]] = ("pauc", "tpr")
    fpr_range: tuple[float, float] = (0.0, 0.1)
    tpr_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        for name, value in vars(self).copy().items():
            if isinstance(value, list):  # from YAML
                object.__setattr__(self, name, tuple(value))

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""
        return [
            f"problem.{name} is {value!r}: it must be two rates 0 <= lo < hi <= 1, as in problem.{name}=[0.02,0.05]."
            for name, value in vars(self).items()
            if not is_range(value)
        ]

    def parameters(self) -> dict[str, Any]:
        """Return the ranges, without that of true-positive rates if it is full, as in records of npbench 0.1."""
        return {name: value for name, value in asdict(self).items() if name == "fpr_range" or self.two_way}

    @property
    def two_way(self) -> bool:
        """True if not all true-positive rates count."""
        return self.tpr_range != (0, 1)

    def measurable(self, n_pos: int, n_neg: int) -> bool:
        """Return whether each class has a rank in its range."""
        from npbench.numerics.pauc_metrics import rank_range

        ranges = rank_range(n_neg, *self.fpr_range), rank_range(n_pos, *self.tpr_range)
        return all(first < last for first, last in ranges)

    def area(self, y: np.ndarray, scores: np.ndarray) -> Area:
        """Return the normalised partial AUC over whole ranks."""
        from npbench.numerics.pauc_metrics import pairwise, positives_within

        if self.two_way:
            y, scores = positives_within(y, scores, *self.tpr_range)
        return pairwise(y, scores, *self.fpr_range)

    def loss(self, folds: Scored) -> float:
        """Return 1 minus the mean normalised partial AUC."""
        areas = [self.area(y, scores).value for y, scores in folds]
        return 1.0 - math.fsum(areas) / len(areas)

    def fpr_window(self) -> tuple[float, float]:
        """Return the range of false-positive rates."""
        lo, hi = self.fpr_range
        return lo, hi


PROBLEMS: dict[str, type[Problem]] = {problem.name: problem for problem in (NeymanPearson, Cost, QValue, PartialAUC)}
