"""The table of scores that the commands about thresholds read: its options, and the rows in use."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
import polars as pl

from npbench.data.delimited import DELIMITERS
from npbench.data.labels import REST
from npbench.data.table import Table
from npbench.data.table_files import FORMATS, read_table
from npbench.data.wording import counted
from npbench.errors import RequestError

MAX_GROUPS = 10  # that are drawn


def add_options(
    parser: ArgumentParser, *, score: str | None, label: str | None, unlabelled: tuple[str, ...] = ("refuse", "drop")
) -> None:
    """Add the file of scores, and the options that say how to read it; without names, those of the threshold count."""
    option = parser.add_argument
    option("file", type=Path, metavar="FILE", help=f"table: {', '.join(FORMATS)}, also packed: .gz, .bz2, .xz")
    deployed = "that of the threshold"
    option("--score", default=score, metavar="COLUMN", help=f"larger for positives (default: {score or deployed})")
    option("--label", default=label, metavar="COLUMN", help=f"labels of two classes (default: {label or deployed})")
    option("--positive", metavar="LABEL", help="label of the positives; 1 for labels 0 and 1")
    option(
        "--negative", metavar="LABEL", help=f"label of the negatives, if there are more than two; {REST}: all others"
    )
    usual = unlabelled[0]
    option("--unlabelled", choices=unlabelled, default=usual, help=f"rows without a label (default: {usual})")
    option("--by", metavar="COLUMN", help="groups, each with its own threshold; of times, days")
    option("--format", choices=tuple(FORMATS), help="format of the file (default: by its ending)")
    option("--delimiter", metavar="SIGN", help=f"{', '.join(DELIMITERS)} or a character (default: detected)")
    option("--decimal", choices=("point", "comma"), help="decimal separator (default: detected)")
    option("--header", choices=("true", "false"), help="whether the first line holds names (default: detected)")


def read(options: Namespace) -> Table:
    """Return the table in the file."""
    header = None if options.header is None else options.header == "true"
    text = {"delimiter": options.delimiter, "decimal": options.decimal, "header": header}
    table = read_table(options.file, format=options.format, **text)
    if table.frame.is_empty():
        raise RequestError(f"{options.file}: there are no rows.")
    return table


def in_use(scores: pl.Series, signs: np.ndarray | None) -> tuple[np.ndarray, str]:
    """Return whether each row has a score and a class, and a sentence with the number of others."""
    is_scored = (scores.is_not_null() & scores.is_not_nan().fill_null(False)).to_numpy()
    of_class = np.ones(len(scores), dtype=bool) if signs is None else signs != 0
    parts = {"without a score": np.sum(~is_scored), "without a label of the two classes": np.sum(is_scored & ~of_class)}
    reasons = ", ".join(f"{count} {reason}" for reason, count in parts.items() if count)
    note = f"{counted(sum(parts.values()))} of {len(scores)} left out: {reasons}." if reasons else ""
    return is_scored & of_class, note
