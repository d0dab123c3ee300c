"""The format of Weka and OpenML."""

from __future__ import annotations

from typing import IO

import polars as pl

from npbench.errors import RequestError

NUMERIC = ("NUMERIC", "REAL", "INTEGER")


def read_arff(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an ARFF file; nominal attributes and strings are words.

    Raises
    ------
    RequestError
        If scikit-learn is of a version without the parser.
    """
    # That of fetch_openml, by a name that is not public: SciPy's parser knows no strings and no sparse rows, and
    # liac-arff, of which this is the copy that is kept up, has had no release since 2020.
    try:
        from sklearn.externals import _arff
    except ImportError as error:
        raise RequestError(
            "this version of scikit-learn has no parser for ARFF files any more: save it as CSV or Parquet."
        ) from error

    content = _arff.load(map(bytes.decode, stream), return_type=_arff.DENSE)
    types = {name: pl.Float64 if kind in NUMERIC else pl.String for name, kind in content["attributes"]}
    return pl.DataFrame(content["data"], schema=types, orient="row")
