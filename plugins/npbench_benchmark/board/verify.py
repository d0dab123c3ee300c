"""``npbench verify``: rerun a sample of stored jobs in this environment, and compare every metric."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from npbench.console import status
from npbench.errors import Exit, RequestError

if TYPE_CHECKING:
    from npbench_benchmark.board.verification import Verified

MAX_SHOWN = 40  # characters of an answer
DESCRIPTION = """\
Reruns a random sample of stored jobs here, and compares every metric with the record. RECORDS is a results folder, a
folder of records or a .parquet file. Prints what differs, and how the environments differ in data, code, versions and
machine.
"""


def run(words: Sequence[str]) -> Exit:
    """Rerun a sample of stored jobs; the exit code is 1 if a metric differs or a job cannot be rerun."""
    options = _parser().parse_args(list(words) or ["--help"])
    if options.sample < 1:
        raise RequestError(f"--sample is {options.sample}: expected 1 or more")
    from npbench.records.files import RECORDS
    from npbench.records.scores import read_scores
    from npbench.report.select.collect import collect
    from npbench_benchmark.board import verification

    with status("Reading records"):
        collection = collect([options.records], {})
    for fault in collection.faults:
        print(f"npbench: {fault}", file=sys.stderr)
    chosen = verification.sample(collection.records, options.sample, options.seed)
    if not chosen:
        raise RequestError(f"no record in {options.records} is ok: nothing to verify")
    folder = options.records if options.records.is_dir() else options.records.parent
    scores = read_scores(folder.parent if folder.name == RECORDS else folder)
    with status(f"Running {len(chosen)} jobs"):
        found = list(verification.verify(chosen, scores))
    return _print(found, len(collection.records.filter(status="ok")))


def _print(found: Sequence[Verified], n_good: int) -> Exit:
    console = Console(highlight=False, soft_wrap=True)
    for one in found:
        record = one.record
        verdict = "[green]same   [/]" if one.is_same else "[red]differs[/]"
        console.print(f"{verdict} ", end="")
        job = f"{record['label']} on {record['dataset']}, {record['problem_params']}, repeat {record['repeat']}"
        console.print(job, markup=False)
        if one.fault:
            console.print(f"          not compared: {one.fault}", markup=False)
        for name, (stored, here) in one.differing.items():
            console.print(f"          {name}: {_shown(stored)} -> {_shown(here)}", markup=False)
    causes = {cause: None for one in found for cause in one.environment}
    if causes:
        console.print("\nThis environment differs from the records':")
        for cause in causes:
            console.print(f"  {cause}", markup=False)
    n_same = sum(one.is_same for one in found)
    console.print(f"\n{n_same} of {len(found)} jobs have the same metrics; a sample of {n_good}.")
    return Exit.OK if n_same == len(found) else Exit.FAILED


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _parser() -> ArgumentParser:
    parser = ArgumentParser("npbench verify", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("records", type=Path, metavar="RECORDS", help="folder of results or records, or .parquet file")
    parser.add_argument("--sample", type=int, default=5, metavar="N", help="number of jobs (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    return parser
