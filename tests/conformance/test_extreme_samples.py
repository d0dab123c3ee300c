"""Extreme samples: scores are finite, and flags and certificates are true."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from class_samples import extremes
from grids import diagonal
from solver_variants import solver

EXTREMES = extremes()
SETTINGS = {
    "ac_svm": [{"C_pos": 100, "C_neg": 100, "kernel": kernel, "random_state": 0} for kernel in ("linear", "rbf")],
    "asvm": [{"mu": 0.001, "tau": 0.001}, {"mu": 0.05, "tau": 0.95}],
    "auc_svm": [{"C": 1e-2}, {"C": 1e3}],
    "deep_top_push": [{"rho": rho, "hidden": 8, "max_iter": 5, "random_state": 0} for rho in (0.001, 0.1)],
    "greedy_pauc": [{"fpr_range": (0.02, 0.3), "n_intervals": 10}],
    "pat_mat_np": [{"rho": rho, "C": C} for rho in (0.001, 0.1) for C in (1e-2, 1e2)],
    "pauc_boost": [{"fpr_range": (0.0, 0.1), "max_iter": 10}],
    "pauc_dc": [{"fpr_range": (0.05, 0.3), "C": C} for C in (1e-2, 1e3)],
    "pauc_minimax": [{"fpr_range": span, "C": C} for span in ((0.0, 0.1), (0.05, 0.3)) for C in (1e-2, 1e3)],
    "pauc_sbcd": [
        {"fpr_range": span, "C": C, "max_iter": 2} for span in ((0.0, 0.1), (0.05, 0.3)) for C in (1e-2, 1e3)
    ],
    "pauc_struct": [
        *({"fpr_range": (0.0, 0.1), "C": C} for C in (1e-2, 1e3)),
        {"fpr_range": (0.05, 0.3), "C": 1e2},
        {"fpr_range": (0.9, 1.0), "C": 1e6},
    ],
    "sopa_s": [{"fpr_range": (0.0, 0.1), "hidden": 8, "max_iter": 5, "random_state": 0}],
    "svm_perf": [{"k_share": 0.5, "C": C} for C in (1e-2, 1e2)],
    "tau_fpl": [{"rho": rho, "C": C} for rho in (0.001, 0.1) for C in (1e-2, 1e2)],
    "two_nu_svm": [{"rho": 0.001, "strategy": "bs", "nu_pos": nu, "nu_neg": nu} for nu in (0.2, 1.0)],
}
CERTIFIED = ("auc_svm", "pat_mat_np", "pauc_struct", "svm_perf", "tau_fpl")
ILL_CONDITIONED = ("pauc_struct", "unscaled", 1e6)  # features of 1e-4 and 1e4 count alike: planes take 16 digits
CASES = [
    [
        (name, params, case)
        for case in EXTREMES
        if case != "two samples" or "fpr_range" not in params  # no negative would be in the range
    ]
    for name, several in SETTINGS.items()
    for params in several
]
ALSO = {
    "asvm": lambda model, _: model.status_ in {"converged", "flat", "constant"},
    "greedy_pauc": lambda model, _: model.objective_ >= model.trace_[0].objective - 1e-12,
    "pauc_boost": lambda model, _: model.objective_ > 0.5,
    "pauc_dc": lambda model, f: np.ptp(f) > 0 and model.objective_ <= model.C * (1 + 1e-9),
    "svm_perf": lambda model, f: np.sum(f > 0) <= model.k_,
}


@pytest.mark.parametrize(("name", "params", "case"), [*diagonal(CASES, every=14)])
def test_extreme_samples_have_true_flags(name, params, case):
    X, y = EXTREMES[case]
    hard = (name, case, params.get("C")) == ILL_CONDITIONED
    model = solver(name, **params, **({"max_iter": 100} if hard else {}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, y)
    f = model.decision_function(X)
    assert np.all(np.isfinite(f))
    assert model.converged_ == (not caught)
    assert ALSO.get(name, lambda *_: True)(model, f)
    if name in CERTIFIED:
        assert model.duality_gap_ >= 0
        assert (model.duality_gap_ <= 1.001e-3 * model.objective_) == (model.status_ != "max_iter")
        assert model.status_ in ({"max_iter"} if hard else {"converged", "collapsed", "flat"})
        assert model.objective_ < 0.1 * model.C or not hard
