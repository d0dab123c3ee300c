"""Searches for (nu_pos, nu_neg) under one kernel (Davenport, Baraniuk and Scott 2006, sections 3.1 to 3.4)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
from scipy.ndimage import gaussian_filter1d

from npbench_two_nu_svm.candidates import Candidate, Plane, Rank
from npbench_two_nu_svm.reduced_hulls import Nu

StrategyName = Literal["bs", "bbs", "bs_narrow", "bbs_narrow", "wbs", "wbbs", "gs", "wgs", "cd", "wcd"]
Strategy = Callable[[Plane, Rank], Candidate]
ALONG, ACROSS = 1, 0  # axes of rates, which have the shape (n_lines, n_points, ...)


def smoothed(rates: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return means of three neighbours along each of some axes, with weights 1 and exp(-1/2).

    That is a Gaussian window whose standard deviation is one grid step. At the ends of a line, where a neighbour is
    missing, the weights of the others are scaled to sum to one.
    """
    for axis in axes:
        window = partial(gaussian_filter1d, sigma=1.0, axis=axis, radius=1, mode="constant")
        rates = window(rates) / window(np.ones_like(rates))
    return rates


def bias_shifting(plane: Plane, rank: Rank, axes: Sequence[int] = ()) -> Candidate:
    """Return the best nu-SVM, with nu from the grid of nu_pos (section 3.1); ValueError if all values are infeasible.

    Rates are smoothed along some axes, as the paper tried (section 3.4).

    The result is the equivalent 2nu-SVM: ``nu n / (2 n_c)`` for the n_c samples of each class. Values of nu that are
    infeasible for the sample, or for a part of it that rates are estimated from, are skipped.
    """
    # the smaller class limits nu, in the sample and in every fitted part
    most = min(2 * min(counts) / sum(counts) for counts in plane.counts)
    feasible = [nu for nu in plane.grid.nu_pos.tolist() if nu <= most]
    n_pos, n_neg = plane.counts[0]
    if not feasible:
        fault = f"No nu is feasible for {n_pos} positives and {n_neg} negatives with some held out, above {most:.4g}"
        raise ValueError(f"{fault}: add smaller values to the grid of nu_pos, or use strategy='bbs'.")
    half = 0.5 * (n_pos + n_neg)
    points = [(min(1.0, nu * half / n_pos), min(1.0, nu * half / n_neg)) for nu in feasible]  # 1 up to rounding
    rates = [plane.visit(*point, Nu(nu))[-2:] for nu, point in zip(feasible, points, strict=True)]
    return plane.least(np.array(points), smoothed(np.array([rates]), axes), rank)


def balanced_bias_shifting(plane: Plane, rank: Rank, axes: Sequence[int] = ()) -> Candidate:
    """Return the best point with nu_pos = nu_neg, from the grid of nu_pos (section 3.1), like :func:`bias_shifting`."""
    points = np.stack([plane.grid.nu_pos] * 2, axis=-1)[None]
    return plane.least(points, smoothed(plane.rates(points), axes), rank)


def grid_search(plane: Plane, rank: Rank, axes: Sequence[int] = ()) -> Candidate:
    """Return the best point of the grid (section 3.2), its rates smoothed along some axes (section 3.4)."""
    points = plane.grid.points
    return plane.least(points, smoothed(plane.rates(points), axes), rank)


def coordinate_descent(plane: Plane, rank: Rank, axes: Sequence[int] = ()) -> Candidate:
    """Return the best point of several lines, each orthogonal to the one before (section 3.3).

    The first lines are nu_pos = 1/2 and nu_neg = 1/2, or the nearest values of the grid; the search continues from the
    better one. It ends with the first line that is no better, ties aside. The paper's seconds are those of three lines.
    """

    def best_on(fixed: str, value: float) -> Candidate:
        points = plane.grid.line(fixed, value)
        return plane.least(points, smoothed(plane.rates(points), axes), rank)

    middle = {
        name: min(getattr(plane.grid, name).tolist(), key=lambda nu: abs(nu - 0.5)) for name in ("nu_pos", "nu_neg")
    }
    first = {name: best_on(name, value) for name, value in middle.items()}
    fixed = min(first, key=lambda name: rank(first[name]))
    best = first[fixed]
    while True:
        fixed = "nu_neg" if fixed == "nu_pos" else "nu_pos"
        found = best_on(fixed, getattr(best, fixed))
        if rank(found)[0] >= rank(best)[0]:
            return min(best, found, key=rank)
        best = found


# Chosen by the probability of error, with the intercept set afterwards.
BIAS_SHIFTED = ("bs", "bbs", "bs_narrow", "bbs_narrow", "wbs", "wbbs")
NARROW_FIRST = ("bs_narrow", "bbs_narrow")  # the narrower bandwidth of two with equal errors
STRATEGIES: Mapping[StrategyName, Strategy] = {
    "bs": bias_shifting,
    "bbs": balanced_bias_shifting,
    "bs_narrow": bias_shifting,
    "bbs_narrow": balanced_bias_shifting,
    "wbs": partial(bias_shifting, axes=(ALONG,)),
    "wbbs": partial(balanced_bias_shifting, axes=(ALONG,)),
    "gs": grid_search,
    "wgs": partial(grid_search, axes=(ALONG, ACROSS)),
    "cd": coordinate_descent,
    "wcd": partial(coordinate_descent, axes=(ALONG,)),
}
