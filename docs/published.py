"""Tables of the published records, for cog: runs of the method pages, experiments of the papers, measured seconds."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs
import polars as pl
from experiments import load_experiment
from headlines import headline
from rich.console import Console
from snippets import fenced, processors

from npbench.commands.experiment import sections
from npbench.commands.summary import print_summary
from npbench.records.reading import conformed
from npbench.report.render import terminal
from npbench.report.select import as_run
from npbench.report.select.protocols import protocols
from npbench.report.sheet import spread
from npbench_benchmark.charts import settings
from npbench_benchmark.names import method_names
from npbench_benchmark.standing import score_of, standings
from npbench_papers.verdicts import MEANINGS

RESULTS = Path(__file__).parents[1] / "results" / "published"
SHARED = {"bach_table2": "bach_table1"}  # experiments whose jobs are those of another
SECONDS = RESULTS / "narasimhan" / "seconds.json"


def run(name: str) -> None:
    """Write the command of a stored run and the table of rates that it printed."""
    records = conformed(pl.read_parquet(RESULTS / "methods" / "records" / f"{name}.parquet"))
    (run_id,) = records["run_id"].unique()
    words = json.loads((RESULTS / "methods" / "runs" / f"{run_id}.json").read_text(encoding="utf-8"))["command"]
    fenced("bash", f"npbench {' '.join(words)}")
    console = _console()
    print_summary(records, planned=len(records), skipped=0, folder=Path("results/records"), console=console)
    text = _printed(console).strip().split("\n\n")[0]
    fenced("text", f"{text}\n{processors(records)}")


def experiment(name: str, *numbers: int, records: str = "") -> None:
    """Write the tables of an experiment, or only those with the given numbers, from 0.

    The records are those published for the experiment, or for the one that ``records`` names.
    """
    described = load_experiment(name)
    (path,) = RESULTS.glob(f"*/records/{records or name}.parquet")
    stored = conformed(pl.read_parquet(path))
    found = sections(described, stored)
    if numbers:
        (section,) = found
        found = [dataclasses.replace(section, notes=[], sheets=[section.sheets[number] for number in numbers])]
    console = _console()
    terminal.show(found, console)
    fenced("text", f"{_printed(console)}{processors(stored)}")


def benchmark(name: str) -> None:
    """Write where the methods of the benchmark stand at each bound, all at the largest, and the conditions."""
    (path,) = RESULTS.glob(f"*/records/{name}.parquet")
    stored = conformed(pl.read_parquet(path))
    cog.outl(f"\n{protocols(stored)}")
    for number, (text, records) in enumerate(settings(stored)):
        every = standings(records)
        shown = every[:10] if number else every
        cut = ", the first ten" if len(shown) < len(every) else ""
        cog.outl(f"\n{records['dataset'].n_unique()} data sets, `{text}`{cut}:")
        _row("method", "above", "allowed", "P_nd", "rank", "places", "Elo", "score", "seconds", heading=True)
        for one in shown:
            places = "-".join(map(str, dict.fromkeys(one.places_without)))
            above = f"{one.above}/{one.n_good}" + "*" * (one.verdict == "exceeded")
            numbers = f"{one.rank:.1f}", places, f"{one.elo:.0f}", f"{one.score:.2f}", f"{one.seconds:.2g}"
            _row(one.label, above, f"{one.allowed:.2g}", f"{one.p_nd:.2f}", *numbers)
    cog.outl(f"\n{processors(stored)}\n")


def each(name: str, bound: str) -> None:
    """Write what each method of a benchmark reaches on each data set at one bound, or why it reaches nothing."""
    (path,) = RESULTS.glob(f"*/records/{name}.parquet")
    stored = dict(settings(conformed(pl.read_parquet(path))))[bound].sort("dataset")
    stored = stored.with_columns(method=pl.Series(method_names(stored)), score=score_of(stored))
    reached = ["pauc"] if "pauc" in stored.columns else ["p_fa", "p_nd"]
    names = stored["dataset"].unique(maintain_order=True).to_list()
    cog.outl("")
    heads = [metric.replace("p_", "P_") for metric in reached]
    _row("method", *(f"{name}: {what}" for name in names for what in (*heads, "seconds")), heading=True)
    best = stored.group_by("method").agg(pl.col("score").fill_null(1.0).mean(), pl.col("seconds").mean())
    for method in best.sort("score", "seconds", "method")["method"]:
        found = [stored.filter(method=method, dataset=dataset) for dataset in names]
        _row(method, *(cell for records in found for cell in _reached(records, reached)))
    cog.outl(f"\n{processors(stored)}\n")


def _reached(records: pl.DataFrame, metrics: list[str]) -> list[str]:
    if failed := {*records["status"]} - {"ok"}:
        return ["-"] * len(metrics) + ["too long" if failed == {"timeout"} else "too large"]
    means = records.select(pl.col(*metrics, "seconds").mean()).row(0, named=True)
    digits = {"p_fa": 4, "seconds": 0}
    return [f"{mean:.{digits.get(name, 3)}f}" for name, mean in means.items()]


def partial_areas(name: str) -> None:
    """Write where the methods of the partial AUC benchmark stand for each range, and the conditions."""
    (path,) = RESULTS.glob(f"*/records/{name}.parquet")
    stored = conformed(pl.read_parquet(path))
    cog.outl(f"\n{protocols(stored)}")
    for text, records in settings(stored):
        cog.outl(f"\n{records['dataset'].n_unique()} data sets, `{text}`:")
        _row("method", "rank", "places", "Elo", "pauc", "seconds", heading=True)
        for one in standings(records):
            places = "-".join(map(str, dict.fromkeys(one.places_without)))
            numbers = f"{one.rank:.1f}", places, f"{one.elo:.0f}", f"{1 - one.score:.3f}", f"{one.seconds:.2g}"
            _row(one.label, *numbers)
    cog.outl(f"\n{processors(stored)}\n")


def _console() -> Console:
    return Console(file=io.StringIO(), width=100)


def _printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r" +$", "", console.file.getvalue(), flags=re.MULTILINE)


def items(paper: str) -> None:
    """Write a table of a paper's published experiments: how run, its finding, ours, and the verdicts counted."""
    _row("item", "experiment", "how run", "paper", "here", "verdicts", heading=True)
    names = {path.stem: path for path in (RESULTS / paper / "records").glob("*.parquet")}
    names |= {name: names[other] for name, other in SHARED.items() if other in names}
    for name, path in sorted(names.items()):
        described = load_experiment(name)
        stored = conformed(pl.read_parquet(path))
        sheets = [sheet for section in sections(described, stored) for sheet in section.sheets]
        words = Counter(
            cell
            for sheet in sheets
            for row in sheet.texts
            for column, cell in zip(sheet.columns, row, strict=True)
            if column.startswith("verdict") and cell in MEANINGS
        )
        found = ", ".join(f"{words[word]} {word}" for word in MEANINGS if words[word])
        how, *_ = as_run.notes(stored)
        repeats = how.removeprefix("As run: ").partition(";")[0]
        stand_in = ", stand-in" if any(row.get("stand_in") for row in described.printed) else ""
        about = described.paper.partition("), ")[2], f"`{name}`", f"{repeats}{stand_in}"
        _row(*about, *headline(name, sheets), found or "-")
    cog.outl("")


