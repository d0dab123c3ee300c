"""Summary at the end of a run: measurements, selected parameters, failures, and where the records are."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
from rich.console import Console

from npbench.config.experiment import Experiment
from npbench.console import write
from npbench.problem import PROBLEMS, Problem
from npbench.report import escape
from npbench.report.render import terminal
from npbench.report.render.drawing import save_picture
from npbench.report.sections import overview
from npbench.report.sections.experiment import figure, places, sections, with_rivals
from npbench.report.sections.failures import ORIGIN
from npbench.report.select.data_names import with_data_names
from npbench.report.select.metrics import shown_of
from npbench.report.select.recorded_settings import protocols
from npbench.report.sheet import Sheet
from npbench.values import counted

FAILURES_SHOWN = 10  # distinct ones
# Columns of the records that the summary needs, besides further metrics.
COLUMNS = (*overview.COLUMNS, "protocol", "repeat", "converged", "warnings", "error", "error_type", "traceback")
# The warnings that concern what was asked for.
REMARKS = r"(?m)^\w+: (.*(?:landmarks approximate the kernel|has no effect on this fit|guarantees nothing).*)$"


def print_summary(
    frame: pl.DataFrame, console: Console | None = None, metrics: Mapping[str, Sequence[str]] = {}
) -> None:
    """Print the tables of a run's records: the latest of each job, with at least :data:`COLUMNS`.

    ``metrics`` are those to show of each problem, by default as the records say.
    """
    console, frame = console or terminal.PipeSafeConsole(), with_data_names(frame)
    problems = frame["problem"].unique(maintain_order=True).to_list()
    for problem in problems:
        records = frame.filter(problem=problem) if len(problems) > 1 else frame  # avoids a copy of a million
        kind, asked = PROBLEMS[problem], metrics.get(problem) or shown_of(records)
        found = overview.rows(records, asked)
        terminal.show_sheet(_measured(found, asked, kind, console), console)
        if any(row.choices for row in found):
            terminal.show_sheet(overview.chosen(found, kind, overview.CHOSEN), console)
    if " differ" in (note := protocols(frame)):
        write(f"\n{note}", console)


def print_experiment(experiment: Experiment, records: pl.DataFrame, results: Path) -> None:
    """Print the places of an experiment's solvers; without others, its tables, and draw its figure."""
    console = terminal.PipeSafeConsole()
    both = with_data_names(with_rivals(experiment, records, results))
    if found := places(experiment, both, records["key"].to_list()):
        terminal.show(found, console)
        return
    records = with_data_names(records)
    terminal.show(sections(experiment, records), console)
    if experiment.figure or experiment.charts:
        path = results / "figures" / f"{experiment.name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_picture(figure(experiment, records), path)
        console.print(f"\nFigure: {path}", soft_wrap=True, markup=False)


def _measured(rows: Sequence[overview.Row], asked: Sequence[str], kind: type[Problem], console: Console) -> Sheet:
    """Return the table; for a narrow terminal, with fewer metrics, at least one, and a note on the others."""
    title = f"{kind.title}\n{overview.legend(kind)}"
    table, names = overview.measured(rows, kind, title), overview.measured_metrics(rows)
    # the headline is shown by default, and may not have been measured
    lacking = ", ".join(name for name in asked if name not in (*names, *kind.headline))
    for most in range(len(names) - 1, 0, -1):
        if not console.file.isatty() or terminal.width(table) <= console.width:
            break
        hidden = ", ".join(names[most:])
        hint = f"Not shown in {console.width} columns: {hidden}. A wider terminal or `| cat` shows them."
        table = replace(overview.measured(rows, kind, title, most=most), notes=[hint])
    return replace(table, notes=[*table.notes, f"No values: {lacking}."]) if names and lacking else table


def print_outcome(
    frame: pl.DataFrame, *, planned: int, skipped: int, folder: Path, console: Console | None = None
) -> None:
    """Print remarks and failures of ``planned`` jobs, ``skipped`` of them done before, and where the records are."""
    console, frame = console or terminal.PipeSafeConsole(), with_data_names(frame)
    for note in overview.duplicates(frame):
        write(f"\n{note}", console, "dim")
    _print_remarks(frame, console)
    _print_unconverged(frame, console)
    _print_failures(frame, planned, folder, console)
    before = f", {skipped} of them from before" if skipped else ""
    note = f"\n{counted(len(frame), 'record')}{before}, in {folder}. All records there as one Polars frame:"
    write(note, console, "dim")
    name = json.dumps(str(folder), ensure_ascii=False)
    console.print(f"  npbench.load_records({name})", style="dim", markup=False, soft_wrap=True)


def _print_remarks(frame: pl.DataFrame, console: Console) -> None:
    """Print the first warning of each method that its fits are not as asked for."""
    warned = frame.select("method", text=pl.col("warnings").str.extract(REMARKS)).drop_nulls()
    for method, text in warned.unique("method", keep="first", maintain_order=True).iter_rows():
        write(f"\n{method}: {escape.line(text)}", console, "dim")


def _print_unconverged(frame: pl.DataFrame, console: Console) -> None:
    good = frame.filter(status="ok")
    if len(loose := good.filter(converged=False)):
        pairs = loose.select("method", "dataset").unique().sort("method", "dataset").rows()
        where = ", ".join(f"{method} on {dataset}" for method, dataset in pairs)
        text = f"{len(loose)} of {len(good)} classifiers did not converge ({where})"
        write(f"\n{text}; see solver_status in the records.", console, "dim")


def _print_failures(frame: pl.DataFrame, planned: int, folder: Path, console: Console) -> None:
    failed = frame.filter(pl.col("status") != "ok").sort("dataset", "method", "repeat")
    missing = planned - len(frame)
    if failed.is_empty() and not missing:
        return
    console.print(f"\n[red]{len(failed) + missing} of {planned} jobs failed:[/]", highlight=False)
    first = pl.col("dataset", "repeat").first(), ORIGIN.first().alias("origin")
    alike = failed.group_by("method", "status", "error", maintain_order=True).agg(pl.len(), *first)
    for r in alike.sort("method", maintain_order=True).head(FAILURES_SHOWN).iter_rows(named=True):
        error = escape.line((r["error"] or "no message").partition("\n")[0])
        more = f" and {r['len'] - 1} more" if r["len"] > 1 else ""
        place = f"{r['method']} on {r['dataset']}, repeat {r['repeat']}{more}"
        write(f"  {place}: {r['status']}: {r['origin']}{error}", console)
    if len(alike) > FAILURES_SHOWN:
        console.print(f"  and {counted(len(alike) - FAILURES_SHOWN, 'other error')}.", highlight=False)
    if not failed.is_empty():
        write(f"  `npbench report {shlex.quote(str(folder))}` lists all of them with tracebacks.", console)
    if missing:
        console.print(f"  {missing} left no record.")
