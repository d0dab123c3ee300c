"""Kernel classifiers for many samples: the linear classifier of features that approximate the kernel."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from npbench.contracts import Selection
from npbench.estimators.constraints import COUNT, StrOptions
from npbench.estimators.halving import halved
from npbench.estimators.kernel import MEGABYTE, KernelClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import rows_in
from npbench.evaluation.grids import Grids, Make
from npbench.evaluation.selection import grid_search
from npbench.evaluation.splits import Folds
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.devices import array_namespace, beside, device, on_device, to_numpy
from npbench.numerics.gram import LEAST_EXPONENT_SINGLE, Gram, Kernel
from npbench.numerics.landmark_svm import Features
from npbench.numerics.threads import blas_threads, one_blas_thread
from npbench.problem import Problem

MAX_EXACT = 20_000  # samples whose kernel n_components="auto" does not approximate, if the Gram matrix fits
AUTO_LANDMARKS = 1000  # of more samples
LEAST_EIGENVALUE = {np.float64: 1e-12, np.float32: 1e-7}  # in units of the largest; smaller ones are rounding
LEAST_ROWS = 5000  # with fewer, working with the Gram matrix of the features is faster
KERNEL_BLOCK_BYTES = 1 << 24  # kernel values in memory at a time


@keyword_parameters
class NystroemClassifier(KernelClassifier):
    """A kernel classifier that may approximate the kernel by features; a subclass fits the linear kernel to them.

    Parameters
    ----------
    n_components : int, "auto" or None
        Number of landmarks, drawn from the training samples, whose kernel values give features Phi with ``Phi Phi'``
        near the Gram matrix; positive. The classifier is then linear in Phi, in O(n_samples n_components) memory. All
        samples give the exact classifier, as None does. "auto" is None up to 20,000 samples whose Gram matrix fits into
        ``cache_size``, by default 11,448; beyond, 1000 landmarks, or as many as have features within ``cache_size``,
        with a warning. ``kernel="precomputed"`` takes no number, and "linear", which has features
        already, ignores it. From 5000 samples on, ``np_svm``, ``q_svm``, ``uzawa`` and ``ac_svm`` have features
        of the Gaussian kernel in single precision. A search draws landmarks once, from all its samples.
    device : str, optional
        Device of PyTorch, such as "cuda", for features of landmarks in single precision, products with them, and
        predictions. Other fits warn that it has no effect, and methods without such features refuse it. Default: NumPy.
    random_state : int, RandomState or None
        Seed of the landmarks.

    Attributes
    ----------
    nystroem_error_ : float
        With landmarks, the part of the Gram matrix's trace that Phi misses, ``1 - ||Phi||^2 / trace(K)``.
        ``coef_`` and ``support_vectors_`` are then in the space of Phi; in single precision, the latter are not kept.
    objective_change_ : float
        With "auto", the relative change of ``objective_`` from half of the landmarks to all: what more may change.
    """

    n_components: int | Literal["auto"] | None = parameter(None, COUNT, StrOptions({"auto"}), default="auto")
    device: str | None = parameter(None, str, default=None)
    random_state: int | np.random.RandomState | None = parameter("random_state", default=None)

    _has_newton_steps: ClassVar[bool] = False
    _landmarks = cast("Landmarks | None", None)  # of a fit

    @property
    def is_linear(self) -> bool:
        """True if the classifier has weights of features: the kernel is linear or approximated."""
        return super().is_linear or self._landmarks is not None

    def n_landmarks(self, n_rows: int) -> int | None:
        """Return the number of landmarks for a sample of ``n_rows`` rows; None for the kernel as it is."""
        if self.kernel == "linear" or self.n_components is None:
            return None
        if self.n_components != "auto":
            return self.n_components
        if self.kernel == "precomputed" or n_rows <= self._largest_exact:
            return None
        size = 4 if self._has_newton_steps and self.kernel == "rbf" else 8
        return max(1, min(AUTO_LANDMARKS, int(self.cache_size * MEGABYTE) // (size * n_rows)))

    @property
    def _largest_exact(self) -> int:
        """Number of samples up to which "auto" is exact: without a Gram matrix, searches share nothing."""
        return min(MAX_EXACT, self.largest_gram)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_components not in (None, "auto") and self.kernel == "precomputed":
            raise ValueError(
                f"n_components={self.n_components} needs kernel values of new pairs, but kernel='precomputed': use "
                "another kernel, or n_components=None."
            )
        if self.device is not None and not self._has_newton_steps:
            raise ValueError(f"device={self.device!r}: {type(self).__name__} computes with NumPy. Leave device out.")

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, signs = super()._training_set(X, y)
        self._landmarks = None
        for name in ("nystroem_error_", "objective_change_"):  # of another fit
            self.__dict__.pop(name, None)
        if self.n_landmarks(X.shape[0]) is None:
            return X, signs
        self._landmarks = self.landmarks(X)
        features = self._landmarks.features(X)
        self.nystroem_error_ = self._landmarks.trace_error(X, features)
        return features, signs

    def landmarks(self, X: Any) -> Landmarks:
        """Draw landmarks from samples; their features are in single precision where Newton steps take many of them."""
        # ascending rows: the features do not depend on the order of the draws
        chosen = np.sort(check_random_state(self.random_state).permutation(X.shape[0])[: self.n_landmarks(X.shape[0])])
        dtype = np.float32 if self.takes_newton_steps(X.shape[0]) else np.float64
        return Landmarks(X[chosen], super().resolved_kernel(X), dtype, self.device)

    def takes_newton_steps(self, n_rows: int) -> bool:
        """Return whether :mod:`npbench.numerics.landmark_svm` fits the features of ``n_rows`` samples."""
        landmarks = self._has_newton_steps and self.n_landmarks(n_rows) is not None
        return landmarks and self.kernel == "rbf" and n_rows >= LEAST_ROWS

    def resolved_kernel(self, X: Any, weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel, with "scale" and "auto" resolved; the linear one if X are features that approximate it."""
        return super().resolved_kernel(X, weight) if self._landmarks is None else Kernel("linear")

    def _remarks(self, X: Any, signs: np.ndarray, **options: Any) -> Iterator[tuple[type[Warning], str]]:
        yield from super()._remarks(X, signs, **options)
        if self.device is not None and not (self._landmarks and self._landmarks.are_single):
            yield (
                UserWarning,
                f"device={self.device!r} has no effect on this fit: only landmarks of the Gaussian kernel are computed "
                f"there, with {LEAST_ROWS:,} samples or more.",
            )
        if self._landmarks is None or self.n_components != "auto":
            return
        # the kernel of half of the landmarks is that of the features in the span of theirs
        half = copy(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            half._fit(X @ beside(self._landmarks.span_of_half(), X), signs, **options)
        change = abs(half.objective_ - self.objective_)
        self.objective_change_ = float(change / (abs(self.objective_) or 1.0))
        number = self.n_landmarks(len(signs))
        reason = "" if number == AUTO_LANDMARKS else f"cache_size={self.cache_size:g} holds no more of them. "
        yield (
            UserWarning,
            f"more than {self._largest_exact:,} samples: {number} landmarks approximate the "
            f"kernel (nystroem_error_={self.nystroem_error_:.2g}), of which the second half changed the objective by "
            f"{self.objective_change_:.1%}. {reason}Set n_components to another number, or None for the exact kernel.",
        )

    def _scores(self, X: Any) -> np.ndarray:
        if self._landmarks is None:
            return super()._scores(X)
        scores = np.empty(X.shape[0])
        for rows, block in self._landmarks.blocks(X):
            scores[rows] = to_numpy(Features(block, exact=True).scores(beside(self.coef_[0], block)))
        return scores + self.intercept_[0]

    def _gram(self, X: Any, weight: np.ndarray | None = None) -> Gram:
        if self._landmarks is None or not self._landmarks.are_single:
            return super()._gram(X, weight)
        self._kernel, self._offsets = Kernel("linear"), np.empty(0)
        return Gram.of_features(X, blas_threads())

    def _set_expansion(self, X: Any, signs: np.ndarray, x: np.ndarray, b: float) -> None:
        if self._landmarks is None or not self._landmarks.are_single:
            super()._set_expansion(X, signs, x, b)
            return
        # a copy of the features of support vectors would take as much memory as the features
        super()._set_expansion(np.empty((len(x), 0)), signs, x, b)
        self.coef_ = to_numpy(Features(X, True, blas_threads()).weights(beside(x, X)))[None, :]

    def _gram_budget(self, X: Any) -> int:
        n, d = X.shape
        # No n x n matrix where Newton steps in the weights of the features take its place.
        saved = self._landmarks is not None and n >= LEAST_ROWS and 2 * d**2 <= n**2
        return min(super()._gram_budget(X), 8 * n**2 - 1) if saved else super()._gram_budget(X)


def with_landmarks(make: Make[Any], n_all: int, n_rows: int) -> Make[Any]:
    """Return ``make`` with the number of landmarks that "auto" takes for all rows, for fits to some of them.

    These take that number times the root of their share, roughly enough (Rudi, Camoriano and Rosasco 2015, NIPS).
    """
    model = make()
    if model.n_components != "auto":
        return make
    number = model.n_landmarks(n_all)
    return partial(make, n_components=None if number is None else math.ceil(number * math.sqrt(n_rows / n_all)))


@halved(200_000, last=4)  # ten bandwidths for 20,000 samples; the best one becomes narrower with more of them
def select(
    make: Make[Any], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search, with landmarks on the folds where all rows have them."""
    n_rows = len(rows_in(folds))
    return grid_search(with_landmarks(make, len(y), n_rows), X, y, folds, problem, search, n_threads)


class Landmarks:
    """Features ``Phi = K_nm K_mm^(-1/2)`` of samples, with ``Phi Phi' = K_nm K_mm^+ K_mn``, from m landmarks.

    Williams and Seeger (2001, NIPS 13). O(m^3) operations once and O(m (n_features + m)) for each sample. ``K - Phi
    Phi'`` is positive semi-definite and 0 for landmarks. Equal landmarks and others of low rank leave out features:
    their eigenvalues are 0 to rounding. ValueError if the kernel is 0 for all landmarks.
    """

    @one_blas_thread()
    def __init__(
        self, samples: Any, kernel: Kernel, dtype: type[np.floating[Any]] = np.float64, device: str | None = None
    ) -> None:
        self._samples, self._kernel, self.are_single = samples, kernel, dtype == np.float32
        self._device = device if self.are_single else None
        whole = on_device(kernel.between(samples, samples), self._device)
        values, vectors = map(to_numpy, array_namespace(whole).linalg.eigh(whole))
        # eigenvalues of 0 to rounding belong to equal landmarks
        kept = values > LEAST_EIGENVALUE[dtype] * values[-1]
        if not kept.any():
            raise ValueError("The kernel is 0 for all landmarks: use another, or a positive coef0 with kernel='poly'.")
        self._root = (vectors[:, kept] / np.sqrt(values[kept])).astype(dtype)

    def span_of_half(self) -> np.ndarray:
        """Return an orthonormal basis of the features of every second landmark, of shape (n_features, rank)."""
        basis, _ = np.linalg.qr(to_numpy(self.features(self._samples[::2])).T.astype(float))
        return basis.astype(self._root.dtype)

    def features(self, X: Any) -> Any:
        """Return the features of samples, of shape (n_samples, n_features), with as many threads as BLAS has."""
        block, root = self._block(X), on_device(self._root, self._device)
        shape = X.shape[0], root.shape[1]
        features = array_namespace(root).empty(shape, dtype=root.dtype, device=device(root))

        def work(rows: slice) -> None:
            features[rows, :] = block(rows)

        with ThreadPoolExecutor(blas_threads()) as pool, one_blas_thread():
            list(pool.map(work, self._parts(X)))
        return features

    def blocks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """Yield the features of one block of rows after the other, in little memory."""
        block = self._block(X)
        for rows in self._parts(X):
            with one_blas_thread():
                features = block(rows)
            yield rows, features

    def _parts(self, X: Any) -> list[slice]:
        size = max(1, KERNEL_BLOCK_BYTES // (8 * self._root.shape[0]))
        n = X.shape[0]  # slices that end beyond it are not in the array API standard
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def _block(self, X: Any) -> Callable[[slice], Any]:
        """Return a function that computes the features of some rows."""
        root, gamma = on_device(self._root, self._device), self._kernel.gamma
        xp = array_namespace(root)
        if not self.are_single or issparse(X):

            def values(rows: slice) -> Any:
                return beside(self._kernel.between(X[rows], self._samples).astype(self._root.dtype, copy=False), root)

        else:
            # exponents are sums of products: 2 gamma x'z - gamma ||x||^2 - gamma ||z||^2
            c = offsets(self._samples)
            Z = without_offsets(self._samples, c)
            Z = np.column_stack([2.0 * gamma * Z, np.ones(len(Z)), -gamma * np.einsum("ij,ij->i", Z, Z)])
            Z = on_device(np.ascontiguousarray(Z.T), self._device)

            @np.errstate(over="ignore", invalid="ignore")
            def values(rows: slice) -> Any:
                some = without_offsets(X[rows], c)
                some = np.column_stack([some, -gamma * np.einsum("ij,ij->i", some, some), np.ones(len(some))])
                exponents = xp.astype(on_device(some, self._device) @ Z, root.dtype)
                # NaN where a square overflows, too
                exponents = xp.where(exponents > LEAST_EXPONENT_SINGLE, exponents, LEAST_EXPONENT_SINGLE)
                return xp.exp(xp.where(exponents < 0.0, exponents, 0.0))

        return lambda rows: values(rows) @ root

    def trace_error(self, X: Any, features: Any) -> float:
        """Return ``(trace(K) - ||Phi||^2) / trace(K)`` in [0, 1]: the part of K that Phi misses."""
        trace = float(self._kernel.diagonal(X).sum())
        return max(1.0 - float(to_numpy(Features(features, n_threads=blas_threads()).squared_norms).sum()) / trace, 0.0)
