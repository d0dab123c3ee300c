"""``npbench splits``: write the splits of a run, for methods that npbench cannot run."""

import shlex
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from npbench import session
from npbench.console import status
from npbench.errors import Exit, RequestError
from npbench_benchmark.board.split_files import SPLITS, write_splits

DESCRIPTION = """\
Writes row numbers of the training, validation and test parts of each data set and repeat, as Parquet.
Settings are written as for a run: +experiment=NAME or dataset=pima repeats=5.
"""


def run(words: Sequence[str]) -> Exit:
    """Write the splits that a run of these settings would use."""
    options, settings = _parser().parse_known_args(list(words) or ["--help"])
    if options.write is None:
        raise RequestError("npbench splits needs a folder: add --write FOLDER")
    asked = session.ask(with_one_solver(settings))
    try:
        with status("Writing splits"):
            n_datasets = write_splits(asked.requests, settings, options.write, options.data)
    except OSError as error:
        reason = error.strerror or error
        raise RequestError(f"cannot write splits to {options.write} ({reason}): name another folder") from error
    print(f"Splits of {n_datasets} data sets in {options.write}; {SPLITS} says what they belong to.")
    scores = shlex.quote(f"{options.write}/scores.parquet")
    print(f"Scores of the test rows: npbench submit {scores} --name NAME --tuned no")
    return Exit.OK


def with_one_solver(words: Sequence[str]) -> list[str]:
    """Return settings with one solver of their experiment, since splits do not depend on the solver."""
    experiment = session.experiment(words)
    is_typed = any(word.lstrip("+").startswith("solver=") for word in words)
    if experiment is None or is_typed:
        return list(words)
    lists = {str({**experiment.settings, **sweep}.get("solver", "")) for sweep in experiment.sweeps.values()}
    first = {solvers.partition(",")[0].strip() for solvers in lists}
    return [*words, f"solver={first.pop()}"] if len(first) == 1 and first != {""} else list(words)


def _parser() -> ArgumentParser:
    parser = ArgumentParser("npbench splits", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="folder of the files")
    parser.add_argument("--data", action="store_true", help="write features and labels too, before preprocessing")
    return parser
