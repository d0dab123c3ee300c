"""Classifiers that a search chose, for the trace and the stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from npbench_svm_path.choice import ALL, CLASSIFIER_KINDS, Choice, Validated, by_bound, by_cost, curves

StagesName = Literal["asked", "asymmetries", "roc"]


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
    classifier: Literal["one", "int", "all"]
    stages_name: StagesName
    totals: Sequence[float]  # of the lines, the main one first
    validated: Validated

    @cached_property
    def asked(self) -> list[Stage]:
        """The classifier of each kind for the criterion."""
        testing = np.array([self.asymmetry])
        if self.rho is None:
            return self._chosen(by_cost(self.validated, testing), testing)
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
            return self._chosen(by_cost(self.validated, testing), testing)
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
