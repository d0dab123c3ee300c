"""Check the structure of a MATLAB file before SciPy reads it, which trusts types and sizes and may crash."""

import math
import struct
import zlib
from collections.abc import Iterator
from typing import IO

from npbench.data.file_limits import require_fits

BYTES, INT32, UINT32, MATRIX, PACKED = 1, 5, 6, 14, 15  # types of elements
NUMERIC = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13}
TEXT = NUMERIC | {16, 17, 18}
CELL, CHAR, SPARSE = 1, 4, 5  # classes of matrices; greater ones are numbers
LAST_NUMBER = 15
MAX_DIMENSIONS = 32
MAX_DEPTH = 20
COMPLEX = 8  # a flag
HEADER_BYTES = 128
BLOCK_BYTES = 1 << 20


def variables(stream: IO[bytes]) -> list[str]:
    """Return the names of numeric, sparse, character and cell variables of a MATLAB file of version 5 to 7.

    Types or sizes that contradict each other raise an error, and variables that do not fit into memory a RequestError.
    """
    stream.seek(0)
    order = {b"IM": "<", b"MI": ">"}[stream.read(HEADER_BYTES)[126:]]
    names = []
    for kind, content in _top_elements(stream, order):
        if kind != MATRIX:
            raise ValueError("a variable without a matrix")
        names.append(_checked(content, order))
    stream.seek(0)
    return [name for name in names if name is not None]


def _top_elements(stream: IO[bytes], order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type and the content of each variable, unpacked."""
    n_bytes = 0
    while tag := stream.read(8):
        kind, size = struct.unpack(f"{order}II", tag)
        content = stream.read(size)
        if len(content) < size:
            raise ValueError("an element beyond the end")
        if kind == PACKED:
            unpacking, parts = zlib.decompressobj(), []
            while content:
                parts.append(unpacking.decompress(content, BLOCK_BYTES))
                n_bytes += len(parts[-1])
                require_fits(n_bytes)
                content = unpacking.unconsumed_tail
            yield from _elements(memoryview(b"".join(parts)), order)
        else:
            yield kind, memoryview(content)


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type and the content of each element; short ones share eight bytes with their tag."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if short := kind >> 16:
            start, end, kind = at + 4, at + 4 + short, kind & 0xFFFF
            at += 8
        else:
            start, end = at + 8, at + 8 + size
            at = end + -size % 8
        if end > len(content) or (short > 4):
            raise ValueError("an element beyond the end")
        yield kind, content[start:end]


def _checked(content: memoryview, order: str, depth: int = 0) -> str | None:
    """Return the name of a matrix, or None for structures and the like, which are not read."""
    (flags_kind, flags), (dims_kind, dims), (name_kind, name), *data = _elements(content, order)
    sizes = struct.unpack(f"{order}{len(dims) // 4}i", dims)
    if (flags_kind, dims_kind, name_kind, len(flags)) != (UINT32, INT32, BYTES, 8):
        raise ValueError("a matrix without flags, sizes or name")
    if not 2 <= len(sizes) <= MAX_DIMENSIONS or min(sizes) < 0 or depth > MAX_DEPTH:
        raise ValueError("a matrix of odd sizes")
    (word,) = struct.unpack_from(f"{order}I", flags)
    of_class, n_parts = word & 0xFF, 1 + bool(word >> 8 & COMPLEX)
    require_fits(8 * (max(sizes) if of_class == SPARSE else math.prod(sizes)))
    if of_class == CELL:
        if len(data) != math.prod(sizes) or any(kind != MATRIX for kind, _ in data):
            raise ValueError("a cell without its matrices")
        inner = [_checked(cell, order, depth + 1) if len(cell) else "" for _, cell in data]
        return None if None in inner else _text(name)
    if not CHAR <= of_class <= LAST_NUMBER:
        return None
    allowed = TEXT if of_class == CHAR else NUMERIC
    n_expected = {CHAR: 1, SPARSE: 2 + n_parts}.get(of_class, n_parts)
    if len(data) != n_expected or any(kind not in allowed for kind, _ in data):
        raise ValueError("a matrix without its values")
    return _text(name)


def _text(name: memoryview) -> str:
    return bytes(name).decode("latin1")
