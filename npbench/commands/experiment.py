"""Tables and figure of an experiment from its records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console

from npbench.config.experiment import Experiment
from npbench.contracts import resolve
from npbench.report.render import terminal
from npbench.report.section import Section
from npbench.report.sections import overview
from npbench.report.select import asked, recorded_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sections(experiment: Experiment, records: pl.DataFrame) -> list[Section]:
    """Return the tables of an experiment as a section, or the ordinary tables if it defines none."""
    notes = [*filter(None, (experiment.paper, experiment.note)), *recorded_settings.notes(records)]
    if not experiment.table:
        return [Section(experiment.title, notes=notes), *overview.sections(records)]
    sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    # The part of a title before the colon names the files.
    named = [replace(one, name=one.name or f"{experiment.name} {one.title.partition(':')[0]}") for one in sheets]
    charts = resolve(experiment.charts)(records, experiment.printed, **experiment.options) if experiment.charts else []
    return [Section(experiment.title, named, charts, notes=notes)]


def print_tables(experiment: Experiment, records: pl.DataFrame, results: Path) -> None:
    """Print the places of an experiment's solvers, or else its tables and figure."""
    if sheets := asked.places(experiment, records, results):
        terminal.show(terminal.essential([Section("Places", sheets)]), Console())
    else:
        print_experiment(experiment, records, results)


def print_experiment(
    experiment: Experiment, records: pl.DataFrame, results: Path, console: Console | None = None
) -> None:
    """Print the tables of an experiment, and draw its figure to ``figures/<name>.png`` in the results folder."""
    console = console or Console()
    terminal.show(sections(experiment, records), console)
    if experiment.figure:
        path = results / "figures" / f"{experiment.name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure(experiment, records).savefig(path, dpi=150)
        console.print(f"\nFigure: {path}", soft_wrap=True, markup=False)


def figure(experiment: Experiment, records: pl.DataFrame) -> Figure:
    """Return the figure of an experiment that has one."""
    assert experiment.figure is not None
    drawn: Figure = resolve(experiment.figure)(records, experiment.printed, **experiment.options)
    return drawn
