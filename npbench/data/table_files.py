"""Read a table from a file of any format, for data sets, thresholds and monitoring."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import stat
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from npbench.data.delimited import read_delimited
from npbench.data.file_limits import limit, read_arrow, read_parquet, require_fits
from npbench.data.table import Table
from npbench.data.wording import OPTIONS, Settings
from npbench.errors import RequestError, unknown_name

TEXT_SETTINGS = ("delimiter", "header", "decimal")
UNPACK: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml")


@dataclass(frozen=True)
class Format:
    """A file format; ``read`` returns a Table, or features and a Series of labels."""

    title: str
    endings: tuple[str, ...]  # of file names
    read: Callable[..., Any]
    settings: tuple[str, ...] = ()  # keywords of ``read``
    is_table: bool = True  # whether ``read`` returns a Table


def _table(frame: pl.DataFrame, metadata: Mapping[bytes, bytes]) -> Table:
    """Return a frame as a table, with the columns that pandas saved as the index of its rows."""
    index = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", ())
    return Table(frame, index=[name for name in index if isinstance(name, str)])


FORMATS = {
    "csv": Format("CSV", (".csv", ".txt", ".data", ".dat"), read_delimited, TEXT_SETTINGS),
    "tsv": Format("TSV", (".tsv", ".tab"), read_delimited, TEXT_SETTINGS),
    "parquet": Format("Parquet", (".parquet", ".pq"), lambda stream: _table(*read_parquet(stream))),
    "arrow": Format("Arrow", (".arrow", ".feather", ".ipc"), lambda stream: _table(*read_arrow(stream))),
}


def read_table(path: Path, formats: Mapping[str, Format] = FORMATS, **given: Any) -> Any:
    """Return the table in a file that a command reads, unpacked if it ends in .gz, .bz2 or .xz; ``given`` are options.

    These are ``format``, ``delimiter``, ``header`` and ``decimal`` of ``dataset=file``, or None. Faults name the path.
    """
    try:
        return read_file(path, formats, given, OPTIONS)[1]
    except RequestError as error:
        raise RequestError(*(f"{path}: {fault}" for fault in error.faults)) from error


def read_file(
    path: Path, formats: Mapping[str, Format], given: Mapping[str, Any], settings: Settings, further: Sequence[str] = ()
) -> tuple[Format, Any]:
    """Return the format and the content of a file; ``further`` are settings of the caller, for tables only."""
    given = {name: value for name, value in given.items() if value is not None}
    with _opened(path, formats) as file:
        unpack = UNPACK.get(path.suffix.lower())
        _refuse_pages(file)
        stream = _unpacked(file, unpack) if unpack else file
        suffix = path.with_suffix("").suffix if unpack else path.suffix
        kind = _format_of(suffix, given.pop("format", None), formats, settings)
        accepted = (*further, *kind.settings) if kind.is_table else kind.settings
        if unknown := [settings(name) for name in given if name not in accepted]:
            known = f"accept {', '.join(map(settings, accepted))}" if accepted else "have no settings"
            raise RequestError(f"{kind.title} files {known}, but not {', '.join(unknown)}: remove it.")
        own = {name: given[name] for name in kind.settings if name in given}
        if kind.read is read_delimited:
            own |= {"settings": settings, "one_column": not further}
        return kind, _parsed(stream, kind, own, settings)


def _opened(path: Path, formats: Mapping[str, Format]) -> IO[bytes]:
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise RequestError("this is a folder: name a file in it.")
        if not stat.S_ISREG(kind):  # opening a pipe waits for a writer, and /dev/zero has no end
            raise RequestError("this is a pipe or device: save its content to a file.")
        return path.open("rb")
    except FileNotFoundError as error:
        known = tuple(f"{ending}{pack}" for one in formats.values() for ending in one.endings for pack in ("", *UNPACK))
        there = path.parent.iterdir() if path.parent.is_dir() else ()
        siblings = [one.name for one in there if one.name.lower().endswith(known)]
        raise RequestError(unknown_name(f"file in {path.parent.resolve()}", path.name, siblings)) from error
    except OSError as error:
        raise RequestError(f"it cannot be opened: {error.strerror or error}.") from error


def _unpacked(file: IO[bytes], unpack: Callable[[IO[bytes]], Any]) -> IO[bytes]:
    try:
        content = unpack(file).read(limit() + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = str(error).rstrip(".")
        raise RequestError(f"it cannot be unpacked ({reason}): it is damaged, incomplete or misnamed.") from error
    require_fits(len(content))
    stream = io.BytesIO(content)
    _refuse_pages(stream)
    return stream


def _refuse_pages(stream: IO[bytes]) -> None:
    start = stream.read(512).removeprefix(codecs.BOM_UTF8).lstrip()
    stream.seek(0)
    if not start:
        raise RequestError("the file is empty.")
    if start.lower().startswith(PAGE_STARTS):
        shown = start.splitlines()[0][:40].decode("utf-8", errors="replace")
        raise RequestError(f"it begins with {shown!r}, like a web page or a server error: get the file itself.")


def _format_of(suffix: str, name: str | None, formats: Mapping[str, Format], settings: Settings) -> Format:
    """Return the format called ``name``, or that of files whose names have the suffix."""
    if name is not None:
        if name not in formats:
            raise RequestError(unknown_name(settings("format"), str(name), formats))
        return formats[name]
    for one in formats.values():
        if suffix.lower() in one.endings:
            return one
    hint = f"choose {settings('format', '|'.join(formats))}, or convert it to CSV or Parquet"
    raise RequestError(f"its name ends in {suffix!r}, which is not a known format: {hint}.")


def _parsed(stream: IO[bytes], kind: Format, given: Mapping[str, Any], settings: Settings) -> Any:
    try:
        return kind.read(stream, **given)
    except RequestError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # each library raises its own
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        fault = f"it cannot be read as {kind.title} ({reason}): it is damaged, incomplete or in another format"
        raise RequestError(f"{fault}, which {settings('format')} can name.") from error
