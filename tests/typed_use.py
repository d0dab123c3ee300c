"""How users call the public names: mypy checks this file together with the source, and nothing runs it.

``warn_unused_ignores`` makes each ``type: ignore`` a claim that mypy refuses the line.
"""

from typing import Any, assert_type

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

import npbench
import npbench.data
import npbench.testing

SCORES, LABELS, GROUPS = np.arange(400.0), np.repeat([0, 1], 200), ["a", "b"] * 200

one = npbench.threshold(SCORES, LABELS, rho=0.05)
assert_type(one, npbench.Threshold)
assert_type(one.value, float)
assert_type(npbench.threshold(SCORES, LABELS, by=None), npbench.Threshold)

several = npbench.threshold(SCORES, LABELS, by=GROUPS, recall=0.5)
assert_type(several, npbench.GroupThresholds)
assert_type(several.groups["a"].value, float)
_ = several.value  # type: ignore[attr-defined]


def either(by: list[str] | None) -> npbench.Threshold | npbench.GroupThresholds:
    return npbench.threshold(SCORES, LABELS, by=by)


npbench.threshold(SCORES, LABELS, row=0.05)  # type: ignore[call-overload]
_ = npbench.nothing  # type: ignore[attr-defined]
_ = npbench.data.nothing  # type: ignore[attr-defined]
_ = npbench.testing.nothing  # type: ignore[attr-defined]

model = npbench.solver("np_svm", rho=0.05)
assert_type(model.fit(SCORES[:, None], LABELS).decision_function(SCORES[:, None]), np.ndarray)
pipeline: BaseEstimator = model
assert_type(model.rho, Any)
npbench.solver(name="np_svm")  # type: ignore[call-arg]

assert_type(npbench.run(solver="gen"), pl.DataFrame)
assert_type(npbench.load_dataset("breast").y, np.ndarray)
metric = npbench.metrics.tpr_at_fpr
