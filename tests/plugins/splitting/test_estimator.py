"""Outer-approximation splitting as a scikit-learn estimator: its problem, its inputs, and what it says of both."""

import json
import re

import cvxpy as cp
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import npbench
from class_samples import gaussians
from npbench import cli
from npbench_splitting.estimator import SplittingNP
from npbench_splitting.genes import GeneScore
from npbench_splitting.numerics.calibrated import LOSSES
from npbench_splitting.numerics.constraints import Ball, GroupBound
from splitting_reference import conic as reference

X, Y = gaussians(160, share=0.6, d=4)
GROUPS = np.where(X[:, 1] > 0.2, "high", "low")


def logistic(margins):
    return np.logaddexp(0.0, -margins)


def conic(X, y, tau, intercept=True, max_norm=None, groups=None):
    """Return the least phi_pos by an interior-point solver, with w and b."""
    d, negatives = X.shape[1], GROUPS[y < 0]
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    ball = None if max_norm is None else Ball(max_norm, np.arange(d))
    bounds = [GroupBound(np.flatnonzero(negatives == name), bound) for name, bound in (groups or {}).items()]
    _, value, w = reference(X[y > 0], X[y < 0], LOSSES["logistic"], tau, bounds, ball)
    return value, w[:d], w[d] if intercept else 0.0


BEST = conic(X, Y, 0.3)[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    st.sampled_from([1e-8, 1e-7, 1e-3, 1.0, 1e3, 1e8]),
    st.sampled_from([0.0, 1.0, 1e3, 1e5, -1e6, 1e8]),
    st.sampled_from(["newton", "nesterov", "none"]),
    st.sampled_from([np.asarray, sp.csr_array]),
    st.booleans(),
)
def test_convergence_is_true_at_any_scale_and_offset(scale, offset, accelerate, storage, one_feature):
    factors = np.where(np.arange(4) == 2, scale, 1.0) if one_feature else scale
    Z = factors * (np.round(1024 * X) / 1024 + offset)  # the offset changes no digit
    model = SplittingNP(tau=0.3, accelerate=accelerate, inner=30, max_iter=100).fit(storage(Z), Y)
    f = model.decision_function(Z)
    risks = logistic(f[Y > 0]).mean(), logistic(-f[Y < 0]).mean()
    assert model.surrogate_rates_ == pytest.approx(risks, rel=1e-6)
    assert model.converged_ or (accelerate != "newton" and scale != 1.0) or (storage is sp.csr_array and offset)
    if model.converged_:
        assert model.objective_ == pytest.approx(BEST, rel=1e-5)
        assert model.surrogate_rates_[1] <= 0.3 * (1 + 1e-6)


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("accelerate", ["newton", "nesterov"])
def test_convergence_is_true_without_intercept(offset, accelerate):
    Z = X + offset
    model = SplittingNP(tau=0.68, fit_intercept=False, accelerate=accelerate, inner=30, max_iter=200).fit(Z, Y)
    assert model.converged_ or offset
    if model.converged_:
        coordinates, _ = np.linalg.qr(Z)  # the same problem for the conic solver
        best = conic(coordinates * np.sqrt(len(Z)), Y, 0.68, intercept=False)[0]
        assert model.objective_ == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(
    ("params", "reference"),
    [
        ({}, {}),
        ({"tau": 0.68, "fit_intercept": False}, {"tau": 0.68, "intercept": False}),
        ({"max_norm": 0.7}, {"max_norm": 0.7}),
        ({"max_norm": 100.0}, {}),
    ],
)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_equals_the_conic_solver(params, reference, storage):
    model = SplittingNP(rho=0.3, tol=1e-9, **params).fit(storage(X), Y)
    value, w, b = conic(X, Y, **{"tau": 0.3} | reference)
    assert (model.converged_, model.status_) == (True, "converged")
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    assert model.intercept_[0] == pytest.approx(b, abs=1e-4)
    assert model.kkt_residual_ <= 1e-9
    scores = model.decision_function(storage(X))
    np.testing.assert_allclose(model.surrogate_loss(scores), logistic(scores))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_each_group_has_its_bound(storage):
    bounds = {"high": 0.25, "low": 0.25}
    model = SplittingNP(rho=0.4, group_tau=0.25, tol=1e-9).fit(storage(X), Y, groups=GROUPS)
    value, w, _ = conic(X, Y, 0.4, groups=bounds)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    scores = model.decision_function(X)
    for group, multiplier in model.group_multipliers_.items():
        risk = logistic(-scores[(Y < 0) & (group == GROUPS)]).mean()
        assert risk <= 0.25 + 1e-8
        assert multiplier >= 0
        assert multiplier * (0.25 - risk) == pytest.approx(0.0, abs=1e-6)
    assert set(model.group_multipliers_) == {"high", "low"}
    assert max(model.group_multipliers_.values()) > 0.1
    assert model.multiplier_ == pytest.approx(0.0, abs=1e-6)  # 0.4 is kept when both groups are at 0.25


