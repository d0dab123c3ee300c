"""Propositions 1 to 4 of Bach et al. as limits of numerical classifiers, and their misprints."""

import numpy as np
import pytest

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.asymmetry_figures import PAIRS
from npbench_papers.bach.theory import expansions
from npbench_papers.bach.theory.asymmetry import roc_curve
from npbench_papers.bach.theory.minimisers import minimisers
from npbench_papers.bach.theory.populations import Population

# Components differ in width, so that max and min differ; means are not 0, so that shifts matter.
MIXED = Population(
    GaussianMixture([0.3, 0.7], [[2.0, 1.0], [1.5, 3.0]], [[[1.75, 0.75], [0.75, 2.5]], [[0.5, 0.1], [0.1, 0.4]]]),
    GaussianMixture([0.6, 0.4], [[0.5, 0.5], [1.0, -1.0]], [[[2.0, 0.0], [0.0, 1.5]], [[0.6, 0.2], [0.2, 0.9]]]),
    p_positive=0.3,
)
NARROW = Population(
    GaussianMixture([0.5, 0.5], [[1.0, 0.5], [0.5, 1.0]], [0.2 * np.eye(2), 0.3 * np.eye(2)]),
    GaussianMixture([0.8, 0.2], [[0.0, 0.0], [0.3, -0.5]], [np.eye(2), [[2.0, 0.5], [0.5, 1.0]]]),
)
POPULATIONS = {"mixed": MIXED, "narrow": NARROW, **PAIRS}
SMALL = np.array([1e-3, 1e-4, 1e-5, 1e-6])
TINY = np.array([1e-30, 1e-60, 1e-120, 1e-240])
ORDER = np.log(np.log(1 / TINY)) / np.log(1 / TINY)  # of errors there
every = pytest.mark.parametrize("name", POPULATIONS)


def proposition_1(population, gamma):
    """Return w and b up to O(gamma^2); in the paper ``S_neg^-1`` is missing from b, but not from its proof."""
    r = population.p_positive / (1 - population.p_positive) * gamma
    a = np.linalg.solve(population.negative.covariance, population.difference)
    return 2 * np.outer(r, a), -1 + 2 * r * (1 - population.negative.mean @ a)


def proposition_2(population, gamma):
    """Return w and b up to a factor 1 + o(1)."""
    distance = np.sqrt(2 * np.log(1 / gamma))
    theta, _ = expansions.tilt(population.negative, population.positive.mean)
    return np.outer(1 / distance, -theta), -distance


def falling(errors):
    return (np.diff(np.abs(errors), axis=0) < 0).all()


@every
def test_proposition_1_leaves_an_error_of_second_order(name):
    population = POPULATIONS[name]
    found, (w, b) = minimisers(population, SMALL, "square"), proposition_1(population, SMALL)
    for errors in ((found.w - w) / SMALL[:, np.newaxis] ** 2, ((found.b - b) / SMALL**2)[:, np.newaxis]):
        # The ratio converges until rounding errors of b dominate.
        assert errors[1] == pytest.approx(errors[2], rel=0.01, abs=1e-3)
        assert np.abs(errors[0]).max() < 1e3


def test_proposition_1_as_printed_leaves_an_error_of_first_order():
    found = minimisers(MIXED, SMALL, "square")
    r = 0.3 / 0.7 * SMALL
    printed = -1 + r * (2 - 2 * MIXED.negative.mean @ MIXED.difference)
    first_order = (found.b - printed) / SMALL
    assert np.abs(first_order[-2:]).min() > 0.03
    assert first_order[-1] == pytest.approx(first_order[-2], rel=1e-3)


@every
def test_proposition_2_is_the_limit_of_the_erf_loss(name):
    population = POPULATIONS[name]
    found, (w, b) = minimisers(population, TINY, "erf"), proposition_2(population, TINY)
    lengths = np.linalg.norm(found.w, axis=1) / np.linalg.norm(w, axis=1)
    assert (np.abs(found.b / b - 1) < ORDER).all()
    assert (np.abs(lengths - 1) < 2 * ORDER).all()
    cosine = np.sum(found.w * w, axis=1) / np.linalg.norm(found.w, axis=1) / np.linalg.norm(w, axis=1)
    assert falling(cosine - 1) or cosine == pytest.approx(np.ones(4), abs=1e-12)
    assert cosine[-1] > 1 - 1e-4


def test_limit_uses_the_tilted_components():
    """b w tends to theta; without the shift to the positives' mean, or without xi, the limit differs."""
    found = minimisers(MIXED, TINY, "erf")
    product = found.b[:, np.newaxis] * found.w
    theta = expansions.tilt(MIXED.negative, MIXED.positive.mean).theta
    distance = np.linalg.norm(product - theta, axis=1)
    assert falling(distance)
    assert distance[-1] < 0.02 * np.linalg.norm(theta)
    unshifted = expansions.tilt(MIXED.negative, np.zeros(2)).theta
    untilted = np.linalg.solve(
        np.tensordot(MIXED.negative.weights, MIXED.negative.covariances, axes=1), -MIXED.difference
    )
    for wrong in (unshifted, untilted):
        assert np.linalg.norm(product[-1] - wrong) > 0.1 * np.linalg.norm(theta)


