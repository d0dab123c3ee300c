"""Collect the records of folders and files, and the descriptions of their runs."""

import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from npbench.errors import RequestError
from npbench.numerics.roc_grid import FPR_GRID
from npbench.problem import PROBLEMS
from npbench.records.fields import ASKED, SCHEMA
from npbench.records.files import PUBLISHED, RECORDS, RUNS
from npbench.records.reading import is_object
from npbench.report.escape import is_file_name
from npbench.report.select.asked import latest
from npbench.report.select.data_names import with_data_names
from npbench.report.select.filters import SOURCE, filtered
from npbench.report.select.labels import labels
from npbench.report.select.methods import named
from npbench.report.select.precedence import read_by_precedence

MAX_RUN_BYTES = 10_000_000
MAX_METRIC = 1e150
TRAINING_SECONDS = pl.col("select_seconds") + pl.col("fit_seconds")


@dataclass(frozen=True)
class Collection:
    """Input of a report."""

    # Latest record of each job, as stored: the columns of the schema, Float64 columns for metrics and the problem's
    # numbers, ``label`` and ``seconds`` of selection and fit.
    records: pl.DataFrame
    faults: Sequence[str] = ()  # a sentence for each source that could not be read
    runs: Sequence[Mapping[str, Any]] = ()  # stored descriptions of the records' runs
    n_older: int = 0  # records superseded by a later one of the same job, from other code, versions or data


def collect(folders: Sequence[Path], filters: Mapping[str, str], *, is_strict: bool = True) -> Collection:
    """Collect the records of a report, or raise a RequestError if none is left or a filter is invalid.

    ``folders`` are Parquet files, folders of records, or results folders: with every ``records`` below them except
    those in ``published``. ``filters`` and ``is_strict`` are those of :func:`npbench.report.select.filters.filtered`.
    """
    faults: list[str] = []
    found = sources(folders, faults.append)
    stored = _drawable(read_jobs(folders, found, faults), faults.append)
    jobs = latest(stored)
    if "label" in filters:
        jobs = jobs.with_columns(labels(jobs))
    jobs = with_data_names(jobs.with_columns(pl.col("dataset").alias(SOURCE)))
    records = measured(filtered(jobs, filters, is_strict=is_strict).drop(SOURCE))
    runs = list(_runs(found, records["run_id"].drop_nulls().unique().sort(), faults.append))
    return Collection(records, faults, runs, len(stored) - len(jobs))


def read_jobs(folders: Sequence[Path], found: Sequence[Path], faults: list[str]) -> pl.DataFrame:
    """Return the records of known problems in the sources found, and add to ``faults``; RequestError without any."""
    stored = _understood(read_by_precedence(found, faults.append), faults.append)
    if stored.is_empty():
        raise RequestError(*(faults or [f"There are no records in {', '.join(map(str, folders))}."]))
    return named(_numbered(stored))


def load_records(*folders: str | os.PathLike[str]) -> pl.DataFrame:
    """Return the records in some results folders, as the command line stored them.

    Parameters
    ----------
    *folders : path
        Results folders, with every ``records`` below them except those in ``published``; folders of records; Parquet
        files. By default ``results``.

    Returns
    -------
    DataFrame
        The latest record of each job, in the order stored, failed ones included: see the column ``status``. A file that
        cannot be read is left out with a warning.

    Raises
    ------
    RequestError
        If there are no records.

    Examples
    --------
    >>> import tempfile, npbench
    >>> with tempfile.TemporaryDirectory() as results:
    ...     records = npbench.run(solver="gen", dataset="breast", repeats=2, results=results)
    ...     npbench.load_records(results).select("solver", "dataset", "repeat").sort("repeat").rows()
    [('gen', 'breast', 0), ('gen', 'breast', 1)]
    """
    faults: list[str] = []
    named_folders = sources([Path(folder) for folder in folders or ("results",)], faults.append)
    found = read_by_precedence(named_folders, faults.append)
    if found.is_empty():
        raise RequestError(*(faults or [f"There are no records in {', '.join(map(str, folders))}."]))
    for fault in faults:
        warnings.warn(fault, stacklevel=2)
    return named(found)


def sources(folders: Sequence[Path], on_fault: Callable[[str], None]) -> list[Path]:
    """Return the folders and files of records below some folders, each once."""
    return list(dict.fromkeys(source for folder in folders for source in _sources(folder, on_fault)))


def _sources(path: Path, on_fault: Callable[[str], None]) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        known = "the results folder of a run (its results=...), a folder of records, or a .parquet file"
        on_fault(f"There is no {path}: name {known}.")
        return []
    found = [folder for folder in (path, *sorted(path.rglob(RECORDS))) if any(folder.glob("*.parquet"))]
    if not (own := [folder for folder in found if PUBLISHED not in folder.relative_to(path).parts]):
        elsewhere = [folder for folder in path.rglob(PUBLISHED) if folder.is_dir()]
        hint = f", or name {elsewhere[0]}, which holds published records" if found and elsewhere else ""
        on_fault(f"There are no records in {path}: run npbench first (`npbench --help`){hint}.")
    return own