def test_default_group_bound():
    only_positives = np.where((Y > 0) & (np.arange(len(Y)) < 20), "none", GROUPS)
    model = SplittingNP(rho=0.3).fit(X, Y, groups=only_positives)
    assert set(model.group_multipliers_) == {"high", "low"}
    scores = model.decision_function(X)
    for group in ("high", "low"):
        assert logistic(-scores[(Y < 0) & (group == GROUPS)]).mean() <= 0.3 + 1e-7
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SplittingNP().fit(X, Y, groups=GROUPS[:-1])


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (np.column_stack([GROUPS, GROUPS]), "1d array"),
        (np.where(np.arange(len(Y)) % 2, GROUPS.astype(object), None), "numbers and strings"),
        (np.full(len(Y), np.nan), "contains NaN"),
    ],
)
def test_invalid_groups_are_refused(groups, said):
    with pytest.raises(ValueError, match=said):
        SplittingNP(rho=0.3).fit(X, Y, groups=groups)


@pytest.mark.parametrize("name", ["tau", "group_tau"])
@pytest.mark.parametrize("value", [0.0, -0.1])
def test_negative_bound_is_refused_except_for_the_hinge(name, value):
    with pytest.raises(ValueError, match=f"{name} is .*matsusita"):
        SplittingNP(**{name: value}, loss="matsusita").fit(X, Y, groups=GROUPS)
    assert SplittingNP(tau=-0.1, loss="hinge", max_norm=1.0).fit(X, Y).converged_


def test_groups_go_through_a_pipeline():
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), SplittingNP(rho=0.3).set_fit_request(groups=True))
        routed.fit(X, Y, groups=GROUPS)
    assert set(routed[-1].group_multipliers_) == {"high", "low"}


def test_multipliers_are_the_price_of_their_bounds():
    """By the envelope theorem: finite differences of the least phi_pos in tau and in the radius."""
    fitted = SplittingNP(tau=0.3, max_norm=0.5, tol=1e-10).fit(X, Y)
    for name, multiplier in (("tau", fitted.multiplier_), ("max_norm", fitted.norm_multiplier_)):
        settings = [fitted.get_params() | {name: getattr(fitted, name) + change} for change in (-1e-4, 1e-4)]
        below, above = (SplittingNP(**one).fit(X, Y).objective_ for one in settings)
        assert multiplier > 0
        assert (below - above) / 2e-4 == pytest.approx(multiplier, rel=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "matsusita"])
def test_tau_of_rho_times_phi_0_guarantees_rho_in_training(loss):
    for rho in (0.02, 0.1, 0.3):
        model = SplittingNP(tau=rho * LOSSES[loss].at_zero, loss=loss).fit(X, Y)
        assert np.mean(model.decision_function(X[Y < 0]) >= 0) <= rho


