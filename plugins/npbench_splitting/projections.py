"""How each projection of a fit converged, as a trace."""

from __future__ import annotations

from typing import NamedTuple

from npbench_splitting.numerics.splitting import Result


class ProjectionStep(NamedTuple):
    """One step of one projection: by how much the constraints are exceeded after it, at most."""

    iteration: int
    inner: int
    gap: float


def gaps(result: Result) -> list[ProjectionStep]:
    """Return the steps of all projections in turn; step 0 is the point projected."""
    return [
        ProjectionStep(iteration, inner, gap)
        for iteration, one in enumerate(result.gaps, start=1)
        for inner, gap in enumerate(one)
    ]
