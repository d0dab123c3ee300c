"""Model selection for outer-approximation splitting: each tau starts from the solution for the smaller tau."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from npbench.contracts import Selection
from npbench.estimators.warm_start_selection import select_along
from npbench.evaluation.grids import Grids, Make
from npbench.evaluation.splits import Folds
from npbench.problem import Problem
from npbench_splitting.estimator import SplittingNP


def select(
    make: Make[SplittingNP], X: Any, y: np.ndarray, folds: Folds, problem: Problem, search: Grids, n_threads: int = 1
) -> Selection:
    """Choose parameters as :func:`npbench.evaluation.selection.grid_search` does, with warm starts along tau."""

    def path(params: Mapping[str, Any], taus: Sequence[float], X: Any, y: np.ndarray) -> Iterator[SplittingNP]:
        model = make(**params, warm_start=True)
        for tau in taus:  # ascending: weights that meet a bound meet the next one
            yield model.set_params(tau=tau).fit(X, y)

    # One path at a time: threads of Newton steps would compete for the cores of BLAS.
    return select_along("tau", path, make, X, y, folds, problem, search)
