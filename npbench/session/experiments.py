"""Records of an experiment, and of other methods on the same tasks."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from npbench.config import search_path
from npbench.config.experiment import Experiment, load, split_off
from npbench.contracts import resolve
from npbench.evaluation.job import Request
from npbench.records.fields import ASKED, METHOD, TASK
from npbench.records.files import PUBLISHED, RECORDS, SUBMISSIONS
from npbench.records.methods import Setting, typed_by, with_methods
from npbench.records.provenance import ROOT
from npbench.records.reading import read
from npbench.registry import installed
from npbench.signature import without_defaults
from npbench.values import canonical

STATED = "stated_params"  # fixed parameters without defaults, JSON
STATED_METHOD, STATED_JOB = ([STATED if name == "params" else name for name in names] for names in (METHOD, ASKED))
PACKAGED = (ROOT, ROOT.parent / "results")  # of a wheel, and of a checkout


def named(words: Sequence[str]) -> Experiment | None:
    """Return the experiment that settings choose, if any."""
    name, others = split_off([word for word in words if not word.startswith("-")])
    if name is None:
        return None
    search_path.register()
    with search_path.initialized() as hydra:
        return load(hydra.config_loader, name, others)


def places(experiment: Experiment, records: pl.DataFrame, results: Path) -> list[Any]:
    """Return sheets with the places of a run's solvers among stored and published ones; none without others."""
    if not experiment.places:
        return []
    others = rivals(records, stored_records(results))
    if others.is_empty():
        return []
    both = pl.concat([records, others], how="diagonal_relaxed")
    sheets: list[Any] = resolve(experiment.places)(both, records["key"].to_list(), **experiment.options)
    return sheets


def rivals(records: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """Return the stored records of other methods on the same tasks: data, splits, problem and features."""
    tasks, own = records.select(TASK).unique(), _with_stated(records).select(STATED_METHOD).unique()
    others = _with_stated(stored).join(own, on=STATED_METHOD, how="anti", maintain_order="left")
    found = others.join(tasks, on=TASK, how="semi", maintain_order="left")
    return found.unique(STATED_JOB, keep="last", maintain_order=True).drop(STATED)


def stored_records(results: Path) -> pl.DataFrame:
    """Return the records in a results folder, and those published below it and with npbench; its own come last."""
    shared = [folder / part for folder in (*PACKAGED, results) for part in (PUBLISHED, SUBMISSIONS)]
    folders = [*(one for folder in shared for one in sorted(folder.glob(f"**/{RECORDS}"))), results / RECORDS]
    return read((folder for folder in folders if folder.is_dir()), lambda fault: None)


def of_requests(requests: Sequence[Request], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the latest record of each job of ``requests``, from any code and library versions."""
    wanted = _with_stated(settings_of_jobs(requests)).select(STATED_JOB)
    newest = _with_stated(frame).unique(STATED_JOB, keep="last", maintain_order=True)
    found = newest.join(wanted, on=STATED_JOB, how="semi", maintain_order="left").drop(STATED)
    typed = {_stated_setting(setting): method for setting, method in typed_by(requests).items()}
    return with_methods(found, lambda setting, stored: typed.get(_stated_setting(setting)) or stored or setting[0])


def settings_of_jobs(requests: Sequence[Request]) -> pl.DataFrame:
    """Return the settings of the jobs of ``requests``, without duplicates."""
    rows = [{**request.columns(), "repeat": repeat} for request in requests for repeat in range(request.repeats)]
    return pl.DataFrame(rows).select(ASKED).unique()


def missing_jobs(requests: Sequence[Request], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the settings of the jobs of ``requests`` that have no record in ``frame``."""
    wanted = _with_stated(settings_of_jobs(requests))
    return wanted.join(_with_stated(frame), on=STATED_JOB, how="anti").drop(STATED)


def _with_stated(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with its parameters that are not defaults: records may state a default or leave it out."""
    pairs = frame.select("solver", "params").unique()
    texts = pl.Series(STATED, [_stated(*pair) for pair in pairs.rows()], dtype=pl.String)
    return frame.join(pairs.with_columns(texts), on=["solver", "params"], how="left", maintain_order="left")


@functools.lru_cache(maxsize=10_000)
def _stated(solver: str, params: str) -> str:
    found = installed().solvers.get(solver)
    try:
        return params if found is None else canonical(without_defaults(found, json.loads(params)))
    except Exception:  # whatever importing someone's module raises
        return params


def _stated_setting(setting: Setting) -> Setting:
    solver, params, search = setting
    return solver, _stated(solver, params), search


def folder_with_records(requests: Sequence[Request], results: Path) -> Path | None:
    """Return a results folder below ``results`` with records of ``requests``."""
    folders = (folder for folder in sorted(results.rglob(RECORDS)) if folder != results / RECORDS)
    found = (folder for folder in folders if len(of_requests(requests, read([folder], lambda fault: None))))
    return next((folder.parent for folder in found), None)
