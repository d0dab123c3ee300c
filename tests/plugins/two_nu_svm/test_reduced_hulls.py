"""The 2nu-SVM against a conic solver, scikit-learn's NuSVC and SVC, and leave-one-out against separate fits."""

import itertools

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from class_samples import mixed as sample
from feature_kinds import KINDS, two_classes
from npbench_two_nu_svm import conjugate_gradients, pair_steps, reduced_hulls
from npbench_two_nu_svm.nearest_points import FLOOR, settle
from npbench_two_nu_svm.reduced_hulls import DualNu, Nu, ReducedHulls

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # from cvxpy; its values are compared


def rbf(gamma):
    return lambda X: np.exp(-gamma * np.sum((X[:, None] - X[None]) ** 2, axis=2))


KERNELS = {f"rbf {gamma:g}": rbf(gamma) for gamma in (1e3, 1.0, 0.1, 1e-3, 1e-8)} | {
    "linear": lambda X: X @ X.T,
    "poly": lambda X: (1.0 + X @ X.T) ** 3,
    "zero": lambda X: np.zeros((len(X), len(X))),
}
FEATURES = ["normal", "duplicates", "integers", "constant feature", "badly scaled", "identical"]
CONIC = 1e-7  # accuracy of the conic solver, relative to the spread
NUS = (1.0, 0.9, 0.5, 0.37, 0.1, 0.01, 1e-6)


@st.composite
def problems(draw, least=1, most=25):
    X, y = draw(two_classes(FEATURES, least, most))
    return KERNELS[draw(st.sampled_from(list(KERNELS)))](X), y


dual_nus = st.builds(DualNu, *[st.sampled_from(NUS) | st.floats(0.05, 1.0)] * 2)


def spread(K):
    """Return the mean squared distance of the samples from their mean: the unit of objectives."""
    return np.mean(K.diagonal()) - K.mean()


def rounding(K):
    return 1e-14 * len(K) * np.abs(K).max()


def conic(K, y, caps):
    """Return the least objective and its signed weights."""
    c_pos, c_neg = caps(np.sum(y > 0), np.sum(y < 0))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centred)
    scale = max(values[-1], 1e-300)
    root = vectors * np.sqrt(np.maximum(values, 0.0) / scale)
    u = cvxpy.Variable(len(y), bounds=[0, np.where(y > 0, c_pos, c_neg)])
    least = cvxpy.Minimize(cvxpy.sum_squares(root.T @ cvxpy.multiply(y, u)))
    problem = cvxpy.Problem(least, [cvxpy.sum(u[y > 0]) == 1, cvxpy.sum(u[y < 0]) == 1])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=100)
    return 0.5 * scale * problem.value, y * u.value


def complementarity(K, y, caps, solution):
    """Return the duality gap from its definition, with the levels that margin and b give."""
    slack = solution.margin - y * (K @ solution.x + solution.b)
    u, cap = y * solution.x, np.where(y > 0, *caps(np.sum(y > 0), np.sum(y < 0)))
    return np.sum(np.maximum((cap - u) * slack, -u * slack))


def assert_feasible(u, y, caps):
    assert np.all((u >= 0) & (u <= np.where(y > 0, *caps(np.sum(y > 0), np.sum(y < 0)))))
    assert u[y > 0].sum() == pytest.approx(1, abs=1e-13)
    assert u[y < 0].sum() == pytest.approx(1, abs=1e-13)


def assert_least(objective, gap, K, y, caps, resolved=0.0):
    """Assert that an objective is that of a conic solver, and within its gap of the least."""
    best, scale = conic(K, y, caps)[0], spread(K)
    # Rounding may prevent the tolerance if the hulls nearly meet; the gap bounds the distance all the same.
    assert gap <= 1e-6 * objective or objective <= max(resolved, 10 * FLOOR * scale) + rounding(K)
    assert objective <= best + max(gap, 1e-6 * best) + 2e-8 * scale + rounding(K)
    assert best <= (1 + 1e-6) * objective + CONIC * scale + rounding(K)


