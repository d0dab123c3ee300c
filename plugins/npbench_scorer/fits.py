"""A classifier fitted to a part of the samples, with its scores of the others; equal fits are shared by jobs."""

from functools import partial
from typing import Any

import numpy as np

from npbench.numerics.shared_fits import Noted, identity_of, shared
from npbench.thresholding.classifier import NPThresholdClassifier
from npbench_scorer import inner


class Fit:
    """Scores of a classifier: of the samples that set its threshold, and of any others.

    In a job whose scores another job has noted, the classifier is not fitted, unless it is asked for more.
    """

    def __init__(self, classifier: Any, X: Any, labels: np.ndarray, parts: Any) -> None:
        """``parts`` are the rows to fit to and to score, or another ``cv`` of NPThresholdClassifier."""
        self._model: NPThresholdClassifier | None = None
        # the rows are given, so the seed does not affect the threshold
        model = NPThresholdClassifier(classifier, cv=parts, threshold=_nowhere, random_state=0)
        fit = partial(self._fitted, model, X, labels)
        kind = f"{type(classifier).__module__}.{type(classifier).__qualname__}"
        rows = [parts] if isinstance(parts, str) else [row for part in parts for row in part]
        self._identity = identity_of(kind, classifier.get_params(deep=False), X, labels, *rows)
        self.facts, (self.calibration_scores, positive) = shared(self._identity, fit)
        self.positive = positive > 0
        if self._model is None:
            self._fit = fit  # keeps the samples

    @property
    def model(self) -> NPThresholdClassifier:
        """The fitted classifier; its threshold means nothing."""
        if self._model is None:
            self._fit()
        assert self._model is not None
        return self._model

    def scores(self, X: Any) -> np.ndarray:
        """Return the scores of samples."""
        identity = self._identity and identity_of(self._identity, X)
        return shared(identity, lambda: ({}, self.model.scores(X)))[1]

    def _fitted(self, model: NPThresholdClassifier, X: Any, labels: np.ndarray) -> Noted:
        warning, of_bound, warned = inner.fit(model, X, labels)
        self._model = model
        n_iter = getattr(model.estimator_, "n_iter_", None)
        # its other warnings are printed by the job that fits
        n_iter = None if n_iter is None else int(np.max(n_iter))
        facts = {"warning": warning, "of_bound": of_bound, "n_iter": n_iter, "private": warned}
        return facts, np.stack([model.calibration_scores_, model.calibration_positive_])


def _nowhere(labels: np.ndarray, scores: np.ndarray) -> float:
    return 0.0
