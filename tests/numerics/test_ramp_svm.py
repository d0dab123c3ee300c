"""DC steps of the ramp-loss SVM against its objective, its optimality conditions and two other solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from class_samples import shifted as sample
from feature_kinds import KINDS
from npbench.numerics import smo
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.ramp_svm import RampSVM


def costs_of(y, cost_positive, cost_negative):
    return np.where(y > 0, cost_positive, cost_negative)


def objective(svm, c):
    """Return J_1 - J_2 from the matrix, the multipliers and the intercept."""
    f_0 = svm.gram.whole @ svm.x
    z = svm.y * (f_0 + svm.b)
    hinges = np.maximum(0, svm.eta - z) - np.maximum(0, -svm.eta - z)
    return 0.5 * svm.x @ f_0 + c @ hinges / (2 * svm.eta)


def run(svm, cost_positive, cost_negative, max_steps=100):
    """Yield the svm and the flat samples of each step until these repeat."""
    flat = np.zeros(len(svm.y), dtype=bool)
    for _ in range(max_steps):
        svm.step(cost_positive, cost_negative, flat)
        yield flat
        following = svm.flat()
        if np.array_equal(following, flat):
            return
        flat = following
    raise AssertionError("the flat samples never repeat")


@st.composite
def problems(draw):
    """Return (X, y, kernel, eta, tol, costs) with many samples flat, free or at a kink."""
    n, seed = draw(st.integers(4, 50)), draw(st.integers(0, 10**6))
    X, y = sample(n, draw(st.sampled_from([0.05, 0.3, 0.5])), draw(st.sampled_from([0.0, 0.5, 3.0])), seed)
    kinds = ["normal", "duplicates", "integers", "constant feature", "identical"]
    X = KINDS[draw(st.sampled_from(kinds))](X, np.random.default_rng(seed))
    kernel = draw(st.sampled_from([Kernel("linear"), Kernel("rbf", 0.1), Kernel("rbf", 2.0), Kernel("rbf", 50.0)]))
    eta = draw(st.sampled_from([0.1, 1.0, 7.0]))
    costs = [eta**2 * draw(st.sampled_from([1e-2, 0.3, 3.0, 30.0, 1e4])) for _ in range(2)]
    return X, y, kernel, eta, eta * draw(st.sampled_from([1e-3, 1e-7])), costs


@given(problems())
def test_objective_never_increases_and_flat_samples_repeat(problem):
    X, y, kernel, eta, tol, costs = problem
    svm, c = RampSVM(Gram(X, kernel), y, eta, tol), costs_of(y, *costs)
    before = np.inf
    for _ in run(svm, *costs):
        now = objective(svm, c)
        # Error of a step: its gap, plus tol c / eta for a sample less than 2 tol below -eta that is not flat.
        allowed = svm.duality_gap + c.sum() * tol / eta + 1e-11 * (c.sum() + abs(now))
        assert now <= before + allowed
        before = now


@given(problems())
def test_settled_point_meets_the_optimality_conditions(problem):
    X, y, kernel, eta, tol, costs = problem
    svm, c = RampSVM(Gram(X, kernel), y, eta, tol), costs_of(y, *costs)
    *_, flat = run(svm, *costs)
    assert svm.violation <= tol
    a, end = y * svm.x, c / (2 * eta)
    z = y * (svm.gram.whole @ svm.x + svm.b)
    lower, upper = np.where(flat, -end, 0.0), np.where(flat, 0.0, end)
    slack = 1e-9 * end
    assert np.all((lower - slack <= a) & (a <= upper + slack))
    assert abs(y @ a) <= 1e-9 * end.sum()
    error = tol + 1e-10 * (eta + np.abs(z).max())
    assert np.all(z[a < upper - slack] >= eta - error)
    assert np.all(z[a > lower + slack] <= eta + error)
    assert np.all(z[flat] < -eta + error)
    assert np.all(z[~flat] >= -eta - 2 * tol - error)


@given(problems())
def test_step_measures_match_the_data(problem):
    X, y, kernel, eta, tol, costs = problem
    svm, c = RampSVM(Gram(X, kernel), y, eta, tol), costs_of(y, *costs)
    for flat in run(svm, *costs):
        f_0 = svm.gram.whole @ svm.x
        size = eta + np.abs(svm.gram.whole) @ np.abs(svm.x)
        np.testing.assert_allclose(svm.f_0, f_0, atol=1e-12 * size.max())
        np.testing.assert_allclose(svm.z, y * (f_0 + svm.b), atol=1e-12 * (size.max() + abs(svm.b)))
        loss = np.clip((eta - svm.z) / (2 * eta), 0, 1)
        assert svm.p_nd == pytest.approx(loss[y > 0].mean(), abs=1e-12)
        assert svm.p_fa == pytest.approx(loss[y < 0].mean(), abs=1e-12)
        assert svm.squared_norm == pytest.approx(svm.x @ f_0, abs=1e-11 * size @ np.abs(svm.x))
        hinges = c @ np.maximum(0, eta - svm.z) / (2 * eta) + c[flat] @ svm.z[flat] / (2 * eta)
        primal = 0.5 * svm.x @ f_0 + hinges
        dual = eta * y @ svm.x - 0.5 * svm.x @ f_0 + 0.5 * c[flat].sum()
        error = 1e-11 * (size @ (np.abs(svm.x) + c / eta) + abs(primal))
        assert svm.duality_gap == pytest.approx(primal - dual, abs=error)


@given(problems())
def test_upper_rates_bound_the_rates_and_are_exact_at_settled_points(problem):
    X, y, kernel, eta, tol, costs = problem
    svm = RampSVM(Gram(X, kernel), y, eta, tol)
    for _ in run(svm, *costs):
        p_nd, p_fa = svm.upper_rates()
        assert p_nd >= svm.p_nd - 1e-12
        assert p_fa >= svm.p_fa - 1e-12
    assert svm.upper_rates() == pytest.approx((svm.p_nd, svm.p_fa), abs=1.01 * tol / eta)


@pytest.mark.parametrize("storage", ["whole", "rows", "csr"])
@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.5)], ids=["linear", "rbf"])
def test_recomputed_point_forgets_rounding_errors(kernel, storage):
    X, y = sample(80)
    gram = Gram(csr_matrix(X) if storage == "csr" else X, kernel, 8 * 80 * 10 if storage == "rows" else 1 << 30)
    flat = np.random.default_rng(3).random(80) < 0.2
    svm = RampSVM(gram, y, 0.5, 1e-6)
    svm.step(2.0, 1.0, flat)
    names = ("b", "p_nd", "p_fa", "squared_norm", "duality_gap", "violation")
    measures, x = [getattr(svm, name) for name in names], svm.x.copy()
    svm._g += 1e-3  # the gradient of other multipliers
    svm.step(2.0, 1.0, ~flat)
    wrong = svm.p_fa
    svm.recompute(x, 2.0, 1.0, flat)
    assert [getattr(svm, name) for name in names] == pytest.approx(measures, abs=1e-12)
    np.testing.assert_allclose(svm.f_0, kernel.between(X, X) @ x, atol=1e-12)
    svm.recompute(svm.x + 0.1 * y * (np.arange(80) == 0), 2.0, 1.0, flat)
    assert svm.violation > 1e-3
    assert svm.p_fa != wrong


@pytest.mark.parametrize("eta", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_svm_without_flat_samples_matches_scikit_learn(eta, kernel):
    X, y = sample(120)
    cost_positive, cost_negative = 40.0 * eta / 48, 15.0 * eta / 72
    svm = RampSVM(Gram(X, Kernel(kernel, 0.5)), y, eta, 1e-9)
    svm.step(cost_positive, cost_negative, np.zeros(120, dtype=bool))
    # With f = eta f' the hinge (eta - z)/(2 eta) is half the usual one in f', and the norm eta^2 times that of f'.
    weights = {1: cost_positive / (2 * eta**2), -1: cost_negative / (2 * eta**2)}
    svc = SVC(C=1.0, class_weight=weights, kernel=kernel, gamma=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(svm.f_0 + svm.b, eta * svc.decision_function(X), atol=1e-6 * eta)


@pytest.mark.parametrize("cost_positive", [3.0, 0.1])
def test_class_at_exactly_minus_eta_is_not_flat(cost_positive):
    # f_0 = 0: f is the intercept, eta or -eta, and the cheaper class lies at -eta.
    y = np.repeat([1, -1], [7, 11])
    svm = RampSVM(Gram(np.zeros((18, 2)), Kernel("linear")), y, 0.3, 1e-3)
    *_, flat = run(svm, cost_positive, 0.7)
    assert svm.b == pytest.approx(0.3 if 7 * cost_positive > 11 * 0.7 else -0.3)
    assert np.sort(np.unique(np.round(svm.z, 12))).tolist() == [-0.3, 0.3]
    assert not flat.any()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(5))
def test_duplicate_of_a_free_sample_is_not_flat(seed):
    X, y = sample(40, shift=1.5, seed=seed)
    X, y = np.vstack([X, X[:16]]), np.append(y, np.full(16, -1))  # each positive is duplicated as a cheap negative
    svm, c = RampSVM(Gram(X, Kernel("rbf", 0.5)), y, 1.0, 1e-6), costs_of(y, 5.0, 0.5)
    *_, flat = run(svm, 5.0, 0.5)
    a = y * svm.x
    free = (a > 1e-8) & (a < c / 2 - 1e-8)
    duplicates = np.concatenate([np.zeros(40, dtype=bool), free[:16]])
    assert duplicates.any()
    np.testing.assert_allclose(svm.z[duplicates], -1.0, atol=2e-6)
    assert not flat[duplicates].any()


def test_steps_do_not_alternate_forever():
    # A sample 1.9 tolerances below the kink after a step in which it was flat, and 2.3 after one in which it was not.
    X, y = sample(27, share=0.3, shift=0.0, seed=6231)
    X[13:] = X[:14]
    steps = list(run(RampSVM(Gram(X, Kernel("rbf", 0.1)), y, 0.1, 1e-4), 0.03, 0.003))
    assert len(steps) > 2


@pytest.mark.parametrize("costs", [(0.01, 0.01), (2.0, 0.1), (0.1, 5.0), (1e4, 30.0), (1e-6, 1e4)])
@pytest.mark.parametrize("share_flat", [0.0, 0.3])
def test_step_from_other_costs_reaches_the_cold_optimum(costs, share_flat):
    """Samples at a bound start at the same bound of the new box, and the gradient follows them."""
    X, y = sample(80)
    X[70:] = X[:10]
    gram, tol = Gram(X, Kernel("rbf", 0.5)), 1e-8
    flat = np.random.default_rng(3).random(80) < share_flat
    cold, warm = (RampSVM(gram, y, 1.0, tol) for _ in range(2))
    cold.step(*costs, flat)
    warm.step(0.3, 0.2, np.zeros(80, dtype=bool))
    warm.step(*costs, flat)
    assert max(cold.violation, warm.violation) <= tol
    np.testing.assert_allclose(warm.f_0, gram.whole @ warm.x, atol=1e-9 * max(1.0, *costs))
    c = costs_of(y, *costs)
    assert objective(warm, c) == pytest.approx(objective(cold, c), rel=1e-6, abs=tol * c.sum())


def test_step_at_higher_costs_starts_where_samples_are_at_their_bounds():
    X, y = sample(80, share=0.5)
    gram, flat = Gram(X, Kernel("rbf", 0.5)), np.zeros(80, dtype=bool)
    cold, warm = (RampSVM(gram, y, 1.0, 1e-6) for _ in range(2))
    warm.step(1e-3, 1e-3, flat)
    before = warm.n_steps
    warm.step(1e-2, 1e-2, flat)
    cold.step(1e-2, 1e-2, flat)
    np.testing.assert_allclose(warm.f_0, cold.f_0, atol=1e-5)
    assert warm.n_steps - before <= 2 < cold.n_steps


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_small_budget_gives_the_same_steps(eta, monkeypatch):
    monkeypatch.setattr(smo, "WORKING_SET_SIZE", 30)
    X, y = sample(100)
    ends = []
    for budget in (1 << 30, 8 * 100 * 10):
        svm = RampSVM(Gram(X, Kernel("rbf", 0.5), budget), y, eta, 1e-8)
        assert (svm.gram.whole is None) == (budget < 1 << 30)
        steps = list(run(svm, 8.0, 4.0))
        assert 0 < steps[-1].sum() < 100
        ends.append((len(steps), steps[-1], svm.z, svm.p_fa, svm.p_nd))
    assert ends[0][0] == ends[1][0]
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), atol=1e-6)
