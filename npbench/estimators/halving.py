"""Searches by successive halving: many candidates on few rows, the best of them on more, the last ones on all.

Jamieson and Talwalkar (2016, AISTATS 51). Rows are drawn in one order for all rungs, so that those of a rung are among
those of the next, and each stays on its side of every fold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.samples import rows_in
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.splits import Folds
from npbench.problem import Problem

LEAST_ROWS, LEAST_OF_CLASS = 3000, 300  # of the first rung
MOST_STOPPED = 5.0  # factor by which the number of candidates may fall from a rung to the next
LAST = 2  # candidates that compete on all rows, if a search does not say more

Search = Callable[..., Selection]


class Candidates(dict[str, list[Any]]):
    """The grid of some combinations, which :func:`npbench.evaluation.grids.combinations` returns in place of all."""

    def __init__(self, chosen: list[dict[str, Any]]) -> None:
        self.chosen = chosen
        for name in chosen[0]:
            values = [one[name] for one in chosen]
            self[name] = [value for place, value in enumerate(values) if value not in values[:place]]


def halved(limit: float | Callable[[Make[Any]], float], last: int = LAST) -> Callable[[Search], Search]:
    """Return a decorator of grid searches, which then take rungs where rows times candidates exceed ``limit``.

    ``limit`` may be a function of ``make``; ``last`` candidates compete on all rows. The search has the parameters of
    :func:`npbench.evaluation.selection.grid_search`, and the whole one is its ``__wrapped__``. Losses are infinite for
    candidates that were stopped before the last rung. A candidate's ``require_rows(n_rows)``, if it has one, may refuse
    the samples of the final fit before the first one.
    """

    def decorate(whole: Search) -> Search:
        @wraps(whole)
        def search_in_rungs(
            make: Make[Any], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
        ) -> Selection:
            candidates = combinations(search)
            _require_rows(make, candidates, folds)
            used = np.zeros(len(y), bool)
            used[rows_in(folds)] = True
            most = limit(make) if callable(limit) else limit
            if len(candidates) <= last or len(candidates) * used.sum() <= most:
                return whole(make, X, y, folds, problem, search, n_threads)
            place, kept, unconverged = _places(y, used), np.arange(len(candidates)), 0
            for share, n_left in _rungs(len(candidates), last, y[used]):
                parts = [(fit[place[fit] < share], validate[place[validate] < share]) for fit, validate in folds]
                parts = [fold for fold in parts if len(fold[1])]  # of single rows, those of the rung
                few = Candidates([candidates[one] for one in kept])
                found = whole(make, X, y, parts, problem, few, n_threads)
                unconverged += found.n_unconverged
                losses = np.full(len(candidates), np.inf)
                losses[kept] = found.losses
                kept = np.sort(kept[np.argsort(found.losses, kind="stable")[:n_left]])
            return replace(found, n_candidates=len(candidates), n_unconverged=unconverged, losses=losses.tolist())

        search_in_rungs.limit = limit  # type: ignore[attr-defined]
        return search_in_rungs

    return decorate


def _require_rows(make: Make[Any], candidates: list[dict[str, Any]], folds: Folds) -> None:
    """Let each candidate refuse the rows that are fitted to in any fold, all of which the final fit takes."""
    if hasattr(make(**candidates[0]), "require_rows"):
        n_rows = len(rows_in([(fit, fit) for fit, _ in folds]))
        for params in candidates:
            make(**params).require_rows(n_rows)


def _places(y: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return for each row the share of its class from which it is drawn, in [0, 1[."""
    place, rng = np.zeros(len(y)), np.random.default_rng(0)
    for members in (np.flatnonzero(used & (y > 0)), np.flatnonzero(used & (y <= 0))):
        place[members] = rng.permutation(len(members)) / max(len(members), 1)
    return place


def _rungs(n_candidates: int, last: int, y: np.ndarray) -> Iterator[tuple[float, int]]:
    """Yield the share of each class that a rung takes, 1 in the last, and the number of candidates left after it."""
    rarer = 0.5 * (len(y) - abs(int(np.sign(y).sum())))
    first = max(LEAST_ROWS / len(y), LEAST_OF_CLASS / max(rarer, 1.0))
    n_rungs = 1 + math.ceil(math.log(n_candidates / last, MOST_STOPPED)) if first < 1.0 else 1
    for rung in range(n_rungs - 1):
        done = rung / (n_rungs - 1)
        yield first ** (1.0 - done), math.ceil(n_candidates * (last / n_candidates) ** ((rung + 1) / (n_rungs - 1)))
    yield 1.0, last
