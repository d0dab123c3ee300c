"""Small files that take a lot of memory are refused, without taking it."""

import io
import resource

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from npbench.data.file_limits import READER_MB, SETTING, read_arrow, read_parquet, status_mb
from npbench.errors import RequestError
from npbench.records import reading

ROWS = 2_000_000
TABLES = {
    "cells": lambda: {"a": np.zeros(ROWS), "b": np.zeros(ROWS)},
    "words": lambda: {"a": ["word"] * ROWS},
    "lists": lambda: {"a": [[0] * 1000] * (ROWS // 1000)},
    "long": lambda: {"a": ["x" * 40_000_000]},
    "nulls": lambda: {"a": pl.Series([None] * ROWS, dtype=pl.Int64), "b": pl.Series([None] * ROWS)},
}
WRITERS = {
    "parquet": (read_parquet, lambda table, stream: table.write_parquet(stream, compression="zstd")),
    "pyarrow": (
        read_parquet,
        lambda table, stream: pa.parquet.write_table(table.to_arrow(), stream),
    ),
    "arrow": (read_arrow, lambda table, stream: table.write_ipc(stream, compression="zstd")),
    "stream": (read_arrow, lambda table, stream: table.write_ipc_stream(stream, compression="lz4")),
}


def stored(table, writer):
    stream = io.BytesIO()
    WRITERS[writer][1](table, stream)
    return rewound(stream)


def rewound(stream):
    stream.seek(0)
    return stream


@pytest.mark.one_in(5)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", TABLES)
def test_what_a_file_takes_is_bounded(kind, writer, monkeypatch):
    table = pl.DataFrame(TABLES[kind]())
    read, stream = WRITERS[writer][0], stored(table, writer)
    needed = table.estimated_size()
    assert stream.getbuffer().nbytes < max(needed / 20, 200_000)
    monkeypatch.setenv(SETTING, str(8 * needed + 20 * ROWS))
    frame, _ = read(stream)
    assert frame.equals(table)
    monkeypatch.setenv(SETTING, str(needed - 1))
    with pytest.raises(RequestError, match=SETTING):
        read(rewound(stream))


def test_a_file_is_refused_before_it_takes_the_memory(monkeypatch):
    """400 kB of Parquet that take 480 MB."""
    stream, part = io.BytesIO(), pa.table({"a": pa.nulls(ROWS, pa.float64())})  # zeros take seconds to write
    with pa.parquet.ParquetWriter(stream, part.schema) as writer:
        for _ in range(30):
            writer.write_table(part)
    monkeypatch.setenv(SETTING, "1_000_000")
    before, limits = status_mb("VmHWM"), resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(RequestError, match=SETTING):
        read_parquet(rewound(stream))
    assert status_mb("VmHWM") < before + READER_MB + 100
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits


def test_rows_count_with_the_columns_they_get_later_and_files_before(monkeypatch, tmp_path):
    row = {"key": "a", "status": "ok", "stored_at": "2026"}
    for name in ("a", "b"):
        pl.DataFrame([row] * 1000).write_parquet(tmp_path / f"{name}.parquet")
    faults = []
    assert len(list(reading.parts(tmp_path, faults.append))) == 2
    monkeypatch.setenv(SETTING, "2_000_000")  # of 1.4 million each
    assert len(list(reading.parts(tmp_path, faults.append))) == 1
    assert SETTING in faults[-1]


@pytest.mark.parametrize("word", ["much", "-1", "0", "1e9"])
def test_a_limit_is_a_number_of_bytes(word, monkeypatch):
    monkeypatch.setenv(SETTING, word)
    with pytest.raises(RequestError, match=word):
        read_parquet(stored(pl.DataFrame({"a": [1.0]}), "parquet"))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_values_that_repeat_the_one_before_count_in_full(version, monkeypatch):
    """439 bytes of Parquet that take 20 MB."""
    stream = io.BytesIO()
    options = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "data_page_version": version}
    pa.parquet.write_table(pa.table({"a": ["x" * 10_000] * 2000}), stream, **options)
    assert stream.getbuffer().nbytes < 200_000
    monkeypatch.setenv(SETTING, "10_000_000")
    with pytest.raises(RequestError, match=SETTING):
        read_parquet(rewound(stream))


@pytest.mark.parametrize("nested", [lambda array: array, lambda array: pl.Struct({"x": array})])
def test_arrays_that_are_missing_count_in_full(nested, monkeypatch):
    """9887 bytes of Parquet that take 160 MB."""
    stream = io.BytesIO()
    column = pl.Series([None] * 1000, dtype=nested(pl.Array(pl.Array(pl.Float64, 200), 100)))
    pl.DataFrame({"a": column}).write_parquet(stream)
    monkeypatch.setenv(SETTING, "100_000_000")
    with pytest.raises(RequestError, match=SETTING):
        read_parquet(rewound(stream))


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array([[1.0] * 1000])),
        pa.array([[None] * 1000], pa.list_(pa.null())),
        pa.array([{"x": None}], pa.struct({"x": pa.null()})),
    ],
)
def test_types_that_grow_are_refused(column, new):
    table = pa.table({"a": column})
    with new(stream := io.BytesIO(), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(RequestError, match="column 'a'"):
        read_arrow(rewound(stream))


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_other_types_are_read(new):
    not_null = pa.array([[1.0]], pa.list_(pa.field("item", pa.float64(), nullable=False)))
    table = pa.table({"a": pa.array(["x"]).dictionary_encode(), "b": not_null, "null": [None]})
    with new(stream := io.BytesIO(), table.schema) as writer:
        writer.write_table(table)
    assert read_arrow(rewound(stream))[0].rows() == [("x", [1.0], None)]


@pytest.mark.parametrize("offset", [9, -1])
def test_offsets_beyond_the_values_are_damage(offset):
    """Polars would read foreign memory."""
    offsets = np.array([0, 1, 2], np.int32)
    column = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"xy")])
    offsets[1] = offset
    with pa.ipc.new_stream(stream := io.BytesIO(), pa.schema({"a": pa.string()})) as writer:
        writer.write_batch(pa.record_batch({"a": column}))
    with pytest.raises(RequestError, match="damaged"):
        read_arrow(rewound(stream))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("writer", WRITERS)
def test_damaged_metadata_are_an_error_of_the_file_and_end_in_time(writer):
    content = stored(pl.DataFrame({"a": np.arange(50.0), "b": ["x", "y"] * 25}), writer).getvalue()
    random, read = np.random.default_rng(0), WRITERS[writer][0]
    for _ in range(300):
        changed = bytearray(content[: random.integers(0, len(content) + 1)] if random.random() < 0.3 else content)
        for place in random.integers(0, max(1, len(changed)), 5 if changed else 0):
            changed[place] = random.choice([0, 127, 128, 255, random.integers(256)])
        try:
            read(io.BytesIO(bytes(changed)))
        except RequestError as error:
            assert "damaged" in str(error) or SETTING in str(error) or "type" in str(error)  # noqa: PT017
