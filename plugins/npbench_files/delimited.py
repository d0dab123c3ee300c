"""Read text tables such as CSV and TSV."""

from __future__ import annotations

import csv
import io
from typing import IO, Any

import polars as pl
from polars import selectors as cs

from npbench.errors import RequestError
from npbench_files.wording import listed

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]
INFERENCE_ROWS = 10_000  # column types are inferred from these; inference from all rows doubles the time
MAX_LINE_BYTES = 100_000  # part of the first and last line that is split, below the field limit of the csv module
MAX_COLUMNS = 100_000  # each costs Polars 50 microseconds and 5 kB
MAX_HEADER_BYTES = 1000 * MAX_COLUMNS
MAX_SHOWN_CHARACTERS = 60
NOT_UTF8 = "it is not UTF-8 text: save it in this encoding, which spreadsheets call CSV UTF-8."


def read_delimited(
    stream: IO[bytes], *, delimiter: str | None = None, header: bool | None = None, decimal: str | None = None
) -> pl.DataFrame:
    """Return the table in a UTF-8 text; settings as in :func:`npbench_files.file.load_file`."""
    if decimal not in (None, "point", "comma"):
        raise RequestError(f"dataset.decimal is {decimal!r}: expected point or comma.")
    line = stream.readline(MAX_HEADER_BYTES)
    stream.seek(0)
    first = line[:MAX_LINE_BYTES].decode("utf-8-sig", errors="replace").rstrip("\r\n")
    if "\ufffd" in first[:-1]:  # replaces undecodable bytes; the last character may be cut
        raise RequestError(NOT_UTF8)
    best = max(DELIMITERS.values(), key=lambda sign: len(_fields(first, sign)))
    sign = best if delimiter is None else DELIMITERS.get(str(delimiter), str(delimiter))
    if len(sign) != 1:
        known = ", ".join(DELIMITERS)
        raise RequestError(f"dataset.delimiter is {delimiter!r}: expected {known} or a single character.")
    fields = _fields(first, sign)
    if len(fields) == 1:
        raise RequestError(_one_column(first, sign, best))
    if line.count(sign.encode()) >= MAX_COLUMNS:
        raise RequestError(f"it has more than {MAX_COLUMNS} columns: save it as .npz or SVMLight.")
    _refuse_cut(stream, sign, len(fields))
    has_header = _is_header(fields) if header is None else header
    frame = _parsed(stream, separator=sign, has_header=has_header)
    frame.columns = _named(frame.columns if has_header else [""] * frame.width)
    frame = _stripped(frame, decimal == "comma")
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))  # empty lines


def _parsed(stream: IO[bytes], **options: Any) -> pl.DataFrame:
    for n_rows in (INFERENCE_ROWS, None):  # a later row may contradict the type inferred from the first ones
        stream.seek(0)
        try:
            return pl.read_csv(stream, null_values=MISSING, infer_schema_length=n_rows, **options)
        except pl.exceptions.ComputeError as error:
            fault = error
    if "utf-8" in str(fault):
        raise RequestError(NOT_UTF8) from fault
    raise fault


def _fields(line: str, sign: str) -> list[str]:
    return next(csv.reader([line], delimiter=sign), [])


def _refuse_cut(stream: IO[bytes], sign: str, n_fields: int) -> None:
    """Refuse a last line shorter than the first: Polars would fill it with missing values."""
    stream.seek(max(stream.seek(0, io.SEEK_END) - MAX_LINE_BYTES, 0))
    _, newline, last = stream.read().rstrip(b"\r\n").rpartition(b"\n")
    stream.seek(0)
    found = last.count(sign.encode()) + 1
    if newline and found < n_fields and b'"' not in last:  # a quoted field may span several lines
        raise RequestError(
            f"the last line has {found} of {n_fields} columns: the file was cut off. Get it again, or remove the line."
        )


def _is_header(fields: list[str]) -> bool:
    """Return whether a line has no numbers; refuse to guess if it mixes words and numbers."""
    present = [field for field in fields if field.strip() not in MISSING]
    numbers = [field for field in present if _is_number(field)]
    if 0 < len(numbers) < len(present):
        raise RequestError(
            f"the first line has words and numbers, {listed(map(repr, fields))}: set dataset.header=true if it names "
            "the columns, otherwise dataset.header=false."
        )
    return not numbers


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _one_column(first: str, sign: str, best: str) -> str:
    shown = first if len(first) <= MAX_SHOWN_CHARACTERS else f"{first[:MAX_SHOWN_CHARACTERS]}..."
    names = {sign: name for name, sign in DELIMITERS.items()}
    n_fields = len(_fields(first, best))
    missing, hint = f"none of {', '.join(DELIMITERS)}", "set dataset.delimiter to the character between columns"
    if n_fields > 1:
        missing = f"no {names.get(sign, repr(sign))}"
        hint = f"dataset.delimiter={names[best]} splits it into {n_fields} columns"
    return f"there is only one column, because {missing} is in the first line, {shown!r}: {hint}."


def _stripped(frame: pl.DataFrame, decimal_comma: bool) -> pl.DataFrame:
    """Strip spaces around words; convert numbers with spaces, plus signs or decimal commas."""
    bare = cs.string().str.strip_chars()
    frame = frame.with_columns(pl.when(bare.is_in(MISSING)).then(None).otherwise(bare).name.keep())
    return frame.with_columns(_numbers_or_words(column, decimal_comma) for column in frame.select(cs.string()))


def _numbers_or_words(words: pl.Series, decimal_comma: bool) -> pl.Series:
    unsigned = words.str.strip_prefix("+")
    if (with_point := _numbers(unsigned)) is not None:
        return with_point
    with_comma = _numbers(unsigned.str.replace(",", ".", literal=True))
    if with_comma is None:
        return words
    if not decimal_comma:
        example = words.filter(words.str.contains(",", literal=True))[0]
        raise RequestError(
            f"the column {words.name!r} holds numbers with commas, such as {example!r}: set dataset.decimal=comma for "
            "decimal commas, otherwise remove them."
        )
    return with_comma


def _numbers(words: pl.Series) -> pl.Series | None:
    parsed = words.cast(pl.Float64, strict=False)
    return parsed if parsed.null_count() == words.null_count() else None


def _named(names: list[str]) -> list[str]:
    """Strip spaces around names; columns without a name are called by their number, from 0."""
    bare = [name.strip() or f"column_{i}" for i, name in enumerate(names)]
    return bare if len(set(bare)) == len(bare) else names
