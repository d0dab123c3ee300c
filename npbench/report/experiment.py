"""Prints the table of an experiment, and draws its figure, from records."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console

from npbench.contracts import resolve
from npbench.errors import RequestError
from npbench.experiment import Experiment
from npbench.job import settings_of
from npbench.request import Request, check_all
from npbench.store import RecordStore
from npbench.summary import print_outcome, print_summary

if TYPE_CHECKING:
    from omegaconf import DictConfig

OK = 0


def report(experiment: Experiment, configs: Sequence[DictConfig]) -> int:
    """Print the table of an experiment from what is stored, and return the exit code 0.

    Parameters
    ----------
    experiment : Experiment
        Whose table it is.
    configs : sequence of DictConfig
        Its composed configurations; they name the folder as well.

    Raises
    ------
    RequestError
        If there is no such record.
    """
    requests, settings = check_all(configs)
    folder = settings.results / "records"
    frame = stored(requests, RecordStore(folder).frame()) if folder.is_dir() else pl.DataFrame()
    if frame.is_empty():
        raise RequestError(
            f"There are no records of {experiment.name} in {folder}: make them with npbench "
            f"+experiment={experiment.name}, or name another folder with results=..."
        )
    conclude = print_summary
    if experiment.table:
        print_experiment(experiment, frame, settings.results)
        conclude = print_outcome
    conclude(frame, planned=len(frame), skipped=len(frame), folder=folder)
    planned = len(asked(requests))
    if len(frame) < planned:
        print(f"{planned - len(frame)} of {planned} jobs have no record yet: npbench +experiment={experiment.name}")
    return OK


def stored(requests: Sequence[Request], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the latest record of each job of ``requests``, whatever code and library versions made it."""
    wanted = asked(requests)
    latest = frame.unique(wanted.columns, keep="last", maintain_order=True)
    return latest.join(wanted, on=wanted.columns, how="semi", maintain_order="left")


def asked(requests: Sequence[Request]) -> pl.DataFrame:
    """Return the setting of each job of ``requests``; sweeps may have some in common."""
    return pl.DataFrame([setting for request in requests for setting in settings_of(request)]).unique()


def print_experiment(
    experiment: Experiment, records: pl.DataFrame, results: Path, console: Console | None = None
) -> None:
    """Print an experiment's tables and draw its figure.

    Parameters
    ----------
    experiment : Experiment
        With a table.
    records : DataFrame
        The latest record of each of its jobs.
    results : Path
        The figure goes to ``figures/<name>.png`` below it.
    console : Console, optional
        Where to print.
    """
    console = console or Console()
    console.print(experiment.title, style="bold", markup=False, highlight=False)
    for line in filter(None, (experiment.paper, experiment.note)):
        console.print(line, style="dim", markup=False, highlight=False)
    assert experiment.table is not None
    for sheet in resolve(experiment.table)(records, experiment.printed, **experiment.options):
        sheet.print(console)
    if experiment.figure:
        console.print(f"\n{_draw(experiment, records, results / 'figures')}", soft_wrap=True, markup=False)


def _draw(experiment: Experiment, records: pl.DataFrame, folder: Path) -> str:
    """Write the figure and return a sentence that says where it is, or how to get it."""
    if not importlib.util.find_spec("matplotlib"):
        return "There is also a figure, which needs matplotlib: pip install matplotlib, and the same command draws it."
    assert experiment.figure is not None
    path = folder / f"{experiment.name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    resolve(experiment.figure)(records, experiment.printed, **experiment.options).savefig(path, dpi=150)
    return f"Figure: {path}"
