"""A sample under many kernels, for searches that compute each kernel value once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from npbench.estimators.kernel import KernelClassifier
from npbench.estimators.nystroem import NystroemClassifier
from npbench.estimators.samples import rows_in
from npbench.evaluation.selection import Scored
from npbench.evaluation.splits import Fold
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.devices import rows_of, to_numpy
from npbench.numerics.gram import Kernel, squared_distances
from npbench.numerics.threads import blas_threads

Model = TypeVar("Model", bound=KernelClassifier)

NEGLIGIBLE_EXPONENT = 30.0  # exp(-30) is 1e-13
MAX_RUNS = 50  # with more runs of consecutive rows, single rows are copied


def ordered_by_fold(folds: Sequence[Fold]) -> tuple[np.ndarray, list[Fold]]:
    """Return all rows of the folds, and the folds as indices into these.

    Rows to fit are sorted. Those to validate keep their order, and are consecutive: few pieces of a Gram matrix.
    """
    rows = rows_in(folds)
    # rows that are only fitted come last
    part = np.full(rows[-1] + 1, len(folds))
    for number, (_, validate) in enumerate(folds):
        part[validate] = number
    rows = rows[np.argsort(part[rows], kind="stable")]
    place = np.empty(len(part), int)
    place[rows] = np.arange(len(rows))
    return rows, [(np.sort(place[fit]), place[validate]) for fit, validate in folds]


def block(gram: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``gram[rows][:, columns]``; bound by the bytes of the result where the indices are consecutive."""
    breaks = [np.flatnonzero(np.diff(index) != 1) + 1 for index in (rows, columns)]
    # a call for each pair of runs costs more than two passes with single indices
    if min(map(len, breaks)) >= MAX_RUNS:
        return gram.take(rows, axis=0).take(columns, axis=1)
    runs = [np.split(index, ends) for index, ends in zip((rows, columns), breaks, strict=True)]
    down, across = ([slice(run[0], run[-1] + 1) for run in each] for each in runs)
    return np.block([[gram[some, others] for others in across] for some in down])


def shares_gram(estimator: KernelClassifier, search: Mapping[str, Sequence[Any]], n_rows: int) -> bool:
    """Return whether a Gram matrix of all rows fits into ``cache_size`` and serves all folds, see ``shares_kernel``."""
    return n_rows <= estimator.largest_gram and shares_kernel(estimator, search)