@pytest.mark.parametrize("loss", ["logistic", "matsusita", "hinge"])
def test_probabilities_are_the_posterior_of_the_loss(loss):
    model = SplittingNP(loss=loss, tau=-0.05 if loss == "hinge" else 0.3).fit(X, Y)
    far = 1e6 * np.sign(X)
    for Z in (X, far):
        f, p = model.decision_function(Z), model.predict_proba(Z)
        posterior = {
            "logistic": 1 / (1 + np.exp(-np.clip(f, -700, 700))),
            "matsusita": (1 + f / np.sqrt(1 + f**2)) / 2,
            "hinge": (1 + f / (1 + np.abs(f))) / 2,
        }[loss]
        np.testing.assert_allclose(p[:, 1], posterior, atol=1e-12)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(Z))


def test_odds_times_multiplier_match_the_sample():
    """Gaussian classes of equal covariance have the posterior 1 / (1 + exp(-f)) at the odds 1 : multiplier."""
    Z, z = gaussians(60_000, share=0.5, shift=1.0, d=2, seed=3)
    model = SplittingNP(rho=0.25).fit(Z, z)
    p = model.predict_proba(Z)[:, 1]
    odds = p / (1 - p) * model.multiplier_  # the shares of the classes are equal here
    corrected = odds / (1 + odds)
    for low in np.arange(0.1, 0.9, 0.1):
        here = (corrected >= low) & (corrected < low + 0.1)
        assert np.mean(z[here] > 0) == pytest.approx(corrected[here].mean(), abs=0.03)


def test_stages_are_the_iterates_from_the_start_to_the_end():
    model = SplittingNP(rho=0.3, keep="iterates", n_features_to_select=3).fit(X, Y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.trace_) == model.n_iter_ + 1
    np.testing.assert_allclose(stages[-1], model.decision_function(X), rtol=0, atol=1e-12)
    for scores, step in zip(stages, model.trace_, strict=True):
        assert step.objective == pytest.approx(logistic(scores[Y > 0]).mean(), abs=1e-12)
        assert step.surrogate_p_fa == pytest.approx(logistic(-scores[Y < 0]).mean(), abs=1e-12)
    assert not hasattr(SplittingNP().fit(X, Y), "staged_decision_function")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_projections_are_traced_step_by_step():
    params = {"rho": 0.3, "accelerate": "none", "max_iter": 30, "inner": 12}
    model, other = SplittingNP(keep="projections", **params).fit(X, Y), SplittingNP(**params).fit(X, Y)
    assert np.array_equal(model.coef_, other.coef_)
    assert [step.iteration for step in model.trace_ if step.inner == 0] == list(range(1, 31))
    assert max(step.inner for step in model.trace_) <= 12
    gaps = [step.gap for step in model.trace_ if step.iteration == 1]
    assert gaps[0] > 1e-3
    assert gaps[-1] <= 1e-9


@pytest.mark.parametrize(("accelerate", "tol"), [("newton", 1e-8), ("nesterov", 1e-5)])
def test_a_warm_start_gives_the_same_answer_in_fewer_iterations(accelerate, tol):
    far = X + np.array([1e6, 0.0, -30.0, 5.0])
    params = {"accelerate": accelerate, "tol": tol, "inner": 30}
    model = SplittingNP(tau=0.28, warm_start=True, keep="iterates", **params).fit(far, Y)
    cold = SplittingNP(tau=0.3, **params).fit(X, Y)
    warm = model.set_params(tau=0.3).fit(far, Y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=0.01)
    np.testing.assert_allclose(list(warm.staged_decision_function(far))[-1], warm.decision_function(far), atol=1e-8)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-3 if accelerate == "nesterov" else 1e-6)
    assert warm.n_iter_ < cold.n_iter_
    assert model.fit(far, Y).n_iter_ <= 2
    model.set_params(inner="summable").fit(X[:, :3], Y)  # another number of features: from scratch
    assert model.coef_.shape == (1, 3)


