"""The SVM path as a scikit-learn estimator: what is chosen, what is fitted, and how it runs as a solver."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from npbench.numerics.rates import rates
from npbench.problem import Cost, NeymanPearson
from npbench_svm_path.estimator import SVMPath
from npbench_svm_path.selection import select

FAST = {"n_asymmetries": 49, "random_state": 0}


def sample(n=150, share=0.4, shift=1.5, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < round(share * n), 1, -1)
    return rng.normal(size=(n, d)) * np.where(y > 0, 1.5, 1.0)[:, None] + shift * (y > 0)[:, None] / np.sqrt(d), y


X, Y = sample()
Z = sample(60, seed=1)[0]


def scores(model, S=X):
    return model.decision_function(S)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize(("total", "asymmetry"), [(0.2, 0.3), (2.0, 0.9), (5.0, 0.01)])
def test_classifier_one_equals_libsvm(kernel, total, asymmetry):
    options = {"kernel": kernel, "gamma": 0.3, "coef0": 1.0, "degree": 2}
    model = SVMPath(classifier="one", total=total, asymmetry=asymmetry, **options).fit(X, Y)
    libsvm = SVC(C=1.0, class_weight={1: model.C_pos_, -1: model.C_neg_}, tol=1e-6, **options).fit(X, Y)
    assert (model.C_pos_, model.C_neg_) == pytest.approx((total * asymmetry, total * (1 - asymmetry)))
    f_0, g_0 = scores(model, Z) - model.intercept_, scores(libsvm, Z) - libsvm.intercept_
    np.testing.assert_allclose(f_0, g_0, atol=1e-4 * max(1.0, np.abs(g_0).max()))
    alpha = np.abs(libsvm.dual_coef_[0])
    norm = libsvm.dual_coef_[0] @ (scores(libsvm)[libsvm.support_] - libsvm.intercept_)
    assert model.objective_ == pytest.approx(alpha.sum() - 0.5 * norm, rel=1e-6)
    assert abs(model.duality_gap_) <= 1e-8 * model.objective_
    assert model.status_ == "converged"
    assert model.converged_
    assert model.n_iter_ == len(model.path_.costs)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "options", [{}, {"rho": 0.1}, {"kernel": "rbf", "rho": 0.05}, {"asymmetry": 0.1, "total": 0.5}]
)
def test_refit_with_the_choice_gives_the_same_classifier(options):
    model = SVMPath(**options, **FAST).fit(X, Y)
    chosen = {"total": model.total_, "train_asymmetry": model.train_asymmetry_, "shift": model.shift_}
    again = SVMPath(**{**options, **chosen}).fit(X, Y)
    np.testing.assert_allclose(scores(again, Z), scores(model, Z), atol=1e-8)
    (stage,) = again.trace_
    assert stage[2:5] == tuple(chosen.values())


@pytest.mark.parametrize(("options", "level"), [({}, 1), ({}, 1e-3), ({"rho": 0.1}, 0.05)])
def test_intercept_alone_is_chosen_for_a_training_asymmetry(options, level):
    given = {"total": 1.0, "train_asymmetry": 0.7, "asymmetry": 0.2, "level": level, **options, **FAST}
    model = SVMPath(**given, shift=None).fit(X, Y)
    assert (model.train_asymmetry_, model.total_) == (0.7, 1.0)
    held_out, plain = [], SVMPath(**given)
    for fit, rest in model.folds(X, Y):
        held_out.append((Y[rest], scores(plain.fit(X[fit], Y[fit]), X[rest])))
    problem = NeymanPearson(0.1) if options else Cost(0.2)
    if level < 0.01:  # ten folds cannot show this significance
        assert model.shift_ == 0
        return
    losses = [problem.loss([(y, f + t) for y, f in held_out]) for t in np.linspace(-3, 3, 1001)]
    assert problem.loss([(y, f + model.shift_) for y, f in held_out]) <= min(losses) + 1e-9
    again = SVMPath(**{**given, "shift": model.shift_}).fit(X, Y)
    np.testing.assert_allclose(scores(again, Z), scores(model, Z), atol=1e-8)


@pytest.mark.slow  # three paths of 600 samples; choices are compared with all others in test_choice.py
def test_better_intercept_or_asymmetry_is_chosen():
    # Bimodal: the minimiser of the hinge loss is pulled by a far group, as in figure 4 of the paper.
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [9.0, 1.0], [0.0, 3.0], [-9.0, 2.0]])
    S = np.concatenate([rng.normal(size=(150, 2)) + centre for centre in centres])
    y = np.repeat([1, 1, -1, -1], 150)
    costs = {}
    test = np.concatenate([rng.normal(size=(500, 2)) + centre for centre in centres])
    truth = np.repeat([1, 1, -1, -1], 500)
    for kind in ("one", "int", "all"):
        model = SVMPath(classifier=kind, total=2.0, asymmetry=0.2, **FAST).fit(S, y)
        costs[kind] = Cost(0.2).loss([(truth, scores(model, test))])
    assert costs["all"] <= costs["int"] + 0.01
    assert costs["all"] <= costs["one"] + 0.01


def test_stages_are_the_classifiers_of_the_trace():
    model = SVMPath(total=1.0, asymmetry=0.3, stages="asymmetries", **FAST).fit(X, Y)
    assert len(model.trace_) == 3 * 49  # 0.3 is 15/50
    stages = list(model.staged_decision_function(Z))
    for stage, found in list(zip(model.trace_, stages, strict=True))[::17]:
        alone = SVMPath(total=stage.total, train_asymmetry=stage.train_asymmetry, shift=stage.shift).fit(X, Y)
        np.testing.assert_allclose(found, scores(alone, Z), atol=1e-8)
    ones = [stage for stage in model.trace_ if stage.kind == 0]
    assert all(stage.asymmetry == stage.train_asymmetry and stage.shift == 0 and stage.kept for stage in ones)
    for stage in model.trace_[49:]:
        if not stage.kept:
            assert (stage.train_asymmetry, stage.shift) == (stage.asymmetry, 0)


def test_what_is_asked_is_among_the_stages():
    every = SVMPath(total=1.0, asymmetry=0.3, stages="asymmetries", **FAST).fit(X, Y)
    model = SVMPath(total=1.0, asymmetry=0.3, **FAST).fit(X, Y)
    assert [stage for stage in every.trace_ if stage.asymmetry == 0.3] == model.trace_
    np.testing.assert_array_equal(scores(every), scores(model))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_points_of_the_curves_are_stages(kernel):
    model = SVMPath(total=1.0, stages="roc", kernel=kernel, **FAST).fit(X, Y)
    points = np.array([rates(Y, found) for found in model.staged_decision_function(X)])
    kinds = np.array([stage.kind for stage in model.trace_])
    assert np.sum(kinds == 0) == 49
    assert np.all(np.isfinite(points))
    intercepts = points[kinds == 1]
    assert np.all(np.diff(intercepts[:, 1]) >= 0)  # false alarms, as the threshold falls
    assert np.all(np.diff(intercepts[:, 0]) <= 0)
    np.testing.assert_array_equal(intercepts[[0, -1]], [[1, 0], [0, 1]])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("classifier", ["int", "all"])
def test_a_bound_is_met_on_left_out_samples(classifier):
    S, y = sample(600, seed=5)
    model = SVMPath(classifier=classifier, rho=0.1, total=0.5, **FAST).fit(S, y)
    T, truth = sample(4000, seed=6)
    p_nd, p_fa = rates(truth, scores(model, T))
    assert p_fa == pytest.approx(0.1, abs=0.04)
    assert p_nd < 0.6


def test_smallest_of_tied_totals():
    # Every total separates these classes, so that all are tied: 1e-3 to 1e2, over the variance.
    S, y = sample(shift=8.0)
    options = {"ratios": (), "classifier": "one", **FAST}
    totals = [SVMPath(tied_total=tied, **options).fit(S, y).total_ for tied in ("smallest", "middle")]
    np.testing.assert_allclose(np.array(totals) * S.var(axis=0).sum(), [1e-3, 10**-0.5])


@pytest.mark.slow  # explores two paths; the main line is searched in every run
def test_lines_beside_the_explored_one_compete():
    model = SVMPath(rho=0.1, **FAST).fit(X, Y)
    main = model.trace_[0].total
    assert model.trace_[1].total == main
    assert round(np.log10(model.trace_[2].total / main)) in (-2, -1, 0, 1, 2)
    alone = SVMPath(rho=0.1, ratios=(), **FAST).fit(X, Y)
    assert {stage.total for stage in alone.trace_} == {main}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"train_asymmetry": 0.5}, "train_asymmetry is set without total"),
        ({"rho": 0.1, "stages": "asymmetries"}, "asymmetries.*rho"),
        ({"total": 1.0, "train_asymmetry": 0.5, "shift": None, "stages": "asymmetries"}, "train_asymmetry"),
        ({"kernel": "rbf", "cache_size": 0.01}, "cache_size.* ac_svm"),
        ({"max_rows": 149}, "max_rows=149.* np_svm_linear"),
        ({"total": 1.0, "shift": 0.5}, "shift=0.5"),
        ({"ratios": [10, -1]}, "ratios is \\[10, -1\\]"),
        ({"ratios": ["ten"]}, "ratios is \\['ten'\\]"),
        ({"cv": [(np.flatnonzero(Y > 0), np.flatnonzero(Y < 0))]}, "one class"),
    ],
)
def test_impossible_requests_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        SVMPath(**options).fit(X, Y)


def test_matrices_that_are_not_positive_semi_definite_are_refused():
    model = SVMPath(kernel="precomputed", total=1.0, train_asymmetry=0.5)
    for change in (np.negative, np.triu):
        with pytest.raises(ValueError, match="positive semi-definite"):
            model.fit(change(X @ X.T), Y)
    K = np.random.default_rng(0).normal(size=(150, 150))
    K += K.T
    np.fill_diagonal(K, 1.0)
    with pytest.raises(ArithmeticError, match="must be positive semi-definite"):
        model.fit(K, Y)


def test_class_of_one_sample_needs_fixed_costs():
    y = np.where(np.arange(150) == 0, 1, -1)
    with pytest.raises(ValueError, match="only one sample"):
        SVMPath().fit(X, y)
    assert SVMPath(total=1.0, train_asymmetry=0.99).fit(X, y).converged_


def folds_of(n, k):
    parts = np.array_split(np.random.default_rng(0).permutation(n), k)
    return [(np.setdiff1d(np.arange(n), part), part) for part in parts]


def maker(**fixed):
    return lambda **params: SVMPath(**{**FAST, **fixed, **params})


def test_selection_takes_the_folds_it_is_given_and_settles_everything():
    folds = folds_of(150, 6)
    found = select(maker(rho=0.1, total=0.5), X, Y, folds, NeymanPearson(0.1), {})
    search = maker(rho=0.1, total=0.5)().choose(X, Y.astype(float), folds)
    assert found.params == search.params
    assert list(found.trace) == search.stages
    assert found.loss == NeymanPearson(0.1).loss(search.scored)
    assert not maker(**{"rho": 0.1, **found.params})().searches
    assert maker(rho=0.1, total=0.5, cv=folds)().fit(X, Y).trace_ == search.stages


def test_selection_searches_the_kernel_too():
    grid = {"gamma": [1e-3, 0.1, 50.0]}
    folds = folds_of(150, 6)
    found = select(maker(kernel="rbf", total=2.0, asymmetry=0.3), X, Y, folds, Cost(0.3), grid)
    assert len(found.losses) == 3
    assert found.loss == min(found.losses)
    assert found.params["gamma"] == grid["gamma"][int(np.argmin(found.losses))]
    with_stages = select(maker(kernel="rbf", total=2.0, asymmetry=0.3, stages="roc"), X, Y, folds, Cost(0.3), grid)
    assert with_stages.params == {"gamma": found.params["gamma"]}


def test_costs_on_few_folds_are_compared_on_more_and_nothing_is_fitted_without_a_choice():
    found = select(maker(total=2.0, asymmetry=0.2), X, Y, folds_of(150, 2), Cost(0.2), {})
    own = maker(total=2.0, asymmetry=0.2)()
    assert found.params == own.choose(X, Y.astype(float), own.folds(X, Y)).params
    assert np.isnan(select(maker(total=1.0, classifier="one"), X, Y, folds_of(150, 5), Cost(0.5), {}).loss)
    assert np.isnan(select(maker(total=1.0, stages="roc"), X, Y, folds_of(150, 5), Cost(0.5), {}).loss)


def test_a_search_refuses_too_many_rows_before_its_first_path(monkeypatch):
    """Folds of 100 rows would fit in, the final fit of 150 does not, and lines of the linear kernel come first."""
    monkeypatch.setattr(SVMPath, "choose", None)
    grid = {"kernel": ["linear", "rbf"]}
    with pytest.raises(ValueError, match="order 150"):
        select(maker(total=2.0, cache_size=0.1), X, Y, folds_of(150, 3), Cost(0.2), grid)
    with pytest.raises(ValueError, match="among 150"):
        select(maker(max_rows=149), X, Y, folds_of(150, 3), Cost(0.2), {})


def test_one_path_takes_any_number_of_rows():
    model = SVMPath(total=1.0, train_asymmetry=0.5, max_rows=1).fit(X, Y)
    assert model.converged_


def test_the_number_of_rows_is_bounded_for_the_linear_kernel_alone():
    maker(max_rows=149, kernel="precomputed")().require_rows(150)
    with pytest.raises(ValueError, match="max_rows"):
        maker(max_rows=149)().require_rows(150)


def extremes():
    rng = np.random.default_rng(7)
    few, twice = np.repeat([1, -1], [130, 20]), X[np.repeat(np.arange(30, 105), 2)]
    return {
        "a false alarm costs a million misses": (X, Y, {"asymmetry": 1e-6}),
        "a miss costs a million false alarms": (X, Y, {"asymmetry": 1 - 1e-6}),
        "rho of a thousandth": (X, Y, {"rho": 0.001}),
        "twenty negatives": (X + few[:, None], few, {"rho": 0.05}),
        "duplicates in both classes": (np.round(twice), np.tile([1, -1], 75), {"rho": 0.1}),
        "a constant feature": (np.c_[X, np.full(150, 3.0)], Y, {"asymmetry": 0.3}),
        "features of many sizes": (X * [1e-3, 1.0, 1e3], Y, {"rho": 0.1, "total": 1e-4}),
        "more features than samples": (rng.normal(size=(40, 300)), np.repeat([1, -1], 20), {"rho": 0.1}),
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", extremes())
def test_extreme_inputs_give_a_classifier_that_is_optimal(name):
    S, y, options = extremes()[name]
    model = SVMPath(**{**FAST, "ratios": (10, 0.1), **options}).fit(S, y)
    assert model.converged_
    assert np.all(np.isfinite(scores(model, S)))
    assert all(np.all(np.isfinite(stage)) for stage in model.staged_decision_function(S))


def least_gap(f_0, norm, y, alpha, C_pos, C_neg):
    """Return the least distance of the primal objective from the dual over all intercepts, and the objective there."""
    costs = np.where(y > 0, C_pos, C_neg)
    hinges = np.maximum(0.0, 1.0 - y * (f_0 + (y - f_0)[:, None]))  # the minimum is where some hinge has its kink
    primal = 0.5 * norm + float(np.min(hinges @ costs))
    return primal - (float(alpha.sum()) - 0.5 * norm), primal


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8]),
    st.sampled_from([0.0, 10.0, 1e4, -1e6, 1e8]),
    st.sampled_from([1e-6, 1e-2, 1.0, 1e3, 1e6]),
    st.sampled_from(["linear", "rbf"]),
    st.sampled_from(["normal", "cauchy"]),
)
# Rounding accumulates along the line: the fitted classifier is exact here, and others are not.
@example(38, 1.0, 0.0, 1e6, "linear", "cauchy")
@example(41, 1.0, 0.0, 1e6, "linear", "cauchy")
def test_convergence_vouches_for_the_whole_path(seed, scale, offset, total, kernel, kind):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) < 25, 1, -1)
    S = rng.normal(size=(60, 3)) if kind == "normal" else rng.standard_cauchy((60, 3))
    S = scale * np.round(1024 * (S + (y > 0)[:, None])) / 1024  # so that offsets change no digit
    total = total / scale**2 if kernel == "linear" else total
    model = SVMPath(total=total, train_asymmetry=0.01, kernel=kernel).fit(S + scale * offset, y)
    K = S @ S.T if kernel == "linear" else rbf_kernel(S, gamma=model._kernel.gamma)
    assert model.converged_ or kind == "cauchy" or total * np.abs(K).max() > 1e5
    if not model.converged_:
        return
    for costs in model.path_.costs:
        if costs.min() >= 1e-3 * total:
            alpha = model.path_.at(*costs).alpha
            f_0 = K @ (y * alpha)
            gap, primal = least_gap(f_0, y * alpha @ f_0, y, alpha, *costs)
            assert gap <= 2e-6 * primal


@pytest.mark.parametrize("d", [3, 60])
@pytest.mark.parametrize("offset", [30.0, 1e6])
def test_an_offset_changes_only_the_intercept(d, offset):
    S, y = np.round(1024 * np.random.default_rng(0).normal(size=(50, d))) / 1024, np.where(np.arange(50) < 20, 1, -1)
    S[y > 0] += 0.5
    options = {"total": 1.0, "n_asymmetries": 9, "cv": 5, "random_state": 0, "stages": "asymmetries"}
    here, there = (SVMPath(**options).fit(S + shift, y) for shift in (0.0, offset))
    assert here.train_asymmetry_ == there.train_asymmetry_
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
    for one, other in zip(here.staged_decision_function(S), there.staged_decision_function(S + offset), strict=True):
        np.testing.assert_allclose(other, one, atol=1e-7)
    costs = here.path_.costs[len(here.path_.costs) // 2]
    alpha, b, *_ = there.path_.at(*costs)
    f = there.path_.scores(S + offset, costs)[0]
    np.testing.assert_allclose((S + offset) @ ((y * alpha) @ S) + b, f, atol=1e-8)


def test_scores_that_tell_nothing_call_all_of_one_class():
    S, y = np.ones((40, 2)), np.repeat([1, -1], 20)
    cheap, dear = (SVMPath(asymmetry=asymmetry, total=1.0, **FAST).fit(S, y) for asymmetry in (0.1, 0.9))
    assert np.all(scores(cheap, S) < 0)
    assert np.all(scores(dear, S) > 0)