@pytest.mark.any_processor
@given(problems(), dual_nus)
def test_optimum_matches_a_conic_solver(problem, caps):
    K, y = problem
    hulls, scale = ReducedHulls(K, y), spread(K)
    solution = hulls.solve(caps)
    # Rounding may prevent the tolerance if the hulls nearly meet, which is reported.
    assert solution.converged or solution.objective <= 10 * FLOOR * scale
    assert solution.gap >= 0
    if solution.meet:
        x = (hulls._y * hulls._whole[1])[np.argsort(hulls._order)]
        assert_feasible(y * x, y, caps)
        assert 0.5 * x @ K @ x <= FLOOR * scale + rounding(K)
        assert not solution.x.any()
        assert solution.b == 0
        return
    assert_least(solution.objective, solution.gap, K, y, caps)
    assert 0.5 * solution.x @ K @ solution.x == pytest.approx(solution.objective, abs=rounding(K))
    assert_feasible(y * solution.x, y, caps)
    assert complementarity(K, y, caps, solution) == pytest.approx(solution.gap, rel=1e-6, abs=10 * rounding(K))
    assert solution.converged == (solution.gap <= 1e-6 * solution.objective)


@given(problems(), dual_nus, st.sampled_from([10.0, 0.3, 1e-3]))
def test_gap_bounds_the_objective_and_the_weights(problem, caps, tol):
    K, y = problem
    solution = ReducedHulls(K, y, tol=tol).solve(caps)
    best, x = conic(K, y, caps)
    if not solution.meet:
        slack = 1e-9 * spread(K) + rounding(K)
        assert solution.objective <= best + solution.gap + slack
        # From below the conic solver's answer binds only as far as it is right itself; so do its weights, which are
        # then off by twice what its objective is above ours.
        assert best - CONIC * spread(K) - rounding(K) <= solution.objective
        off = 2 * max(best - solution.objective, 0.0)
        distance = (solution.x - x) @ K @ (solution.x - x)
        assert distance <= (np.sqrt(solution.gap) + np.sqrt(off)) ** 2 + slack


@given(problems(), st.lists(dual_nus, min_size=2, max_size=6))
def test_warm_starts_match_cold_starts(problem, sequence):
    K, y = problem
    hulls, scale = ReducedHulls(K, y), spread(K)
    for caps in sequence:
        warm, cold = hulls.solve(caps), ReducedHulls(K, y).solve(caps)
        # A nearly zero objective may be smaller than the effect of rounding in K on the gap.
        assert warm.converged or warm.objective <= 10 * FLOOR * scale or warm.gap <= rounding(K)
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6, abs=2 * FLOOR * scale + warm.gap)
        if not (warm.meet or cold.meet):
            apart = (warm.x - cold.x) @ K @ (warm.x - cold.x)
            assert apart <= 2 * (warm.gap + cold.gap) + rounding(K)


@pytest.mark.parametrize("n_free", [0, 5])
@given(problems(), dual_nus)
def test_many_free_weights_match_a_conic_solver(n_free, problem, caps):
    K, y = problem
    hulls = ReducedHulls(K, y)
    counts, (bound, u, G) = (hulls.n_pos, hulls.n_neg), hulls._uniform()
    upper = np.repeat(caps(*counts), counts)
    pair_steps.start(hulls._Q, hulls.n_pos, bound, upper, u, G)
    work = np.zeros((n_free + 3, n_free + 3)), np.zeros(n_free + 3, np.int64), np.full(len(y) + 2, -1)
    Q, scale = hulls._Q, hulls._scale
    _, _, objective, gap, _, _ = settle(Q, hulls.n_pos, upper, u, G, work, 0, 1e-6, scale, 2000, -1, 0.0)
    np.testing.assert_allclose(G, Q @ u, rtol=0, atol=1e-12 * np.abs(Q).max())
    assert_feasible(u, hulls._y, caps)
    # Conjugate gradients multiply in single precision, which resolves hulls closer than that no further.
    assert_least(objective * hulls._unit, gap * hulls._unit, K, y, caps, resolved=1e-6 * np.abs(K).max())


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 30])
def test_product_with_an_upper_triangle(m):
    rng = np.random.default_rng(m)
    A, v = rng.normal(size=(m, m)), rng.normal(size=m)
    block, image = np.full((m, m), np.nan, np.float32), np.empty(m, np.float32)
    block[np.triu_indices(m)] = A[np.triu_indices(m)]
    conjugate_gradients.product(block, v.astype(np.float32), image)
    np.testing.assert_allclose(image, (np.triu(A) + np.triu(A, 1).T) @ v, rtol=0, atol=1e-5 * m)


