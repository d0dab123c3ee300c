"""Parts of the theory: expected losses against quadrature, populations, Newton's method against closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory.expected_cost import ERF, HINGE, SQUARE, AsymmetricCost, class_value
from npbench_papers.bach.theory.newton import minimise
from npbench_papers.bach.theory.populations import Population

# Definitions of section 2.1 of the paper.
DEFINED = {
    "square": (SQUARE, lambda u: 0.5 * (u - 1) ** 2),
    "hinge": (HINGE, lambda u: max(1 - u, 0)),
    "erf": (ERF, lambda u: u * norm.cdf(u) - u + norm.pdf(u)),
}
MARGINS = [(-1.5, 0.3), (0.2, 4.0), (1.0, 1.0), (3.0, 0.5)]
MIXTURE = GaussianMixture([0.3, 0.7], [[1.0, 2.0], [-1.0, 0.5]], [[[2.0, 0.6], [0.6, 1.0]], [[0.5, -0.2], [-0.2, 0.8]]])
OTHER = GaussianMixture([0.4, 0.6], [[1.0, -1.0], [0.0, 2.0]], [[[2.0, 0.5], [0.5, 1.0]], [[0.3, 0.1], [0.1, 1.5]]])
POINTS = np.array([[0.5, -1.0, 0.3], [-2.0, 0.1, 1.0], [0.1, 0.2, -3.0]])
STEP = 1e-5


def jacobian(function, points):
    """Return central differences along the last axis."""
    shifts = STEP * np.eye(points.shape[1])
    return np.stack([(function(points + s) - function(points - s)) / (2 * STEP) for s in shifts], axis=-1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", DEFINED)
@pytest.mark.parametrize(("m", "v"), MARGINS)
def test_values_are_expectations_and_slopes_their_derivatives(name, m, v):
    expected, phi = DEFINED[name]
    density = norm(m, np.sqrt(v)).pdf
    by_quadrature, _ = quad(lambda u: phi(u) * density(u), m - 40, m + 40, points=[1.0, m], limit=400)
    at = lambda m, v: np.array([expected.value(m, v), *expected.slopes(m, v)])  # noqa: E731
    m, v = np.array([m]), np.array([v])
    assert expected.value(m, v)[0] == pytest.approx(by_quadrature, abs=1e-9)
    by_mean = (at(m + STEP, v) - at(m - STEP, v)) / (2 * STEP)
    by_variance = (at(m, v + STEP) - at(m, v - STEP)) / (2 * STEP)
    assert by_mean[:4] == pytest.approx(at(m, v)[1:], abs=1e-7)
    assert by_variance[:3] == pytest.approx(at(m, v)[2:] / 2, abs=1e-7)


def test_losses_of_extreme_margins_match_the_asymptotes():
    m, v = np.array([-1e6, 1e6]), np.ones(2)
    assert ERF.value(m, v).tolist() == [1e6, 0.0]
    assert HINGE.value(m, v).tolist() == [1e6 + 1, 0.0]


@pytest.mark.parametrize("name", DEFINED)
def test_cost_is_the_weighted_sum_over_the_classes(name):
    loss, _ = DEFINED[name]
    log_ratio = np.array([-3.0, 0.0, 2.0])
    cost = AsymmetricCost(Population(MIXTURE, OTHER), loss, log_ratio)
    rho = np.exp(log_ratio)
    expected = rho * class_value(MIXTURE, 1, loss, POINTS) + class_value(OTHER, -1, loss, POINTS)
    assert cost.value(POINTS) == pytest.approx(expected / np.minimum(rho, 1.0), rel=1e-12)
    gradient, hessian = cost.derivatives(POINTS)
    assert gradient == pytest.approx(jacobian(cost.value, POINTS), abs=1e-6)
    assert hessian == pytest.approx(jacobian(lambda p: cost.derivatives(p)[0], POINTS), abs=1e-6)


ONE = GaussianMixture.single([1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]])


def test_standardised_population_has_mean_0_and_covariance_1():
    units = np.diag([1e4, 1e-3])
    far = Population(MIXTURE.affine(units, np.array([1e6, 0.0])), ONE.affine(units, np.zeros(2)))
    seen, matrix, centre = far.standardised()
    parts = ([density.weights / 2, density.means, density.covariances] for density in (seen.positive, seen.negative))
    both = GaussianMixture(*map(np.concatenate, zip(*parts, strict=True)))
    assert both.mean == pytest.approx(np.zeros(2), abs=1e-5)
    assert both.covariance == pytest.approx(np.eye(2), abs=1e-5)
    assert seen.negative.mean == pytest.approx(matrix @ (far.negative.mean - centre))


def test_invalid_populations_raise():
    with pytest.raises(ValueError, match="2 features"):
        Population(ONE, GaussianMixture.single([0.0], [[1.0]]))
    for p_positive in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match=r"in \]0, 1\["):
            Population(ONE, MIXTURE, p_positive)


class Sums:
    """Functions ``exp(steepness x) + exp(-x)``, one for each steepness."""

    def __init__(self, steepness):
        self.steepness = np.array(steepness)[:, np.newaxis]

    def value(self, points):
        with np.errstate(over="ignore"):
            return (np.exp(self.steepness * points) + np.exp(-points))[:, 0]

    def derivatives(self, points):
        up, down = np.exp(self.steepness * points), np.exp(-points)
        return self.steepness * up - down, (self.steepness**2 * up + down)[:, :, np.newaxis]


STEEPNESS = [0.01, 1.0, 1000.0]


def test_minima_match_closed_forms_and_the_residual_shows_an_early_stop():
    found = minimise(Sums(STEEPNESS), np.full((3, 1), -3.0))
    for k, point in zip(STEEPNESS, found.points[:, 0], strict=True):
        assert point == pytest.approx(np.log(1 / k) / (k + 1), abs=1e-9)
    assert found.residual.max() <= 1e-11
    found = minimise(Sums([1.0]), np.array([[-30.0]]), max_iter=3)
    assert found.n_iter == 3
    assert found.residual[0] > 0.1
