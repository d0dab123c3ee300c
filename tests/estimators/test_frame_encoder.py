"""The encoder in saved models: names decide, in whatever form a table comes."""

from collections import namedtuple
from dataclasses import make_dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from npbench.estimators.frame_encoder import UNKNOWN_WORD, FrameEncoder, learned

ENCODER = FrameEncoder(["size", "colour"], {1: ["blue", "red"]})
TABLE = pl.DataFrame({"id": [7, 8, 9], "colour": ["red", "green", None], "size": [1.5, None, 3.0]})
EXPECTED = [[1.5, 1.0], [np.nan, -1.0], [3.0, np.nan]]
ROWS = TABLE.to_dicts()
FORMS = {
    "polars": TABLE,
    "lazy": TABLE.lazy(),
    "pandas": TABLE.to_pandas(),
    "arrow": TABLE.to_arrow(),
    "batch": pa.RecordBatch.from_pylist(ROWS),
    "dicts of pandas": TABLE.to_pandas().to_dict("records"),
    "dict of lists": TABLE.to_dict(as_series=False),
    "dict of arrays": {name: TABLE[name].to_numpy() for name in TABLE.columns},
    "list of dicts": ROWS,
    "tuple of dicts": tuple(ROWS),
    "array of dicts": np.array(ROWS, dtype=object),
    "each dict in another order": [dict(reversed(row.items())) if place else row for place, row in enumerate(ROWS)],
    "named tuples": [namedtuple("Row", TABLE.columns)(**row) for row in ROWS],
    "data classes": [make_dataclass("Row", TABLE.columns)(**row) for row in ROWS],
    "rows of pandas": [row for _, row in TABLE.to_pandas().iterrows()],
    "series of dicts": pd.Series(ROWS, index=[5, 6, 7]),
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_found_by_name(form):
    assert np.array_equal(ENCODER.transform(FORMS[form]), EXPECTED, equal_nan=True)


def test_numbers_with_names_are_found_by_name_and_rows_without_by_place():
    encoder = FrameEncoder(["b", "a"])
    given = np.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)])
    for X in (given, [{"a": 1, "b": 2}, {"b": 4, "a": 3.0}], [[2, 1], [4, 3]], ((2, 1), (4, 3))):
        assert encoder.transform(X).tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert encoder.transform({"a": 1.0, "b": 2.0}).tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (TABLE.drop("size"), "'size'"),
        (TABLE.drop("size").to_dict(as_series=False), "'size'"),
        (TABLE.drop("colour").to_dicts(), "row 0 .*'colour'"),
        ([*ROWS, {"size": 1.0, "color": "red"}], "row 3 .*'colour'"),
        ([*ROWS, ["red", 1.0]], "row 3 .*'size'"),
        (pd.DataFrame([[1.0, 2.0, "red"]], columns=["size", "size", "colour"]), "2 columns called 'size'"),
        ([[1.0, "red", 3.0]], r"\(1, 3\).* size, colour"),
        (np.ones((2, 1)), r"\(2, 1\).* size, colour"),
    ],
)
def test_missing_and_repeated_columns_are_refused_by_name(X, match):
    with pytest.raises(ValueError, match=match):
        ENCODER.transform(X)


@pytest.mark.parametrize("form", ["polars", "pandas", "list of dicts"])
def test_words_are_learned_from_a_table_by_frequency(form):
    encoder = learned(FORMS[form], 10)
    assert encoder.columns == ["id", "colour", "size"]
    assert encoder.words == {1: ["green", "red"]}  # equally frequent
    assert np.array_equal(encoder.transform(FORMS[form])[:, 1], [1, 0, np.nan], equal_nan=True)


def test_frequent_words_are_kept_and_numbers_as_words_are_numbers():
    table = np.array([["a", "1"], ["b", "2"], ["b", "3"], ["c", None], [np.nan, 4]], dtype=object)
    expected = [[1, 1], [0, 2], [0, 3], [UNKNOWN_WORD, np.nan], [np.nan, 4]]
    assert np.array_equal(learned(table, 2).transform(table), expected, equal_nan=True)


def test_a_column_of_words_and_numbers_has_words():
    table = pd.DataFrame({"code": pd.Series(["a", 7, None, "a"], dtype=object)})
    assert learned(table, 5).words == {0: ["a", "7"]}