def test_features_are_selected_on_the_training_sample():
    rng = np.random.default_rng(4)
    Z = np.hstack([rng.normal(size=(len(Y), 30)), X])
    model = SplittingNP(rho=0.3, n_features_to_select=4).fit(Z, Y)
    chosen = GeneScore(n_features_to_select=4).fit(Z, Y).get_support()
    assert np.array_equal(model.coef_[0] != 0, chosen)
    alone = SplittingNP(rho=0.3).fit(Z[:, chosen], Y)
    np.testing.assert_allclose(model.decision_function(Z), alone.decision_function(Z[:, chosen]), atol=1e-12)
    sparse = SplittingNP(rho=0.3, n_features_to_select=4).fit(sp.csr_array(Z), Y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("params", [{"fit_intercept": False}, {"max_norm": 0.2, "fit_intercept": False}])
def test_infeasible_bound_names_the_least_reachable_value(params):
    w = cp.Variable(X.shape[1])
    ball = [cp.norm(w) <= params["max_norm"]] if "max_norm" in params else []
    least = cp.Problem(cp.Minimize(cp.sum(cp.logistic(X[Y < 0] @ w)) / np.sum(Y < 0)), ball).solve(solver=cp.CLARABEL)
    with pytest.raises(ValueError, match="No weights meet the bounds") as raised:
        SplittingNP(tau=0.99 * least, **params).fit(X, Y)
    (reachable,) = re.findall(r"for all negatives is ([\d.]+),", str(raised.value))
    assert float(reachable) == pytest.approx(least, rel=1e-5)
    assert "fit_intercept=True" in str(raised.value)
    assert ("raise max_norm" in str(raised.value)) == ("max_norm" in params)
    assert SplittingNP(tau=1.01 * least, **params).fit(X, Y).converged_


def test_infeasible_group_is_named():
    v = cp.Variable(X.shape[1])
    rows = (Y < 0) & (GROUPS == "low")
    least = cp.Problem(cp.Minimize(cp.sum(cp.logistic(X[rows] @ v)) / rows.sum())).solve(solver=cp.CLARABEL)
    with pytest.raises(ValueError, match=r"group 'low' is [\d.]+, above the bound") as raised:
        SplittingNP(tau=0.9, group_tau=0.9 * least, fit_intercept=False).fit(X, Y, np.where(rows, "low", "any"))
    assert float(re.findall(r"'low' is ([\d.]+),", str(raised.value))[0]) == pytest.approx(least, rel=1e-4)


CUTS = [{"feature": 1, "above": 0.2, "tau": 0.27}, {"feature": 1, "at_most": 0.2}]


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_constraints_bound_the_groups_that_a_feature_makes(storage):
    model = SplittingNP(rho=0.3, group_tau=0.31, constraints=CUTS, tol=1e-9).fit(storage(X), Y)
    value, w, _ = conic(X, Y, 0.3, groups={"high": 0.27, "low": 0.31})
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    f = model.decision_function(X)
    of_groups = {name: logistic(-f[(Y < 0) & (name == GROUPS)]).mean() for name in ("high", "low")}
    assert of_groups["high"] == pytest.approx(0.27, rel=1e-6)
    assert of_groups["low"] <= 0.31 * (1 + 1e-9)
    assert list(model.group_multipliers_) == ["feature 1 > 0.2", "feature 1 <= 0.2"]
    assert min(model.group_multipliers_.values()) > 0.01
    far = {"feature": 0, "above": 5.0, "at_most": 6.0, "tau": 1e-3}  # no negative is there
    other = SplittingNP(rho=0.3, constraints=[*CUTS, far], group_tau=0.31, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-5)


def test_constraints_add_to_groups_and_are_named_if_infeasible():
    params = {"tau": 0.9, "group_tau": 0.8, "fit_intercept": False}
    model = SplittingNP(constraints=[{"feature": 3, "at_most": 0}], **params).fit(X, Y, groups=GROUPS)
    assert set(model.group_multipliers_) == {"high", "low", "feature 3 <= 0"}
    with pytest.raises(ValueError, match=r"'feature 1 > 0.2' is [\d.]+, above the bound of 0.01"):
        SplittingNP(max_norm=0.1, constraints=[{"feature": 1, "above": 0.2, "tau": 0.01}], **params).fit(X, Y)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({"feature": 0}, r"constraints\[0\] is {'feature': 0}: .*above"),
        ({"above": 0.0}, "feature"),
        ({"feature": 0, "below": 1.0, "above": 0.0}, "below.*at_most"),
        ({"feature": 0, "above": "high"}, "above 'high'"),
        ({"feature": 0.5, "above": 0.0}, "0.5.*number of a column"),
        ({"feature": 4, "above": 0.0}, "feature 4, but X has 4"),
        ({"feature": 0, "above": 0.0, "tau": -0.1}, r"constraints\[0\]: tau is -0.1"),
        (3, "is 3"),
    ],
)
def test_unusable_constraints_are_refused(constraint, message):
    with pytest.raises(ValueError, match=message):
        SplittingNP(constraints=[constraint]).fit(X, Y)


