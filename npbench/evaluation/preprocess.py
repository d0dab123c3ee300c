"""What is done to the features before a solver sees them: fitted on the training part, applied to every part."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

Transform = Callable[[Any], Any]
Fit = Callable[[Any], Transform]


def fitted(
    train: Any, categorical: Any = None, *, preprocess: str, missing: str = "refuse", categories: str = "one_hot"
) -> Transform:
    """Return what turns rows into the features that solvers see, fitted on the training part.

    Missing values are imputed, categories encoded, and columns or rows scaled, in this order; columns that encode
    categories are 0 or 1 and are not scaled as columns.

    Parameters
    ----------
    train : {array, CSR matrix} of shape (n_samples, n_features)
        The training part.
    categorical : bool array of shape (n_features,), optional
        Columns of a dense matrix that hold codes of categories.
    preprocess : {"standardize", "unit_range", "unit_norm", "none"}
        How features are scaled: a function of this module.
    missing : {"refuse", "drop", "impute"}
        Whether to fill in missing values (:func:`impute`); for the others see
        :func:`npbench.data.missing.without_missing`.
    categories : {"one_hot", "codes"}
        Whether each category gets a column, or codes are used as if they were numbers.

    Returns
    -------
    callable
        Maps a matrix with the same columns to a new one of the same kind; ``preprocess="none"`` may map it to itself.
    """
    scale = PREPROCESSORS[preprocess]
    encoded = categories == "one_hot" and categorical is not None and categorical.any()
    by_row = scale is unit_norm
    steps: list[Fit] = []
    if missing == "impute":
        steps.append(partial(impute, categorical=categorical))
    if encoded:
        steps.append(partial(one_hot, categorical=categorical, scale=none if by_row else scale))
    if by_row or not encoded:
        steps.append(scale)
    return _in_turn(steps, train)


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
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=not sparse.issparse(train)).fit(train)
    return _scaled(train, scaler.mean_, scaler.scale_)


def unit_range(train: Any) -> Transform:
    """Return the map of each feature's smallest and largest value on ``train`` to 0 and 1; O(n_samples n_features).

    Parameters
    ----------
    train : {array, CSR matrix} of shape (n_samples, n_features)
        The rows whose range counts. A CSR matrix is divided by each feature's largest absolute value and not shifted,
        which would fill it in: the same where the smallest value is 0, else a map into [-1, 1].

    Returns
    -------
    callable
        As that of :func:`standardize`; other rows may lie outside of the range.

    Examples
    --------
    >>> import numpy as np
    >>> unit_range(np.array([[1.0, 5.0], [3.0, 5.0]]))(np.array([[2.0, 7.0], [4.0, 7.0]]))
    array([[0.5, 0. ],
           [1.5, 0. ]])
    """
    import numpy as np
    from scipy import sparse

    low, high = _dense(train.min(axis=0)), _dense(train.max(axis=0))
    # scikit-learn's scalers of this kind take a range below 2e-15 for none, whatever the unit.
    return _scaled(train, low, np.maximum(high, -low) if sparse.issparse(train) else high - low)


def unit_norm(train: Any) -> Transform:
    """Return the map of each row to Euclidean norm 1, whatever ``train`` is; rows of zeros stay.

    Examples
    --------
    >>> import numpy as np
    >>> unit_norm(None)(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    from sklearn.preprocessing import Normalizer

    transform: Transform = Normalizer().transform
    return transform


def none(train: Any) -> Transform:
    """Return the identity: features as they come."""
    return lambda part: part


PREPROCESSORS: dict[str, Fit] = {f.__name__: f for f in (standardize, unit_range, unit_norm, none)}

# Options of a request, the default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "preprocess": tuple(PREPROCESSORS),
    "missing": ("refuse", "drop", "impute"),
    "categories": ("one_hot", "codes"),
}
DEFAULTS = {option: choices[0] for option, choices in CHOICES.items()}