@every
def test_tilt_solves_11_and_12(name):
    negative, target = POPULATIONS[name].negative, POPULATIONS[name].positive.mean
    theta, xi = expansions.tilt(negative, target)
    shifted = negative.means - target
    assert np.tensordot(xi, negative.covariances, axes=1) @ theta == pytest.approx(xi @ shifted, abs=1e-8)
    quadratic = np.array([theta @ S @ theta for S in negative.covariances])
    weights = negative.weights * np.exp(-shifted @ theta + quadratic / 2)
    assert xi == pytest.approx(weights / weights.sum(), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_tilt_minimises_the_convex_problem_of_the_paper(seed):
    """H(xi) = sum xi log(xi / pi) + 1/2 nu'S^-1 nu over the simplex, with nu and S averaged by xi."""
    cvxpy = pytest.importorskip("cvxpy")
    random = np.random.default_rng(seed)
    A = random.normal(size=(3, 2, 2))
    negative = GaussianMixture(
        random.dirichlet(np.ones(3)), random.normal(size=(3, 2)), A @ A.transpose(0, 2, 1) + np.eye(2)
    )
    target = random.normal(size=2)
    xi = cvxpy.Variable(3)
    average = cvxpy.sum([xi[i] * negative.covariances[i] for i in range(3)])
    objective = cvxpy.sum(cvxpy.rel_entr(xi, negative.weights))
    objective += cvxpy.matrix_frac((negative.means - target).T @ xi, average) / 2
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.sum(xi) == 1])
    problem.solve(solver="CLARABEL")
    assert expansions.tilt(negative, target).xi == pytest.approx(xi.value, abs=1e-4)


def test_distant_tilts():
    apart = GaussianMixture([0.5, 0.5], [[-40.0], [40.0]], [[[1.0]], [[1.0]]])
    theta, xi = expansions.tilt(apart, np.array([0.0]))
    assert theta == pytest.approx([0.0], abs=1e-9)
    assert xi == pytest.approx([0.5, 0.5])
    theta, xi = expansions.tilt(apart, np.array([100.0]))
    assert theta == pytest.approx([-60.0])
    assert xi == pytest.approx([0.0, 1.0])


@every
def test_proposition_3_is_the_limit_of_the_slope(name):
    population = POPULATIONS[name]
    found = roc_curve(population, SMALL, "square").log_slope
    ratio = found / expansions.log_slope(population, SMALL, "square")
    assert falling(ratio - 1)
    assert ratio[-1] == pytest.approx(1.0, abs=1e-4)


@every
def test_proposition_4_is_the_limit_of_the_slope(name):
    population = POPULATIONS[name]
    found = roc_curve(population, TINY, "erf").log_slope
    ratio = found / expansions.log_slope(population, TINY, "erf")
    assert (np.abs(ratio - 1) < 12 * ORDER).all()
    assert np.abs(ratio[-1] - 1) < 0.06
    assert np.abs(ratio[-1] - 1) < np.abs(ratio[0] - 1) or np.abs(ratio - 1).max() < 0.05
    # As printed, with the logarithm not squared, there is no limit.
    printed = found / (2 * expansions.regime(population, "erf") * np.log(1 / TINY))
    assert (np.diff(np.abs(printed)) > 0).all()
    assert np.abs(printed[-1]) > 100


@pytest.mark.parametrize("loss", ["square", "erf"])
def test_printed_constants_are_not_the_limit(loss):
    gamma = SMALL if loss == "square" else TINY
    # The direction that w takes in the limit, found numerically.
    a = minimisers(MIXED, gamma, loss).w[-1]
    a = a / np.linalg.norm(a)
    widths = [np.array([a @ S @ a for S in part.covariances]) for part in (MIXED.negative, MIXED.positive)]
    mended, printed = (pick(1 / widths[0]) - pick(1 / widths[1]) for pick in (np.min, np.max))
    found = roc_curve(MIXED, gamma, loss).log_slope[-1]
    ratio = found / expansions.log_slope(MIXED, gamma, loss)[-1]
    assert ratio == pytest.approx(1.0, abs=0.06)
    assert abs(ratio * mended / printed - 1) > 0.5


@pytest.mark.parametrize("loss", ["square", "erf"])
def test_constants_of_the_figures_and_of_equal_covariances(loss):
    for name, population in PAIRS.items():
        assert expansions.regime(population, loss) == pytest.approx(float(name), abs=0.005)
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    population = Population(GaussianMixture.single([1.0, 0.0], S), GaussianMixture.single([0.0, 1.0], S))
    assert expansions.regime(population, loss) == pytest.approx(0.0, abs=1e-9)
