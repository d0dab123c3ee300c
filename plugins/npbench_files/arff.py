"""ARFF, the format of Weka and OpenML."""

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
        If the installed scikit-learn lacks the parser.
    """
    # The private parser of fetch_openml, a maintained copy of liac-arff, which has had no release since 2020. SciPy's
    # parser reads neither strings nor sparse rows.
    try:
        from sklearn.externals import _arff
    except ImportError as error:
        raise RequestError(
            "the installed scikit-learn has no parser for ARFF files: save it as CSV or Parquet."
        ) from error

    content = _arff.load(map(bytes.decode, stream), return_type=_arff.DENSE)
    types = {name: pl.Float64 if kind in NUMERIC else pl.String for name, kind in content["attributes"]}
    return pl.DataFrame(content["data"], schema=types, orient="row")