def shares_kernel(estimator: KernelClassifier, search: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether each kernel of a search is the same function on all folds."""
    kernels = search.get("kernel", [estimator.kernel])
    # features of landmarks, which the linear kernel does not have
    landmarks = getattr(estimator, "n_components", None) is not None
    if "n_components" in search or (landmarks and ("linear" in kernels or "random_state" in search)):
        return False
    gammas = search.get("gamma", [estimator.gamma])
    is_scaled = "scale" in gammas and any(kernel in ("rbf", "poly") for kernel in kernels)
    return not is_scaled and "precomputed" not in kernels


def has_features(X: Any, models: Sequence[KernelClassifier]) -> bool:
    """Return whether dense samples themselves are the features of all kernels, which only the linear one allows."""
    return not issparse(X) and all(model.kernel == "linear" for model in models)


class KernelSample:
    """A sample whose squared distances, in the precision ``dtype``, are computed once for all bandwidths."""

    def __init__(self, X: Any, estimators: Sequence[KernelClassifier], dtype: Any = float) -> None:
        self._X, self._dtype = X, dtype
        gammas = [estimator.resolved_kernel(X).gamma for estimator in estimators if estimator.kernel == "rbf"]
        squared = squared_distances(X, blas_threads()) if gammas else np.empty((0, 0))
        # Above this gamma the kernel is 1 between equal points and 0 elsewhere, to 13 digits.
        least = np.min(squared, where=squared > 1e-9 / max(gammas, default=1.0), initial=np.inf)
        self._saturation = float(NEGLIGIBLE_EXPONENT / least) if gammas else np.inf
        self._squared = squared.astype(dtype, copy=False)

    def kernel(self, estimator: KernelClassifier) -> Kernel:
        """Return the estimator's kernel; those that are the same function on the sample to 13 digits compare equal."""
        kernel = estimator.resolved_kernel(self._X)
        if kernel.name == "rbf":
            return replace(kernel, gamma=min(kernel.gamma, self._saturation))
        return kernel if kernel.name == "poly" else Kernel(kernel.name)

    def gram(self, estimator: KernelClassifier) -> np.ndarray:
        """Return the Gram matrix under the estimator's kernel."""
        kernel = self.kernel(estimator)
        if kernel.name == "rbf":
            return kernel.of_squared_distances(self._squared)
        X = without_offsets(self._X, offsets(self._X)) if kernel.name == "linear" else self._X
        return np.asarray(kernel.between(X, X), self._dtype)


class LandmarkSample:
    """A :class:`KernelSample` of some rows whose kernels are approximated by landmarks, drawn from these rows.

    A linear kernel has no landmarks: its features are those of the rows. With ``features``, :meth:`gram` returns these.
    """

    def __init__(self, X: Any, rows: np.ndarray, dtype: Any = float, features: bool = False) -> None:
        # ascending rows: a fit to all rows draws the same landmarks
        self._X, self._order = X[np.sort(rows)], np.argsort(np.argsort(rows))
        self._dtype, self.features = dtype, features

    def kernel(self, estimator: NystroemClassifier) -> Kernel:
        """Return the estimator's kernel, not approximated; all gamma of a linear one are the same."""
        if estimator.kernel == "linear":
            return Kernel("linear")
        return KernelClassifier.resolved_kernel(estimator, self._X)

    def gram(self, estimator: NystroemClassifier) -> np.ndarray:
        """Return the features under the estimator's kernel (the samples', if it is linear), or their Gram matrix."""
        if estimator.kernel == "linear":
            return without_offsets(self._X, offsets(self._X))[self._order]
        features = rows_of(estimator.landmarks(self._X).features(self._X), self._order)
        return features if self.features else to_numpy(features @ features.T).astype(self._dtype, copy=False)


def sample_of(
    X: Any, rows: np.ndarray, estimators: Sequence[KernelClassifier], dtype: Any = float, features: bool = False
) -> KernelSample | LandmarkSample:
    """Return some rows under the kernels of the estimators, all or none of which are approximated."""
    first = estimators[0]
    if isinstance(first, NystroemClassifier) and (features or first.n_landmarks(len(rows)) is not None):
        return LandmarkSample(X, rows, dtype, features)
    return KernelSample(X[rows], estimators, dtype)


def search_by_kernel(
    models: Sequence[Model],
    keys: Sequence[Any],
    sample: KernelSample | LandmarkSample,
    y: np.ndarray,
    folds: Sequence[Fold],
    loss: Callable[[Scored], float],
    fit_fold: Callable[[list[Model], np.ndarray, np.ndarray, np.ndarray], Iterable[tuple[np.ndarray, bool]]],
    n_threads: int,
) -> tuple[list[float], int]:
    """Return the loss of each model, and the number of fits that did not converge.

    ``fit_fold(models, K, y, between)`` fits models with equal keys, which share a kernel, on a fold with the Gram
    matrix K, or features of a :class:`LandmarkSample`. It returns for each the scores of the validation samples, whose
    kernel values are ``between``, and whether it converged. ``n_threads`` keys, or folds of fewer, run at a time.
    """
    places: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)

    def work(group: list[int]) -> list[tuple[float, int]]:
        alike = [models[place] for place in group]
        gram = sample.gram(alike[0])

        def fitted(fold: Fold) -> list[tuple[np.ndarray, bool]]:
            fit, validate = fold
            if isinstance(sample, LandmarkSample) and sample.features:
                return list(fit_fold(alike, rows_of(gram, fit), y[fit], rows_of(gram, validate)))
            return list(fit_fold(alike, block(gram, fit, fit), y[fit], block(gram, validate, fit)))

        with ThreadPoolExecutor(max(1, n_threads // len(places))) as pool:
            found = list(zip(*pool.map(fitted, folds), strict=True))  # by model, then by fold
        labels = [y[validate] for _, validate in folds]
        losses = [loss(list(zip(labels, (scores for scores, _ in one), strict=True))) for one in found]
        return list(zip(losses, (sum(not converged for _, converged in one) for one in found), strict=True))

    with ThreadPoolExecutor(n_threads) as pool:
        entries = dict(zip(chain(*places.values()), chain(*pool.map(work, places.values())), strict=True))
    return [entries[place][0] for place in range(len(models))], sum(missed for _, missed in entries.values())
