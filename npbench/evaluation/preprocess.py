"""Preprocess features: transformations fitted on the training part and applied to every part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Options of a request, the default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "preprocess": ("standardize", "unit_range", "unit_norm", "none"),
    "missing": ("refuse", "drop", "impute", "keep"),
    "categories": ("one_hot", "codes"),
}
DEFAULTS = {option: choices[0] for option, choices in CHOICES.items()}


def fitted(
    train: Any, categorical: Any = None, *, preprocess: str, missing: str = "refuse", categories: str = "one_hot"
) -> Callable[[Any], Any]:
    """Return a function from rows to the features that solvers see, fitted on the training part.

    Missing values are imputed, categories encoded, and columns or rows scaled, in this order. Features that are
    constant on the training part become 0. One-hot columns follow the numbers and are not scaled by column.

    Parameters
    ----------
    train : {array, CSR matrix} of shape (n_samples, n_features)
        Training part.
    categorical : bool array of shape (n_features,), optional
        Columns of a dense matrix that hold codes of categories.
    preprocess : {"standardize", "unit_range", "unit_norm", "none"}
        Columns to mean 0 and standard deviation 1 (with 1/n), columns to the range [0, 1], rows to Euclidean norm 1, or
        no scaling. CSR columns are divided by their standard deviation or largest absolute value and not shifted.
    missing : {"refuse", "drop", "impute", "keep"}
        "impute" replaces NaN by the median of a column or its most frequent category, by 0 without any value in the
        training part.
    categories : {"one_hot", "codes"}
        A column of 0 and 1 for each category, all 0 for one unknown to the training part; or the codes as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> train = np.array([[1.0, 5.0, 7.0], [3.0, 5.0, 2.0]])
    >>> fitted(train, np.array([False, False, True]), preprocess="unit_range")(np.array([[2.0, 6.0, 7.0]]))
    array([[0.5, 0. , 0. , 1. ]])
    """
    from scipy import sparse

    steps = pipeline(sparse.issparse(train), categorical, preprocess=preprocess, missing=missing, categories=categories)
    transform: Callable[[Any], Any] = steps.fit(train).transform
    return transform


def pipeline(
    is_sparse: bool, categorical: Any = None, *, preprocess: str, missing: str = "refuse", categories: str = "one_hot"
) -> Any:
    """Return the steps of :func:`fitted`, not fitted yet."""
    from sklearn.pipeline import make_pipeline

    has_codes = categorical is not None and categorical.any()
    steps = []
    if missing == "impute" and not is_sparse:
        steps += _imputation(categorical) if has_codes else [_imputer("median")]
    scaling = _scaling(preprocess, is_sparse)
    if has_codes and categories == "one_hot":
        by_row = preprocess == "unit_norm"
        steps += [*_encoding(categorical, ["passthrough"] if by_row else scaling), *(scaling if by_row else [])]
    else:
        steps += scaling
    return make_pipeline(*steps)


def _scaling(preprocess: str, is_sparse: bool) -> list[Any]:
    from sklearn.preprocessing import Normalizer, StandardScaler

    from npbench.evaluation.scaling import ConstantToZero, UnitRange

    if preprocess == "standardize":
        return [ConstantToZero(), StandardScaler(with_mean=not is_sparse)]
    if preprocess == "unit_range":
        return [ConstantToZero(), UnitRange()]
    return [Normalizer()] if preprocess == "unit_norm" else ["passthrough"]


def _imputer(strategy: str) -> Any:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _imputation(categorical: Any) -> list[Any]:
    """Return steps that impute numbers by medians and codes by the most frequent one, in place."""
    import numpy as np
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import FunctionTransformer

    # A ColumnTransformer puts the numbers first: the inverse of that order brings each column back to its place.
    places = np.argsort(np.argsort(categorical, kind="stable"))
    return [
        make_column_transformer((_imputer("median"), ~categorical), (_imputer("most_frequent"), categorical)),
        FunctionTransformer(np.take, kw_args={"indices": places, "axis": 1}),
    ]


def _encoding(categorical: Any, scaling: list[Any]) -> list[Any]:
    """Return steps that scale the numbers, then append a column for each category."""
    import numpy as np
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return [
        make_column_transformer((make_pipeline(*scaling), ~categorical), (one_hot, categorical)),
        FunctionTransformer(np.ascontiguousarray),  # columns taken by a mask are in Fortran order
    ]
