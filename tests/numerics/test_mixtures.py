"""Mixtures of Gaussians against SciPy's densities, quadrature and closed forms."""

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal, norm

from npbench.numerics.mixtures import GaussianMixture

TWO = GaussianMixture([0.3, 0.7], [[1.0, 2.0], [-1.0, 0.5]], [[[2.0, 0.6], [0.6, 1.0]], [[0.5, -0.2], [-0.2, 0.8]]])
ONE = GaussianMixture.single([1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]])
SIDE = np.linspace(-12, 12, 801)
GRID = np.stack(np.meshgrid(SIDE, SIDE), axis=-1)


def density(mixture, points):
    parts = zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    return sum(weight * multivariate_normal(mean, covariance).pdf(points) for weight, mean, covariance in parts)


def integral(values):
    return np.sum(values, axis=(0, 1)) * (SIDE[1] - SIDE[0]) ** 2


def test_moments_match_the_density():
    weight = density(TWO, GRID)[..., np.newaxis]
    mean = integral(weight * GRID)
    centred = GRID - mean
    assert TWO.mean == pytest.approx(mean, abs=1e-9)
    outer = centred[..., :, np.newaxis] * centred[..., np.newaxis, :]
    assert TWO.covariance == pytest.approx(integral(weight[..., np.newaxis] * outer), abs=1e-8)


def test_tails_match_integrals_over_half_planes():
    w, b = np.array([[1.0, 0.0], [0.0, -2.0]]), np.array([0.015, 1.05])  # lines half-way between the points of the grid
    expected = [integral(density(TWO, GRID) * (GRID @ one + shift >= 0)) for one, shift in zip(w, b, strict=True)]
    assert TWO.tail(w, b) == pytest.approx(expected, abs=1e-4)
    assert np.exp(TWO.log_tail(w, b)) == pytest.approx(TWO.tail(w, b), rel=1e-12)


def test_log_tails_do_not_underflow_and_zero_weights_count_ties_as_positive():
    w, b = np.array([[1.0, 1.0]]), np.array([-200.0])
    mean, deviation = 0.0, 2.0  # of the sum of the features
    assert ONE.tail(w, b) == 0.0
    assert ONE.log_tail(w, b) == pytest.approx(norm.logcdf((mean - 200.0) / deviation))
    assert TWO.tail(np.zeros((3, 2)), np.array([1.0, 0.0, -1e-300])).tolist() == [1.0, 1.0, 0.0]
    assert TWO.log_tail(np.zeros((1, 2)), np.array([-1.0])).tolist() == [-np.inf]


def test_affine_map_moves_points_and_half_planes():
    matrix, centre = np.array([[3.0, 1.0], [0.0, 1e-3]]), np.array([5.0, -2.0])
    w, b = np.array([[0.7, -0.2]]), np.array([0.1])
    seen = w @ np.linalg.inv(matrix)
    # w'x + b = w'matrix^-1 z + w'centre + b for z = matrix (x - centre)
    assert TWO.affine(matrix, centre).tail(seen, w @ centre + b) == pytest.approx(TWO.tail(w, b), rel=1e-10)


@pytest.mark.parametrize("axis", [0, 1])
def test_samples_follow_the_mixture(axis):
    points = TWO.draw(np.random.default_rng(3), 20_000)[:, axis]
    means, deviations = TWO.means[:, axis], np.sqrt(TWO.covariances[:, axis, axis])
    assert kstest(points, lambda t: norm.cdf(t[:, np.newaxis], means, deviations) @ TWO.weights).pvalue > 0.001


def test_samples_have_the_covariance_in_any_dimension():
    A = np.random.default_rng(0).normal(size=(4, 4))
    mixture = GaussianMixture.single(np.arange(4.0), A @ A.T + np.eye(4))
    points = mixture.draw(np.random.default_rng(1), 200_000)
    assert np.cov(points.T) == pytest.approx(mixture.covariance, abs=0.12)
    assert points.mean(axis=0) == pytest.approx(np.arange(4.0), abs=0.03)


def test_samples_in_the_plane_match_the_written_out_cholesky_factor():
    (u, v), points = np.random.default_rng(5).standard_normal((2, 7)), ONE.draw(np.random.default_rng(5), 7)
    slope = 0.5 / np.sqrt(2.0)
    assert np.array_equal(points[:, 0], 1.0 + np.sqrt(2.0) * u)
    assert np.array_equal(points[:, 1], -1.0 + slope * u + np.sqrt(1.0 - slope**2) * v)


def test_mixtures_are_immutable():
    with pytest.raises(ValueError, match="read-only"):
        TWO.means[0, 0] = 3.0
    given = np.zeros((1, 1))
    mixture = GaussianMixture(np.ones(1), given, np.ones((1, 1, 1)))
    given[0, 0] = 5.0
    assert mixture.mean.tolist() == [0.0]


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "fault"),
    [
        ([0.5, 0.6], [[0.0], [1.0]], [[[1.0]], [[1.0]]], "sum 1"),
        ([1.5, -0.5], [[0.0], [1.0]], [[[1.0]], [[1.0]]], "must be positive"),
        ([1.0], [[0.0, 0.0]], [[[1.0]]], "shapes"),
        ([1.0], [0.0], [[[1.0]]], "shapes"),
        ([], np.zeros((0, 1)), np.zeros((0, 1, 1)), "shapes"),
        ([1.0], [[np.nan]], [[[1.0]]], "must be finite"),
        ([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.0, 1.0]]], "covariance 0"),
        ([1.0], [[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]], "positive definite"),
        ([1.0], [[0.0]], [[[0.0]]], "positive definite"),
    ],
)
def test_invalid_mixtures_raise(weights, means, covariances, fault):
    with pytest.raises(ValueError, match=fault):
        GaussianMixture(weights, means, covariances)
