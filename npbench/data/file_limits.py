"""Bound the memory that a file takes before it is read: a few kB of Parquet, Arrow or gzip can hold more than there is.

Sizes come from the metadata of each page and buffer, which readers reserve memory by, and not from summaries of them.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import polars as pl

from npbench.errors import RequestError

SETTING = "NPBENCH_MAX_BYTES"
DEFAULT_LIMIT = 4 << 30
CELL_BYTES = 16  # of a decoded cell at most: the view of a string
DICTIONARY, BATCH = 2, 3  # kinds of Arrow messages with arrays
DATA_PAGES = {0: (5, 2), 3: (8, 4)}  # of Parquet, versions 1 and 2: fields of their headers, and of encodings in these
DICTIONARY_PAGE = 2
DELTA_BYTE_ARRAY = 7
MAX_DEPTH = 100  # of nested columns: readers recurse


def limit() -> int:
    """Return the number of bytes that a file may take in memory, from ``NPBENCH_MAX_BYTES``; 4 GiB by default."""
    word = os.environ.get(SETTING, "").replace("_", "")
    if word and not (word.isdecimal() and int(word)):
        raise RequestError(f"{SETTING} is {word!r:.40}: expected a number of bytes, such as {DEFAULT_LIMIT}.")
    return int(word) if word else DEFAULT_LIMIT


def require_fits(n_bytes: int) -> None:
    """Raise RequestError if a file takes more bytes in memory than allowed."""
    if n_bytes > limit():
        raise RequestError(
            f"it takes more than {limit() / 2**30:.3g} GiB of memory: if you trust it and have more, set {SETTING}."
        )


def check_parquet(stream: IO[bytes], *, n_columns: int = 0, before: int = 0) -> int:
    """Return the bytes that a Parquet file takes in memory, plus those ``before``; RequestError if they do not fit.

    ``n_columns`` is the number of columns that the table gets later, if these are more.
    """
    with _content(stream, "Parquet") as content:
        rows, n_bytes = _parquet_size(content)
        dtypes = pl.read_parquet_schema(stream).values()
        stream.seek(0)
    n_cells = rows * max(n_columns, sum(map(_n_cells, dtypes)))
    total = before + max(n_bytes, n_cells * CELL_BYTES)
    require_fits(total)
    return total


def _n_cells(dtype: Any) -> int:
    """Return the cells that a row of a column takes; an array of fixed size takes all of its own where it is null."""
    if isinstance(dtype, pl.Array):
        return dtype.shape[0] * _n_cells(dtype.inner)
    if isinstance(dtype, pl.Struct):
        return sum(_n_cells(field.dtype) for field in dtype.fields)
    if "Array(" in str(dtype):
        raise RequestError(f"a column has the type {dtype!s:.100}: save it with another one.")
    return 1


def check_arrow(stream: IO[bytes]) -> None:
    """Raise RequestError if the tables of an Arrow file or stream do not fit, or its metadata are damaged."""
    with _content(stream, "Arrow") as content:
        n_bytes = sum(_batch_size(content, *message) for message in _arrow_messages(content))
    require_fits(n_bytes)


@contextmanager
def _content(stream: IO[bytes], title: str) -> Iterator[Any]:
    """Yield the bytes of a file, mapped if it is on disk; faults of its metadata become a RequestError."""
    try:
        try:
            content: Any = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError:  # a stream in memory, or a file system without maps
            content = stream.read()
            stream.seek(0)
        yield content
    except RequestError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # damaged metadata may hold anything anywhere
        raise RequestError(
            f"it cannot be read as {title}: its metadata are damaged, incomplete or in another format."
        ) from error


def _parquet_size(content: Any) -> tuple[int, int]:
    """Return the number of rows of a Parquet file, and the bytes that its decoded columns take."""
    length = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != b"PAR1" or length > len(content) - 12:
        raise ValueError("no footer")
    footer = _Thrift(content[-8 - length : -8]).struct()
    schema = iter(footer[2])
    widths = list(_widths(schema))
    if any(schema):
        raise ValueError("more parts than stated")
    rows, n_bytes = sum(_count(group[3]) for group in footer[4]), 0
    for group in footer[4]:
        for width, column in zip(widths, group[1], strict=True):
            n_bytes += _chunk_size(content, column[3]) + width * max(_count(column[3][5]), group[3])
    return max(rows, _count(footer[3])), n_bytes


def _widths(schema: Iterator[dict[int, Any]], depth: int = 0) -> Iterator[int]:
    """Yield the bytes of a value in each column, from a schema that lists a nested column before its parts."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    element = next(schema)
    if n_parts := element.get(5):
        for _ in range(_count(n_parts)):
            yield from _widths(schema, depth + 1)
    else:
        yield max(CELL_BYTES, element.get(2, 0))  # 2: bytes of a value of fixed length


def _chunk_size(content: Any, chunk: dict[int, Any]) -> int:
    """Return the unpacked bytes in the pages of a column, whose values must be those that the column states."""
    n_values, n_bytes = 0, 0
    start = _count(min(chunk.get(11) or chunk[9], chunk[9]))  # a dictionary comes before the data
    pages = _Thrift(content, start)
    while pages.at < start + chunk[7]:
        page = pages.struct()
        pages.at += _count(page[3])
        n_copies = 1
        if page[1] == DICTIONARY_PAGE:
            _count(page[7][1])
        elif page[1] in DATA_PAGES:
            header, encoding = DATA_PAGES[page[1]]
            n_page = _count(page[header][1])
            n_values += n_page
            if page[header][encoding] == DELTA_BYTE_ARRAY:  # each value may repeat all of the one before
                n_copies = max(1, n_page)
        n_bytes += _count(page[2]) * n_copies
    if n_values != chunk[5]:
        raise ValueError("pages of other values")
    return n_bytes


