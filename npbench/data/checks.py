"""Convert and check the arrays of a data set; each fault is a sentence without its subject, the data set."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from npbench.numerics.copies import is_sparse
from npbench.values import counted, listed

MAX_NAMED = 5
Features: TypeAlias = Any  # ndarray or scipy.sparse.csr_array; SciPy ships no types


def features(X: Any, faults: list[str], *, copy: bool = True) -> Features | None:
    """Return ``X`` as float64, C-contiguous or canonical CSR, or None; without ``copy``, ``X`` may be changed."""
    try:
        converted = _to_csr(X, copy) if is_sparse(X) else _to_dense(X, copy)
    except (TypeError, ValueError, OverflowError) as error:
        faults.append(f"has features that cannot be read as a table of numbers: {error}.")
        return None
    if converted.ndim != 2:
        faults.append(f"has features of shape {converted.shape}: expected two dimensions, samples and features.")
        return None
    for size, what in zip(converted.shape, ("rows", "features"), strict=True):
        if size == 0:
            faults.append(f"has no {what}: expected at least one.")
    faults.extend(_non_finite(converted))
    return converted


def _to_dense(X: Any, copy: bool) -> np.ndarray:
    if np.iscomplexobj(X):
        raise TypeError("complex numbers have no order")
    with np.errstate(over="ignore"):  # a number beyond float64 becomes infinite, which is reported as such
        # A read-only array belongs to somebody else, and is copied in any case.
        dense = np.array(X, np.float64, order="C") if copy else np.require(X, np.float64, ["C", "W", "E"])
        dense += 0.0  # turns -0.0 into 0.0, which compares equal and so must hash equal
    if has_missing(dense):
        dense[np.isnan(dense)] = np.nan  # NaN has many bit patterns, which must hash equal
    return dense


def has_missing(X: Features) -> bool:
    """Return whether dense features have NaN, a missing value; O(size), without a copy."""
    return not is_sparse(X) and X.size > 0 and bool(np.isnan(X.min()))  # the minimum is NaN if any value is


def _to_csr(X: Any, copy: bool) -> Features:
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)  # an index out of bounds would make the conversion read foreign memory
    if np.iscomplexobj(X.data):
        raise TypeError("complex numbers have no order")
    from scipy import sparse

    with np.errstate(over="ignore"):
        csr = sparse.csr_array(X, dtype=np.float64, copy=copy)
    if not all(part.flags.writeable for part in (csr.data, csr.indices, csr.indptr)):
        csr = csr.copy()
    csr.sum_duplicates()  # sorts the indices as well
    csr.eliminate_zeros()
    return csr


def _non_finite(X: Features) -> Iterator[str]:
    values = X.data if is_sparse(X) else X
    if not values.size or np.isfinite([values.min(), values.max()]).all():
        return  # the usual case, without a copy
    if is_sparse(X):
        triplets = X.tocoo()
        bad, what = ~np.isfinite(triplets.data), "NaN or infinite"
        rows, columns = triplets.coords[0][bad], triplets.coords[1][bad]
    else:
        (rows, columns), what = np.nonzero(np.isinf(X)), "infinite"
    if len(rows):
        places = f"{first('column', columns)} and {first('row', rows)} (counted from 0)"
        remedy = "impute or remove them" if is_sparse(X) else "remove them, or make them NaN for missing"
        yield f"has {counted(len(rows), f'{what} feature value')}, in {places}: {remedy}."


def divisions(published: Any, n_samples: int, faults: list[str]) -> np.ndarray | None:
    """Return the training rows in ascending order, or None."""
    try:
        rows = np.asarray(published)
    except ValueError as error:
        faults.append(f"has published divisions that cannot be read as a table of numbers: {error}.")
        return None
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.size:
        form = f"shape {rows.shape} and type {rows.dtype}"
        faults.append(f"has published divisions of {form}: expected integers of shape (n_divisions, n_train).")
        return None
    rows = np.sort(rows.astype(np.int64), axis=1)
    if rows[:, 0].min() < 0 or rows[:, -1].max() >= n_samples:
        faults.append(f"has published divisions with rows other than 0 to {n_samples - 1}: count them from 0.")
    elif (rows[:, 1:] == rows[:, :-1]).any():
        faults.append("has published divisions with repeated rows: name each training row once.")
    elif rows.shape[1] == n_samples:
        faults.append("has published divisions that train on every row: leave some for the test part.")
    return rows


def category_mask(categorical: Any, X: Features, faults: list[str]) -> np.ndarray | None:
    """Return a boolean for each column, True for category codes, or None if there are none."""
    columns = np.asarray(list(categorical) if isinstance(categorical, Mapping) else categorical)
    n_features = X.shape[1]
    mask = np.zeros(n_features, dtype=bool)
    if columns.dtype == bool and columns.shape == mask.shape:
        mask |= columns
    elif columns.ndim == 1 and (columns.dtype.kind in "iu" or not columns.size):
        inside = (columns >= 0) & (columns < n_features)
        if not inside.all():
            faults.append(f"has categorical columns other than 0 to {n_features - 1}: count them from 0.")
        mask[columns[inside].astype(np.int64)] = True
    else:
        form = f"shape {columns.shape} and type {columns.dtype}"
        faults.append(f"has categorical columns of {form}: expected numbers from 0, or {n_features} booleans.")
    if mask.any() and is_sparse(X):
        faults.append("has categorical columns in a sparse matrix: make it dense, or encode them first.")
    return mask if mask.any() else None


def group_codes(groups: Any, n_samples: int, faults: list[str]) -> np.ndarray | None:
    """Return the groups as numbers from 0 in order of first occurrence; None if each has one row."""
    names = np.asarray(groups)
    if names.shape != (n_samples,):
        faults.append(f"has groups of shape {names.shape}: expected one for each of its {n_samples} rows.")
        return None
    if any(name is None or name != name for name in names.tolist()):  # noqa: PLR0124 -- only NaN differs from itself
        faults.append("has rows without a group: give each its own group.")
        return None
    # The hash depends on which rows share a group, not on the names of groups.
    known: dict[Any, int] = {}
    codes = [known.setdefault(name, len(known)) for name in names.tolist()]
    return np.array(codes, dtype=np.int64) if len(known) < n_samples else None


def times(time: Any, n_samples: int, faults: list[str]) -> np.ndarray | None:
    """Return the time of each row as float64, or None."""
    found = np.asarray(time)
    if found.shape != (n_samples,) or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        faults.append(f"has times other than {n_samples} finite numbers: expected one for each row.")
        return None
    return found.astype(np.float64)


def column_names(columns: Any, n_features: int, faults: list[str]) -> tuple[str, ...] | None:
    """Return the names of the columns, or None."""
    names = tuple(map(str, columns))
    if len(names) != n_features:
        faults.append(f"has {len(names)} names for {n_features} columns: expected one for each.")
        return None
    return names


def first(what: str, numbers: Any) -> str:
    """Return the first few distinct ``numbers`` or names after the noun: "rows 2, 5 and 1 more"."""
    distinct = np.unique(numbers)
    return f"{what}{'s' if len(distinct) > 1 else ''} {listed(map(str, distinct), MAX_NAMED)}"


def labels(y: Any, faults: list[str]) -> np.ndarray | None:
    """Return ``y`` as int8, or None."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        faults.append(f"has labels of shape {labels.shape}: expected one dimension.")
        return None
    # True equals 1, but True and False are not accepted; strings cannot be compared with numbers.
    allowed = (labels == 1) | (labels == -1) if labels.dtype.kind in "iufO" else np.zeros(len(labels), dtype=bool)
    if not allowed.all():
        strange = listed(dict.fromkeys(map(repr, labels[~allowed][:1000].tolist())), MAX_NAMED)
        hint = "Code the class of interest as +1, the other as -1"
        faults.append(f"has {np.sum(~allowed)} labels other than -1 and +1: {strange}. {hint}.")
        return None
    if len(labels) and np.all(labels == labels[0]):
        faults.append(f"has one class only, {int(labels[0]):+d}: expected both classes.")
    return labels.astype(np.int8)
