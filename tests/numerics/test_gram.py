"""Kernels and Gram matrices against scikit-learn's pairwise kernels, and features of landmarks against matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from npbench.estimators.nystroem import Landmarks
from npbench.numerics import gram as gram_module
from npbench.numerics import gram_kernels
from npbench.numerics.gram import Gram, Kernel, squared_distances

KERNELS = {
    "linear": (Kernel("linear"), {}),
    "rbf": (Kernel("rbf", gamma=0.7), {"gamma": 0.7}),
    "rbf, narrow": (Kernel("rbf", gamma=1e4), {"gamma": 1e4}),
    "poly": (Kernel("poly", gamma=0.3, degree=3, coef0=1.5), {"gamma": 0.3, "degree": 3, "coef0": 1.5}),
    "poly, even": (Kernel("poly", gamma=2.0, degree=2), {"gamma": 2.0, "degree": 2, "coef0": 0}),
    "callable": (Kernel(rbf_kernel), {}),
}


def draw(n, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)


def reference(name, X, Z=None):
    _, parameters = KERNELS[name]
    return pairwise_kernels(X, Z, metric={"callable": "rbf"}.get(name, name.split(",")[0]), **parameters)


@pytest.mark.parametrize("as_x", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("as_z", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_match_scikit_learn(name, as_x, as_z):
    X, Z = draw(40), draw(25, seed=1)
    kernel, _ = KERNELS[name]
    values = kernel.between(as_x(X), as_z(Z))
    assert values.flags.c_contiguous
    np.testing.assert_allclose(values, reference(name, X, Z), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", KERNELS)
def test_diagonal_matches_the_matrix(name, storage):
    X = storage(draw(30))
    kernel, _ = KERNELS[name]
    expected = reference(name, draw(30)).diagonal()
    np.testing.assert_allclose(kernel.diagonal(X), expected, rtol=1e-12)
    np.testing.assert_allclose(Gram(X, kernel).diagonal(), expected, rtol=1e-12)
    np.testing.assert_allclose(Gram(X, kernel, budget=1).diagonal(), expected, rtol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_precomputed_matrix_is_used_unchanged(storage):
    K = reference("rbf", draw(20))
    for gram in (Gram(storage(K), Kernel("precomputed"), budget=1), Gram.of(K)):
        np.testing.assert_array_equal(gram.whole, K)
        np.testing.assert_array_equal(gram.diagonal(), K.diagonal())
        np.testing.assert_array_equal(gram.rows(np.array([3, 1])), K[[3, 1]])


def test_duplicates_have_equal_rows_and_unit_diagonal():
    X = np.repeat(draw(10), 2, axis=0) + 1e6  # far from 0, where the squared distance of duplicates cancels badly
    K = Gram(X, Kernel("rbf", gamma=1.0)).whole
    np.testing.assert_array_equal(K.diagonal(), 1.0)
    assert np.all((K >= 0) & (K <= 1))


@pytest.mark.parametrize("offset", [1e4, -1e8, np.array([1e8, 0.0, -1e6, 1.0, 0.0])])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_distances_keep_their_digits_at_an_offset(scale, offset):
    X, Z = (scale * np.round(draw(30, seed=seed), 3) + scale * offset for seed in (0, 1))
    kernel = Kernel("rbf", gamma=0.7 / scale**2)
    exact = np.sum((X[:, None] - Z) ** 2, axis=2)
    np.testing.assert_allclose(kernel.between(X, Z), np.exp(-kernel.gamma * exact), rtol=1e-9)
    np.testing.assert_allclose(kernel.between(sp.csr_array(X), Z), np.exp(-kernel.gamma * exact), rtol=1e-9)
    own = np.sum((X[:, None] - X) ** 2, axis=2)
    np.testing.assert_allclose(squared_distances(X), own, rtol=1e-9, atol=1e-12 * own.max())
    whole, served = Gram(X, kernel).whole, Gram(X, kernel, budget=8 * 30 * 7).rows(np.arange(7))
    np.testing.assert_allclose(whole, np.exp(-kernel.gamma * own), rtol=1e-9)
    np.testing.assert_allclose(served, whole[:7], rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_cached_rows_match_the_whole_matrix(name, storage):
    X, rng = storage(draw(50)), np.random.default_rng(2)
    kernel, _ = KERNELS[name]
    whole, served = Gram(X, kernel), Gram(X, kernel, budget=8 * 50 * 7)
    assert served.whole is None
    for _ in range(30):
        index = rng.choice(50, size=rng.integers(1, 7), replace=False)
        np.testing.assert_allclose(served.rows(index), whole.whole[index], rtol=1e-12, atol=1e-14)


def test_cache_evicts_the_least_recently_used_rows():
    calls = []

    def counted(X, Z):
        calls.append(len(X))
        return X @ Z.T

    gram = Gram(draw(50), Kernel(counted), budget=8 * 50 * 4)
    for index in ([0, 1], [2, 3], [0], [4, 5], [0], [3], [1]):
        gram.rows(np.array(index))
        assert len(gram._rows) <= 4
        assert sum(row.nbytes for row in gram._rows.values()) <= 8 * 50 * 4
    # 4 and 5 evicted 1 and 2; 0 and 3 stayed; 1 is computed again.
    assert calls == [2, 2, 2, 1]


def test_cached_rows_are_copies():
    gram = Gram(draw(50), Kernel("linear"), budget=8 * 50 * 4)
    gram.rows(np.arange(40))
    assert sum((row if row.base is None else row.base).nbytes for row in gram._rows.values()) <= 8 * 50 * 4


@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_threads_do_not_change_the_result(name, storage, monkeypatch):
    monkeypatch.setattr(gram_module, "CACHE_BLOCK_BYTES", 8 * 60 * 4)  # fifteen blocks
    monkeypatch.setattr(gram_module, "TILE", 7)
    X = storage(draw(60))
    kernel, _ = KERNELS[name]
    one, two = (Gram(X, kernel, n_threads=n).whole for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, reference(name, draw(60)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [1, 7, 40])
def test_tiles_are_the_matrix_of_two_samples(name, n, monkeypatch):
    monkeypatch.setattr(gram_module, "TILE", 7)
    X, (kernel, _) = draw(n, seed=3), KERNELS[name]
    whole = kernel.between(X, X)
    np.testing.assert_allclose(whole, whole.T, rtol=1e-15 if name == "callable" else 0.0)
    np.testing.assert_allclose(whole, kernel.between(X, X.copy()), rtol=1e-12, atol=1e-14)


@pytest.mark.any_processor
def test_exponential_is_exact_to_rounding():
    exponents = np.concatenate([-np.geomspace(1e-320, 1e300, 2000), [0.0, 1e-9, 1e300], -np.linspace(0, 300, 997)])
    values, nothing = exponents[None].copy(), np.zeros(len(exponents))
    gram_kernels.gaussian(values, 0.5, np.zeros(1), nothing)
    np.testing.assert_allclose(values[0], np.exp(np.clip(exponents, -300, 0)), rtol=5e-16)


@pytest.mark.parametrize("gamma", [1e-150, 1.0])
@pytest.mark.parametrize("value", [1e200, 3e154, np.nan, np.inf])
def test_exponential_hides_no_overflow(gamma, value):
    X = np.array([[value, 0.0], [0.0, 1.0], [-value, 1.0]])
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="NaN or too large"):
        Kernel("rbf", gamma).between(X, X)


def test_errors_in_threads_and_wrong_shapes_are_raised(monkeypatch):
    monkeypatch.setattr(gram_module, "CACHE_BLOCK_BYTES", 8)
    with pytest.raises(ValueError, match=r"mismatch|dimension|aligned"):
        Kernel("linear").between(draw(5, d=3), draw(5, d=4), n_threads=2)
    with pytest.raises(ValueError, match=r"shape \(10, 10\), expected \(10, 4\)"):
        Kernel(lambda X, Z: X @ X.T).between(draw(10), draw(4))


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Kernel("poly", degree=2.5), draw(10)),
        (Kernel("poly", degree=3), 1e120 * draw(10)),
        (Kernel("linear"), 1e200 * draw(10)),
        (Kernel("rbf"), 1e200 * draw(10)),
        (Kernel("linear"), sp.csr_array(1e200 * draw(10))),
        (Kernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), draw(10)),
    ],
    ids=["root of a negative", "poly overflows", "linear overflows", "distance overflows", "sparse overflows", "NaN"],
)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_infinite_values_raise(kernel, X, n_threads, monkeypatch):
    monkeypatch.setattr(gram_module, "CACHE_BLOCK_BYTES", 8)
    with pytest.raises(ValueError, match="NaN or too large"):
        kernel.between(X, X, n_threads)


POINTS = np.random.default_rng(0).normal(size=(60, 3))
OF_LANDMARKS = [Kernel("rbf", 0.3), Kernel("poly", 0.5, 2, 1.0), Kernel(lambda A, B: np.exp(A @ B.T / 4))]


@pytest.mark.parametrize("kernel", OF_LANDMARKS, ids=["rbf", "poly", "callable"])
@pytest.mark.parametrize("m", [1, 5, 60])
def test_products_are_those_of_the_projection_onto_landmarks(kernel, m):
    landmarks = Landmarks(POINTS[:m], kernel)
    Phi, K = landmarks.features(POINTS), kernel.between(POINTS, POINTS)
    expected = K[:, :m] @ np.linalg.pinv(K[:m, :m], rcond=1e-12, hermitian=True) @ K[:m]
    np.testing.assert_allclose(Phi @ Phi.T, expected, atol=1e-7 * K.max())
    np.testing.assert_allclose((Phi @ Phi.T)[:m, :m], K[:m, :m], atol=1e-7 * K.max())
    error = np.trace(K - expected) / np.trace(K)
    assert landmarks.trace_error(POINTS, Phi) == pytest.approx(max(error, 0.0), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_equal_landmarks_leave_out_features_in_any_unit(scale):
    kernel = Kernel(lambda A, B: scale * Kernel("rbf", 0.3).between(A, B))
    landmarks = Landmarks(np.vstack([POINTS[:5], POINTS[:5], POINTS[:1]]), kernel)
    Phi = landmarks.features(POINTS)
    assert Phi.shape == (60, 5)
    few = Landmarks(POINTS[:5], OF_LANDMARKS[0]).features(POINTS)
    np.testing.assert_allclose(Phi @ Phi.T / scale, few @ few.T, atol=1e-9)


def test_offsets_and_storage_do_not_matter():
    plain = Landmarks(POINTS[:20], OF_LANDMARKS[0]).features(POINTS)
    moved, sparse = Landmarks(POINTS[:20] + 1e6, OF_LANDMARKS[0]).features(POINTS + 1e6), sp.csr_array(POINTS)
    np.testing.assert_allclose(moved @ moved.T, plain @ plain.T, atol=1e-6)
    stored = Landmarks(sparse[:20], OF_LANDMARKS[0]).features(sparse)
    np.testing.assert_allclose(stored @ stored.T, plain @ plain.T, atol=1e-9)


def test_blocks_of_rows_are_all_rows(monkeypatch):
    landmarks = Landmarks(POINTS[:20], OF_LANDMARKS[0])
    whole = landmarks.features(POINTS)
    monkeypatch.setattr("npbench.estimators.nystroem.KERNEL_BLOCK_BYTES", 8 * 20 * 7)
    np.testing.assert_allclose(landmarks.features(POINTS), whole, atol=1e-12)


def test_zero_kernel_raises():
    with pytest.raises(ValueError, match="0 for all landmarks"):
        Landmarks(POINTS[:3], Kernel(lambda A, B: np.zeros((len(A), len(B)))))