def iterates() -> None:
    """Write the partial AUC of single iterates, and of those at which a fit stops."""
    import iterates as measured  # slow to import, and used here only

    found = pl.read_parquet(measured.TABLE)
    one = found.filter(pl.col("iteration").is_in([2, 3, 5, 10, 20, 30, 40]), split=0, C=0.1)
    _row("iteration, C = 0.1", *one["iteration"], heading=True)
    _row("pauc", *(f"{pauc:.3f}" for pauc in one["pauc"]))
    costs = found["C"].unique().sort()
    _row("stopped at slack", *(f"C = {C:g}" for C in costs), heading=True)
    for slack in (0.1, 0.01, 0.001, 0.0001):
        stopped = measured.at_slack(found, slack)
        _row(f"{slack:g}", *(spread(stopped.filter(C=C)["pauc"].to_list()) for C in costs))
    cog.outl("")


def growth() -> None:
    """Write the seconds of a fit for partial AUC against the number of samples."""
    rows = _measured_seconds("test_growth")
    names = list(dict.fromkeys(row["name"] for row in rows))
    _row("samples", *(f"`{name}`" for name in names), heading=True)
    for n in sorted({row["n"] for row in rows}):
        seconds = {row["name"]: row["seconds"] for row in rows if row["n"] == n}
        _row(f"{n:,}", *(f"{seconds[name]:.2f}" for name in names))
    cog.outl("")


def reported() -> None:
    """Write seconds and objectives for partial AUC beside those reported for other programs."""
    _row("range", "samples", "C", "theirs", "npbench", "iterations", heading=True)
    for row in _measured_seconds("test_beside_reported_seconds"):
        low, high = row["fpr_range"]
        theirs = f"{row['theirs_seconds']:.3g} ({row['theirs_objective']:.4g})"
        ours = f"{row['seconds']:.3g} ({row['objective']:.4g})"
        _row(f"[{low:g}, {high:g}]", f"{row['n']:,}", f"{row['C']:g}", theirs, ours, row["n_iter"])
    cog.outl("")


def _measured_seconds(benchmark: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(SECONDS.read_text(encoding="utf-8")) if row["benchmark"] == benchmark]


def _row(*cells: object, heading: bool = False) -> None:
    """Write a row of a Markdown table; a heading begins a new table."""
    line = f"| {' | '.join(map(str, cells))} |"
    cog.outl(f"\n{line}\n|{'---|' * len(cells)}" if heading else line)
