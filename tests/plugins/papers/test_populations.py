import numpy as np
import pytest

from npbench.numerics.mixtures import GaussianMixture
from npbench_papers.bach.theory.populations import Population

TWO = GaussianMixture([0.3, 0.7], [[1.0, 2.0], [-1.0, 0.5]], [[[2.0, 0.6], [0.6, 1.0]], [[0.5, -0.2], [-0.2, 0.8]]])
ONE = GaussianMixture.single([1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]])


def test_standardised_population_has_mean_0_and_covariance_1():
    far = Population(
        TWO.affine(np.diag([1e4, 1e-3]), np.array([1e6, 0.0])), ONE.affine(np.diag([1e4, 1e-3]), np.zeros(2))
    )
    seen, matrix, centre = far.standardised()
    both = GaussianMixture(
        np.concatenate([seen.positive.weights, seen.negative.weights]) / 2,
        np.concatenate([seen.positive.means, seen.negative.means]),
        np.concatenate([seen.positive.covariances, seen.negative.covariances]),
    )
    assert both.mean == pytest.approx(np.zeros(2), abs=1e-5)
    assert both.covariance == pytest.approx(np.eye(2), abs=1e-5)
    assert seen.negative.mean == pytest.approx(matrix @ (far.negative.mean - centre))


def test_invalid_populations_raise():
    with pytest.raises(ValueError, match="2 features"):
        Population(ONE, GaussianMixture.single([0.0], [[1.0]]))
    for p_positive in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match=r"in \]0, 1\["):
            Population(ONE, TWO, p_positive)
