"""Read text tables such as CSV and TSV."""

import codecs
import csv
import io
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cached_property, partial
from itertools import dropwhile
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from polars import selectors as cs

from npbench.data.file_limits import require_fits
from npbench.data.table import Table, as_numbers, refuse_repeated, row_place
from npbench.data.wording import DATASET, Settings
from npbench.errors import RequestError
from npbench.values import counted, listed

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]
INFERENCE_ROWS = 10_000  # column types are inferred from these; inference from all rows doubles the time
MAX_LINE_BYTES = 100_000  # part of the first line that is split, below the field limit of the csv module
MAX_COLUMNS = 100_000  # each costs Polars 50 microseconds and 5 kB
MAX_HEADER_BYTES = 1000 * MAX_COLUMNS
MAX_SHOWN_CHARACTERS = 60
BLOCK_BYTES = 1 << 22
NOT_UTF8 = "it is not UTF-8 text: save it in this encoding, which spreadsheets call CSV UTF-8."
# The marks of UTF-32 begin with those of UTF-16.
ENCODINGS = {
    **{codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"},
    **{codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"},
}
THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+$"


def read_delimited(
    stream: IO[bytes],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    settings: Settings = DATASET,
    one_column: bool = False,
) -> Table:
    """Return the table in a text, in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    ``delimiter``, ``header`` and ``decimal`` are those of ``dataset=file``, which errors spell as ``settings`` does;
    ``one_column`` accepts a table with a single column.
    """
    if decimal not in (None, "point", "comma"):
        raise RequestError(f"{settings('decimal')} is {decimal!r}: expected point or comma.")
    stream = _utf8(stream)
    line, first = _first_line(stream)
    best = max(DELIMITERS.values(), key=lambda sign: len(_fields(first, sign)))
    sign = best if delimiter is None else DELIMITERS.get(str(delimiter), str(delimiter))
    if len(sign.encode()) != 1:
        known = ", ".join(DELIMITERS)
        raise RequestError(f"{settings('delimiter')} is {delimiter!r}: expected {known} or a single character.")
    lines = _Lines(stream, sign)
    if line.count(sign.encode()) >= MAX_COLUMNS or len(fields := lines.first()) > MAX_COLUMNS:
        raise RequestError(f"it has more than {MAX_COLUMNS} columns: save it as .npz or SVMLight.")
    if len(fields) == 1 and not one_column:
        raise RequestError(_one_column(first, best, settings))
    has_header = _is_header(fields, settings) if header is None else header
    frame = _parsed(stream, lines, sign, has_header)
    n_lines = len(frame) + has_header
    # Polars fills short lines with missing values.
    if frame[:, -1].null_count() and lines.n_signs() != (frame.width - 1) * n_lines:
        lines.refuse_ragged(n_lines)
    names = [name.strip() for name in fields] if has_header else [""] * frame.width
    called = [name or f"column_{place}" for place, name in enumerate(names)]
    refuse_repeated(called)
    frame.columns = called
    # Columns without a name before those with one hold the index of pandas.
    index = frame.columns[: next((place for place, name in enumerate(names) if name), 0)]
    # Strip spaces around words; convert numbers with spaces, plus signs or decimal commas.
    bare = cs.string().str.strip_chars()
    frame = frame.with_columns(pl.when(bare.is_in(MISSING)).then(None).otherwise(bare).name.keep())
    frame = frame.with_columns(_converted(column, decimal, settings) for column in frame.select(cs.string()))
    kept = ~frame.select(pl.all_horizontal(pl.all().is_null())).to_series()  # empty lines
    rows = range(len(kept)) if kept.all() else kept.arg_true()
    return Table(frame.filter(kept), lambda row: lines.place(rows[row] + has_header, n_lines) or row_place(row), index)


def _utf8(stream: IO[bytes]) -> IO[bytes]:
    """Return a text in UTF-8 with lines that end in line feeds."""
    start = stream.read(MAX_LINE_BYTES)
    stream.seek(0)
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), None)
    is_old = b"\r" in start[:-1] and b"\n" not in start  # lines of old Macintoshes
    if encoding is None and not is_old:
        return stream
    content = stream.read()
    if encoding:
        require_fits(4 * len(content))
        try:
            content = content.decode(encoding).encode()
        except UnicodeError as error:
            raise RequestError(f"it begins like {encoding.upper()} text, but is not: save it as UTF-8.") from error
    return io.BytesIO(content if b"\n" in content else content.replace(b"\r", b"\n"))


def _first_line(stream: IO[bytes]) -> tuple[bytes, str]:
    """Return the first line that is not empty, as bytes and as text, which is cut if it is long."""
    line = b"\n"
    while line.removeprefix(codecs.BOM_UTF8) in (b"\n", b"\r\n"):
        line = stream.readline(MAX_HEADER_BYTES)
    stream.seek(0)
    first = line[:MAX_LINE_BYTES].decode("utf-8-sig", errors="replace").rstrip("\r\n")
    if "\ufffd" in first[:-1] or "\0" in first:  # replaces undecodable bytes; the last character may be cut
        raise RequestError(NOT_UTF8)
    return line, first


