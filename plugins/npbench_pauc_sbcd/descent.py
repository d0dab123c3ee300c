"""Descent on the difference of two Moreau envelopes, by minibatches (AGD-SBCD: Yao, Lin and Yang 2022).

``1/2 ||w||^2 + C R(Zw)`` with :class:`npbench.numerics.pauc_surrogates.HingeRisk` is a difference G - H of convex
functions. With ``prox_G(v) = argmin_w G(w) + ||w - v||^2 / (2 mu)``, and likewise for H, the gradient of the difference
of their Moreau envelopes is ``(prox_H(v) - prox_G(v)) / mu``; where it is 0, both are a critical w of G - H. Each outer
step moves both by minibatches, and then v by their difference. The sum of a positive's l largest losses is a minimum
over a threshold: each block step takes the threshold first, at the rank l of the minibatch's negatives, then w.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import diags, issparse

from npbench.numerics.pauc_surrogates import StructuralRisk

BLOCK_STEPS = 50  # in each outer step; the minimisers are means over the second half
PROXIMITY = 10.0, 1.0  # mu at the first and the last outer step, in units of ||start||^2 / C
FIRST_STEP = 0.3  # of ||start||
LEAST_RANKED = 20  # negatives of a minibatch in the range
SAMPLE = 10_000  # of each class, for the metric
MOST_WHITENED = 1000  # features; with more, only the variances are equal in the metric
LEAST_EIGENVALUE = 1e-10  # of a correlation matrix


class Search:
    """Subgradient steps: of the largest distance so far, over the root of the squared slopes so far (DoG)."""

    def __init__(self, start: np.ndarray, first_step: float) -> None:
        self.point = self._start = start
        self._distance, self._squares = first_step, 0.0

    def step(self, slope: np.ndarray) -> None:
        """Take a step down a slope."""
        self._squares += float(slope @ slope)
        self.point = self.point - self._distance / np.sqrt(self._squares or 1.0) * slope
        self._distance = max(self._distance, float(np.linalg.norm(self.point - self._start)))


class Descent:
    """The problem on centred features Z, for ranks ``first < j <= last`` of the negatives."""

    def __init__(
        self, Z: Any, signs: np.ndarray, ranks: tuple[int, int], C: float, batch_size: int, rng: np.random.RandomState
    ) -> None:
        self._Z, self._ranks, self._C, self._rng = Z, ranks, C, rng
        self._classes = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
        in_range = (ranks[1] - ranks[0]) / len(self._classes[1])
        self._sizes = batch_size, max(batch_size, int(np.ceil(LEAST_RANKED / in_range)))
        # Steps are taken in u of w = A u, in whose metric the features within the classes are uncorrelated.
        samples = [Z[rows] for rows in self._rows((SAMPLE, SAMPLE))]
        self._A = _whitening(samples, C)
        direction = self._A.T @ np.subtract(*(np.asarray(each.mean(axis=0)).ravel() for each in samples))
        self._start = direction / (np.linalg.norm(direction) or 1.0)
        self.start = np.asarray(self._A @ self._start)  # Fisher's discriminant, with unit deviations within classes

    def iterates(self, length: float, n_steps: int) -> Iterator[tuple[np.ndarray, float]]:
        """Yield the weights and the imbalance after each of ``n_steps`` outer steps from ``length`` times the start."""
        v = length * self._start
        searches = Search(v, FIRST_STEP * length), Search(v, FIRST_STEP * length)
        for mu in np.geomspace(*PROXIMITY, n_steps) * length**2 / self._C:
            of_H, of_G = self._proximal_points(searches, v, mu)
            w = np.asarray(self._A @ of_G)
            parts = np.linalg.norm([of_H - v, of_G - v, mu * np.asarray(self._A.T @ w)], axis=1)
            yield w, float(np.linalg.norm(of_G - of_H) / (max(parts) or 1.0))
            v = v + of_G - of_H

    def _proximal_points(self, searches: tuple[Search, Search], v: np.ndarray, mu: float) -> np.ndarray:
        """Continue both searches by the same minibatches; return the means over the second half of the steps."""
        sums = np.zeros((2, len(v)))
        for step in range(BLOCK_STEPS):
            positive, negative = self._rows(self._sizes)
            Z, coin = self._Z[np.append(positive, negative)], self._rng.uniform()
            signs = np.repeat([1, -1], [len(positive), len(negative)])
            for index, search in enumerate(searches):
                search.step(self._slope(search.point, Z, signs, index, coin) + (search.point - v) / mu)
                if step >= BLOCK_STEPS // 2:
                    sums[index] += search.point
        return sums / (BLOCK_STEPS - BLOCK_STEPS // 2)

    def _rows(self, sizes: tuple[int, int]) -> list[np.ndarray]:
        """Draw rows of positives and of negatives, or return all if there are no more."""
        return [
            rows if len(rows) <= size else rows[self._rng.randint(len(rows), size=size)]
            for rows, size in zip(self._classes, sizes, strict=True)
        ]

    def _slope(self, u: np.ndarray, Z: Any, signs: np.ndarray, index: int, coin: float) -> np.ndarray:
        """Return a subgradient of H (index 0) or G (index 1), from a minibatch."""
        n, n_drawn, rank = len(self._classes[1]), int(np.sum(signs < 0)), self._ranks[index]
        w = np.asarray(self._A @ u)
        slope = w if index else np.zeros(len(w))
        # The rank among those drawn is a fraction: the coin makes it whole without bias.
        among = rank if n_drawn == n else min(n_drawn, int(rank * n_drawn / n + coin))
        if among:
            weight = self._C * among * n / (n_drawn * (self._ranks[1] - self._ranks[0]))
            _, of_scores = StructuralRisk(signs, 0, among)(np.asarray(Z @ w))
            slope = slope + weight * np.asarray(Z.T @ of_scores)
        return np.asarray(self._A.T @ slope)


def _whitening(samples: list[Any], C: float) -> Any:
    """Return A, with ``A A'`` near the inverse of the mean covariance within classes plus ``1 / C``."""
    n_features = samples[0].shape[1]
    if n_features > MOST_WHITENED:
        squares = [np.asarray((each.multiply(each) if issparse(each) else each**2).mean(axis=0)) for each in samples]
        return diags(1.0 / np.sqrt(np.mean(squares, axis=0).ravel() + 1.0 / C))
    dense = [each.toarray() if issparse(each) else each for each in samples]
    centred = [each - each.mean(axis=0) for each in dense]
    covariance = sum(each.T @ each / (2 * len(each)) for each in centred) + np.eye(n_features) / C
    scale = 1.0 / np.sqrt(np.diag(covariance))[:, None]
    values, vectors = np.linalg.eigh(covariance * scale * scale.T)
    return scale * vectors / np.sqrt(np.maximum(values, LEAST_EIGENVALUE))