def _understood(stored: pl.DataFrame, on_fault: Callable[[str], None]) -> pl.DataFrame:
    """Return the records of known problems that describe their job."""
    asked = stored.select(pl.all_horizontal(pl.col(ASKED).is_not_null())).to_series()
    problems = stored.select("problem", "problem_params").filter(asked).unique()
    odd = problems.filter([not _is_defined(*problem) for problem in problems.rows()])
    if asked.all() and odd.is_empty():
        return stored  # the usual case; a million records are not copied
    known = stored.filter(asked).join(odd, on=problems.columns, how="anti", maintain_order="left")
    fault = f"do not describe their job, or name an unknown problem (known: {', '.join(PROBLEMS)}) or parameter of it"
    on_fault(f"{len(stored) - len(known)} records {fault}; they are left out.")
    return known


def _is_defined(problem: str, params: str) -> bool:
    try:
        return not PROBLEMS[problem](**json.loads(params)).faults()
    except (KeyError, TypeError, ValueError):
        return False


def _numbered(stored: pl.DataFrame) -> pl.DataFrame:
    """Return the records with the numbers of their problem as its parameters say, whatever the columns hold."""
    params = {text: json.loads(text) for text in stored["problem_params"].unique()}
    names = {name: None for one in params.values() for name, value in one.items() if isinstance(value, (int, float))}
    values = {name: {text: float(one[name]) for text, one in params.items() if name in one} for name in names}
    asked = pl.col("problem_params")
    return stored.with_columns(
        asked.replace_strict(known, default=None, return_dtype=pl.Float64).alias(name) for name, known in values.items()
    )


def _drawable(stored: pl.DataFrame, on_fault: Callable[[str], None]) -> pl.DataFrame:
    """Return the records without ROC curves and traces that figures cannot show."""
    for column in ("roc", "trace"):
        if odd := [text for text in stored[column].drop_nulls().unique() if not _is_drawable(column, text)]:
            is_odd = pl.col(column).is_in(odd)
            on_fault(f"{len(stored.filter(is_odd))} records have an unknown form of {column}: figures leave it out.")
            stored = stored.with_columns(pl.when(~is_odd).then(column).alias(column))
    return stored


def _is_drawable(column: str, text: str) -> bool:
    """Return whether a text is a list of numbers and nulls on the ROC grid, or lists of one length by name."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    lists: list[Any] = [found] if column == "roc" else list(found.values()) if isinstance(found, dict) else [None]
    if not all(isinstance(one, list) for one in lists):
        return False
    lengths = {len(one) for one in lists} | ({len(FPR_GRID)} if column == "roc" else set())
    return len(lengths) <= 1 and all(value is None or isinstance(value, (int, float)) for one in lists for value in one)


def measured(records: pl.DataFrame) -> pl.DataFrame:
    """Return stored records with ``label`` and ``seconds``, and columns beyond the schema as Float64."""
    records = with_data_names(records)
    clocks = pl.col(name for name in SCHEMA if name.endswith("seconds"))
    further = pl.exclude(*SCHEMA, "label").cast(pl.Float64, strict=False)
    return records.with_columns(pl.when(clocks.is_finite()).then(clocks)).with_columns(
        # Labels are recomputed after filtering, as fewer settings have to be distinguished.
        labels(records),
        # The sum of numbers near the end of the range would overflow.
        pl.when(further.abs() > MAX_METRIC).then(further.sign() * math.inf).otherwise(further),
        # For a job that did not end, all the time that it took.
        seconds=pl.when(status="ok").then(TRAINING_SECONDS).otherwise(pl.coalesce(TRAINING_SECONDS, "seconds")),
    )


def _runs(found: Sequence[Path], run_ids: pl.Series, on_fault: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    folders = dict.fromkeys((source if source.is_dir() else source.parent).parent / RUNS for source in found)
    if odd := [run_id for run_id in run_ids if not is_file_name(run_id)]:
        on_fault(f"{len(odd)} run_id in these records name no file and are left out: the first is {odd[0][:40]!r}.")
    for path in (folder / f"{run_id}.json" for run_id in run_ids if run_id not in odd for folder in folders):
        if path.is_file():
            try:
                yield _described_run(path)
            except (OSError, ValueError) as error:
                on_fault(f"The description of a run in {path} cannot be read and is left out: {error}.")


def _described_run(path: Path) -> dict[str, Any]:
    """Return the description of a run; raise ValueError if the file does not hold one, or lies elsewhere."""
    if not path.resolve().is_relative_to(path.parents[1].resolve()):
        raise ValueError("it is a link to another folder")
    with path.open("rb") as stream:
        content = stream.read(MAX_RUN_BYTES + 1)
    if len(content) > MAX_RUN_BYTES:
        raise ValueError(f"it has more than {MAX_RUN_BYTES:,} bytes")
    text = content.decode()
    if not is_object(text):
        raise ValueError("expected a JSON object")
    run: dict[str, Any] = json.loads(text)
    if not (isinstance(run.get("command", []), list) and isinstance(run.get("run_started", ""), str)):
        raise ValueError("expected a list of words as its command, and a text as its time")
    return run
