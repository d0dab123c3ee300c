"""Read records from folders or files, of this schema or an older one; nothing is written, so read-only folders work."""

import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from npbench.data.file_limits import CELL_BYTES, require_fits
from npbench.records.fields import ESSENTIAL, FEATURES, METHOD, SCHEMA, SCHEMA_VERSION, Role, names
from npbench.records.files import UNREADABLE, read_regular, stamp
from npbench.values import canonical, counted

LABEL = "label"  # text that reports store beside the metrics

Setting = tuple[str, str, str]  # values of the columns METHOD
OnFault = Callable[[str], None]


def read(sources: Iterable[Path], on_fault: OnFault, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the latest record of each key in some folders of Parquet files and such files, in the order stored.

    ``on_fault`` receives a message for each file or column that is left out, and for each source with records of a
    newer schema. ``columns`` are read besides key, status and time of storing, by default all; others may be absent.
    """
    needed = None if columns is None else list(dict.fromkeys(["schema_version", *ESSENTIAL, *columns]))
    frame = latest((part for source in sources for part in parts(source, on_fault, needed)), needed)
    return frame if columns is None or "schema_version" in columns else frame.drop("schema_version")


def parts(source: Path, on_fault: OnFault, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield the usable records of each file of a folder, or of one; ``columns`` has those that are essential."""
    folder = source if source.is_dir() else source.parent
    seen: set[str] = set()
    n_newer = taken = 0
    # Repeat until no new files appear; another run may compact concurrently.
    while fresh := sorted(_names(source) - seen):
        seen |= set(fresh)
        for path in (folder / name for name in fresh):
            try:
                frame = read_regular(path, columns)
                with_this = taken + max(int(frame.estimated_size()), CELL_BYTES * len(frame) * len(SCHEMA))
                require_fits(with_this)
                frame, taken = _compact(conformed(frame, columns)), with_this
            except FileNotFoundError:
                continue
            except UNREADABLE as error:
                reason = re.split(r"\n|; valid columns", str(error))[0].rstrip(".")
                on_fault(f"The records in {path} cannot be read and are left out: {reason}.")
                continue
            known = frame.filter((pl.col("schema_version") <= SCHEMA_VERSION).fill_null(True))
            n_newer += len(frame) - len(known)
            yield _usable(known, path, on_fault)
    if n_newer:
        newer = f"the schema is newer than {SCHEMA_VERSION}. Upgrade npbench to read them"
        on_fault(f"{counted(n_newer, 'record')} in {source} left out: {newer}.")


def _names(source: Path) -> set[str]:
    if not source.is_dir():
        return {source.name}
    # Listing as paths takes ten times as long, and there may be thousands of files.
    return {name for name in os.listdir(source) if name.endswith(".parquet")}  # noqa: PTH208


def _compact(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with columns of one value, such as the Python version, as Polars stores a literal: once."""
    names = [name for name in frame.columns if name in SCHEMA]
    if len(frame) < 2:
        return frame
    counts, values = frame.select(pl.col(names).n_unique()).row(0), frame.select(names).row(0)
    same = [one for one in zip(names, values, counts, strict=True) if one[-1] == 1]
    return frame.with_columns(pl.lit(value, SCHEMA[name]).alias(name) for name, value, _ in same)


def _usable(frame: pl.DataFrame, path: Path, on_fault: OnFault) -> pl.DataFrame:
    """Leave out columns that should be numbers but are not, and records with broken JSON."""
    further = {name: dtype for name, dtype in frame.schema.items() if name not in SCHEMA and name != LABEL}
    if odd := [name for name, dtype in further.items() if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null))]:
        on_fault(f"Columns of {path} that hold no numbers are left out: {', '.join(odd)[:200]}.")
    if any(frame[name].null_count() for name in ESSENTIAL):
        on_fault(f"Records in {path} without {' or '.join(ESSENTIAL)} are left out.")
        frame = frame.drop_nulls(ESSENTIAL)
    for name in (name for name in names(Role.OBJECT) if name in frame.columns):
        texts = frame[name] if len(frame) == 1 else frame[name].unique()
        if broken := [text for text in texts if not is_object(text)]:
            on_fault(f"Records in {path} with {name} that is not a JSON object are left out: {broken[0][:40]!r}.")
            frame = frame.filter(~pl.col(name).is_in(broken, nulls_equal=True))
    return frame.drop(odd) if odd else frame


@functools.lru_cache(maxsize=10_000)  # many records share a text
def is_object(text: str | None) -> bool:
    """Return whether a text is a JSON object that can be written again; None stands for an empty one."""
    try:
        value = {} if text is None else json.loads(text)
        canonical(value).encode()  # JSON can hold letters that nothing can print
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def latest(records: Iterable[pl.DataFrame], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return all records, read with these ``columns``, as one frame: the latest of each key, in the order stored."""
    frame = pl.concat(list(records) or [pl.DataFrame(schema=_schema(columns))], how="diagonal_relaxed")
    # Records of the future (a wrong clock) count as oldest: they cannot hide what is stored from now on.
    is_past = frame["stored_at"] <= stamp()
    if is_past.all() and frame["stored_at"].is_sorted() and frame["key"].n_unique() == len(frame):
        return frame  # the usual case; a million records are not copied
    stored = frame.select("key", pl.when(is_past).then("stored_at").alias("time")).with_row_index("place")
    places = stored.sort("time", maintain_order=True).unique("key", keep="last", maintain_order=True)["place"]
    return _compact(frame)[places]


def conformed(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the frame with the columns of the schema, or these, in type and order; refuse frames without records."""
    schema, stored = _schema(columns), frame.schema  # Polars makes a new schema for each question
    if nested := [name for name in schema if name in stored and stored[name].is_nested()]:
        raise pl.exceptions.SchemaError(f"column {nested[0]} is nested, expected {schema[nested[0]]}")
    if list(schema.items()) == list(stored.items())[: len(schema)]:
        return frame  # the usual case; a thousand files are read one after the other
    core = [
        pl.col(name).cast(dtype)
        if name in stored or name in ESSENTIAL
        else pl.lit(FEATURES.get(name), dtype).alias(name)
        for name, dtype in schema.items()
    ]
    return frame.select(*core, pl.exclude(*schema))


def _schema(columns: Sequence[str] | None) -> pl.Schema:
    return pl.Schema({name: dtype for name, dtype in SCHEMA.items() if columns is None or name in columns})


def with_methods(records: pl.DataFrame, method_of: Callable[[Setting, str | None], str]) -> pl.DataFrame:
    """Return the records with the ``method`` that ``method_of`` returns for each setting and its latest method."""
    if "method" not in records.columns:
        records = records.with_columns(method=pl.lit(None, pl.String))
    stored = records.group_by(METHOD, maintain_order=True).agg(pl.col("method").drop_nulls().last())
    methods = [method_of((solver, params, search), method) for solver, params, search, method in stored.iter_rows()]
    table = stored.with_columns(method=pl.Series(methods, dtype=pl.String))
    # Of the records, a million perhaps, only the setting is copied.
    joined = records.select(METHOD).join(table, on=METHOD, how="left", nulls_equal=True, maintain_order="left")
    return records.with_columns(joined["method"])
