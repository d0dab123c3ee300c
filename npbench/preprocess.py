"""What is done to the features before a solver sees them: fitted on the training part, applied to every part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Transform = Callable[[Any], Any]


def standardize(train: Any) -> Transform:
    """Return the map to mean 0 and standard deviation 1 on ``train``; O(n_samples n_features).

    Parameters
    ----------
    train : {array, CSR matrix} of shape (n_samples, n_features)
        The rows whose means and standard deviations (with 1/n) count. A CSR matrix is scaled without centring,
        which would fill it in.

    Returns
    -------
    callable
        Maps a matrix with the same features to a new one of the same kind. Features that are constant on ``train``
        become 0 everywhere: their standard deviation says nothing about how far a new value is off.

    Examples
    --------
    >>> import numpy as np
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))(np.array([[4.0, 7.0]]))
    array([[2., 0.]])
    """
    import numpy as np
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=not sparse.issparse(train)).fit(train)
    constant = _dense(train.max(axis=0)) == _dense(train.min(axis=0))

    def centred(part: np.ndarray) -> np.ndarray:
        scaled = scaler.transform(part)
        scaled[:, constant] = 0.0
        return scaled

    def uncentred(part: sparse.csr_array) -> sparse.csr_array:
        scaled = part.copy()
        scaled.data *= np.where(constant, 0.0, 1.0 / scaler.scale_)[scaled.indices]
        scaled.eliminate_zeros()
        return scaled

    return uncentred if sparse.issparse(train) else centred


def none(train: Any) -> Transform:
    """Return the identity: features as they come."""
    return lambda part: part


def _dense(row: Any) -> Any:
    import numpy as np

    return np.asarray(row.todense()).ravel() if hasattr(row, "todense") else np.asarray(row).ravel()


PREPROCESSORS: dict[str, Callable[[Any], Transform]] = {f.__name__: f for f in (standardize, none)}
