"""Arrays of libraries other than NumPy, by the array API standard: PyTorch, also on a GPU; CuPy is untested."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.externals.array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_numpy_namespace,
    is_torch_array,
    to_device,
)


def on_device(values: np.ndarray, name: str | None) -> Any:
    """Return an array or, on a named device, a tensor of PyTorch; ImportError or ValueError if that is not there."""
    if name is None:
        return values
    try:
        import torch
    except ImportError as missing:
        raise ImportError(f"device={name!r} needs PyTorch: pip install 'npbench[torch]'.") from missing
    try:
        return torch.asarray(values, device=name)
    except (AssertionError, RuntimeError) as refused:
        reason = str(refused).splitlines()[0]
        raise ValueError(f"device={name!r} cannot be used by PyTorch {torch.__version__}: {reason}") from refused


def beside(values: np.ndarray, X: Any) -> Any:
    """Return a NumPy array as one of the library and on the device of X."""
    xp = array_namespace(X)
    return values if is_numpy_namespace(xp) else xp.asarray(values, device=device(X))


def to_numpy(values: Any) -> np.ndarray:
    """Return an array of any library and device as NumPy's."""
    return np.asarray(to_device(values, "cpu") if is_torch_array(values) or is_cupy_array(values) else values)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return a copy of some rows."""
    return array_namespace(X).take(X, beside(rows, X), axis=0)


def solve_positive(H: Any, v: Any) -> Any:
    """Return ``H^-1 v`` for a symmetric H; LinAlgError unless it is positive definite, if the library has Cholesky."""
    if isinstance(H, np.ndarray):
        return np.asarray(cho_solve(cho_factor(H), v))
    if not is_torch_array(H):
        return array_namespace(H).linalg.solve(H, v)  # the standard has no Cholesky solver, in half of the operations
    import torch

    factor, failed = torch.linalg.cholesky_ex(H)
    if int(failed):
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    return torch.cholesky_solve(v[:, None], factor)[:, 0]
