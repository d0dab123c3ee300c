"""The largest miss margin on a growing subspace, against the generalised eigendecomposition of all coordinates."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from npbench_gen import estimator
from npbench_gen.estimator import GenerativeNP
from npbench_gen.expansion import KernelMoments, largest_margin
from npbench_gen.generative import MissMargin

RIDGE = 1e-3


def sample(n_neg=70, n_pos=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n_neg, d)), rng.normal(0.7, 1.5, size=(n_pos, d))])


def dense_margin(K, n_neg, ridge, kappa):
    """Return margin and scores by all eigenvectors of K: its roots are coordinates."""
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    S_neg, S_pos = (np.cov(part.T, bias=True) + ridge * np.eye(len(K)) for part in (Z[:n_neg], Z[n_neg:]))
    found = MissMargin(Z[n_neg:].mean(axis=0) - Z[:n_neg].mean(axis=0), S_pos, S_neg).maximise(kappa)
    return found.margin, Z @ found.w


@pytest.mark.parametrize("kappa", [0.0, 0.1, 1.0, 3.0, 9.95])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("n_neg", [2, 30, 100, 118])
def test_margin_and_scores_are_those_of_all_coordinates(n_neg, gamma, kappa):
    K = rbf_kernel(sample(n_neg, 120 - n_neg), gamma=gamma)
    margin, scores = dense_margin(K, n_neg, RIDGE, kappa)
    found = largest_margin(KernelMoments(K.copy(), n_neg, RIDGE, 1.0), kappa)
    assert found.converged
    assert found.margin == pytest.approx(margin, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(found.scores - found.scores.mean(), scores - scores.mean(), atol=1e-5)
    np.testing.assert_allclose(K @ found.x, found.scores, atol=1e-5)


@pytest.mark.parametrize("kappa", [0.5, 20.0])
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_units_and_offsets_of_the_kernel_do_not_matter(scale, kappa):
    K = rbf_kernel(sample(), gamma=0.5)
    plain = largest_margin(KernelMoments(K.copy(), 70, RIDGE, 1.0), kappa)
    for other in (scale * K, scale * (K + 3.0)):
        found = largest_margin(KernelMoments(other, 70, RIDGE, scale), kappa)
        assert found.margin == pytest.approx(plain.margin, rel=1e-8)
        np.testing.assert_allclose(scale * found.x, plain.x, atol=1e-5 * np.abs(plain.x).max())


@pytest.mark.parametrize("kappa", [1.0, 5.0])
def test_equal_samples_in_both_classes(kappa):
    X = np.round(sample(), 0)
    K = rbf_kernel(X, gamma=0.5)
    margin, _ = dense_margin(K, 70, RIDGE, kappa)
    assert largest_margin(KernelMoments(K, 70, RIDGE, 1.0), kappa).margin == pytest.approx(margin, rel=1e-7)


@pytest.mark.parametrize("kappa", [1.0, 5.0])
def test_equal_classes_have_the_margin_of_any_direction(kappa):
    K = np.tile(rbf_kernel(sample(30, 30), gamma=0.5), (2, 2))
    assert largest_margin(KernelMoments(K, 60, RIDGE, 1.0), kappa).margin == pytest.approx(-kappa, rel=1e-6)
    same = largest_margin(KernelMoments(np.ones((20, 20)), 10, RIDGE, 1.0), kappa)
    assert (same.margin, same.converged) == (pytest.approx(-kappa), True)


def test_widest_direction_is_found_where_the_difference_of_the_means_is_orthogonal_to_it():
    """Under a narrow kernel every contrast of the positives is widest, and none has a part in delta."""
    margin, _ = dense_margin(np.eye(60), 40, 1e-4, 20.0)
    assert largest_margin(KernelMoments(np.eye(60), 40, 1e-4, 1.0), 20.0).margin == pytest.approx(margin, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_both_ways_give_the_same_classifier(monkeypatch, kernel):
    X = np.random.default_rng(3).permutation(sample())
    y = np.where(np.random.default_rng(4).random(len(X)) < 0.4, 1, -1)
    Z = rbf_kernel(X, gamma=2.0) if kernel == "precomputed" else X
    model = GenerativeNP(rho=0.3, kernel=kernel, gamma=2.0, ridge=RIDGE)
    few = model.fit(Z, y).decision_function(Z)
    monkeypatch.setattr(estimator, "FEW_SAMPLES", 40)
    many = model.fit(Z, y).decision_function(Z)
    np.testing.assert_allclose(many, few, atol=1e-6)
    assert model.recompute(Z, y)["objective_"] == pytest.approx(model.objective_)
