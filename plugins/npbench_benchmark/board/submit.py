"""``npbench submit``: compute records from the scores of a method that npbench cannot run."""

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console

from npbench import session
from npbench.console import status
from npbench.data.table_files import read_table
from npbench.errors import Exit, RequestError
from npbench.records import provenance
from npbench.records.files import RECORDS
from npbench.records.store import RecordStore
from npbench.registry import installed
from npbench.report.render import terminal
from npbench.report.sections.experiment import places, with_rivals
from npbench_benchmark.board import statement, submission

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,39}")
DESCRIPTION = """\
Computes the records of a method from its scores on the test rows that `npbench splits` wrote: a Parquet or CSV file
with the columns dataset, repeat, rho (or the other parameters of the problem), row and score. Scores are thresholded at
0 for the given rho, as decision_function is: subtract your threshold. A method is tuned on the suite if its grids,
defaults or code were chosen by results on these data sets; tables say so.
"""


def run(words: Sequence[str]) -> Exit:
    """Check the scores, store their records, and print where the method stands."""
    options = _parser().parse_args(list(words) or ["--help"])
    if not NAME.fullmatch(options.name):
        raise RequestError(f"--name {options.name!r} is not a name: expected letters, digits and _.+-, at most 40")
    if options.name in installed().solvers:
        raise RequestError(f"--name {options.name} is an installed solver: choose another name")
    output = options.output or Path("results", "submissions", options.name)
    with status("Checking the scores"):
        settings, tasks = submission.read_tasks(options.splits or options.scores.parent, options.name)
        scores = submission.checked(read_table(options.scores).frame, tasks)
    facts = provenance.facts()
    session.describe(output, ["submit", *words], [], **facts, splits=settings)
    statement.write(output, tuned_on_suite=options.tuned == "yes")
    store = RecordStore(output / RECORDS)
    with closing(store), status("Computing the records"):
        for record in submission.records(tasks, scores, facts):
            store.append(record)
    print(f"{len(tasks)} records in {output}.")
    if (experiment := session.experiment(settings)) is not None:  # the splits belong to an experiment with a ranking
        records = store.frame()
        both = with_rivals(experiment, records, output.parent.parent)
        terminal.show(places(experiment, both, records["key"].to_list()), Console())
    return Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser("npbench submit", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("scores", type=Path, metavar="SCORES", help="Parquet or CSV file of scores")
    parser.add_argument("--name", required=True, help="name of the method")
    parser.add_argument(
        "--tuned", required=True, choices=("yes", "no"), help="whether the method was tuned on the suite"
    )
    parser.add_argument("--splits", type=Path, metavar="FOLDER", help="folder of the splits (default: where SCORES is)")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="(default: results/submissions/NAME)")
    return parser
