"""Search of the AC-SVM against GridSearchCV over the same candidates; ratios are theirs / ours.

The grid has every third value of each parameter, 64 candidates; NPBENCH_WHOLE_GRID=1 takes all 1000, which keeps
GridSearchCV for minutes and gains more from warm starts. The certificate of a refit at the chosen candidate stands
beside that of LIBSVM at its tolerance of 1e-6.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from npbench.problem import NeymanPearson
from npbench_ac_svm.estimator import ACSVM
from npbench_ac_svm.selection import select

THINNED = slice(None, None, None if os.environ.get("NPBENCH_WHOLE_GRID") else 3)
COSTS = np.geomspace(0.01, 100, 10)[THINNED].tolist()
GAMMAS = np.geomspace(5e-5, 5e3, 10)[THINNED].tolist()
BARS = {"breast": 200, "pima": 200, "spambase": 100, "banana": 100}


@pytest.mark.parametrize("name", ["breast", "pima", "spambase", "banana"])
def test_selection(side_by_side: Callable[..., float], name: str, standardised: Callable[[str], Any]) -> None:
    X, y, split = standardised(name)
    weights = [{-1: C_neg, 1: C_pos} for C_neg in COSTS for C_pos in COSTS]
    theirs = GridSearchCV(SVC(C=1.0), {"class_weight": weights, "gamma": GAMMAS}, cv=split.folds, refit=False)
    search = {"C_neg": COSTS, "C_pos": COSTS, "gamma": GAMMAS}
    ours = partial(select, ACSVM, X, y, split.folds, NeymanPearson(0.05), search)
    chosen = ours().params
    model = ACSVM(tol=1e-6, **chosen).fit(X[split.train], y[split.train])
    libsvm = SVC(gamma=chosen["gamma"], class_weight={1: chosen["C_pos"], -1: chosen["C_neg"]}, tol=1e-6)
    dual = dual_value(libsvm.fit(X[split.train], y[split.train]), X[split.train])
    assert model.converged_
    assert model.objective_ - model.duality_gap_ >= dual * (1 - 1e-6)
    side_by_side(
        ours,
        partial(theirs.fit, X, y),
        what="AC-SVM, selection",
        size=f"{name}, {len(weights) * len(GAMMAS)} candidates (bar {BARS[name]} for 1000)",
        peer="GridSearchCV of SVC",
        quality=("dual value of the choice", model.objective_ - model.duality_gap_, dual),
        rounds=1,
    )


def dual_value(model: SVC, X: np.ndarray) -> float:
    x = model.dual_coef_[0]
    return float(np.abs(x).sum() - 0.5 * x @ (model.decision_function(X)[model.support_] - model.intercept_[0]))
