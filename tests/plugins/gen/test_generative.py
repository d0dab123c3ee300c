"""The largest miss margin against conic programs, brute force over directions and the conditions of optimality.

On a growing subspace it is compared with the generalised eigendecomposition of all coordinates.
"""

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.metrics.pairwise import rbf_kernel

from npbench_gen import estimator
from npbench_gen.estimator import GenerativeNP
from npbench_gen.expansion import KernelMoments, largest_margin
from npbench_gen.generative import MissMargin, coordinates, miss_rate, tail_distance


def covariance(rng, d, spread=1.0):
    A = rng.normal(size=(d, d + 2)) * np.exp(rng.uniform(-spread, spread, d))[:, None]
    return A @ A.T / d


def problem(seed, d, distance=1.0, spread=1.0):
    """Return delta, S_pos, S_neg with ``delta'S_neg^-1 delta = distance^2``."""
    rng = np.random.default_rng(seed)
    S_pos, S_neg, delta = covariance(rng, d, spread), covariance(rng, d, spread), rng.normal(size=d)
    return delta * distance / np.sqrt(delta @ np.linalg.solve(S_neg, delta)), S_pos, S_neg


def margin(W, delta, S_pos, S_neg, kappa):
    lengths = [np.sqrt(np.einsum("...i,ij,...j->...", W, S, W)) for S in (S_pos, S_neg)]
    return (W @ delta - kappa * lengths[1]) / lengths[0]


def brute_force(delta, S_pos, S_neg, kappa):
    """Return the largest margin over the directions of the plane, refined twice around the best."""
    centre, width = 0.0, np.pi
    for _ in range(3):
        angles = centre + np.linspace(-width, width, 4001)
        F = margin(np.column_stack([np.cos(angles), np.sin(angles)]), delta, S_pos, S_neg, kappa)
        centre, width = angles[np.argmax(F)], width / 500
    return F.max()


def conic_margin(delta, S_pos, S_neg, kappa):
    """Return the largest F >= 0 such that ``w'delta = 1 >= kappa |w|_neg + F |w|_pos`` has a solution w."""
    L_pos, L_neg = np.linalg.cholesky(S_pos), np.linalg.cholesky(S_neg)
    w, F = cvxpy.Variable(len(delta)), cvxpy.Parameter(nonneg=True)
    lengths = kappa * cvxpy.norm(L_neg.T @ w) + F * cvxpy.norm(L_pos.T @ w)
    shortest = cvxpy.Problem(cvxpy.Minimize(lengths), [delta @ w == 1])

    def excess(value):
        F.value = value
        shortest.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        return shortest.value - 1.0

    largest = np.sqrt(delta @ np.linalg.solve(S_pos, delta))  # for kappa = 0
    return brentq(excess, 0.0, largest * (1 + 1e-9) + 1e-9, xtol=1e-10)


@pytest.mark.parametrize(
    ("rho", "kappa"),
    [(1e-20, 9.262340089798408), (0.01, 2.3263478740408408), (0.05, 1.6448536269514722), (0.5, 0.0)],
)
def test_gaussian_tails(rho, kappa):
    assert tail_distance(rho, "gaussian") == pytest.approx(kappa, abs=1e-12)
    assert norm.sf(tail_distance(rho, "gaussian")) == pytest.approx(rho)
    assert miss_rate(1.3, "gaussian") == pytest.approx(norm.sf(1.3))


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 0.9])
def test_chebyshev_is_attained_by_two_points(rho):
    """A Bernoulli variable of probability rho reaches its mean plus kappa deviations with probability rho."""
    kappa = tail_distance(rho, "chebyshev")
    assert rho + kappa * np.sqrt(rho * (1 - rho)) == pytest.approx(1.0)
    assert miss_rate(kappa, "chebyshev") == pytest.approx(rho)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95])
@pytest.mark.parametrize("d", [2, 5, 30])
def test_small_kappa_matches_the_conic_program(d, share):
    given = problem(d, d, distance=3.0)
    found = MissMargin(*given).maximise(3.0 * share)
    assert found.margin == pytest.approx(conic_margin(*given, 3.0 * share), abs=1e-6)
    assert found.margin > 0