def two_c(K, y, C, gamma):
    return SVC(C=C, kernel="precomputed", class_weight={1: gamma, -1: 1 - gamma}, tol=1e-9).fit(K, y)


@pytest.mark.parametrize("caps", [DualNu(0.5, 0.5), DualNu(0.3, 0.8), DualNu(0.95, 0.4)])
def test_every_2nu_svm_is_a_2c_svm(caps):
    X, y = sample(30, 50)
    K, n = rbf(1.0)(X), len(y)
    solution = ReducedHulls(K, y, tol=1e-10).solve(caps)
    # nu and gamma of section 2, with the factor 2 of the paper's nu
    total = 30 * caps.nu_pos + 50 * caps.nu_neg
    nu, gamma = 2 * caps.nu_pos * caps.nu_neg * 30 * 50 / (total * n), 50 * caps.nu_neg / total
    r = 0.5 * nu * solution.margin
    assert r > 0
    model = two_c(K, y, 1 / (r * n), gamma)
    scores = (K @ solution.x + solution.b) / solution.margin
    np.testing.assert_allclose(model.decision_function(K), scores, rtol=0, atol=1e-4)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(nu / r, rel=1e-4)


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.9])
def test_largest_nu_depends_on_both_classes(gamma):
    X, y = sample(30, 50)
    C, n = 1e-7, 80
    nu = np.abs(two_c(rbf(1.0)(X), y, C, gamma).dual_coef_).sum() / (C * n)
    assert nu == pytest.approx(2 * min(gamma * 30, (1 - gamma) * 50) / n, rel=1e-6)
    nus = np.array([nu * n / (2 * gamma * 30), nu * n / (2 * (1 - gamma) * 50)])
    assert nus.max() == pytest.approx(1, rel=1e-6)
    with pytest.raises(ValueError, match="infeasible"):
        DualNu(*(1.01 * nus))


def test_hulls_meet_below_the_least_nu():
    X, y = sample(40, 40, shift=0.5)
    K = X @ X.T
    nu = [np.abs(two_c(K, y, C, 0.5).dual_coef_).sum() / (C * 80) for C in (1e2, 1e3)]
    assert nu[0] == pytest.approx(nu[1], rel=1e-3)  # at its limit
    least = 2 * nu[1]  # nu_pos = nu_neg, for gamma = 1/2 and classes of equal size
    assert ReducedHulls(K, y).solve(DualNu(0.98 * least, 0.98 * least)).meet
    apart = ReducedHulls(K, y).solve(DualNu(1.02 * least, 1.02 * least))
    assert not apart.meet
    assert apart.margin > 0


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.0001, np.nan])
@pytest.mark.parametrize("name", ["nu_pos", "nu_neg"])
def test_infeasible_nu_raises(name, nu):
    with pytest.raises(ValueError, match=rf"^{name}=.* is infeasible"):
        DualNu(**{"nu_pos": 0.5, "nu_neg": 0.5, name: nu})


def test_common_nu_above_its_bound_raises():
    X, y = sample(10, 30)
    hulls = ReducedHulls(X @ X.T, y)
    assert hulls.solve(Nu(0.5)).converged
    with pytest.raises(ValueError, match=r"infeasible for 10 and 30 samples.* \]0, 0\.5\]"):
        hulls.solve(Nu(0.51))
    with pytest.raises(ValueError, match="infeasible for 9 and 30 samples"):
        hulls.leave_one_out(Nu(0.5))