def _count(number: int) -> int:
    """Return a number that is not negative: readers take it for one near 2^64, and reserve as much memory."""
    if number < 0:
        raise ValueError("a negative number")
    return number


class _Thrift:
    """A reader of Thrift's compact protocol, in which Parquet writes metadata."""

    def __init__(self, content: Any, at: int = 0) -> None:
        self.content = content
        self.at = at

    def struct(self) -> dict[int, Any]:
        """Return the fields of a struct by number, without its texts."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self.content[self.at]:
            self.at += 1
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            if kind <= 2:
                fields[number] = kind == 1
            elif kind in (5, 6):
                fields[number] = self._integer()
            else:
                fields[number] = self._value(kind)
        self.at += 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind == 12:
            return self.struct()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (9, 10):  # a set or list; Parquet has no maps
            length, kind = self.content[self.at] >> 4, self.content[self.at] & 15
            self.at += 1
            return [self._value(kind) for _ in range(self._varint() if length == 15 else length)]
        n_bytes = self._varint() if kind == 8 else {1: 1, 2: 1, 3: 1, 7: 8, 13: 16}[kind]
        self.at += n_bytes
        return None

    def _integer(self) -> int:
        if (coded := self.content[self.at]) < 128:  # nearly always, and a call costs as much as the rest
            self.at += 1
        else:
            coded = self._varint()
        return coded >> 1 ^ -(coded & 1)

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self.content[self.at]
            self.at += 1
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise ValueError("a number of more than 64 bits")


def _arrow_messages(content: Any) -> Iterator[tuple[int, int, int]]:
    """Yield where the metadata and the body of each message in an Arrow file or stream are, and the body's length."""
    if content[:6] == b"ARROW1":
        footer = _Flat(content, len(content) - 10 - _number("<i", content, len(content) - 10))
        for start, length, n_body in (
            *footer.vector(2, "<qi4xq"),
            *footer.vector(3, "<qi4xq"),
        ):  # dictionaries, batches
            yield _metadata(content, start), start + length, n_body
        return
    at = 0
    while at + 8 <= len(content) and (start := _metadata(content, at)) < len(content):
        length = _count(_number("<i", content, start - 4))
        if not length:
            return
        body = _Flat(content, start).field(3)
        n_bytes = 0 if body is None else _count(_number("<q", content, body))
        yield start, start + length, n_bytes
        at = start + length + n_bytes


def _metadata(content: Any, at: int) -> int:
    """Return where a message's metadata starts; old files lack the marker before its length."""
    return at + (8 if _number("<i", content, at) == -1 else 4)


def _batch_size(content: Any, metadata: int, body: int, n_body: int) -> int:
    """Return the bytes that the arrays of a message take; compressed buffers begin with their length."""
    message = _Flat(content, metadata)
    kind, header = message.field(1), message.table(2)
    if kind is None or content[kind] not in (DICTIONARY, BATCH):
        return 0
    is_dictionary = content[kind] == DICTIONARY
    if is_dictionary and header:
        header = header.table(1)
    if header is None or body + n_body > len(content):
        raise ValueError("a message without content")
    is_packed = header.field(3) is not None
    lengths = [_count(length) for length, _ in header.vector(1, "<qq")]
    if is_dictionary and len(lengths) > 1:  # a small list may stand in each of many rows
        raise RequestError("a column has a dictionary of lists or structs: save it with other types.")
    n_bytes = CELL_BYTES * sum(lengths)
    for start, length in header.vector(2, "<qq"):
        if _count(start) + _count(length) > n_body:
            raise ValueError("a buffer beyond the end")
        unpacked = _number("<q", content, body + start) if is_packed and length else -1
        n_bytes += length if unpacked == -1 else _count(unpacked)
    return n_bytes


def _number(form: str, content: Any, at: int) -> int:
    if at < 0:
        raise ValueError("an offset before the start")
    return int(struct.unpack_from(form, content, at)[0])


class _Flat:
    """A table of FlatBuffers, in which Arrow writes metadata, given where its offset is."""

    def __init__(self, content: Any, at: int) -> None:
        self.content = content
        self.at = at + _number("<I", content, at)

    def field(self, number: int) -> int | None:
        """Return where a field is; None if it has its default."""
        vtable = self.at - _number("<i", self.content, self.at)
        slot = 4 + 2 * number
        if slot >= _number("<H", self.content, vtable):
            return None
        offset = _number("<H", self.content, vtable + slot)
        return self.at + offset if offset else None

    def table(self, number: int) -> _Flat | None:
        """Return a field that is a table."""
        at = self.field(number)
        return None if at is None else _Flat(self.content, at)

    def vector(self, number: int, form: str) -> Iterator[tuple[int, ...]]:
        """Return the elements of a vector of structs."""
        at = self.field(number)
        if at is None:
            return iter(())
        start = at + _number("<I", self.content, at)
        end = start + 4 + _number("<I", self.content, start) * struct.calcsize(form)
        return struct.iter_unpack(form, self.content[start + 4 : end])
