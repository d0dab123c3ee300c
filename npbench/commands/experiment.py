"""Tables and figure of an experiment from its records."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console

from npbench.config import search_path
from npbench.config.experiment import Experiment, load, split_off
from npbench.contracts import resolve
from npbench.records.provenance import ROOT
from npbench.records.reading import latest, parts
from npbench.records.schema import ASKED
from npbench.report.render import terminal
from npbench.report.section import Section
from npbench.report.sections import overview
from npbench.report.select import as_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED, SUBMISSIONS = "published", "submissions"  # folders of a results folder
PACKAGED = (ROOT, ROOT.parent / "results")  # of a wheel, and of a checkout
METHOD = ["solver", "params", "search"]
TASK = [name for name in ASKED if name not in METHOD]


def named(words: Sequence[str]) -> Experiment | None:
    """Return the experiment that settings choose, if any."""
    settings = [word for word in words if not word.startswith("-")]
    name, others = split_off(settings)
    if name is None:
        return None
    search_path.register()
    with search_path.initialized() as hydra:
        return load(hydra.config_loader, name, others)


def sections(experiment: Experiment, records: pl.DataFrame) -> list[Section]:
    """Return the tables of an experiment as a section, or the ordinary tables if it defines none."""
    notes = [*filter(None, (experiment.paper, experiment.note)), *as_run.notes(records)]
    if not experiment.table:
        return [Section(experiment.title, notes=notes), *overview.sections(records)]
    sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    # The part of a title before the colon names the files.
    named = [replace(one, name=one.name or f"{experiment.name} {one.title.partition(':')[0]}") for one in sheets]
    charts = resolve(experiment.charts)(records, experiment.printed, **experiment.options) if experiment.charts else []
    return [Section(experiment.title, named, charts, notes=notes)]


def print_experiment(
    experiment: Experiment, records: pl.DataFrame, results: Path, console: Console | None = None
) -> None:
    """Print the tables of an experiment, and draw its figure to ``figures/<name>.png`` in the results folder."""
    console = console or Console()
    terminal.show(sections(experiment, records), console)
    if experiment.figure:
        console.print(f"\n{_draw(experiment, records, results / 'figures')}", soft_wrap=True, markup=False)


def print_sections(made: list[Section], console: Console | None = None) -> None:
    """Print sections without tables of details."""
    terminal.show(terminal.essential(made), console or Console())


def places(experiment: Experiment, records: pl.DataFrame, results: Path) -> list[Section]:
    """Return where the solvers of a run stand among stored and published ones; empty if there are no others."""
    if not experiment.places:
        return []
    others = rivals(records, stored_records(results))
    if others.is_empty():
        return []
    keys = records["key"].to_list()
    both = pl.concat([records, others], how="diagonal_relaxed")
    return [Section("Places", resolve(experiment.places)(both, keys, **experiment.options))]


def rivals(records: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """Return the stored records of other methods on the same tasks: data, splits, problem and features."""
    tasks = records.select(TASK).unique()
    others = stored.join(records.select(METHOD).unique(), on=METHOD, how="anti", maintain_order="left")
    return others.join(tasks, on=TASK, how="semi", maintain_order="left").unique(
        ASKED, keep="last", maintain_order=True
    )


def stored_records(results: Path) -> pl.DataFrame:
    """Return the records in a results folder, and those published below it and with npbench; its own come last."""
    shared = [folder / part for folder in (*PACKAGED, results) for part in (PUBLISHED, SUBMISSIONS)]
    folders = [*(one for folder in shared for one in sorted(folder.glob("**/records"))), results / "records"]
    return latest(part for folder in folders for part in parts(folder, lambda fault: None) if folder.is_dir())


def _draw(experiment: Experiment, records: pl.DataFrame, folder: Path) -> str:
    """Write the figure, and return where it is or how to get it."""
    if not importlib.util.find_spec("matplotlib"):
        return "The figure needs matplotlib: pip install matplotlib, then repeat the command."
    path = folder / f"{experiment.name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure(experiment, records).savefig(path, dpi=150)
    return f"Figure: {path}"


def figure(experiment: Experiment, records: pl.DataFrame) -> Figure:
    """Return the figure of an experiment that has one."""
    assert experiment.figure is not None
    drawn: Figure = resolve(experiment.figure)(records, experiment.printed, **experiment.options)
    return drawn
