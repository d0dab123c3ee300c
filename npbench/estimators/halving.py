"""Searches by successive halving: many candidates on few rows, the best of them on more, the last ones on all.

Jamieson and Talwalkar (2016, AISTATS 51). Rows of a rung are among those of the next, on the same side of every fold.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import chain
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.samples import rows_in
from npbench.evaluation.grids import Grids, Make, combinations
from npbench.evaluation.splits import Folds
from npbench.problem import NeymanPearson, Problem
from npbench.values import canonical

LEAST_ROWS, LEAST_OF_CLASS = 3000, 300  # of the first rung
MOST_STOPPED = 5.0  # factor by which the number of candidates may fall from a rung to the next
LAST = 2  # candidates that compete on all rows, unless a search says otherwise

Search = Callable[..., Selection]


class Candidates(dict[str, list[Any]]):
    """The grid of some combinations, which :func:`npbench.evaluation.grids.combinations` returns in place of all."""

    def __init__(self, chosen: list[dict[str, Any]]) -> None:
        self.chosen = chosen
        for name in chosen[0]:
            values = [one[name] for one in chosen]
            self[name] = [value for place, value in enumerate(values) if value not in values[:place]]


class _Singly:
    """A contest in which each candidate competes on its own; ``groups`` has the places of those that are left."""

    def __init__(self, candidates: list[dict[str, Any]]) -> None:
        self.groups = [[place] for place in range(len(candidates))]

    def made(self, make: Make[Any], share: float) -> Make[Any]:
        """Return what makes candidates for this share of the rows."""
        return make

    def keep(self, n_left: int, places: list[int], found: Selection, last: bool) -> None:
        """Keep the best groups after a search of the candidates in ``places``; ``last``: all rows come next."""
        self.groups = [[places[one]] for one in np.argsort(found.losses, kind="stable")[:n_left]]


class _ByCurve(_Singly):
    """A contest of groups of candidates that differ only in the second of two costs, cheap ones first.

    A group is judged by the misses at ``rho`` on straight lines between the rates of its candidates.
    """

    def __init__(self, candidates: list[dict[str, Any]], costs: Sequence[str], rho: float) -> None:
        self._costs, self._rho = costs, rho
        groups: dict[str, list[int]] = {}
        for place in sorted(range(len(candidates)), key=lambda one: candidates[one][costs[1]]):
            others = {name: value for name, value in candidates[place].items() if name != costs[1]}
            groups.setdefault(canonical(others), []).append(place)
        self.groups = list(groups.values())

    def made(self, make: Make[Any], share: float) -> Make[Any]:
        """Return what makes candidates with costs whose sum over these rows equals that over all rows."""

        def with_larger_costs(**params: Any) -> Any:
            model = make(**params)
            return model.set_params(**{name: getattr(model, name) / share for name in self._costs})

        return with_larger_costs

    def keep(self, n_left: int, places: list[int], found: Selection, last: bool) -> None:
        rates = dict(zip(places, found.rates, strict=True))
        misses = [self._misses([rates[one] for one in group]) for group in self.groups]
        best = [self.groups[one] for one in np.argsort(misses, kind="stable")[:n_left]]
        # a group goes on with the candidates next to rho, so many steps of the cost to each side
        steps = 1 if last else 2
        self.groups = []
        for group in best:
            n_above = sum(rates[one][1] > self._rho for one in group)
            first = max(0, min(n_above - steps, len(group) - 2 * steps - 1))
            self.groups.append(group[first : first + 2 * steps + 1])

    def _misses(self, rates: list[tuple[float, float]]) -> float:
        p_nd, p_fa = np.array([(1.0, 0.0), *rates, (0.0, 1.0)]).T
        order = np.argsort(p_fa, kind="stable")
        return float(np.interp(self._rho, p_fa[order], p_nd[order]))


def halved(
    limit: float | Callable[[Make[Any]], float], last: int = LAST, costs: Sequence[str] = ()
) -> Callable[[Search], Search]:
    """Return a decorator of grid searches, which then take rungs where rows times candidates exceed ``limit``.

    ``limit`` may be a function of ``make``; ``last`` candidates compete on all rows. The search has the parameters of
    :func:`npbench.evaluation.selection.grid_search`. The original is its ``__wrapped__``, and ``with_limit(limit)``
    the same with another limit. Losses are infinite for candidates that were stopped before the last rung. A
    candidate's ``require_rows(n_rows)``, if it has one, may refuse the samples of the final fit before the first one.

    ``costs`` names the costs of the positives and of the negatives where these alone decide on the false-alarm rate.
    With fewer rows and equal costs that rate differs, so the best candidates for all rows may look bad there. Hence
    costs are divided by the share of the rows, candidates that differ only in the second cost compete as one, and
    ``last`` is the number of such groups. The search has to return rates.
    """

    def decorate(whole: Search) -> Search:
        @wraps(whole)
        def search_in_rungs(
            make: Make[Any], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
        ) -> Selection:
            candidates = combinations(search)
            _require_rows(make, candidates, folds)
            contest = _Singly(candidates)
            if isinstance(problem, NeymanPearson) and not problem.ranks and {*costs[1:]} & {*search}:
                contest = _ByCurve(candidates, costs, problem.rho)
            used = np.zeros(len(y), bool)
            used[rows_in(folds)] = True
            most = limit(make) if callable(limit) else limit
            if len(contest.groups) <= last or len(candidates) * used.sum() <= most:
                return whole(make, X, y, folds, problem, search, n_threads)
            place, unconverged = _places(y, used), 0
            for share, n_left in _rungs(len(contest.groups), last, y[used]):
                kept = sorted(chain(*contest.groups))
                few, parts = Candidates([candidates[one] for one in kept]), _parts(folds, place, share)
                found = whole(contest.made(make, share), X, y, parts, problem, few, n_threads)
                unconverged += found.n_unconverged
                contest.keep(n_left, kept, found, n_left == last)
            losses = np.full(len(candidates), np.inf)
            losses[kept] = found.losses
            return replace(
                found, n_candidates=len(candidates), n_unconverged=unconverged, losses=losses.tolist(), rates=()
            )

        search_in_rungs.limit = limit  # type: ignore[attr-defined]
        search_in_rungs.with_limit = lambda limit: halved(limit, last, costs)(whole)  # type: ignore[attr-defined]
        return search_in_rungs

    return decorate


def _require_rows(make: Make[Any], candidates: list[dict[str, Any]], folds: Folds) -> None:
    """Let each candidate refuse the rows that any of the folds fits to, all of which the final fit takes."""
    if hasattr(make(**candidates[0]), "require_rows"):
        n_rows = len(rows_in([(fit, fit) for fit, _ in folds]))
        for params in candidates:
            make(**params).require_rows(n_rows)


def _parts(folds: Folds, place: np.ndarray, share: float) -> Folds:
    """Return the rows of a rung in each fold, without folds that would validate none, as those of single rows may."""
    parts = [(fit[place[fit] < share], validate[place[validate] < share]) for fit, validate in folds]
    return [fold for fold in parts if len(fold[1])]


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
