"""Choices searched by ranking: their candidates fit, and their thresholds keep the bound where they are set."""

import numpy as np
import pytest

from npbench.evaluation.grids import combinations
from npbench.numerics.thresholds import RULES
from npbench.report.select.methods import choices
from npbench_scorer.estimator import Scorer
from selection_checks import X, Y

RANKED = {name: one for name, one in choices().items() if one.params.get("search_by") == "ranking"}
FEW_TREES = {"n_estimators": 10}


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*share the largest score")
@pytest.mark.parametrize("name", sorted(RANKED))
def test_candidates_fit(name):
    choice = RANKED[name]
    package = choice.params["estimator"].partition(".")[0]
    pytest.importorskip(
        {"pauc_gbdt": "lightgbm"}.get(package, package if "." in choice.params["estimator"] else "npbench")
    )
    candidates = combinations(choice.search)
    assert len(candidates) >= 3
    for candidate in (candidates[0], candidates[-1]):
        params = candidate["params"] | (FEW_TREES if "Forest" in choice.params["estimator"] else {})
        model = Scorer(**choice.params | {"params": params}, rho=0.1, random_state=0).fit(X, Y)
        given = model.estimators_[0].get_params()
        assert {key: given[key] for key in params} == params
        assert model.n_calibration_ == np.sum(Y < 0) / 2
        accepted = RULES[model.status_].accepted(model.n_calibration_, 0.1, 0.05)
        assert np.sum(model._fits[0].calibration_scores > model.thresholds_[0]) <= accepted
        assert np.isfinite(model.decision_function(X)).all()
