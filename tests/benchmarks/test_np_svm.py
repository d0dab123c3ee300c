"""Selection of the NP-SVM against GridSearchCV of SVC on its grid of 100 candidates; ratios are theirs / ours.

The bar is a ratio of 60. The certificate of a refit at the chosen candidate stands beside an accurate one: its last
convex step against the conditions of an optimum at a tolerance of 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from npbench.estimators.ramp_selection import select
from npbench.problem import NeymanPearson
from npbench_np_svm.estimator import NPSVM

SEARCH = {"C": np.geomspace(0.01, 100, 10).tolist(), "gamma": np.geomspace(5e-5, 5e3, 10).tolist()}
BAR = 60


@pytest.mark.parametrize("name", ["breast", "pima", "spambase", "banana"])
def test_selection(side_by_side: Callable[..., float], name: str, standardised: Callable[[str], Any]) -> None:
    X, y, split = standardised(name)
    ours = partial(select, NPSVM, X, y, split.folds, NeymanPearson(0.05), SEARCH)
    theirs = GridSearchCV(SVC(), SEARCH, cv=split.folds, refit=False)
    chosen = ours().params
    model, accurate = (NPSVM(tol=tol, **chosen).fit(X[split.train], y[split.train]) for tol in (1e-3, 1e-6))
    assert model.converged_
    assert model.objective_ == pytest.approx(accurate.objective_, rel=0.05)  # the bounds differ by up to two epsilon
    assert model.duality_gap_ <= 1e-3 * model.objective_
    side_by_side(
        ours,
        partial(theirs.fit, X, y),
        what="NP-SVM, selection",
        size=f"{name}, 100 candidates (bar {BAR})",
        peer="GridSearchCV of SVC",
        quality=("objective of the choice", model.objective_, accurate.objective_),
        rounds=3 if len(y) < 1000 else 1,
    )
