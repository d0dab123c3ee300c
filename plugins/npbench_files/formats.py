"""Formats of files: tables, and those that hold a matrix."""

from typing import IO

import polars as pl

from npbench.data import table_files
from npbench.data.file_limits import require_fits
from npbench.data.table import Table, refuse_repeated
from npbench.data.table_files import Format
from npbench.errors import RequestError
from npbench_files.matrices import read_mat, read_npz, read_svmlight

ARFF_NUMERIC = ("NUMERIC", "REAL", "INTEGER")
POINTER_BYTES = 8


def read_arff(stream: IO[bytes]) -> Table:
    """Return the table in an ARFF file, with nominal attributes and strings as words."""
    # fetch_openml's private parser is a maintained copy of liac-arff; SciPy's reads neither strings nor sparse rows.
    try:
        from sklearn.externals import _arff
    except ImportError as error:
        message = "the installed scikit-learn has no parser for ARFF files: save it as CSV or Parquet."
        raise RequestError(message) from error
    lines = [line.decode() for line in stream]
    n_columns = sum(line.lstrip()[:10].lower() == "@attribute" for line in lines)
    require_fits(POINTER_BYTES * n_columns * len(lines))  # sparse rows become dense
    content = _arff.load(iter(lines), return_type=_arff.DENSE)
    names = [name for name, _ in content["attributes"]]
    refuse_repeated(names)
    types = [pl.Float64 if kind in ARFF_NUMERIC else pl.String for _, kind in content["attributes"]]
    frame = pl.DataFrame(content["data"], schema=dict(zip(names, types, strict=True)), orient="row")
    nominal = [name for name, kind in content["attributes"] if isinstance(kind, list)]
    return Table(frame.with_columns(pl.col(nominal).cast(pl.Categorical)))


ARRAYS = ("label", "features")
FORMATS = {
    **table_files.FORMATS,
    "arff": Format("ARFF", (".arff",), read_arff),
    "svmlight": Format("SVMLight", (".svmlight", ".svm", ".libsvm"), read_svmlight, ("n_features",), is_table=False),
    "mat": Format("MATLAB", (".mat",), read_mat, ARRAYS, is_table=False),
    "npz": Format("NumPy", (".npz",), read_npz, ARRAYS, is_table=False),
}
