"""Prints the table of an experiment, and draws its figure, from records."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console

from npbench.contracts import resolve
from npbench.errors import RequestError
from npbench.experiment import Experiment
from npbench.job import settings_of
from npbench.reading import latest, parts
from npbench.report import command, failures, origins, overview, terminal
from npbench.report.assemble import lead
from npbench.report.collect import Collection, measured
from npbench.report.section import Section
from npbench.request import Request, check_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from omegaconf import DictConfig

OK = 0


def report(experiment: Experiment, configs: Sequence[DictConfig], output: Path | None = None) -> int:
    """Print the table of an experiment from what is stored, write it in every form, and return the exit code 0.

    Parameters
    ----------
    experiment : Experiment
        Whose table it is.
    configs : sequence of DictConfig
        Its composed configurations; they name the folder as well.
    output : Path, optional
        Where to write; by default ``report/<experiment>`` in the results folder.

    Raises
    ------
    RequestError
        If there is no such record, or the report cannot be written.
    """
    requests, settings = check_all(configs)
    folder, faults = settings.results / "records", list[str]()
    frame = stored(requests, latest(parts(folder, faults.append)))
    if frame.is_empty():
        raise RequestError(
            f"There are no records of {experiment.name} in {folder}: make them with npbench "
            f"+experiment={experiment.name}, or name another folder with results=...",
            *faults,
        )
    planned = len(asked(requests))
    missing = f"{planned - len(frame)} of {planned} jobs have no record yet: npbench +experiment={experiment.name}"
    faults += [missing] if len(frame) < planned else []
    records = measured(frame)
    collection = Collection(records, faults)
    made = [*sections(experiment, records), lead(collection), *failures.sections(records), *origins.sections(records)]
    output = output or settings.results / "report" / experiment.name
    command.conclude(made, collection, output, _drawings(experiment, records))
    return OK


def sections(experiment: Experiment, records: pl.DataFrame) -> list[Section]:
    """Return the tables of an experiment as a section; without a table of its own, what was measured and chosen.

    Parameters
    ----------
    experiment : Experiment
        Any.
    records : DataFrame
        The latest record of each of its jobs.
    """
    notes = list(filter(None, (experiment.paper, experiment.note)))
    if not experiment.table:
        return [Section(experiment.title, notes=notes), *overview.sections(records)]
    sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    # Files are named by what the title is about, before it says what the figures are.
    named = [replace(one, name=one.name or f"{experiment.name} {one.title.partition(':')[0]}") for one in sheets]
    return [Section(experiment.title, named, notes=notes)]


def _drawings(experiment: Experiment, records: pl.DataFrame) -> dict[str, Callable[[], Figure]]:
    """Return what draws the figure of an experiment, by its name."""
    if not experiment.figure:
        return {}
    figure = resolve(experiment.figure)
    return {experiment.name: lambda: figure(records, experiment.printed, **experiment.options)}


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
    terminal.show(sections(experiment, records), console)
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
