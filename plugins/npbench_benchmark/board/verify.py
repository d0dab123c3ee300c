"""``npbench verify``: recompute stored records from their scores, and rerun a sample of them."""

import secrets
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from npbench import session
from npbench.console import printable, status
from npbench.errors import Exit, RequestError
from npbench.records.fields import TASK
from npbench.records.files import RECORDS
from npbench.records.scores import read_scores
from npbench.registry import installed
from npbench.report import escape
from npbench.report.select.asked import latest, settings_of_jobs
from npbench.report.select.collect import read_jobs, sources
from npbench.report.select.labels import labels
from npbench.report.select.precedence import OWN, PUBLISHED, origin
from npbench.values import counted
from npbench_benchmark.board import statement, verification
from npbench_benchmark.board.splits import with_one_solver
from npbench_benchmark.board.submission import SUBMITTED
from npbench_benchmark.board.verification import SHARE, Verified, power

MAX_SHOWN = 40  # characters of an answer
MAX_LISTED = 20  # records that do not follow from their scores
DESCRIPTION = """\
Recomputes every metric of all stored records from their test scores, and reruns a random sample of the jobs here.
RECORDS is a results folder, a folder of records or a .parquet file. Prints what differs, and how the environments
differ in data, code, versions and machine. A submission, results/submissions/NAME, must hold its scores.
"""


def run(words: Sequence[str]) -> Exit:
    """Verify records; the exit code is 1 if an answer differs, or cannot be compared."""
    options = _parser().parse_args(list(words) or ["--help"])
    if options.sample is not None and options.sample < 1:
        raise RequestError(f"--sample is {options.sample}: expected 1 or more")
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    with status("Reading records"):
        records, scores, faults = _read(options.records)
    _require_shipped_data(options.records, records)
    faults += statement.faults(_results(options.records)) if _is_submission(options.records) else []
    faults += _lacking(records, options.experiment) if options.experiment else []
    good = records.filter(status="ok")
    with status(f"Recomputing {len(good)} records"):
        recomputed = list(verification.recompute(_compared(options.records, good, scores), scores))
    population = verification.sample(records, len(records), seed)
    size = verification.sample_size(len(population)) if options.sample is None else options.sample
    chosen = verification.sample(records, size, seed)
    if not recomputed and not chosen:
        raise RequestError(f"no record in {options.records} is ok: nothing to verify")
    with status(f"Running {len(chosen)} jobs"):
        found = list(verification.rerun(chosen))
    faults += filter(None, [verification.unequal_clocks(found)])
    console = Console(highlight=False, soft_wrap=True)
    _print_recomputed(recomputed, len(good), console)
    if population:
        _print_rerun(found, len(population), seed, console)
    for fault in faults:
        print(f"npbench: {printable(fault)}", file=sys.stderr)
    return Exit.OK if not faults and all(one.is_same for one in (*recomputed, *found)) else Exit.FAILED


def _read(source: Path) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Return the records of a source with their labels, their test scores, and what could not be read."""
    faults: list[str] = []
    records = latest(read_jobs([source], sources([source], faults.append), faults))
    scores = read_scores(_results(source))
    return records.with_columns(labels(records)), scores, faults


def _results(source: Path) -> Path:
    """Return the folder that has the records, scores and statement of a source."""
    folder = source if source.is_dir() else source.parent
    return folder.parent if folder.name == RECORDS else folder


def _is_submission(source: Path) -> bool:
    return origin(source) not in (OWN, PUBLISHED)


def _require_shipped_data(source: Path, records: pl.DataFrame) -> None:
    """Refuse a submission whose data would be read from files or addresses that its author names."""
    known = installed().datasets
    named = [name for name in records["dataset"].unique().sort() if name in known and known[name].named_by]
    if named and _is_submission(source):
        what = f"the submission has records of dataset={', '.join(named)}, whose files its author names"
        raise RequestError(f"{what}: only data sets that npbench describes can be submitted")


def _compared(source: Path, good: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the records to recompute: all of a submission, else those with scores."""
    if not _is_submission(source):
        has_scores = good["key"].is_in(scores["key"].to_list()) | (good["distribution"] == SUBMITTED)
        good = good.filter(has_scores.fill_null(False))
    return good.to_dicts()


def _lacking(records: pl.DataFrame, experiment: str) -> list[str]:
    """Return a sentence if an experiment has tasks without a record."""
    requests = session.ask(with_one_solver(["-m", f"+experiment={experiment}"])).requests
    asked = settings_of_jobs(requests).select(TASK).unique(maintain_order=True)
    missing = asked.join(records, on=TASK, how="anti", maintain_order="left")
    if missing.is_empty():
        return []
    first = ", ".join(str(missing[name][0]) for name in ("dataset", "problem_params", "repeat"))
    return [f"{counted(len(missing), 'task')} of {experiment} without a record, the first {first}: run all of it"]


def _print_recomputed(found: Sequence[Verified], n_good: int, console: Console) -> None:
    wrong = [one for one in found if not one.is_same]
    for one in wrong[:MAX_LISTED]:
        _print_one(one, console)
    if len(wrong) > MAX_LISTED:
        console.print(f"and {counted(len(wrong) - MAX_LISTED, 'more record')}")
    if found:
        console.print(f"{len(found) - len(wrong)} of {len(found)} records follow from their test scores.")
    if n_good > len(found):
        console.print(f"Without test scores, compared in the sample only: {counted(n_good - len(found), 'record')}.")


def _print_rerun(found: Sequence[Verified], n_population: int, seed: int, console: Console) -> None:
    for one in found:
        _print_one(one, console)
    if causes := {cause: None for one in found for cause in one.environment}:
        console.print("\nThis environment differs from the records':")
        for cause in causes:
            _print_line(f"  {cause}", console)
    n_same, probability = sum(one.is_same for one in found), power(n_population, len(found))
    console.print(f"\n{n_same} of {len(found)} jobs have the same metrics; a sample of {n_population}.")
    if n_limits := sum(bool(one.limits) for one in found):
        console.print(f"Limits of {counted(n_limits, 'job')} were computed by another version; they do not count.")
    console.print(f"It finds {SHARE:.0%} forged records with probability {probability:.2f}; --seed {seed} repeats it.")


def _print_one(one: Verified, console: Console) -> None:
    record = one.record
    console.print("[green]same   [/] " if one.is_same else "[red]differs[/] ", end="")
    job = f"{record['label']} on {record['dataset']}, {record['problem_params']}, repeat {record['repeat']}"
    _print_line(job, console)
    if one.fault:
        _print_line(f"          not compared: {one.fault}", console)
    for name, (stored, here) in {**one.differing, **one.limits}.items():
        version = ", computed by another version" if name in one.limits else ""
        _print_line(f"          in {name}: {_shown(stored)} -> {_shown(here)}{version}", console)


def _print_line(text: str, console: Console) -> None:
    console.print(escape.line(text), markup=False)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _parser() -> ArgumentParser:
    parser = ArgumentParser("npbench verify", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("records", type=Path, metavar="RECORDS", help="folder of results or records, or .parquet file")
    sample = "number of jobs (default: enough to find 5 %% forged records with probability .95, 59 of very many)"
    parser.add_argument("--sample", type=int, metavar="N", help=sample)
    parser.add_argument("--seed", type=int, help="seed of the sample (default: a new one, which is printed)")
    parser.add_argument("--experiment", metavar="NAME", help="experiment that must be there in full")
    return parser
