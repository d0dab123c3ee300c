"""Kernel classifiers for many samples: the linear classifier of features that approximate the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from npbench.estimators.constraints import COUNT
from npbench.estimators.kernel import KernelClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.gram import Kernel
from npbench.numerics.nystroem import Landmarks


@keyword_parameters
class NystroemClassifier(KernelClassifier):
    """A kernel classifier that may approximate the kernel by features; a subclass fits the linear kernel to them.

    Parameters
    ----------
    n_components : int, optional
        Number of landmarks, drawn from the training samples, whose kernel values give features Phi with ``Phi Phi'``
        near the Gram matrix; positive. The classifier is then linear in Phi, in O(n_samples n_components) memory. All
        samples give the exact classifier. Default: no approximation. Not for ``kernel="precomputed"``; without effect
        for "linear", which has features already.
    random_state : int, RandomState or None
        Seed of the landmarks.

    Attributes
    ----------
    nystroem_error_ : float
        With ``n_components``, the part of the Gram matrix's trace that Phi misses, ``1 - ||Phi||^2 / trace(K)``.
        ``support_vectors_`` and ``coef_`` are then in the space of Phi.
    """

    n_components: int | None = parameter(None, COUNT, default=None)
    random_state: int | np.random.RandomState | None = parameter("random_state", default=None)

    @property
    def is_linear(self) -> bool:
        """True if the classifier has weights of features: the kernel is linear or approximated."""
        return super().is_linear or self.n_components is not None

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_components is not None and self.kernel == "precomputed":
            raise ValueError(
                f"n_components={self.n_components} needs kernel values of new pairs, but kernel='precomputed': use "
                "another kernel, or n_components=None."
            )

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, signs = super()._training_set(X, y)
        self._landmarks: Landmarks | None = None
        if self.n_components is None or self.kernel == "linear":
            return X, signs
        n = X.shape[0]
        # ascending rows: the features do not depend on the order of the draws
        chosen = check_random_state(self.random_state).permutation(n)[: self.n_components]
        self._landmarks = Landmarks(X[np.sort(chosen)], super().resolved_kernel(X))
        features = self._landmarks.features(X)
        self.nystroem_error_ = self._landmarks.trace_error(X, features)
        return features, signs

    def resolved_kernel(self, X: Any) -> Kernel:
        """Return the kernel, with "scale" and "auto" resolved; the linear one if X are features that approximate it."""
        return super().resolved_kernel(X) if self.n_components is None else Kernel("linear")

    def _scores(self, X: Any) -> np.ndarray:
        if self._landmarks is None:
            return super()._scores(X)
        scores = np.empty(X.shape[0])
        for rows, features in self._landmarks.blocks(X):
            scores[rows] = super()._scores(features)
        return scores

    def _gram_budget(self, X: Any) -> int:
        n, d = X.shape
        # No n x n matrix where Newton steps in the weights of the features take its place.
        saved = self._landmarks is not None and 2 * d**2 <= n**2
        return min(super()._gram_budget(X), 8 * n**2 - 1) if saved else super()._gram_budget(X)
