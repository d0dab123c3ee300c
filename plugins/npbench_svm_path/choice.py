"""Choice of a classifier on a path by its errors on held-out samples.

A classifier has a training asymmetry and an intercept; a choice is a classifier and a shift of its intercept. Three
kinds are compared: ``ONE``, as trained, ``INT``, with the shift chosen, and ``ALL``, with both chosen.

Bach, Heckerman and Horvitz (2006), section 4.3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from npbench.numerics import signed_rank
from npbench.numerics.thresholds import SAME_SCORE
from npbench_svm_path.numerics.roc import ROC, Cuts, blocks, by_asymmetry, by_both, by_intercept

CLASSIFIER_KINDS = ("one", "int", "all")
ONE, INT, ALL = range(3)
SAME_COST = 1e-9  # costs that differ by rounding: sums of errors weighted by numbers in ]0, 1[
INFINITE_THRESHOLD = 1e6  # finite stand-in, in units of the largest score
StagesName = Literal["asked", "asymmetries", "roc"]


@dataclass(frozen=True)
class Validated:
    """Scores of classifiers on held-out samples."""

    y: np.ndarray  # (n,): labels in {-1, +1} of all validation parts, one after the other
    starts: np.ndarray  # (n_folds,): start of each part
    trained: np.ndarray  # (n_asymmetries,): training asymmetries, ascending
    scores: np.ndarray  # (n_lines * n_asymmetries, n): line after line, the main one first, asymmetries as in trained

    def nearest(self, asymmetry: np.ndarray) -> np.ndarray:
        """Return the classifiers of the main line trained nearest to the asymmetries."""
        return np.searchsorted((self.trained[1:] + self.trained[:-1]) / 2, asymmetry)

    def finite(self, threshold: np.ndarray) -> np.ndarray:
        """Replace infinite thresholds by finite ones far beyond all scores, so that shifted scores keep their order."""
        return np.clip(threshold, -self._far, self._far)

    @cached_property
    def _far(self) -> float:
        return INFINITE_THRESHOLD * float(np.max(np.abs(self.scores), initial=1.0))


class Choice(NamedTuple):
    """A classifier and a threshold for each of several requests."""

    classifier: np.ndarray  # rows of the validated scores
    threshold: np.ndarray  # to subtract from them
    kept: np.ndarray  # False if ONE replaces the choice, as nothing was significantly better


def by_cost(validated: Validated, testing: np.ndarray, level: float = 0.05) -> list[Choice]:
    """Return the choices ONE, INT and ALL for testing asymmetries in ]0, 1[. O(n log n) for each classifier.

    ``ONE`` is trained with the nearest training asymmetry. ``INT`` and ``ALL`` have the least cost on the pooled
    validation parts, and are kept if their costs on the parts are smaller than for ``ONE`` by a one-sided
    signed-rank test at ``level``. Among equal costs, ``ALL`` takes the classifier trained nearest to the testing
    asymmetry, ``INT`` the threshold nearest to 0.
    """
    own = validated.nearest(testing)
    one = Choice(own, np.zeros(len(own)), np.ones(len(own), dtype=bool))
    costs = _fold_costs(validated, one, testing)

    def kept(classifier: np.ndarray, threshold: np.ndarray) -> Choice:
        best = Choice(classifier, validated.finite(threshold), one.kept)
        better = signed_rank.tails(costs - _fold_costs(validated, best, testing))[0] <= level
        return Choice(np.where(better, best.classifier, own), np.where(better, best.threshold, 0.0), better)

    return [one, kept(own, _best_thresholds(validated, own, testing)), kept(*_best_of_all(validated, testing))]


def by_bound(validated: Validated, asymmetry: float, rho: float) -> list[Choice]:
    """Return the choices with the fewest misses at a bound on false alarms, on the pooled validation parts.

    ``ONE`` is a classifier of the main line as trained, ``INT`` the one trained nearest to ``asymmetry`` with another
    threshold, ``ALL`` any classifier at any threshold. If none meets the bound, ``ONE`` has the fewest false alarms.
    """
    best = [curve[np.array([curve.fewest_misses(rho)])] for curve in curves(validated, asymmetry)]
    return [Choice(one.classifier, validated.finite(one.threshold), np.ones(1, dtype=bool)) for one in best]


def curves(validated: Validated, asymmetry: float) -> list[ROC]:
    """Return the ROC curves of the pooled validation parts: by asymmetry, by intercept, by both.

    The first two are of the main line, the second of the classifier trained nearest to ``asymmetry``. The third has the
    fewest misses for each number of false alarms (section 3.2).
    """
    y, (own,) = validated.y, validated.nearest(np.array([asymmetry]))
    return [
        by_asymmetry(y, validated.scores[: len(validated.trained)]),
        by_intercept(y, validated.scores[own], int(own)),
        by_both(y, validated.scores),
    ]


def _fold_costs(validated: Validated, choice: Choice, testing: np.ndarray) -> np.ndarray:
    """Return the mean cost of a sample of each part for each choice, of shape (n_testing, n_folds)."""
    y, starts = validated.y, validated.starts
    sizes = np.diff(np.append(starts, len(y)))
    costs = np.empty((len(testing), len(starts)))
    for block in blocks(len(testing), len(y)):
        shifted = validated.scores[choice.classifier[block]] - choice.threshold[block, None]
        weights = np.where(y > 0, testing[block, None], 1 - testing[block, None])
        costs[block] = np.add.reduceat(np.where(y * shifted > 0, 0.0, weights), starts, axis=1) / sizes
    return costs


def _best_thresholds(validated: Validated, classifier: np.ndarray, testing: np.ndarray) -> np.ndarray:
    """Return, for each pair of a classifier and an asymmetry, the threshold of least cost that is nearest to 0."""
    best = np.empty(len(testing))
    for block in blocks(len(testing), len(validated.y)):
        cuts = Cuts.of(validated.y, validated.scores[classifier[block]])
        threshold, gamma = validated.finite(cuts.threshold), testing[block, None]
        cost = np.where(cuts.exist, gamma * cuts.misses + (1 - gamma) * cuts.false_alarms, np.inf)
        is_least = cost <= np.min(cost, axis=1, keepdims=True) + SAME_COST
        nearest = np.argmin(np.where(is_least, np.abs(threshold), np.inf), axis=1)
        best[block] = np.take_along_axis(threshold, nearest[:, None], axis=1)[:, 0]
    return best


def _best_of_all(validated: Validated, testing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classifier and threshold of least cost for each asymmetry; ties go to the one trained nearest."""
    # of all classifiers that attain the corner, the one trained nearest to the testing asymmetry
    hull = by_both(validated.y, validated.scores).hull()
    corner = hull.least_cost(testing)
    positives, negatives = (_ranked(validated.scores[:, validated.y == label]) for label in (1, -1))
    rounding = SAME_SCORE * np.max(np.abs(validated.scores), axis=1)  # differences of scores that count as ties
    trained = np.resize(validated.trained, len(validated.scores))
    classifier, threshold = hull.classifier[corner], hull.threshold[corner]
    for k in np.unique(corner):
        # a threshold exists between the last accepted and the first rejected score of both classes
        accepted, alarms = positives.shape[1] - 2 - int(hull.misses[k]), int(hull.false_alarms[k])
        smallest = np.minimum(positives[:, accepted], negatives[:, alarms])
        largest = np.maximum(positives[:, accepted + 1], negatives[:, alarms + 1])
        rows = np.flatnonzero(smallest - largest > rounding)
        asked = np.flatnonzero(corner == k)
        nearest = np.argmin(np.abs(trained[rows] - testing[asked, None]), axis=1)
        classifier[asked], threshold[asked] = rows[nearest], ((smallest + largest) / 2)[rows[nearest]]
    return classifier, threshold


def _ranked(scores: np.ndarray) -> np.ndarray:
    """Return the scores of a class in descending order between infinite ones: column k is the last of k accepted."""
    return np.pad(-np.sort(-scores, axis=1), ((0, 0), (1, 1)), constant_values=((0, 0), (np.inf, -np.inf)))


class Stage(NamedTuple):
    """A classifier of a path, and the purpose of its choice."""

    asymmetry: float  # of the true costs; NaN for a point of a ROC curve
    kind: int  # 0 "one" or varied asymmetry, 1 "int" or varied intercept, 2 "all"
    total: float  # C_pos + C_neg of its line
    train_asymmetry: float  # its C_pos / (C_pos + C_neg)
    shift: float  # added to its intercept
    kept: bool  # False if "one" replaces it


@dataclass(frozen=True)
class Search:
    """Outcome of a search for the least cost at an asymmetry or, with rho, for the fewest misses at that bound."""

    asymmetry: float
    rho: float | None
    level: float
    classifier: Literal["one", "int", "all"]
    stages_name: StagesName
    totals: Sequence[float]  # of the lines, the main one first
    validated: Validated

    @cached_property
    def asked(self) -> list[Stage]:
        """The classifier of each kind for the criterion."""
        testing = np.array([self.asymmetry])
        if self.rho is None:
            return self._chosen(by_cost(self.validated, testing, self.level), testing)
        return self._chosen(by_bound(self.validated, self.asymmetry, self.rho), testing)

    @property
    def chosen(self) -> Stage:
        """The classifier to use."""
        return self.asked[CLASSIFIER_KINDS.index(self.classifier)]

    @cached_property
    def stages(self) -> list[Stage]:
        """All classifiers to measure."""
        if self.stages_name == "asymmetries":
            testing = self.validated.trained
            return self._chosen(by_cost(self.validated, testing, self.level), testing)
        return list(self._points()) if self.stages_name == "roc" else self.asked

    @property
    def params(self) -> dict[str, Any]:
        """Parameters that give the same classifier without a search."""
        return {name: float(getattr(self.chosen, name)) for name in ("total", "train_asymmetry", "shift")}

    @property
    def scored(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Labels and scores of the held-out samples of each fold under the classifier to use."""
        line = self.totals.index(self.chosen.total)
        row = line * len(self.validated.trained) + np.searchsorted(self.validated.trained, self.chosen.train_asymmetry)
        starts = self.validated.starts[1:]
        scores = self.validated.scores[row] + self.chosen.shift
        return list(zip(np.split(self.validated.y, starts), np.split(scores, starts), strict=True))

    def _chosen(self, choices: Sequence[Choice], testing: np.ndarray) -> list[Stage]:
        return [
            self._stage(float(asymmetry), kind, *one)
            for kind, choice in enumerate(choices)
            for asymmetry, *one in zip(testing, *choice, strict=True)
        ]

    def _points(self) -> Iterator[Stage]:
        """Yield the points of the ROC curves by asymmetry and by intercept, and the corners of the hull by both."""
        for kind, curve in enumerate(curves(self.validated, self.asymmetry)):
            points = curve.hull() if kind == ALL else curve
            for row, threshold in zip(points.classifier, self.validated.finite(points.threshold), strict=True):
                yield self._stage(np.nan, kind, row, threshold, True)

    def _stage(self, asymmetry: float, kind: int, row: int, threshold: float, kept: bool) -> Stage:
        line, place = divmod(int(row), len(self.validated.trained))
        trained = float(self.validated.trained[place])
        return Stage(asymmetry, kind, self.totals[line], trained, 0.0 - float(threshold), bool(kept))