@given(
    seed=st.integers(0, 2**32 - 1),
    distance=st.sampled_from([1e-6, 0.1, 1.0, 10.0]),
    kappa=st.sampled_from([0.0, 0.05, 0.5, 1.0, 1.7, 9.95, 31.6]),
    spread=st.sampled_from([0.0, 1.0, 3.0]),
)
def test_no_direction_in_the_plane_is_better(seed, distance, kappa, spread):
    given = problem(seed, 2, distance, spread)
    found = MissMargin(*given).maximise(kappa)
    assert found.margin == pytest.approx(brute_force(*given, kappa), rel=1e-5, abs=1e-9)
    assert (found.margin > 0) == (kappa < distance) or abs(kappa / distance - 1) < 1e-6


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kappa", [0.3, 0.99, 1.01, 2.0, 20.0])
def test_maximum_is_the_stationary_point_of_the_curve(kappa, scale):
    """``t / (1 - t) = F sigma_neg / (kappa sigma_pos)``, t in [0, 1] for F >= 0; for F < 0 t / (t - 1) is bounded."""
    delta, S_pos, S_neg = problem(7, 6)
    S_pos = scale * S_pos
    w, largest_margin, _ = MissMargin(delta, S_pos, S_neg).maximise(kappa)
    sigma_pos, sigma_neg = np.sqrt(w @ S_pos @ w), np.sqrt(w @ S_neg @ w)
    odds = largest_margin * sigma_neg / (kappa * sigma_pos)
    largest = np.linalg.eigvals(np.linalg.solve(S_neg, S_pos)).real.max()
    assert -1 / largest < odds
    assert (odds > 0) == (kappa < 1.0)
    on_curve = np.linalg.solve(odds * S_pos + S_neg, delta)
    on_curve /= np.sqrt(on_curve @ S_neg @ on_curve)
    np.testing.assert_allclose(w, on_curve, rtol=1e-7, atol=1e-9)
    assert sigma_neg == pytest.approx(1.0)
    assert largest_margin == pytest.approx(margin(w, delta, S_pos, S_neg, kappa))


@pytest.mark.parametrize("tilt", [0.0, 1e-300, 1e-160, 1e-16, 1e-9])
def test_widest_direction_is_added_at_the_end_of_the_curve(tilt):
    """The hard case of trust regions: a step along the widest direction of S_pos helps, although delta is 0 there."""
    given = np.array([1.0, tilt]), np.diag([1.0, 100.0]), np.eye(2)
    found = MissMargin(*given).maximise(5.0)
    assert found.margin == pytest.approx(brute_force(*given, 5.0), rel=1e-6)
    assert found.margin > margin(np.array([1.0, 0.0]), *given, 5.0) + 1


@pytest.mark.parametrize("kappa", [0.0, 1.645, 9.95])
def test_equal_means_give_the_widest_direction(kappa):
    _, S_pos, S_neg = problem(5, 4)
    found = MissMargin(np.zeros(4), S_pos, S_neg).maximise(kappa)
    largest = np.linalg.eigvals(np.linalg.solve(S_neg, S_pos)).real.max()
    assert found.margin == pytest.approx(-kappa / np.sqrt(largest))
    assert np.isfinite(found.w).all()


def test_one_decomposition_serves_every_kappa():
    curve = MissMargin(*problem(2, 8))
    margins = [curve.maximise(kappa).margin for kappa in (0.0, 0.5, 1.0, 2.0, 10.0)]
    assert margins == sorted(margins, reverse=True)
    assert margins[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rank", [1, 4, 12])
def test_coordinates_give_the_gram_matrix_and_expansions(rank):
    rng = np.random.default_rng(rank)
    A = rng.normal(size=(12, rank))
    K = A @ A.T
    Z, pivots, root = coordinates(K, tol=0.0)
    assert Z.shape == (12, rank)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-12)
    np.testing.assert_array_equal(Z[pivots], root)
    w = rng.normal(size=rank)
    np.testing.assert_allclose(K[:, pivots] @ np.linalg.solve(root.T, w), Z @ w, atol=1e-9)


def test_matrices_without_information_raise():
    with pytest.raises(np.linalg.LinAlgError):
        MissMargin(np.ones(2), np.eye(2), np.diag([1.0, 0.0]))
    with pytest.raises(ValueError, match="The kernel is 0 for all samples"):
        coordinates(np.zeros((4, 4)), tol=0.0)


def test_coordinates_drop_at_most_the_tolerance():
    K = np.exp(-0.01 * np.subtract.outer(np.arange(50.0), np.arange(50.0)) ** 2)
    original = K.copy()
    Z, pivots, _ = coordinates(K, tol=1e-4)
    assert len(pivots) < 20
    residual = np.diag(K) - np.sum(Z**2, axis=1)
    assert -1e-12 < residual.min() <= residual.max() <= 1e-4
    np.testing.assert_array_equal(K, original)