@pytest.mark.slow  # three runs; constraints reach the estimator, and words a solver, in every run
def test_the_command_line_takes_constraints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["solver=splitting", "dataset=breast", "repeats=1", "execution.n_jobs=1"]
    cut = "solver.constraints=[{feature: 2, above: 0.5, tau: 0.02}]"

    def exit_code(*words):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        return ended.value.code

    assert exit_code(*words, cut) == exit_code(*words) == 0
    (one, other) = npbench.load_records("results").sort(pl.col("params").str.len_bytes())["params"]
    assert "constraints" not in one or '"constraints":null' in one
    assert json.loads(other)["constraints"] == [{"feature": 2, "above": 0.5, "tau": 0.02}]
    risks = npbench.load_records("results").sort(pl.col("params").str.len_bytes())["objective"]
    assert risks[1] > risks[0]  # the constraint costs something
    assert exit_code(*words, "solver.constraints=[{feature: 2, about: 0.5}]") != 0
    assert "constraints[0] is" in capsys.readouterr().err


def test_separable_classes_warn():
    Z = X + 20 * Y[:, None]
    with pytest.warns(ConvergenceWarning, match="Set max_norm"):
        model = SplittingNP().fit(Z, Y)
    assert (model.converged_, model.status_) == (True, "unattained")
    assert model.score(Z, Y) == 1.0
    assert SplittingNP(max_norm=1.0).fit(Z, Y).status_ == "converged"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rho", [0.001, 0.5])
@pytest.mark.parametrize("kind", ["few negatives", "duplicates", "constant", "wide", "unscaled", "all equal"])
def test_extreme_samples_are_fitted_or_refused(rho, kind):
    Z, z = {
        "few negatives": (np.vstack([X[Y > 0], X[Y < 0][:20]]), np.repeat([1, -1], [np.sum(Y > 0), 20])),
        "duplicates": (np.repeat(X[::8], 8, axis=0), np.repeat(Y[::8], 8)),
        "constant": (np.hstack([X, np.full((len(X), 2), 3.0)]), Y),
        "wide": (np.random.default_rng(0).normal(size=(40, 400)), np.repeat([1, -1], 20)),
        "unscaled": (X * [1e-3, 1.0, 1e3, 1e5], Y),
        "all equal": (np.ones_like(X), Y),
    }[kind]
    model = SplittingNP(rho=rho).fit(Z, z)
    assert np.all(np.isfinite(model.decision_function(Z)))
    assert model.surrogate_rates_[1] <= rho * (1 + 1e-5)
    assert np.mean(model.decision_function(Z[z < 0]) >= 0) <= rho / np.log(2)
