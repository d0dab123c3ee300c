"""Features of landmarks: against dense matrices, and on samples of low rank."""

import numpy as np
import pytest
import scipy.sparse as sp

from npbench.numerics.gram import Kernel
from npbench.numerics.nystroem import Landmarks

X = np.random.default_rng(0).normal(size=(60, 3))
KERNELS = [Kernel("rbf", 0.3), Kernel("poly", 0.5, 2, 1.0), Kernel(lambda A, B: np.exp(A @ B.T / 4))]


@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "poly", "callable"])
@pytest.mark.parametrize("m", [1, 5, 60])
def test_products_are_those_of_the_projection_onto_landmarks(kernel, m):
    landmarks = Landmarks(X[:m], kernel)
    Phi, K = landmarks.features(X), kernel.between(X, X)
    expected = K[:, :m] @ np.linalg.pinv(K[:m, :m], rcond=1e-12, hermitian=True) @ K[:m]
    np.testing.assert_allclose(Phi @ Phi.T, expected, atol=1e-7 * K.max())
    np.testing.assert_allclose((Phi @ Phi.T)[:m, :m], K[:m, :m], atol=1e-7 * K.max())
    error = np.trace(K - expected) / np.trace(K)
    assert landmarks.trace_error(X, Phi) == pytest.approx(max(error, 0.0), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_equal_landmarks_leave_out_features_in_any_unit(scale):
    kernel = Kernel(lambda A, B: scale * Kernel("rbf", 0.3).between(A, B))
    landmarks = Landmarks(np.vstack([X[:5], X[:5], X[:1]]), kernel)
    Phi = landmarks.features(X)
    assert Phi.shape == (60, 5)
    few = Landmarks(X[:5], KERNELS[0]).features(X)
    np.testing.assert_allclose(Phi @ Phi.T / scale, few @ few.T, atol=1e-9)


def test_offsets_and_storage_do_not_matter():
    plain = Landmarks(X[:20], KERNELS[0]).features(X)
    moved, sparse = Landmarks(X[:20] + 1e6, KERNELS[0]).features(X + 1e6), sp.csr_array(X)
    np.testing.assert_allclose(moved @ moved.T, plain @ plain.T, atol=1e-6)
    stored = Landmarks(sparse[:20], KERNELS[0]).features(sparse)
    np.testing.assert_allclose(stored @ stored.T, plain @ plain.T, atol=1e-9)


def test_blocks_of_rows_are_all_rows(monkeypatch):
    landmarks = Landmarks(X[:20], KERNELS[0])
    whole = landmarks.features(X)
    monkeypatch.setattr("npbench.numerics.nystroem.KERNEL_BLOCK_BYTES", 8 * 20 * 7)
    np.testing.assert_allclose(landmarks.features(X), whole, atol=1e-12)


def test_zero_kernel_raises():
    with pytest.raises(ValueError, match="0 for all landmarks"):
        Landmarks(X[:3], Kernel(lambda A, B: np.zeros((len(A), len(B)))))
