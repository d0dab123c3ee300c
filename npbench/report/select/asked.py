"""Records of what was asked, whatever code, versions and data answered it, and of other methods on the same tasks."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from npbench.records.fields import ASKED, METHOD, TASK
from npbench.records.files import PUBLISHED, RECORDS, SUBMISSIONS
from npbench.records.provenance import ROOT
from npbench.records.reading import read, with_methods
from npbench.report.select.methods import stated
from npbench.report.select.precedence import read_by_precedence

STATED = "stated_params"  # fixed parameters without defaults, JSON
IN_WHEEL, IN_CHECKOUT = ROOT, ROOT.parent / "results"


def by_stated(names: Sequence[str]) -> list[str]:
    """Return columns to compare settings by: records may state a default or leave it out."""
    return [STATED if name == "params" else name for name in names]


METHOD_STATED, JOB_STATED = by_stated(METHOD), by_stated(ASKED)


def with_stated(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the column STATED."""
    pairs = frame.select("solver", "params").unique()
    table = pairs.with_columns(pl.Series(STATED, [stated(*pair) for pair in pairs.rows()], dtype=pl.String))
    return frame.join(table, on=["solver", "params"], how="left", nulls_equal=True, maintain_order="left")


def latest(stored: pl.DataFrame) -> pl.DataFrame:
    """Return the latest record of each job, from any code, versions and data."""
    jobs = with_stated(stored.select(ASKED)).with_row_index("place")
    places = jobs.unique(JOB_STATED, keep="last", maintain_order=True)["place"]
    return stored if len(places) == len(stored) else stored[places]


def rivals(records: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """Return the stored records of other methods on the same tasks: data, splits, problem and features."""
    tasks, own = records.select(TASK).unique(), with_stated(records).select(METHOD_STATED).unique()
    others = with_stated(stored).join(own, on=METHOD_STATED, how="anti", maintain_order="left").drop(STATED)
    return latest(others.join(tasks, on=TASK, how="semi", maintain_order="left"))


def stored_records(results: Path) -> pl.DataFrame:
    """Return the records in a results folder, and those published or submitted below it and with npbench."""
    shared = [folder / part for folder in (IN_WHEEL, IN_CHECKOUT, results) for part in (PUBLISHED, SUBMISSIONS)]
    folders = [*(one for folder in shared for one in sorted(folder.glob(f"**/{RECORDS}"))), results / RECORDS]
    there = [folder for folder in folders if folder.is_dir()]
    return read_by_precedence(there, lambda fault: warnings.warn(fault, stacklevel=2))


def settings_of_jobs(requests: Sequence[Any]) -> pl.DataFrame:
    """Return the settings of the jobs of ``requests``, without duplicates, and the method that each was typed as."""
    rows = [{**request.columns, "repeat": list(range(request.repeats))} for request in requests]
    return pl.DataFrame(rows).explode("repeat").select("method", *ASKED).unique(ASKED, keep="last", maintain_order=True)


def of_jobs(jobs: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the latest record of each of some jobs, named as typed."""
    wanted = with_stated(jobs)
    found = with_stated(latest(frame)).join(wanted, on=JOB_STATED, how="semi", maintain_order="left").drop(STATED)
    named = wanted.select(*METHOD_STATED, "method").unique(maintain_order=True)
    typed = {tuple(setting): method for *setting, method in named.rows()}
    return with_methods(found, lambda one, stored: typed.get((one[0], stated(*one[:2]), one[2])) or stored or one[0])


def answers(name: str, jobs: pl.DataFrame, folder: Path, on_fault: Callable[[str], None]) -> pl.DataFrame:
    """Return :func:`of_jobs` of a folder, or of the experiment's own file in it if that answers all jobs."""
    own = folder / f"{name}.parquet"
    if own.is_file():
        found = of_jobs(jobs, read_by_precedence([own], lambda fault: None))
        if len(found) == len(jobs):
            return found
    return of_jobs(jobs, read_by_precedence([folder], on_fault))


def missing_jobs(jobs: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the settings of the jobs that have no record in ``frame``."""
    return with_stated(jobs).join(with_stated(frame), on=JOB_STATED, how="anti").drop(STATED)


def fullest_folder(jobs: pl.DataFrame, results: Path) -> tuple[Path | None, int]:
    """Return the results folder below ``results`` with records of the most jobs, and their number."""
    stored = {folder.parent: read([folder], lambda fault: None, ASKED) for folder in sorted(results.rglob(RECORDS))}
    counts = {folder: len(jobs) - len(missing_jobs(jobs, frame)) for folder, frame in stored.items()}
    return max([(None, 0), *counts.items()], key=lambda pair: pair[1])
