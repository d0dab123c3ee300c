"""Read formats that hold a matrix instead of a table: SVMLight, .mat, .npz."""

import io
import math
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import polars as pl
from scipy import sparse

from npbench.data.file_limits import require_fits
from npbench.data.labels import spelled
from npbench.errors import RequestError, unknown_name
from npbench.values import listed
from npbench_files import mat_check
from npbench_files.tables import EXACT_LIMIT

HDF5_VERSION = 2  # SciPy's major version of MATLAB's format 7.3
MAX_FEATURES = 10**6  # default limit for SVMLight files, where one wrong index can exhaust the memory


def read_svmlight(stream: IO[bytes], *, n_features: int | None = None) -> tuple[sparse.csr_array, pl.Series]:
    """Return features and labels of lines such as ``-1 3:0.5 17:1``, with indices from 1 unless 0 occurs."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(stream)
    except OverflowError as error:
        raise RequestError("an index of a feature is beyond 2^31: correct it.") from error
    occurring = X.shape[1]
    if n_features is None and occurring >= MAX_FEATURES:
        used = len(np.unique(X.indices))
        hint = f"correct it, or set dataset.n_features={occurring}"
        raise RequestError(f"the largest index is {occurring}, but only {used} features occur: {hint}.")
    if n_features is not None and n_features < occurring:
        raise RequestError(f"dataset.n_features is {n_features}, but the largest index is {occurring}.")
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(len(y), n_features or occurring)), pl.Series(y)


def read_mat(stream: IO[bytes], *, label: str | None = None, features: str | None = None) -> tuple[Any, pl.Series]:
    """Return the features and labels in a MATLAB file of version 7 or earlier; later ones are HDF5."""
    from scipy.io import loadmat
    from scipy.io.matlab import matfile_version

    version, _ = matfile_version(stream)
    if version == HDF5_VERSION:
        raise RequestError("MATLAB files of version 7.3 are not read: use save(..., '-v7'), CSV or Parquet.")
    names = mat_check.variables(stream) if version else None
    found = loadmat(stream, spmatrix=False, variable_names=names)
    return chosen({name: v for name, v in found.items() if not name.startswith("__")}, label, features)


def read_npz(stream: IO[bytes], *, label: str | None = None, features: str | None = None) -> tuple[Any, pl.Series]:
    """Return the features and labels in a NumPy archive, without unpickling, which could run any code."""
    arrays = {}
    with np.load(stream, allow_pickle=False) as archive:
        n_bytes = sum(member.file_size for member in archive.zip.infolist())
        if n_bytes > stream.seek(0, io.SEEK_END):  # uncompressed arrays take as much memory as the file
            require_fits(n_bytes)
        for name in archive.files:
            try:
                arrays[name] = archive[name]
            except ValueError as error:
                fault = f"the array {name!r} holds Python objects, which are not unpickled since that can run any code"
                raise RequestError(f"{fault}: save words as an array of type str.") from error
    return chosen(arrays, label, features)


def chosen(arrays: Mapping[str, Any], label: str | None, features: str | None) -> tuple[Any, pl.Series]:
    """Return the array of the features, dense or CSR, by default the only other matrix, and the labels."""
    label, features = (None if name is None else spelled(name) for name in (label, features))
    sizes = listed(f"{name} ({' x '.join(map(str, np.shape(array)))})" for name, array in arrays.items())
    if label is None:
        raise RequestError(f"dataset.label has no value: name the variable of the labels. There are: {sizes}.")
    asked = [(key, name) for key, name in (("label", label), ("features", features)) if name is not None]
    if unknown := [(f"dataset.{key} variable", name) for key, name in asked if name not in arrays]:
        raise RequestError(*(unknown_name(kind, name, arrays) for kind, name in unknown))
    if features is None:
        others = ((name, array) for name, array in arrays.items() if name != label and array.ndim == 2)
        matrices = [name for name, array in others if min(array.shape) > 0 and array.dtype.kind in "buif"]
        if len(matrices) != 1:
            raise RequestError(f"dataset.features has no value: name the variable of the features. There are: {sizes}.")
        (features,) = matrices
    for name in (label, features):
        _check_sparse(name, arrays[name])
    X, y = arrays[features], _column(arrays[label])
    if X.shape[0] != len(y):
        raise RequestError(f"{features} has {X.shape[0]} rows, but {label} has {len(y)} labels: expected one per row.")
    if X.dtype.kind in "ui" and X.size and abs(X.astype(np.float64)).max() >= EXACT_LIMIT:
        raise RequestError(f"{features} has integers of 2^53 and more, which float64 cannot represent exactly.")
    return (sparse.csr_array(X) if sparse.issparse(X) else X), y


def _check_sparse(name: str, array: Any) -> None:
    """Refuse indices beyond the shape, with which SciPy would read and write memory outside the array."""
    try:
        if sparse.issparse(array) and hasattr(array, "check_format"):
            array.check_format(full_check=True)
    except ValueError as error:
        raise RequestError(f"{name} is a damaged sparse matrix: {error}.") from error


def _column(labels: Any) -> pl.Series:
    """Return labels as one column; MATLAB may hold them in a row, a sparse matrix or cells of words."""
    if sparse.issparse(labels):
        require_fits(8 * math.prod(labels.shape))
    flat = (labels.toarray() if sparse.issparse(labels) else np.asarray(labels)).ravel()
    if flat.dtype == object:
        flat = np.array([np.asarray(cell).item() if np.size(cell) == 1 else None for cell in flat], dtype=object)
    elif flat.dtype.kind == "U":
        flat = np.char.rstrip(flat)  # MATLAB pads words to one length
    return pl.Series("label", flat.tolist())