def impute(train: Any, categorical: Any = None) -> Transform:
    """Return the map that fills in NaN by each column's median on ``train``, or by its most frequent category.

    A value missing from a column of which ``train`` knows none becomes 0.

    Parameters
    ----------
    train : array of shape (n_samples, n_features)
        The rows whose known values count; a CSR matrix has no missing values and is left alone.
    categorical : bool array of shape (n_features,), optional
        Columns that hold codes of categories.

    Examples
    --------
    >>> import numpy as np
    >>> impute(np.array([[1.0, 3.0], [2.0, 3.0], [9.0, 0.0]]), np.array([False, True]))(np.array([[np.nan, np.nan]]))
    array([[2., 3.]])
    """
    import numpy as np
    from scipy import sparse
    from sklearn.impute import SimpleImputer

    if sparse.issparse(train):
        return none(train)
    categorical = np.zeros(train.shape[1], dtype=bool) if categorical is None else categorical
    fill = np.empty(train.shape[1])
    for columns, strategy in ((~categorical, "median"), (categorical, "most_frequent")):
        if columns.any():
            fill[columns] = (
                SimpleImputer(strategy=strategy, keep_empty_features=True).fit(train[:, columns]).statistics_
            )
    return lambda part: np.where(np.isnan(part), fill, part)


def one_hot(train: Any, categorical: Any, scale: Fit) -> Transform:
    """Return the map to a scaled column for each number, then a column of 0 and 1 for each category in ``train``.

    A category that ``train`` does not have is 0 in all columns of its feature.

    Parameters
    ----------
    train : array of shape (n_samples, n_features)
        The rows whose categories get columns, and on which ``scale`` is fitted.
    categorical : bool array of shape (n_features,)
        Columns that hold codes of categories; all others are numbers.
    scale : callable
        Fits what is done to the numbers, as :func:`standardize` does.

    Examples
    --------
    >>> import numpy as np
    >>> encode = one_hot(np.array([[0.5, 7.0], [1.5, 2.0]]), np.array([False, True]), none)
    >>> encode(np.array([[3.0, 7.0], [4.0, 1.0]]))
    array([[3., 0., 1.],
           [4., 0., 0.]])
    """
    import numpy as np
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(train[:, categorical])
    scaled = none(train) if categorical.all() else scale(train[:, ~categorical])

    def encoded(part: np.ndarray) -> np.ndarray:
        numbers, codes = scaled(part[:, ~categorical]), encoder.transform(part[:, categorical])
        return np.ascontiguousarray(np.hstack([numbers, codes]))  # columns taken by a mask lie in Fortran's order

    return encoded


def _in_turn(steps: list[Fit], train: Any) -> Transform:
    """Fit each step on what those before it make of ``train``."""
    transforms: list[Transform] = []
    for number, step in enumerate(steps, start=1):
        transforms.append(step(train))
        if number < len(steps):
            train = transforms[-1](train)
    return lambda part: reduce(lambda features, transform: transform(features), transforms, part)


def _scaled(train: Any, shift: Any, scale: Any) -> Transform:
    """Return the map that subtracts ``shift``, unless CSR, and divides by ``scale``; 0 where ``train`` is constant."""
    import numpy as np
    from scipy import sparse

    constant = _dense(train.max(axis=0)) == _dense(train.min(axis=0))
    scale = np.where(constant, 1.0, scale)

    def shifted(part: np.ndarray) -> np.ndarray:
        scaled = part - shift
        scaled /= scale
        scaled[:, constant] = 0.0
        return scaled

    def unshifted(part: sparse.csr_array) -> sparse.csr_array:
        scaled = part.copy()
        scaled.data *= np.where(constant, 0.0, 1.0 / scale)[scaled.indices]
        scaled.eliminate_zeros()
        return scaled

    return unshifted if sparse.issparse(train) else shifted


def _dense(row: Any) -> Any:
    import numpy as np

    return np.asarray(row.todense()).ravel() if hasattr(row, "todense") else np.asarray(row).ravel()