@given(problems(least=3), dual_nus)
def test_nu_bounds_margin_errors_and_support_vectors(problem, caps):
    K, y = problem
    solution = ReducedHulls(K, y).solve(caps)
    if solution.meet or solution.margin <= 0:
        return
    margins = y * (K @ solution.x + solution.b)
    # A sample that misses the margin by this much is at its cap: the rest of the cap times this is below the gap.
    least = 1e-3 * min(caps(np.sum(y > 0), np.sum(y < 0)))
    errors = margins < solution.margin - solution.gap / least - 10 * rounding(K) / least
    for label, nu in ((1, caps.nu_pos), (-1, caps.nu_neg)):
        assert np.mean(errors[y == label]) <= nu * (1.001) + 1e-9
        assert np.mean(solution.x[y == label] != 0) >= nu * (1 - 1e-9)


@pytest.mark.parametrize("caps", [DualNu(0.5, 0.5), DualNu(1, 1), DualNu(0.01, 0.3), Nu(0.4)])
def test_identical_samples_are_all_errors(caps):
    y = np.repeat([1.0, -1.0], (8, 9))
    for K in (np.zeros((17, 17)), np.ones((17, 17))):
        hulls = ReducedHulls(K, y)
        solution, left = hulls.solve(caps), hulls.leave_one_out(caps)
        assert solution.meet
        assert solution.objective == 0
        assert np.all(left.margins <= 0)
        assert not left.doubt.any()


def cold(K, y, caps, i):
    """Return the fit without i, the margin of i under it, and a bound on its error."""
    others = np.delete(np.arange(len(y)), i)
    solution = ReducedHulls(K[np.ix_(others, others)], y[others]).solve(caps)
    diagonal = K.diagonal()
    widest = np.sqrt(np.max(diagonal + diagonal[:, None] - 2 * K, initial=0.0))
    return solution, y[i] * (K[i, others] @ solution.x + solution.b), np.sqrt(solution.gap) * widest


def assert_left_out(K, y, caps, left, i):
    solution, margin, doubt = cold(K, y, caps, i)
    if solution.meet or (left.doubt[i] == left.margins[i] == 0 and abs(margin) > doubt + rounding(K)):
        assert solution.objective <= 2 * FLOOR * spread(K) + rounding(K)
        return
    if solution.objective == 0:  # below rounding: the direction between the hulls is unknown
        return
    doubt += rounding(K) * (1 + np.sqrt(spread(K) / solution.objective))
    assert abs(left.margins[i] - margin) <= left.doubt[i] + doubt
    if abs(left.margins[i]) > left.doubt[i] + rounding(K) and abs(margin) > doubt:
        assert (left.margins[i] > 0) == (margin > 0)


def test_cap_above_one_leaves_its_sample_free():
    """The sample is on the margin: no margin error is allowed if nu n is below 1."""
    X, y = sample(6, 9, shift=3.0)
    K = X @ X.T
    for caps in (DualNu(0.01, 0.01), DualNu(0.16, 0.11)):
        solution = ReducedHulls(K, y, tol=1e-10).solve(caps)
        margins = y * (K @ solution.x + solution.b)
        np.testing.assert_allclose(margins[solution.x != 0], solution.margin, rtol=1e-4)
        assert margins.min() >= solution.margin * (1 - 1e-4)


@given(problems(least=2, most=12), st.lists(dual_nus, min_size=1, max_size=4))
def test_leave_one_out_matches_separate_fits_for_any_sequence_of_caps(problem, sequence):
    K, y = problem
    hulls = ReducedHulls(K, y)
    for caps in sequence:
        left = hulls.leave_one_out(caps)
        assert np.all(left.doubt >= 0)
        for i in range(len(y)):
            assert_left_out(K, y, caps, left, i)


