"""The annealed search: the claim of each status is recomputed from the multipliers and the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from class_samples import shifted as sample
from feature_kinds import KINDS
from npbench.numerics.gram import Gram, Kernel
from npbench.numerics.multiplier_search import EXPLANATIONS, anneal
from npbench.numerics.multipliers import (
    CLOSED_WIDTH,
    MAX_RESETS,
    REACHED,
    RELATIVE_CAP,
    RELATIVE_FLOOR,
    FalseAlarmBound,
    QValueBound,
    SecantMultiplier,
)
from npbench.numerics.ramp_kernels import MultiplierSearch, next_multiplier, open_interval
from npbench.numerics.ramp_svm import RampSVM

RBF, LINEAR = Kernel("rbf", 0.5), Kernel("linear")
BOUNDS = {"np": FalseAlarmBound, "qvalue": QValueBound}


def search(X, y, rho=0.1, C=30.0, kernel=RBF, eta=1.0, tol=1e-3, max_iter=200, problem="np", update="secant"):
    svm, bound = RampSVM(Gram(X, kernel), y, eta, tol), BOUNDS[problem](rho)
    return anneal(svm, bound, C, 1 / rho, rho / 20, max_iter, update)


def margins(X, y, kernel, iterate):
    return y * (kernel.between(X, X) @ iterate.x + iterate.b)


def traced_rates(result, parameters):
    if parameters["problem"] == "np":
        return np.array([one.p_fa for one in result.trace])
    return np.array([QValueBound(parameters["rho"]).rate(one.p_fa, one.p_nd) for one in result.trace])


@st.composite
def requests(draw):
    """Return (X, y, search parameters), including hard problems."""
    n, seed = draw(st.integers(6, 50)), draw(st.integers(0, 10**6))
    X, y = sample(n, draw(st.sampled_from([0.03, 0.3, 0.5])), draw(st.sampled_from([0.0, 0.5, 3.0])), seed)
    kinds = ["normal", "normal", "duplicates", "integers", "constant feature", "identical"]
    X = KINDS[draw(st.sampled_from(kinds))](X, np.random.default_rng(seed))
    gamma = draw(st.sampled_from([1e-3, 0.1, 1.0, 100.0, 0.0]))
    parameters = {
        "rho": draw(st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.5, 0.9])),
        "C": draw(st.sampled_from([1e-2, 1.0, 30.0, 1e3, 1e5])),
        "kernel": Kernel("rbf", gamma) if gamma else LINEAR,
        "problem": draw(st.sampled_from(["np", "qvalue"])),
        "update": draw(st.sampled_from(["secant", "secant", "gradient"])),
    }
    return X, y, parameters


@given(requests())
def test_search_meets_the_constraint_or_reports_why_not(request):
    X, y, parameters = request
    rho, epsilon, start = parameters["rho"], parameters["rho"] / 20, parameters["C"] * np.sum(y < 0) / np.sum(y > 0)
    result = search(X, y, **parameters)
    last, rates = result.trace[-1], traced_rates(result, parameters)
    multipliers = np.array([one.multiplier for one in result.trace])
    assert result.status in {*REACHED, *EXPLANATIONS}
    assert multipliers[0] == start
    match result.status:
        case "converged":
            assert abs(result.best.rate - rho) <= epsilon
            assert (result.best.p_fa, result.best.multiplier) == (last.p_fa, last.multiplier)
        case "inactive":
            assert result.best.rate <= rho
            assert result.best.multiplier == last.multiplier <= (1 + CLOSED_WIDTH) * RELATIVE_FLOOR * start
        case "capped":
            assert rates[-1] > rho
            assert last.multiplier >= RELATIVE_CAP * start / (1 + CLOSED_WIDTH)
        case "jump":
            # Neighbouring multipliers were tried, with P_fa on both sides of rho; or again and again, a larger one led
            # to a larger rate, as flat samples changed.
            above, below = multipliers[rates > rho], multipliers[rates <= rho]
            closed = np.min(np.abs(np.log(above[:, None] / below[None]))) <= 1.01 * CLOSED_WIDTH
            rising = np.subtract.outer(multipliers, multipliers) * np.subtract.outer(rates, rates) > 0
            assert closed or np.tril(rising).any(axis=1).sum() > MAX_RESETS
        case "max_iter":
            assert len(result.trace) == 200


@pytest.mark.any_processor
@given(requests())
def test_kept_iterate_matches_its_recomputed_rates(request):
    X, y, parameters = request
    result = search(X, y, **parameters)
    best, C = result.best, parameters["C"]
    K = parameters["kernel"].between(X, X)
    loss = np.clip((1.0 - margins(X, y, parameters["kernel"], best)) / 2, 0, 1)
    # Rounding of one product, not of all steps.
    error = 1e-14 * (1 + parameters["kernel"].gamma) * (1 + abs(best.b) + (np.abs(K) @ np.abs(best.x)).max())
    assert best.p_fa == pytest.approx(loss[y < 0].mean(), abs=error)
    assert best.p_nd == pytest.approx(loss[y > 0].mean(), abs=error)
    exact = 0.5 * best.x @ K @ best.x + C * loss[y > 0].mean()
    assert best.objective == pytest.approx(exact, rel=1e-12, abs=error * (C + np.abs(best.x).sum()))
    accepted = 1 - best.p_nd if parameters["problem"] == "qvalue" else 1.0
    if max(best.p_fa, accepted) > 1e-9:
        assert best.rate == pytest.approx(min(best.p_fa / accepted, 1.0) if accepted > 0 else 1.0)
    else:
        assert result.status not in REACHED
    assert best.gradient == pytest.approx(best.p_fa - parameters["rho"] * accepted, abs=1e-12)
    kept = best.objective + best.multiplier * best.gradient
    assert any(
        (one.multiplier, one.p_fa, one.p_nd) == (best.multiplier, best.p_fa, best.p_nd)
        and one.objective == pytest.approx(kept, rel=1e-12)
        for one in result.trace
    )
    assert np.all(np.diff([one.seconds for one in result.trace]) >= 0)


@given(requests())
def test_best_iterate_is_kept_on_failure(request):
    X, y, parameters = request
    result = search(X, y, **parameters, max_iter=12)
    if result.status in REACHED:
        return
    rho, rates = parameters["rho"], traced_rates(result, parameters)
    accepted = np.array([1 - one.p_nd if parameters["problem"] == "qvalue" else 1.0 for one in result.trace])
    gradients = np.array([one.p_fa for one in result.trace]) - rho * accepted
    multipliers = np.array([one.multiplier for one in result.trace])
    objectives = np.array([one.objective for one in result.trace]) - gradients * multipliers
    feasible = (rates <= rho * 1.05) & (accepted > 1e-6)  # where nothing is accepted, rounding decides
    if feasible.any():
        assert result.best.rate <= rho * 1.05
        least = objectives[feasible].min()
        assert result.best.objective == pytest.approx(least, rel=1e-9, abs=1e-6 * multipliers.max())
    else:
        # The q-value divides the rounding errors of the steps by the share of accepted positives.
        assert result.best.rate <= np.min(rates + 1e-9 / np.maximum(accepted, 1e-9))


@given(requests())
def test_solution_is_stationary_for_its_multiplier(request):
    """The flat samples are below -eta, and the others meet the conditions of the remaining convex problem."""
    X, y, parameters = request
    result = search(X, y, **parameters)
    if result.status not in REACHED:
        return
    best, tol = result.best, 1e-3
    z = margins(X, y, parameters["kernel"], best)
    miss_cost = parameters["C"] + best.multiplier * (parameters["problem"] == "qvalue") * parameters["rho"]
    c = np.where(y > 0, miss_cost / np.sum(y > 0), best.multiplier / np.sum(y < 0))
    error = tol + 1e-9 * np.abs(z).max()
    a, slack = y * best.x, 1e-9 * c
    flat = (z < -1 - 2 * tol) | ((z < -1 + error) & (a <= 0))  # within the tolerance, both are allowed
    lower, upper = np.where(flat, -c / 2, 0), np.where(flat, 0, c / 2)
    assert np.all((lower - slack <= a) & (a <= upper + slack))
    assert np.all(z[a < upper - slack] >= 1 - error)
    assert np.all(z[a > lower + slack] <= 1 + error)


REJECTED = [(0.3, 1.0, 1.0), (0.0, 1.0, 0.0), (1e-16, 1.0, 0.0), (1e-16, 1 - 1e-16, 0.0)]


@pytest.mark.parametrize(("p_fa", "p_nd", "rate"), [(0.02, 0.5, 0.04), (0.9, 0.5, 1.0), (0.0, 0.2, 0.0), *REJECTED])
def test_q_value_of_surrogate_rates(p_fa, p_nd, rate):
    assert QValueBound(0.1).rate(p_fa, p_nd) == pytest.approx(rate)
    assert QValueBound(0.1).gradient(p_fa, p_nd) == pytest.approx(p_fa - 0.1 * (1 - p_nd))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rho", "C"), [(0.01, 100.0), (0.01, 1000.0), (0.05, 10000.0), (0.2, 10000.0)])
def test_feasible_iterate_leads_to_a_stationary_one(seed, rho, C):
    """No search that met the constraint ends without an optimum, or with a worse one."""
    X, y = sample(300, seed=seed)
    result = search(X, y, rho=rho, C=C)
    feasible = [one.objective - one.multiplier * (one.p_fa - rho) for one in result.trace if one.p_fa <= 1.05 * rho]
    assert (result.status in REACHED) == bool(feasible)
    if feasible:
        slack = result.best.multiplier * rho / 20  # of an objective, by epsilon
        assert result.best.objective <= min(feasible) + 2 * slack


@pytest.mark.parametrize("rho", [1e-300, 1e-9, 1e-5, 1 - 1e-5, 1 - 1e-12])
@pytest.mark.parametrize("kernel", [RBF, LINEAR], ids=["rbf", "linear"])
def test_extreme_bounds_terminate(rho, kernel):
    X, y = sample(60)
    result = search(X, y, rho=rho, kernel=kernel)
    assert result.status in {*REACHED, *EXPLANATIONS}
    assert result.best.p_fa <= rho * 1.05 + 1e-9


@pytest.mark.parametrize("kernel", [RBF, LINEAR], ids=["rbf", "linear"])
@pytest.mark.parametrize("eta", [0.125, 0.5, 4.0])  # powers of two: no step rounds differently
def test_classifier_scales_with_eta(eta, kernel):
    X, y = sample(80)
    one = search(X, y, C=50.0 / eta**2, kernel=kernel, tol=1e-8)
    other = search(X, y, C=50.0, kernel=kernel, eta=eta, tol=1e-8 * eta)
    assert (one.status, len(one.trace)) == (other.status, len(other.trace))
    z, scaled = (margins(X, y, kernel, found.best) for found in (one, other))
    np.testing.assert_allclose(z * eta, scaled, atol=1e-5 * eta, rtol=1e-5)
    assert other.best.multiplier == pytest.approx(one.best.multiplier * eta**2, rel=1e-6)


def test_search_from_the_point_of_another_gives_the_same_solution():
    X, y = sample(80)
    cold = search(X, y, tol=1e-9)
    svm = RampSVM(Gram(X, RBF), y, 1.0, 1e-9)
    for C in (3.0, 30.0):
        warm = anneal(svm, FalseAlarmBound(0.1), C, 10.0, 0.005, 200)
    assert len(warm.trace) == len(cold.trace)
    np.testing.assert_allclose(margins(X, y, RBF, warm.best), margins(X, y, RBF, cold.best), atol=1e-6)


class Rate:
    """A stand-in for the ramp-loss SVM whose false-alarm rate is a given function of the multiplier."""

    eta, tol, b, squared_norm, p_nd, duality_gap, violation = 1.0, 1e-3, 0.0, 1.0, 0.5, 0.0, 0.0

    unsettled, class_weights = 0, (40.0, 60.0)

    def __init__(self, rate, spread=10.0):
        self.rate, self.tried = rate, []
        self.y = np.repeat([1.0, -1.0], [40, 60])
        self.positive, self.x, self.f_0 = self.y > 0, np.zeros(100), np.linspace(0, spread, 100)

    def step(self, cost_positive, cost_negative, flat, *_):
        assert not flat.any()
        self.tried.append(60 * cost_negative)
        self.p_fa = self.rate(self.tried[-1])

    def recompute(self, x, cost_positive, cost_negative, flat):
        self.p_fa = self.rate(60 * cost_negative)

    def upper_rates(self):
        return self.p_nd, self.p_fa

    def flat(self):
        return np.zeros(100, dtype=bool)


START = 60.0  # C = 40 for 40 positives and 60 negatives


def ended(svm, rho=0.1, nu=None):
    return anneal(svm, FalseAlarmBound(rho), 40.0, 1 / rho if nu is None else nu, rho / 20, 200)


def test_first_updates_follow_the_paper():
    svm = Rate(lambda multiplier: 0.15)
    ended(svm)
    assert svm.tried[0] == pytest.approx(START)
    assert svm.tried[1] == pytest.approx(START * (1 + 10 * 0.05))


def test_gradient_updates_follow_the_paper():
    svm = Rate(lambda multiplier: 1 / (1 + 9 * (multiplier / (START * 3)) ** 2))
    result = anneal(svm, FalseAlarmBound(0.1), 40.0, 2.0, 0.005, 200, "gradient")
    assert result.status == "converged"
    expected = [START]
    for trace in result.trace[:-1]:
        expected.append(expected[-1] * (1 + 2.0 * (trace.p_fa - 0.1)))
    assert len(expected) > 5
    np.testing.assert_allclose(svm.tried, expected)


@given(
    st.sampled_from([1e-6, 0.001, 0.05, 0.5, 0.9, 0.99999]),
    st.floats(1e-5, 1e5),
    st.floats(0.3, 4),
    st.sampled_from([1, 5]),
)
def test_decreasing_rate_reaches_rho(rho, at, steepness, gain):
    """P_fa falls from 1 to 0 as lambda grows and is rho at ``at`` times the start."""
    svm = Rate(lambda multiplier: 1 / (1 + (1 / rho - 1) * (multiplier / (START * at)) ** steepness))
    result = ended(svm, rho, gain / rho)
    assert result.status == "converged"
    assert abs(result.best.p_fa - rho) <= rho / 20


@pytest.mark.parametrize("at", [1e-8, 1e-7, 1e7, 1e8])
def test_multiplier_stays_between_floor_and_cap(at):
    svm = Rate(lambda multiplier: 1 / (1 + 9 * multiplier / (START * at)))
    result = ended(svm)
    assert result.status == ("inactive" if at < 1 else "capped")
    assert len(svm.tried) <= 80
    assert min(svm.tried) >= RELATIVE_FLOOR * START * (1 - 1e-12)
    assert max(svm.tried) <= RELATIVE_CAP * START * (1 + 1e-12)


@pytest.mark.parametrize("at", [1e-3, 0.3, 2.0, 500.0])
@pytest.mark.parametrize(("above", "below"), [(0.5, 0.0), (0.9, 0.05), (0.12, 0.08)])
def test_jump_across_rho_is_found(at, above, below):
    svm = Rate(lambda multiplier: above if multiplier < START * at else below)
    result = ended(svm)
    assert result.status == "jump"
    assert result.best.p_fa == below
    too_small, too_large = (np.array([m for m in svm.tried if (m < START * at) == side]) for side in (True, False))
    assert too_large.min() <= too_small.max() * (1 + 1.01 * CLOSED_WIDTH)


def test_expected_jump_is_tried_first():
    # Where all margins can lie on the slope of the ramp, P_fa jumps at lambda = C.
    expected, other = (Rate(lambda multiplier: 0.9 if multiplier < 40 else 0.0, spread) for spread in (1.0, 10.0))
    assert ended(expected).status == ended(other).status == "jump"
    assert len(expected.tried) <= 4 < len(other.tried)


def test_expected_jump_of_the_q_value_is_at_balanced_costs():
    """C + lambda q on the positives' mean loss, lambda on the negatives': equal at lambda = C / (1 - q)."""
    svm = Rate(lambda multiplier: 0.4 if multiplier < 50 else 0.0, spread=1.0)
    found = anneal(svm, QValueBound(0.2), 40.0, 5.0, 0.01, 200)
    assert found.status == "jump"
    assert len(svm.tried) <= 4


@pytest.mark.parametrize("bound", [FalseAlarmBound(0.1), QValueBound(0.1)])
def test_missing_every_positive_is_flat(bound):
    svm = Rate(lambda multiplier: 0.1 if isinstance(bound, FalseAlarmBound) else 0.0)
    svm.p_nd = 1.0
    found = anneal(svm, bound, 40.0, 10.0, 0.005, 200)
    assert found.status == "flat"
    assert found.status not in REACHED


def followed(rate, bound, start):
    """Return the multipliers that the interpreted and the compiled rule end at; 0 if no multiplier meets the bound."""
    rule, epsilon = SecantMultiplier(start, bound, 1 / bound), bound / 50
    while not rule.closed and abs(rate(rule.value) - bound) > epsilon:
        rule.update(rate(rule.value), rate(rule.value) - bound)
    search, value = MultiplierSearch(open_interval(), 0.0, 0.0, 0, 0), start
    while value and abs(rate(value) - bound) > epsilon:
        search, value = next_multiplier(search, value, rate(value), bound, 1 / bound)
    return 0.0 if rule.closed else rule.value, value


@pytest.mark.parametrize("start", [0.05, 1.0, 200.0])
@pytest.mark.parametrize("bound", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("steepness", [1.0, 2.0, 4.0])
def test_both_rules_find_the_multiplier_of_a_decreasing_rate(steepness, bound, start):
    found = followed(lambda value: 1 / (1 + (value / 7) ** steepness), bound, start)
    assert found == pytest.approx((7 * (1 / bound - 1) ** (1 / steepness),) * 2, rel=0.05)


def test_both_rules_give_up_at_a_jump():
    assert followed(lambda value: 0.9 if value < 3 else 0.01, bound=0.1, start=1.0) == (0.0, 0.0)
