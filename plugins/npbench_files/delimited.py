"""Tables as text: CSV, TSV and their like."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import IO, Any

import polars as pl
from polars import selectors as cs

from npbench.errors import RequestError
from npbench_files.wording import listed

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]
SCANNED = 10_000  # rows that types of columns are first taken from; to look at all doubles the time
LONGEST = 100_000  # bytes of the first line that are looked at, less than the csv module takes for one field
AT_MOST = 60  # signs of a line that an error shows
NO_UTF8 = "it is no text in UTF-8: save it as such; spreadsheets call this CSV UTF-8."


def read_delimited(
    stream: IO[bytes], *, delimiter: str | None = None, header: bool | None = None, decimal: str | None = None
) -> pl.DataFrame:
    """Return the table in a text whose columns are separated by a sign.

    Parameters
    ----------
    stream : binary file
        UTF-8; may be read twice.
    delimiter : str, optional
        "comma", "semicolon", "tab", "bar" or a single sign; by default the first of these that makes the most columns
        of the first line.
    header : bool, optional
        Whether the first line holds the names of the columns; by default it does where it is all words, and does not
        where it is all numbers.
    decimal : {"point", "comma"}, optional
        What numbers have before their decimals; a point by default.

    Raises
    ------
    RequestError
        If it is not UTF-8, there is one column only, a setting has no such value, the first line holds words as well as
        numbers, the last line is shorter, or numbers have commas without leave.
    """
    if decimal not in (None, "point", "comma"):
        raise RequestError(f"dataset.decimal is {decimal!r}: it must be point or comma.")
    first = stream.readline(LONGEST).decode("utf-8-sig", errors="replace").rstrip("\r\n")
    stream.seek(0)
    if "\ufffd" in first[:-1]:  # in place of what could not be decoded; the last sign may have been cut
        raise RequestError(NO_UTF8)
    best = max(DELIMITERS.values(), key=lambda sign: len(_fields(first, sign)))
    sign = best if delimiter is None else DELIMITERS.get(str(delimiter), str(delimiter))
    if len(sign) != 1:
        raise RequestError(f"dataset.delimiter is {delimiter!r}: it must be {', '.join(DELIMITERS)} or a single sign.")
    fields = _fields(first, sign)
    if len(fields) == 1:
        raise RequestError(_one_column(first, sign, best))
    _refuse_cut(stream, sign, len(fields))
    has_header = _is_header(fields) if header is None else header
    frame = _parsed(stream, separator=sign, has_header=has_header)
    frame.columns = _named(frame.columns if has_header else [""] * frame.width)
    frame = _stripped(frame, decimal == "comma")
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))  # empty lines


def _parsed(stream: IO[bytes], **options: Any) -> pl.DataFrame:
    read = partial(pl.read_csv, stream, null_values=MISSING, **options)
    try:
        return read(infer_schema_length=SCANNED)
    except pl.exceptions.ComputeError:  # a number with a point in a column taken for whole numbers, a word, ...
        stream.seek(0)
    try:
        return read(infer_schema_length=None)
    except pl.exceptions.ComputeError as error:
        if "utf-8" in str(error):
            raise RequestError(NO_UTF8) from error
        raise


def _fields(line: str, sign: str) -> list[str]:
    return next(csv.reader([line], delimiter=sign), [])


def _refuse_cut(stream: IO[bytes], sign: str, n_fields: int) -> None:
    """Refuse a text whose last line is shorter than its first: Polars takes what it lacks for missing values."""
    stream.seek(max(stream.seek(0, io.SEEK_END) - LONGEST, 0))
    _, newline, last = stream.read().rstrip(b"\r\n").rpartition(b"\n")
    stream.seek(0)
    found = last.count(sign.encode()) + 1
    if newline and found < n_fields and b'"' not in last:  # quoted, a field may go on over lines
        raise RequestError(
            f"the last line has {found} of {n_fields} columns: the file was cut off, perhaps on its way here. Get it "
            "again, or remove that line."
        )


def _is_header(fields: list[str]) -> bool:
    """Return whether there are words only in a line; refuse to guess where there are numbers too."""
    told = [field for field in fields if field.strip() not in MISSING]
    numbers = [field for field in told if _is_number(field)]
    if 0 < len(numbers) < len(told):
        raise RequestError(
            f"the first line holds words and numbers, {listed(map(repr, fields))}: say by dataset.header=true or "
            "dataset.header=false whether these are the names of the columns."
        )
    return not numbers


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _one_column(first: str, sign: str, best: str) -> str:
    shown = first if len(first) <= AT_MOST else f"{first[:AT_MOST]}..."
    names = {sign: name for name, sign in DELIMITERS.items()}
    n_fields = len(_fields(first, best))
    if n_fields == 1:
        return (
            f"there is one column only, as none of {', '.join(names.values())} is in the first line, {shown!r}: name "
            "the sign between the columns by dataset.delimiter, if this is a table."
        )
    return (
        f"there is one column only, as no {names.get(sign, repr(sign))} is in the first line, {shown!r}: "
        f"dataset.delimiter={names[best]} makes {n_fields} columns of it."
    )


def _stripped(frame: pl.DataFrame, decimal_comma: bool) -> pl.DataFrame:
    """Take off the spaces around words, and make columns numbers that spaces, plus signs or commas hid."""
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
            f"the column {words.name!r} holds numbers with commas, such as {example!r}: say dataset.decimal=comma if "
            "these come before decimals; else write them without."
        )
    return with_comma


def _numbers(words: pl.Series) -> pl.Series | None:
    parsed = words.cast(pl.Float64, strict=False)
    return parsed if parsed.null_count() == words.null_count() else None


def _named(names: list[str]) -> list[str]:
    """Take off the spaces around names, and give columns without one their number, from 0."""
    bare = [name.strip() or f"column_{i}" for i, name in enumerate(names)]
    return bare if len(set(bare)) == len(bare) else names
