"""Formats with a matrix of numbers instead of a table: SVMLight, .mat, .npz."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import polars as pl
from scipy import sparse

from npbench.errors import RequestError
from npbench_files import opening
from npbench_files.labels import spelled
from npbench_files.tables import EXACT
from npbench_files.wording import absent, listed

HDF5 = 2  # SciPy's major version of MATLAB's format 7.3
MAX_FEATURES = 10**6  # of an SVMLight file unless the user sets more: one wrong index can exceed any number


def read_svmlight(stream: IO[bytes], *, n_features: int | None = None) -> tuple[sparse.csr_array, pl.Series]:
    """Return the sparse features and the labels of a file in the format of SVMLight and LIBSVM.

    Parameters
    ----------
    stream : binary file
        Lines such as ``-1 3:0.5 17:1``; counted from 1 unless index 0 occurs.
    n_features : int, optional
        Number of features; by default the largest index, if it is below a million.

    Raises
    ------
    RequestError
        If an index is larger.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(stream)
    except OverflowError as error:
        raise RequestError("an index of a feature is beyond 2^31: correct it.") from error
    occurring = X.shape[1]
    if n_features is None and occurring >= MAX_FEATURES:
        used = len(np.unique(X.indices))
        raise RequestError(
            f"features are numbered up to {occurring}, but only {used} of them occur: correct the index, or set "
            f"dataset.n_features={occurring}."
        )
    if n_features is not None and n_features < occurring:
        raise RequestError(f"dataset.n_features is {n_features}, but features are numbered up to {occurring}.")
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(len(y), n_features or occurring)), pl.Series(y)


def read_mat(stream: IO[bytes], *, label: str | None = None, features: str | None = None) -> tuple[Any, pl.Series]:
    """Return two variables of a MATLAB file (up to version 7), features and labels.

    Raises
    ------
    RequestError
        As :func:`chosen`, or if the file is of version 7.3, which is HDF5.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import matfile_version

    if matfile_version(stream)[0] == HDF5:
        raise RequestError("it is a MATLAB file of version 7.3: save it again with save(..., '-v7').")
    variables = loadmat(stream, spmatrix=False)
    return chosen({name: v for name, v in variables.items() if not name.startswith("__")}, label, features)


def read_npz(stream: IO[bytes], *, label: str | None = None, features: str | None = None) -> tuple[Any, pl.Series]:
    """Return two arrays of a NumPy archive, features and labels. Nothing is unpickled, which could run any code.

    Raises
    ------
    RequestError
        As :func:`chosen`, or if an array holds Python objects, or all of them are too large.
    """
    arrays = {}
    with np.load(stream, allow_pickle=False) as archive:
        packed = (member for member in archive.zip.infolist() if member.compress_type != zipfile.ZIP_STORED)
        if sum(member.file_size for member in packed) > opening.MAX_UNPACKED:
            raise RequestError(f"it unpacks to more than {opening.MAX_UNPACKED} bytes: save it by numpy.savez.")
        for name in archive.files:
            try:
                arrays[name] = archive[name]
            except ValueError as error:
                raise RequestError(
                    f"the array {name!r} holds Python objects, which are not read since that can run any code: save "
                    "words as an array of type str."
                ) from error
    return chosen(arrays, label, features)


def chosen(arrays: Mapping[str, Any], label: str | None, features: str | None) -> tuple[Any, pl.Series]:
    """Return the array of the features, dense or CSR, and the labels.

    Parameters
    ----------
    arrays : mapping of str to array or sparse matrix
        All arrays of the file.
    label, features : str, optional
        Names of the two; by default the features are the only other matrix.

    Raises
    ------
    RequestError
        If an array does not exist, the choice is ambiguous, or numbers of rows differ.

    Examples
    --------
    >>> X, y = chosen({"X": np.eye(2), "y": np.array([[0, 1]])}, "y", None)
    >>> X.shape, y.to_list()
    ((2, 2), [0, 1])
    """
    label, features = (None if name is None else spelled(name) for name in (label, features))
    sizes = listed(f"{name} ({' x '.join(map(str, np.shape(array)))})" for name, array in arrays.items())
    if label is None:
        raise RequestError(f"dataset.label has no value: name the variable with the labels. There are: {sizes}.")
    asked = [(key, name) for key, name in (("label", label), ("features", features)) if name is not None]
    if unknown := [absent(f"dataset.{key}", n, "variable", list(arrays)) for key, n in asked if n not in arrays]:
        raise RequestError(*unknown)
    if features is None:
        matrices = [name for name, array in arrays.items() if name != label and _is_matrix(array)]
        if len(matrices) != 1:
            raise RequestError(
                f"dataset.features has no value: name the variable with the features. There are: {sizes}."
            )
        (features,) = matrices
    X, y = arrays[features], _column(arrays[label])
    if X.shape[0] != len(y):
        raise RequestError(
            f"{features} has {X.shape[0]} rows, and {label} {len(y)} labels: expected a label for each row."
        )
    if X.dtype.kind in "ui" and X.size and abs(X.astype(np.float64)).max() >= EXACT:
        raise RequestError(f"{features} holds whole numbers of 2^53 and more, which float64 cannot represent exactly.")
    return (sparse.csr_array(X) if sparse.issparse(X) else X), y


def _is_matrix(array: Any) -> bool:
    return array.ndim == 2 and min(array.shape) > 0 and array.dtype.kind in "buif"


def _column(labels: Any) -> pl.Series:
    """Return labels as one column, even if MATLAB holds them in a row, a sparse matrix or cells of words."""
    flat = (labels.toarray() if sparse.issparse(labels) else np.asarray(labels)).ravel()
    if flat.dtype == object:
        flat = np.array([np.asarray(cell).item() if np.size(cell) == 1 else None for cell in flat], dtype=object)
    elif flat.dtype.kind == "U":
        flat = np.char.rstrip(flat)  # MATLAB pads words to one length
    return pl.Series("label", flat.tolist())
