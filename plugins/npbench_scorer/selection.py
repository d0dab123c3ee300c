"""Grid search around a solver that has a fast one of its own, with a threshold set on held-out samples in each fold.

The solver searches the grid on the samples that are not held out, and scores those held out together with the
validation part; with ``cv``, on each part to cross-fit, and on all samples. The loss it is given sets the threshold on
the held-out samples and judges the validation part.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from npbench.contracts import Selection, resolve
from npbench.estimators.halving import Candidates, halved
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.selection import grid_search, least_loss
from npbench.evaluation.splits import Fold, Folds
from npbench.numerics.pauc_metrics import mean_height
from npbench.numerics.rates import acceptance, ranked
from npbench.numerics.shared_fits import Noted, identity_of, shared
from npbench.problem import Problem
from npbench.registry import installed
from npbench.thresholding.classifier import OOB
from npbench.values import canonical
from npbench_scorer.estimator import NO_THRESHOLD, Rule, Scorer
from npbench_scorer.inner import has_grid_search

# rows times candidates from which a search takes rungs: of forests and boosting, and of all that are judged by ranking
TREES, RANKED = 300_000, 50_000


def _limit(make: Make[Scorer]) -> float:
    """Return the rows times candidates from which a search takes rungs: that of the solver inside."""
    scorer = make()
    if has_grid_search(scorer.estimator):
        return float(getattr(_search_of(scorer), "limit", np.inf))
    if scorer.search_by == "ranking":
        return RANKED
    return TREES if "max_depth" in scorer.without_threshold().get_params() else np.inf


@halved(_limit)
def select(
    make: Make[Scorer], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters by grid search; an inner solver with a search of its own uses it.

    Takes and returns the same as :func:`npbench.evaluation.selection.grid_search`, with the same losses
    to the tolerance of the solver's own search. Falls back on it if ``params`` has fewer than two candidates, or some
    with different names, for several splits, for out-of-bag scores, and for classifiers without a ``grid_search``. By
    ranking, where validation parts have both classes, the losses are those of :class:`_Ranking`, without a threshold.
    """
    window = problem.fpr_window() if make().search_by == "ranking" else None
    if window and all(len(np.unique(y[rows] > 0)) == 2 for _, rows in folds):
        make, problem = partial(make, **NO_THRESHOLD), cast("Problem", _Ranking(*window))
    kinds = combinations({name: values for name, values in search.items() if name != "params"})
    grid = _grid(search.get("params", ()))
    scorers = [make(**kind, params=search["params"][0]) for kind in kinds] if grid else []
    quick = (one.n_splits == 1 and one.cv != OOB and has_grid_search(one.estimator) for one in scorers)
    if not scorers or not all(quick):
        return grid_search(make, X, y, folds, problem, search, n_threads)
    found = [_search(scorer, X, y, folds, problem, grid, n_threads) for scorer in scorers]
    table = {
        canonical({**kind, "params": params}): loss
        for kind, one in zip(kinds, found, strict=True)
        for params, loss in zip(combinations(grid), one[0], strict=True)
    }
    candidates = combinations(search)
    losses = [table[canonical(candidate)] for candidate in candidates]
    unconverged = sum(one[1] for one in found)
    return least_loss(candidates, losses, unconverged)


def _grid(mappings: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the grid of mappings with the same names; empty for others, or for fewer than two."""
    alike = len({frozenset(one) for one in mappings}) == 1
    return Candidates([dict(one) for one in mappings]) if alike and len(mappings) > 1 else {}


def _search(
    scorer: Scorer, X: Any, y: np.ndarray, folds: Folds, problem: Problem, grid: Grids, n_threads: int
) -> tuple[list[float], int]:
    """Return the losses of the inner solver's search, with the threshold of each fold, and the unconverged fits."""
    parts: list[Fold] = []
    rules = []
    for fit, validate in folds:
        own, rule = scorer.first_parts(y[fit])
        found = [(fit[rest], fit[held_out]) for rest, held_out in own]
        if scorer.cv is None:  # the same classifier scores both
            ((rest, held_out),) = found
            found = [(rest, np.concatenate([held_out, validate]))]
        else:  # one more fit, to all samples, is the one in use
            found.append((fit, validate))
        parts += found
        rules.append((len(found), sum(len(held_out) for _, held_out in own), rule))
    # search as the solver does, with the threshold inside the loss
    classifier = scorer.without_threshold()
    kind: Make[Any] = type(classifier)
    inside = partial(kind, **classifier.get_params(deep=False))
    judged: Any = _Thresholded(problem, rules)
    # without rungs: by the number of rows the rules find the samples that set the threshold
    search = getattr(_search_of(scorer), "__wrapped__", _search_of(scorer))

    def find() -> Noted:
        found: Selection = search(inside, X, y, parts, judged, grid, n_threads)
        return {"unconverged": found.n_unconverged}, np.array(found.losses)

    identity = ""
    if scorer.threshold == "zero":  # jobs share such a search
        about = kind.__qualname__, classifier.get_params(deep=False), combinations(grid), repr(problem)
        identity = identity_of(*about, X, y, *itertools.chain.from_iterable(parts))
    facts, losses = shared(identity, find)
    return losses.tolist(), facts["unconverged"]


def _search_of(scorer: Scorer) -> Any:
    """Return the grid search of the solver inside."""
    return resolve(installed().solver(scorer.estimator).grid_search or "")


@dataclass(frozen=True)
class _Ranking:
    """A loss of scores without a threshold: 1 minus the mean height of the ROC curve over a range of its rates."""

    lo: float
    hi: float
    ranks: ClassVar[bool] = True

    def loss(self, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
        # ties give trapezoids: by pairs, of which ties count half, equal scores of all samples would often seem best
        curves = [acceptance(y, ranked(y, scores)) for y, scores in folds]
        return 1.0 - float(np.mean([mean_height(tpr, fpr, self.lo, self.hi) for _, tpr, fpr in curves]))


@dataclass(frozen=True)
class _Thresholded:
    """A problem with a threshold for the scores of each fold."""

    problem: Problem
    # for each fold: numbers of fits, and of samples that set the threshold, which come first; the function that sets it
    rules: Sequence[tuple[int, int, Rule]]
    ranks: ClassVar[bool] = True

    def loss(self, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
        judged, fits = [], iter(folds)
        for n_fits, n_held_out, rule in self.rules:
            y, scores = map(np.concatenate, zip(*itertools.islice(fits, n_fits), strict=True))
            threshold = rule(y[:n_held_out], scores[:n_held_out].astype(float))
            judged.append((y[n_held_out:], scores[n_held_out:] - threshold))
        return self.problem.loss(judged)
