"""Population classifiers against quadrature, SciPy's optimisers, the paper's conditions and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.asymmetry_figures import PAIRS
from npbench_papers.bach.theory.expected_cost import ERF, HINGE, AsymmetricCost
from npbench_papers.bach.theory.minimisers import least_cost_ratio, minimisers
from npbench_papers.bach.theory.populations import Population

LINE = Population(
    GaussianMixture([0.4, 0.6], [[1.0], [3.0]], [[[1.0]], [[0.25]]]),
    GaussianMixture([0.7, 0.3], [[-1.0], [1.5]], [[[2.0]], [[0.5]]]),
    p_positive=0.3,
)
PLANE = Population(
    GaussianMixture([0.5, 0.5], [[-2.0, 3.0], [0.0, -3.0]], [np.eye(2)] * 2),
    GaussianMixture([0.6, 0.4], [[3.0, 1.0], [-3.0, -2.0]], [[[1.5, 0.4], [0.4, 0.8]], [[2.0, 0.0], [0.0, 1.0]]]),
)
GAUSSIANS = PAIRS["0.12"]
POPULATIONS = {"line": LINE, "plane": PLANE, "gaussians": GAUSSIANS}
EXTREME = [1e-8, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-8]
LOSSES = ("square", "erf", "hinge")


def density(mixture, points):
    parts = zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    return sum(weight * multivariate_normal(mean, covariance).pdf(points) for weight, mean, covariance in parts)


def random_population(seed, d, spread):
    random = np.random.default_rng(seed)

    def mixture():
        k = random.integers(1, 4)
        A = random.normal(size=(k, d, d))
        S = A @ A.transpose(0, 2, 1) * 10.0 ** random.uniform(-2, 1) + 1e-3 * np.eye(d)
        return GaussianMixture(random.dirichlet(np.full(k, 3.0)), spread * random.normal(size=(k, d)), S)

    return Population(mixture(), mixture(), 10.0 ** random.uniform(-4, -0.05))


@pytest.mark.parametrize("name", POPULATIONS)
def test_square_loss_matches_weighted_regression(name):
    population = POPULATIONS[name]
    found = minimisers(population, EXTREME, "square")
    for gamma, w, b in zip(EXTREME, found.w, found.b, strict=True):
        weights = gamma * population.p_positive, (1 - gamma) * (1 - population.p_positive)
        second, first = 0.0, 0.0
        for weight, part, label in zip(weights, (population.positive, population.negative), (1, -1), strict=True):
            z = np.append(part.mean, 1.0)
            second = second + weight * (np.outer(z, z) + np.pad(part.covariance, (0, 1)))
            first = first + weight * label * z
        assert np.append(w, b) == pytest.approx(np.linalg.solve(second, first), rel=1e-7)
    assert found.residual.max() < 1e-13


@pytest.mark.one_in(3)
@pytest.mark.parametrize("gamma", [0.4, 0.7, 0.9])
def test_hinge_loss_is_stationary_by_quadrature(gamma):
    (w,), (b,) = (part for part in minimisers(LINE, [gamma], "hinge")[:2])
    bends = np.sort([(1 - b) / w[0], (-1 - b) / w[0]])

    def over(part, label, factor):
        def term(x):
            return -label * factor(x) * density(part, x) if label * (w[0] * x + b) < 1 else 0.0

        ends = [-20.0, *bends, 20.0]
        return sum(quad(term, left, right, epsabs=1e-13)[0] for left, right in pairwise(ends))

    for factor in (lambda x: 1.0, lambda x: x):
        pulls = over(LINE.positive, 1, factor), over(LINE.negative, -1, factor)
        assert gamma * 0.3 * pulls[0] + (1 - gamma) * 0.7 * pulls[1] == pytest.approx(0.0, abs=1e-10)


# The gradient is at most 1e-11 of the cost, which is 36 at the first asymmetry.
@pytest.mark.parametrize(("gamma", "tol"), [(1e-280, 4e-10), (1e-8, 1e-10), (0.05, 1e-10), (0.5, 1e-10), (0.8, 1e-10)])
@pytest.mark.parametrize("name", ["plane", "gaussians"])
def test_erf_loss_meets_the_conditions_at_extreme_asymmetries(name, gamma, tol):
    """Check equations (8) and (9) of appendix A, divided by rho, the order of their terms."""
    population = POPULATIONS[name]
    found = minimisers(population, [gamma], "erf")
    w, b, rho = found.w[0], found.b[0], gamma / (1 - gamma)
    by_w, by_b = 0.0, 0.0
    for part, sign, weight in ((population.positive, -1, 1.0), (population.negative, 1, 1 / rho)):
        for pi, mu, S in zip(part.weights, part.means, part.covariances, strict=True):
            s = np.sqrt(1 + w @ S @ w)
            t = sign * (w @ mu + b) / s
            by_w = by_w + weight * pi * (sign * mu * norm.cdf(t) + S @ w / s * norm.pdf(t))
            by_b = by_b + weight * pi * sign * norm.cdf(t)
    assert by_w == pytest.approx(np.zeros(2), abs=tol)
    assert by_b == pytest.approx(0.0, abs=tol)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_tangents_match_finite_differences(name, loss):
    logits, step = np.linspace(-1.0, 1.5, 7), 1e-4
    at = [minimisers(POPULATIONS[name], 1 / (1 + np.exp(-logits + shift)), loss) for shift in (-step, 0.0, step)]
    assert at[1].dw == pytest.approx((at[0].w - at[2].w) / (2 * step), abs=1e-6)
    assert at[1].db == pytest.approx((at[0].b - at[2].b) / (2 * step), abs=1e-6)


@given(
    st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([1e-3, 0.1, 1.0, 5.0]), st.sampled_from(["erf", "hinge"])
)
def test_gradients_vanish_for_any_population(seed, d, spread, loss):
    population = random_population(seed, d, spread)
    gamma = np.array([1e-8, 1e-4, 0.05, 0.3, 0.5, 0.8, 0.999, 1 - 1e-8])
    found = minimisers(population, gamma, loss)
    assert found.residual.max() <= 1e-10
    assert np.isfinite(np.column_stack([*found[:4]])).all()
    # The gradient with weights divided by the smaller one is larger.
    seen, matrix, centre = population.standardised()
    points = np.column_stack([found.w @ np.linalg.inv(matrix), found.b + found.w @ centre])
    sloped = np.any(found.w, axis=1)
    cost = AsymmetricCost(seen, {"erf": ERF, "hinge": HINGE}[loss], population.log_cost_ratio(gamma)[sloped])
    assert np.abs(cost.derivatives(points[sloped])[0]).max(initial=0.0) <= 1e-8


@pytest.mark.parametrize("loss", LOSSES)
def test_feature_units_do_not_matter(loss):
    matrix, centre = np.array([[1e5, 0.0], [3e-4, 1e-4]]), np.array([7.0, -1e3])
    far = Population(PLANE.positive.affine(matrix, centre), PLANE.negative.affine(matrix, centre))
    gamma = np.array([0.05, 0.5, 0.9])
    near, found = minimisers(PLANE, gamma, loss), minimisers(far, gamma, loss)
    assert found.w @ matrix == pytest.approx(near.w, abs=1e-7)
    assert found.b - found.w @ matrix @ centre == pytest.approx(near.b, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_only_the_cost_ratio_matters_and_swapped_classes_mirror(loss):
    gamma = np.array([0.02, 0.3, 0.5, 0.8])
    found, mirrored = minimisers(LINE, gamma, loss), minimisers(LINE.swapped(), 1 - gamma, loss)
    assert mirrored.w == pytest.approx(-found.w, abs=1e-9)
    assert mirrored.b == pytest.approx(-found.b, abs=1e-9)
    assert mirrored.dw == pytest.approx(found.dw, abs=1e-8)
    ratio = gamma / (1 - gamma) * 0.3 / 0.7
    balanced = minimisers(Population(LINE.positive, LINE.negative), ratio / (1 + ratio), loss)
    assert found.w == pytest.approx(balanced.w, abs=1e-9)


def test_least_cost_ratio_of_a_gaussian_matches_its_equation():
    for population in (GAUSSIANS, GAUSSIANS.swapped()):
        m = population.difference
        distance = np.sqrt(m @ np.linalg.solve(population.negative.covariance, m))
        expected = brentq(lambda r, d=distance: norm.pdf(norm.isf(r)) / r - d, 1e-9, 1 - 1e-9, xtol=1e-14)
        assert least_cost_ratio(population) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", POPULATIONS)
def test_least_cost_ratio_separates_trivial_hinge_classifiers(name):
    population = Population(POPULATIONS[name].positive, POPULATIONS[name].negative)
    ratio = least_cost_ratio(population)
    below, above = (factor * ratio / (1 + factor * ratio) for factor in (0.99, 1.05))
    found = minimisers(population, [below, above], "hinge")
    assert found.w.any(axis=1).tolist() == [False, True]
    assert found.b[0] == -1.0
    assert not found.dw[0].any()
    cost = AsymmetricCost(population, HINGE, population.log_cost_ratio(np.array([below, above])))
    trivial = np.append(np.zeros(found.w.shape[1]), -1.0)
    least = cost.value(np.tile(trivial, (2, 1)))
    assert cost.value(np.column_stack([found.w, found.b]))[1] < least[1]
    # Below, no direction descends from there; since the loss is convex, nearby points suffice.
    random = np.random.default_rng(0)
    steps = random.normal(size=(4000, len(trivial))) * 10.0 ** random.uniform(-3, 1, size=(4000, 1))
    around = AsymmetricCost(population, HINGE, np.full(4000, cost.log_ratio[0]))
    assert (around.value(trivial + steps) >= least[0] * (1 - 1e-9)).all()


def test_equal_means_give_zero_weights():
    same_mean = Population(*(GaussianMixture.single([1.0, 2.0], scale * np.eye(2)) for scale in (3.0, 1.0)))
    found = minimisers(same_mean, [0.01, 0.49, 0.5, 0.51, 0.99], "hinge")
    assert not found.w.any()
    assert found.b.tolist() == [-1.0, -1.0, -1.0, 1.0, 1.0]
    assert least_cost_ratio(same_mean) == 1.0
    for loss in ("square", "erf"):
        found = minimisers(same_mean, [0.2, 0.5], loss)
        assert found.w == pytest.approx(np.zeros((2, 2)), abs=1e-9)
        assert found.db.min() > 0.1


@pytest.mark.slow  # 999 minimisations of each loss; several at once are tested for any population
def test_a_thousand_asymmetries_at_once():
    gamma = np.arange(1, 1000) / 1000
    for loss in LOSSES:
        together = minimisers(PLANE, gamma, loss)
        for i in (0, 499, 998):
            alone = minimisers(PLANE, gamma[i : i + 1], loss)
            assert together.w[i] == pytest.approx(alone.w[0], abs=1e-9)
    assert len(minimisers(PLANE, [], "hinge").b) == 0


INSIDE = r"values in \]0, 1\["


@pytest.mark.parametrize(
    ("gamma", "fault"), [([0.0], INSIDE), ([np.nan], INSIDE), (0.5, r"shape \(n,\)"), ([1e-300], "less extreme")]
)
def test_invalid_arguments_raise(gamma, fault):
    with pytest.raises(ValueError, match=fault):
        minimisers(GAUSSIANS, gamma, "erf")
    with pytest.raises(ValueError, match="one of square, erf, hinge"):
        minimisers(GAUSSIANS, [0.5], "logistic")
