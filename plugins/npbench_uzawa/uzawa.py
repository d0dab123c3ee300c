"""Uzawa's algorithm: a whole minimisation for each update of the multiplier.

For a fixed multiplier the Lagrangian is minimised by the DC algorithm from no flat samples to its end (Gasso,
Pappaioannou, Spivak and Bottou 2011, Algorithm 2); then the multiplier moves (Algorithm 1). The annealed search moves
it after every convex step.
"""

from __future__ import annotations

import numpy as np

from npbench.numerics.multiplier_search import Iterate, SearchResult, SearchState, Status
from npbench.numerics.multipliers import RateBound, Update
from npbench.numerics.ramp_svm import RampSVM


def uzawa(
    svm: RampSVM, constraint: RateBound, C: float, nu: float, epsilon: float, max_iter: int, update: Update = "secant"
) -> SearchResult:
    """Alternate minimisations of the Lagrangian with updates of the multiplier until ``|rate - bound| <= epsilon``.

    As :func:`npbench.numerics.multiplier_search.anneal`; ``max_iter`` counts convex steps, the unit of cost.
    """
    search = SearchState(svm, C, constraint, epsilon, max_iter)
    multiplier = search.multiplier(update, nu)
    while True:
        reached = _minimise(search, multiplier.value)
        if isinstance(reached, str):
            return search.end(reached)
        ended = search.ended(reached.rate, multiplier)
        if ended is None:
            multiplier.update(reached.rate, reached.gradient)
            if multiplier.closed:
                return search.end("jump")
        elif search.confirms(ended):
            return search.end(ended)


def _minimise(search: SearchState, multiplier: float) -> Iterate | Status:
    """Take convex steps until the flat samples repeat; return the last iterate, or why the search stopped before."""
    flat = np.zeros(len(search.svm.y), dtype=bool)
    while (stopped := search.stopped) is None:
        reached = search.step(multiplier, flat)
        before, flat = flat, search.svm.flat()
        if np.array_equal(flat, before):
            return reached
    return stopped