class _Lines:
    """Lines of a text table, to name the one where a row is, or that has too few or too many fields."""

    def __init__(self, stream: IO[bytes], sign: str) -> None:
        self._sign = sign
        path: Any = getattr(stream, "name", None)
        # A row may have to be named after the file is closed; a text in memory stays open.
        in_memory = not isinstance(path, str)
        self._opened: Callable[[], Any] = partial(nullcontext, stream) if in_memory else partial(Path(path).open, "rb")

    def n_signs(self) -> int:
        """Return the number of separators, those in quotes included."""
        with self._opened() as stream:
            stream.seek(0)
            return sum(block.count(self._sign.encode()) for block in iter(partial(stream.read, BLOCK_BYTES), b""))

    def first(self) -> list[str]:
        """Return the fields of the first line that is not empty."""
        return next((fields for _, fields in self._rows() if _n_fields(fields)), [])

    def refuse_ragged(self, n_lines: int | None = None) -> None:
        """Raise RequestError for the first line with more or fewer fields than the first one.

        ``n_lines`` is the number of lines that Polars found, if it did; if it differs here, nothing is known.
        """
        lines, fields = self._records["line"], self._records["fields"]
        wrong = np.flatnonzero((fields != fields[:1]) & (fields > 0))
        if not len(wrong) or n_lines not in (None, len(lines)):
            return
        found, expected = fields[wrong[0]], fields[0]
        if found < expected and not fields[wrong[0] + 1 :].any():
            raise RequestError(f"the last line has {found} of {expected} columns: the file was cut off, get it again.")
        more = f", as do {len(wrong) - 1} others" if len(wrong) > 1 else ""
        fault = f"line {lines[wrong[0]]} has {counted(found, 'column')} where the first has {expected}{more}"
        raise RequestError(f"{fault}: correct it, and quote fields that hold the separator.")

    def place(self, number: int, n_lines: int) -> str:
        """Return a line, given its number among those into which Polars divides the text; empty if it is not known."""
        lines = self._records["line"]
        return f"line {lines[number]}" if len(lines) == n_lines else ""

    @cached_property
    def _records(self) -> np.ndarray:
        """The line where each row starts and its number of fields, 0 if it is empty; none if they cannot be read."""
        rows = dropwhile(lambda row: not row[1], ((line, _n_fields(fields)) for line, fields in self._rows()))
        dtype = [("line", np.int64), ("fields", np.int64)]
        try:
            return np.fromiter(rows, dtype)
        except csv.Error:  # a quote without an end
            return np.empty(0, dtype)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        former = csv.field_size_limit(MAX_HEADER_BYTES)
        try:
            with self._opened() as stream:
                stream.seek(0)
                lines = (line.replace(b"\r", b"") for line in iter(partial(stream.readline, MAX_HEADER_BYTES), b""))
                reader = csv.reader(codecs.iterdecode(lines, "utf-8-sig", "replace"), delimiter=self._sign)
                line = 1
                for fields in reader:
                    yield line, fields
                    line = reader.line_num + 1
        finally:
            csv.field_size_limit(former)


def _parsed(stream: IO[bytes], lines: _Lines, sign: str, has_header: bool) -> pl.DataFrame:
    for n_rows in (INFERENCE_ROWS, None):  # a later row may contradict the type inferred from the first ones
        stream.seek(0, os.SEEK_END)  # Polars 1 reads on where the file is, behind Python's buffer
        stream.seek(0)
        try:
            return pl.read_csv(
                stream, null_values=MISSING, infer_schema_length=n_rows, separator=sign, has_header=has_header
            )
        except pl.exceptions.ComputeError as error:
            fault = error
    if "utf-8" in str(fault):
        raise RequestError(NOT_UTF8) from fault
    if "more fields" in str(fault):
        lines.refuse_ragged()
    raise fault


def _n_fields(fields: list[str]) -> int:
    """Return the number of fields of a line, 0 if it is empty."""
    return len(fields) if len(fields) > 1 or "".join(fields).strip() else 0


def _fields(line: str, sign: str) -> list[str]:
    return next(csv.reader([line], delimiter=sign), [])


def _is_header(fields: list[str], settings: Settings) -> bool:
    """Return whether a line has no numbers; refuse to guess if it mixes words and numbers."""
    present = pl.Series([field for field in fields if field.strip() not in MISSING], dtype=pl.String)
    n_numbers = as_numbers(present).count()
    if 0 < n_numbers < len(present):
        hint = f"set {settings('header', 'true')} if it names the columns, otherwise {settings('header', 'false')}"
        raise RequestError(f"the first line has words and numbers, {listed(map(repr, fields))}: {hint}.")
    return not n_numbers


def _one_column(first: str, best: str, settings: Settings) -> str:
    shown, n_fields = repr(first[:MAX_SHOWN_CHARACTERS]), len(_fields(first, best))
    if n_fields == 1:
        fault = f"there is only one column, with no {', '.join(DELIMITERS)} in the first line, {shown}"
        return f"{fault}: set {settings('delimiter')} to the character between columns."
    (name,) = (name for name, sign in DELIMITERS.items() if sign == best)
    hint = f"{settings('delimiter', name)} splits it into {n_fields}"
    return f"there is only one column in the first line, {shown}: {hint}."


def _converted(words: pl.Series, decimal: str | None, settings: Settings) -> pl.Series:
    """Return words as numbers if all are; with commas, unless these may separate thousands."""
    numbers = as_numbers(words)
    if numbers.null_count() > words.null_count():
        return words
    with_comma = words.filter(words.str.contains(",", literal=True))
    is_unclear = with_comma.str.contains(THOUSANDS).all() or words.str.contains(".", literal=True).any()
    if len(with_comma) and decimal != "comma" and (decimal or is_unclear):
        fault = f"the column {words.name!r} holds numbers with commas, such as {with_comma[0]!r}"
        raise RequestError(f"{fault}: set {settings('decimal', 'comma')} for decimal commas, otherwise remove them.")
    return numbers