# With caps that sum to 1 for some of a class, its level is an interval, and leaving one out changes all others.
ONE_FREE_WEIGHT_OR_NONE = [DualNu(1.0, 1.0), DualNu(1.0, 0.5), DualNu(0.1, 0.9), DualNu(0.02, 0.6)]
SOME_FREE = [DualNu(0.5, 0.2), DualNu(0.3, 1.0), Nu(0.3)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("kernel", [rbf(5.0), rbf(1.0), rbf(0.5), rbf(0.001), KERNELS["linear"]])
@pytest.mark.parametrize("caps", [*ONE_FREE_WEIGHT_OR_NONE, *SOME_FREE])
def test_leave_one_out_of_many_samples(kernel, caps):
    X, y = sample(50, 70)
    K = kernel(X)
    left = ReducedHulls(K, y).leave_one_out(caps)
    for i in range(0, 120, 3):
        assert_left_out(K, y, caps, left, i)
    certain = np.abs(left.margins) > left.doubt
    assert np.mean(certain | (left.doubt == 0)) > 0.95


@pytest.mark.parametrize("caps", [DualNu(0.5, 0.2), DualNu(0.3, 1.0)])
def test_leave_one_out_is_in_doubt_where_the_solver_stops_early(monkeypatch, caps):
    monkeypatch.setattr(reduced_hulls, "MAX_NEWTON_STEPS", 1)
    monkeypatch.setattr(reduced_hulls, "MAX_REFIT_STEPS", 1)
    X, y = sample(50, 70)
    K = KERNELS["rbf 0.001"](X)
    left = ReducedHulls(K, y).leave_one_out(caps)
    monkeypatch.undo()
    assert not np.any((left.margins == 0) & (left.doubt == 0))  # which would say that the hulls meet
    for i in range(0, 120, 3):
        assert_left_out(K, y, caps, left, i)


@pytest.mark.parametrize(
    ("name", "shift", "caps"),
    [("rbf 0.001", 1.53, DualNu(0.5, 0.2)), ("rbf 0.001", 1.65, DualNu(0.3, 0.3)), ("linear", 1.59, DualNu(0.5, 0.2))],
)
def test_leave_one_out_of_hulls_that_meet_without_most_samples_only(name, shift, caps):
    X, y = sample(50, 70, shift=shift)
    K = KERNELS[name](X)
    left = ReducedHulls(K, y).leave_one_out(caps)
    meet = np.array([cold(K, y, caps, i)[0].meet for i in range(120)])
    assert 0.6 < meet.mean() < 1
    assert np.all(left.margins[meet] <= 0)
    for i in np.flatnonzero(~meet):
        assert_left_out(K, y, caps, left, i)


def left_out_by_conic(K, y, caps, i):
    """Return the margin of i under the others' optimum of a conic solver, with the levels as quantiles of its G."""
    others = np.delete(np.arange(len(y)), i)
    rest = y[others]
    _, x = conic(K[np.ix_(others, others)], rest, caps)
    levels = []
    for label, cap in zip((1, -1), caps(np.sum(rest > 0), np.sum(rest < 0)), strict=True):
        G = np.sort((label * K[np.ix_(others, others)] @ x)[rest == label])
        at = round(1 / cap) if abs(1 / cap - round(1 / cap)) < 1e-9 else int(np.ceil(1 / cap))
        levels.append(G[at - 1 : at + (at * cap < 1 + 1e-9)].mean())
    return y[i] * (K[i, others] @ x + 0.5 * (levels[1] - levels[0]))


KERNELS_LEFT_OUT = ["rbf 1000", "rbf 1", "rbf 0.1", "linear"]
CAPS_LEFT_OUT = [DualNu(0.5, 0.2), DualNu(1.0, 0.37), DualNu(0.01, 0.9), Nu(0.4)]
LEFT_OUT = [
    # 0.1 s each: the fast tests have each kernel with each kind of features, under one of the caps in turn.
    pytest.param(*case, marks=[] if sum(places) % 4 == 0 else pytest.mark.slow)
    for case, places in zip(
        itertools.product(FEATURES, KERNELS_LEFT_OUT, CAPS_LEFT_OUT),
        itertools.product(range(6), range(4), range(4)),
        strict=True,
    )
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("features", "name", "caps"), LEFT_OUT)
def test_leave_one_out_errors_match_a_conic_solver(features, name, caps):
    X, y = sample(7, 8, seed=3)
    K = KERNELS[name](KINDS[features](X, np.random.default_rng(3)))
    left = ReducedHulls(K, y).leave_one_out(caps)
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        if ReducedHulls(K[np.ix_(others, others)], y[others]).solve(caps).meet:
            assert left.margins[i] <= 0
            continue
        margin = left_out_by_conic(K, y, caps, i)
        assert abs(left.margins[i] - margin) <= left.doubt[i] + 1e-4 * spread(K)
        if abs(margin) > 1e-4 * spread(K):
            assert (left.margins[i] <= 0) == (margin < 0)


@pytest.mark.parametrize("caps", [DualNu(0.5, 0.2), DualNu(0.1, 0.9), DualNu(1.0, 1e-6)])
@pytest.mark.parametrize("name", ["rbf 1", "rbf 0.001", "linear"])
def test_leave_one_out_errors_ignore_scale_and_offset(caps, name):
    X, y = sample(25, 35)
    X[::4] = X[1::4]  # duplicates, of both classes
    K = KERNELS[name](X)
    errors = ReducedHulls(K, y).leave_one_out(caps).margins <= 0
    for other in (1e-150 * K, 1e150 * K, K + 100.0):
        np.testing.assert_array_equal(ReducedHulls(other, y).leave_one_out(caps).margins <= 0, errors)


@pytest.mark.parametrize("gamma", [100.0, 0.5, 0.05])
def test_exchanges_replace_refits(gamma):
    """With all weights free, with many at both bounds, and with few free."""
    X, y = sample(40, 50, shift=1.5)
    K, caps = rbf(gamma)(X), DualNu(0.4, 0.4)
    left = ReducedHulls(K, y).leave_one_out(caps)
    assert left.n_refits < 0.5 * left.n_exchanges
    for i in range(0, 90, 3):
        assert_left_out(K, y, caps, left, i)


def test_intervals_decide_most_signs():
    X, y = sample(60, 60, shift=2.0)
    hulls, caps = ReducedHulls(rbf(0.5)(X), y), DualNu(0.5, 0.5)
    left = hulls.leave_one_out(caps)
    assert left.n_exchanges < 0.5 * np.sum(hulls.solve(caps).x != 0)
    assert left.n_refits <= 3


@pytest.mark.slow  # 1600 samples; the inverse and the conjugate gradients each have quick tests
def test_conjugate_gradients_give_way_to_an_inverse():
    """They hardly move along 848 free weights, whose matrix has condition 1e8."""
    X, y = sample(800, 800, d=8, shift=0.25)
    K, caps = rbf(0.03)(X), DualNu(0.1, 0.1)
    solution = ReducedHulls(K, y).solve(caps)
    assert solution.converged
    assert_feasible(y * solution.x, y, caps)
    assert complementarity(K, y, caps, solution) <= 1e-5 * solution.objective
    assert 0.5 * solution.x @ K @ solution.x == pytest.approx(solution.objective, rel=1e-5)


def test_more_free_weights_than_newton_steps_allow(monkeypatch):
    monkeypatch.setattr("npbench_two_nu_svm.reduced_hulls.MAX_FREE_WEIGHTS", 10)
    X, y = sample(40, 40)
    K, caps = rbf(100.0)(X), DualNu(0.3, 0.6)
    hulls = ReducedHulls(K, y)
    solution = hulls.solve(caps)
    assert np.sum(solution.x != 0) > 50
    assert solution.converged
    assert solution.objective == pytest.approx(conic(K, y, caps)[0], rel=1e-6)
    left = hulls.leave_one_out(caps)
    for i in range(0, 80, 5):
        assert_left_out(K, y, caps, left, i)