RIDGE = 1e-3


def two_normals(n_neg=70, n_pos=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n_neg, d)), rng.normal(0.7, 1.5, size=(n_pos, d))])


def dense_margin(K, n_neg, ridge, kappa):
    """Return margin and scores by all eigenvectors of K: its roots are coordinates."""
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    S_neg, S_pos = (np.cov(part.T, bias=True) + ridge * np.eye(len(K)) for part in (Z[:n_neg], Z[n_neg:]))
    found = MissMargin(Z[n_neg:].mean(axis=0) - Z[:n_neg].mean(axis=0), S_pos, S_neg).maximise(kappa)
    return found.margin, Z @ found.w


@pytest.mark.one_in(8)
@pytest.mark.parametrize("kappa", [0.0, 0.1, 1.0, 3.0, 9.95])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("n_neg", [2, 30, 100, 118])
def test_margin_and_scores_are_those_of_all_coordinates(n_neg, gamma, kappa):
    K = rbf_kernel(two_normals(n_neg, 120 - n_neg), gamma=gamma)
    margin, scores = dense_margin(K, n_neg, RIDGE, kappa)
    found = largest_margin(KernelMoments(K.copy(), n_neg, RIDGE, 1.0), kappa)
    assert found.converged
    assert found.margin == pytest.approx(margin, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(found.scores - found.scores.mean(), scores - scores.mean(), atol=1e-5)
    np.testing.assert_allclose(K @ found.x, found.scores, atol=1e-5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kappa", [0.5, 20.0])
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_units_and_offsets_of_the_kernel_do_not_matter(scale, kappa):
    K = rbf_kernel(two_normals(), gamma=0.5)
    plain = largest_margin(KernelMoments(K.copy(), 70, RIDGE, 1.0), kappa)
    for other in (scale * K, scale * (K + 3.0)):
        found = largest_margin(KernelMoments(other, 70, RIDGE, scale), kappa)
        assert found.margin == pytest.approx(plain.margin, rel=1e-8)
        np.testing.assert_allclose(scale * found.x, plain.x, atol=1e-5 * np.abs(plain.x).max())


@pytest.mark.parametrize("kappa", [1.0, 5.0])
def test_equal_samples_in_both_classes(kappa):
    X = np.round(two_normals(), 0)
    K = rbf_kernel(X, gamma=0.5)
    margin, _ = dense_margin(K, 70, RIDGE, kappa)
    assert largest_margin(KernelMoments(K, 70, RIDGE, 1.0), kappa).margin == pytest.approx(margin, rel=1e-7)


@pytest.mark.parametrize("kappa", [1.0, 5.0])
def test_equal_classes_have_the_margin_of_any_direction(kappa):
    K = np.tile(rbf_kernel(two_normals(30, 30), gamma=0.5), (2, 2))
    assert largest_margin(KernelMoments(K, 60, RIDGE, 1.0), kappa).margin == pytest.approx(-kappa, rel=1e-6)
    same = largest_margin(KernelMoments(np.ones((20, 20)), 10, RIDGE, 1.0), kappa)
    assert (same.margin, same.converged) == (pytest.approx(-kappa), True)


def test_widest_direction_is_found_where_the_difference_of_the_means_is_orthogonal_to_it():
    """Under a narrow kernel every contrast of the positives is widest, and none has a part in delta."""
    margin, _ = dense_margin(np.eye(60), 40, 1e-4, 20.0)
    assert largest_margin(KernelMoments(np.eye(60), 40, 1e-4, 1.0), 20.0).margin == pytest.approx(margin, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_both_ways_give_the_same_classifier(monkeypatch, kernel):
    X = np.random.default_rng(3).permutation(two_normals())
    y = np.where(np.random.default_rng(4).random(len(X)) < 0.4, 1, -1)
    Z = rbf_kernel(X, gamma=2.0) if kernel == "precomputed" else X
    model = GenerativeNP(rho=0.3, kernel=kernel, gamma=2.0, ridge=RIDGE)
    few = model.fit(Z, y).decision_function(Z)
    monkeypatch.setattr(estimator, "FEW_SAMPLES", 40)
    many = model.fit(Z, y).decision_function(Z)
    np.testing.assert_allclose(many, few, atol=1e-6)
    assert model.recompute(Z, y)["objective_"] == pytest.approx(model.objective_)
