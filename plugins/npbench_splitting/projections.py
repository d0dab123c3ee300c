"""Trace of the convergence of each projection in a fit."""

from __future__ import annotations

from typing import NamedTuple

from npbench_splitting.numerics.splitting import Result


class ProjectionStep(NamedTuple):
    """One step of one projection; ``gap`` is the largest violation of the constraints after it."""

    iteration: int
    inner: int
    gap: float


def gaps(result: Result) -> list[ProjectionStep]:
    """Return the steps of all projections in order; step 0 is the point projected."""
    return [
        ProjectionStep(iteration, inner, gap)
        for iteration, one in enumerate(result.gaps, start=1)
        for inner, gap in enumerate(one)
    ]
