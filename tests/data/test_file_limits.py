"""Small files that take a lot of memory are refused before they are read."""

import contextlib
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from npbench.data import file_limits
from npbench.data.file_limits import SETTING, check_arrow, check_parquet
from npbench.errors import RequestError

ROWS = 2_000_000
TABLES = {
    "cells": pl.DataFrame({"a": np.zeros(ROWS), "b": np.zeros(ROWS)}),
    "words": pl.DataFrame({"a": ["word"] * ROWS}),
    "lists": pl.DataFrame({"a": [[0] * 1000] * (ROWS // 1000)}),
    "long": pl.DataFrame({"a": ["x" * 40_000_000]}),
    "nulls": pl.DataFrame({"a": pl.Series([None] * ROWS, dtype=pl.Int64), "b": pl.Series([None] * ROWS)}),
}
WRITERS = {
    "parquet": (check_parquet, lambda table, stream: table.write_parquet(stream, compression="zstd")),
    "pyarrow": (
        check_parquet,
        lambda table, stream: pa.parquet.write_table(table.to_arrow(), stream),
    ),
    "arrow": (check_arrow, lambda table, stream: table.write_ipc(stream, compression="zstd")),
    "stream": (check_arrow, lambda table, stream: table.write_ipc_stream(stream, compression="lz4")),
}


def stored(table, writer):
    stream = io.BytesIO()
    WRITERS[writer][1](table, stream)
    return rewound(stream)


def rewound(stream):
    stream.seek(0)
    return stream


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", TABLES)
def test_what_a_file_takes_is_bounded_from_its_metadata(kind, writer, monkeypatch):
    check, stream = WRITERS[writer][0], stored(TABLES[kind], writer)
    needed = TABLES[kind].estimated_size()
    assert stream.getbuffer().nbytes < max(needed / 20, 200_000)
    monkeypatch.setenv(SETTING, str(8 * needed + 20 * ROWS))
    check(stream)
    monkeypatch.setenv(SETTING, str(needed - 1))
    with pytest.raises(RequestError, match=SETTING):
        check(stream)


def test_rows_count_with_the_columns_they_get_later_and_files_before(monkeypatch):
    stream = stored(pl.DataFrame({"a": np.zeros(1000)}), "parquet")
    monkeypatch.setenv(SETTING, "1_000_000")
    taken = check_parquet(stream)
    assert 8000 <= taken < 100_000
    assert check_parquet(stream, before=5000) == taken + 5000
    for more in ({"n_columns": 100}, {"before": 999_000}):
        with pytest.raises(RequestError, match=SETTING):
            check_parquet(stream, **more)


@pytest.mark.parametrize("word", ["much", "-1", "0", "1e9"])
def test_a_limit_is_a_number_of_bytes(word, monkeypatch):
    monkeypatch.setenv(SETTING, word)
    with pytest.raises(RequestError, match=word):
        check_parquet(stored(pl.DataFrame({"a": [1.0]}), "parquet"))


def test_numbers_that_readers_take_for_huge_ones_are_refused():
    """Polars reserves 2^61 bytes for a page of -7 values, which ends the process."""
    stream = io.BytesIO()
    pl.DataFrame({"a": np.arange(40.0)}).write_parquet(stream, compression="uncompressed", statistics=False)
    content = stream.getvalue()
    n_values = content.index(80, 4)  # 40 in the header of the page, as a zigzag number
    with pytest.raises(RequestError, match="damaged"):
        check_parquet(io.BytesIO(content[:n_values] + bytes([13]) + content[n_values + 1 :]))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_values_that_repeat_the_one_before_count_in_full(version, monkeypatch):
    """439 bytes of Parquet that take 200 MB."""
    stream = io.BytesIO()
    options = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "data_page_version": version}
    pa.parquet.write_table(pa.table({"a": ["x" * 10_000] * 20_000}), stream, **options)
    assert stream.getbuffer().nbytes < 200_000
    monkeypatch.setenv(SETTING, "200_000_000")
    with pytest.raises(RequestError, match=SETTING):
        check_parquet(rewound(stream))
    pa.parquet.write_table(pa.table({"a": ["x", "y"] * 500}), small := io.BytesIO(), **options)
    check_parquet(rewound(small))


@pytest.mark.parametrize("nested", [lambda array: array, lambda array: pl.Struct({"x": array})])
def test_arrays_that_are_missing_count_in_full(nested, monkeypatch):
    """9887 bytes of Parquet that take 160 MB."""
    stream = io.BytesIO()
    column = pl.Series([None] * 1000, dtype=nested(pl.Array(pl.Array(pl.Float64, 200), 100)))
    pl.DataFrame({"a": column}).write_parquet(stream)
    check_parquet(rewound(stream))
    monkeypatch.setenv(SETTING, "160_000_000")
    with pytest.raises(RequestError, match=SETTING):
        check_parquet(rewound(stream))


def test_lists_of_arrays_are_refused():
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": pa.array([[None]], pa.list_(pa.list_(pa.float64(), 10**6)))}), stream)
    with pytest.raises(RequestError, match="List"):
        check_parquet(rewound(stream))


def test_a_page_has_the_values_of_its_own_kind(monkeypatch):
    """A page of version 2 that states other numbers in the header of version 1, which readers ignore."""
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": np.arange(40.0)}), stream, data_page_version="2.0", use_dictionary=False)
    content, struct = stream.getvalue(), file_limits._Thrift.struct

    def forged(thrift):
        fields = struct(thrift)
        return {**fields, 8: {**fields[8], 1: 2**31 - 1}, 5: fields[8]} if 8 in fields and 3 in fields else fields

    check_parquet(io.BytesIO(content))
    monkeypatch.setattr(file_limits._Thrift, "struct", forged)
    with pytest.raises(RequestError, match="damaged"):
        check_parquet(io.BytesIO(content))


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_dictionaries_of_lists_which_rows_repeat_are_refused(new):
    """728 bytes of Arrow that take 200 MB."""
    for values, is_refused in ((pa.array([[1.0] * 1000]), True), (pa.array(["x" * 1000]), False)):
        table = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), values)})
        stream = io.BytesIO()
        with new(stream, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(RequestError, match="dictionary") if is_refused else contextlib.nullcontext():
            check_arrow(rewound(stream))


@pytest.mark.parametrize("writer", WRITERS)
def test_damaged_metadata_are_an_error_of_the_file_and_end_in_time(writer):
    content = stored(pl.DataFrame({"a": np.arange(50.0), "b": ["x", "y"] * 25}), writer).getvalue()
    random, check = np.random.default_rng(0), WRITERS[writer][0]
    for _ in range(300):
        changed = bytearray(content[: random.integers(0, len(content) + 1)] if random.random() < 0.3 else content)
        for place in random.integers(0, max(1, len(changed)), 5 if changed else 0):
            changed[place] = random.choice([0, 127, 128, 255, random.integers(256)])
        try:
            check(io.BytesIO(bytes(changed)))
        except RequestError as error:
            assert "damaged" in str(error) or SETTING in str(error)  # noqa: PT017
