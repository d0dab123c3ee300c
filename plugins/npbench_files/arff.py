"""The format of Weka and OpenML."""

from __future__ import annotations

from typing import IO

import polars as pl

NUMERIC = ("NUMERIC", "REAL", "INTEGER")


def read_arff(stream: IO[bytes]) -> pl.DataFrame:
    """Return the table in an ARFF file; nominal attributes and strings are words.

    It is read by the parser of scikit-learn's ``fetch_openml``, which takes quoted names, strings and sparse rows where
    that of SciPy does not.
    """
    from sklearn.externals import _arff

    content = _arff.load(map(bytes.decode, stream), return_type=_arff.DENSE)
    types = {name: pl.Float64 if kind in NUMERIC else pl.String for name, kind in content["attributes"]}
    return pl.DataFrame(content["data"], schema=types, orient="row")
