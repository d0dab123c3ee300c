"""Shared parts of the commands on thresholds: options and rows of a table of scores, stored thresholds, results."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rich.console import Console

from npbench.console import write
from npbench.data.delimited import DELIMITERS
from npbench.data.labels import REST, Classes, classes
from npbench.data.table import Table
from npbench.data.table_files import FORMATS, read_table
from npbench.data.wording import OPTIONS
from npbench.errors import RequestError
from npbench.report.render import terminal
from npbench.report.render.drawing import save_picture, typeset
from npbench.report.render.page import write_pictures
from npbench.report.sheet import Sheet
from npbench.thresholding.threshold import GroupThresholds, Threshold, from_json
from npbench.values import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_GROUPS = 10  # that are drawn
THRESHOLD_COLUMNS = ("score", "label", "positive", "negative", "by")
LACKING = ("without a score", "without a label of the two classes")
BY = "groups, each with its own threshold; times count by day"


def add_options(
    parser: ArgumentParser, *, score: str | None, label: str | None, unlabelled: tuple[str, ...] = ("refuse", "drop")
) -> None:
    """Add the file of scores, and the options that say how to read it; without names, those of the threshold apply."""
    option = parser.add_argument
    option("file", type=Path, metavar="FILE", help=f"table: {', '.join(FORMATS)}, also packed: .gz, .bz2, .xz")
    deployed = "that of the threshold"
    option("--score", default=score, metavar="COLUMN", help=f"larger for positives (default: {score or deployed})")
    option("--label", default=label, metavar="COLUMN", help=f"labels of two classes (default: {label or deployed})")
    option("--positive", metavar="LABEL", help="label of the positives; 1 for labels 0 and 1")
    negatives = f"label of the negatives, if there are more than two; {REST}: all others"
    option("--negative", metavar="LABEL", help=negatives)
    usual = unlabelled[0]
    option("--unlabelled", choices=unlabelled, default=usual, help=f"rows without a label (default: {usual})")
    option("--format", choices=tuple(FORMATS), help="format of the file (default: by its ending)")
    option("--delimiter", metavar="SIGN", help=f"{', '.join(DELIMITERS)} or a character (default: detected)")
    option("--decimal", choices=("point", "comma"), help="decimal separator (default: detected)")
    option("--header", choices=("true", "false"), help="whether the first line holds names (default: detected)")


def format_options(options: Namespace) -> dict[str, Any]:
    """Return the options of :func:`read_table`."""
    header = None if options.header is None else options.header == "true"
    names = ("format", "delimiter", "decimal")
    return {"header": header, **{name: getattr(options, name) for name in names}}


def read(options: Namespace) -> Table:
    """Return the table in the file."""
    table: Table = read_table(options.file, **format_options(options))
    if table.frame.is_empty():
        raise RequestError(f"{options.file}: there are no rows.")
    return table


def signs(labels: Any, options: Namespace) -> tuple[np.ndarray, Classes]:
    """Return the signs of a column of labels, and the labels of the two classes."""
    asked = {"name": options.label, "settings": OPTIONS, "drop_missing": options.unlabelled == "drop"}
    return classes(labels, options.positive, options.negative, **asked)


def in_use(scores: pl.Series, signs: np.ndarray) -> tuple[np.ndarray, Counter[str]]:
    """Return whether each row has a score and a class, and the numbers of rows and of those without."""
    is_scored = (scores.is_not_null() & scores.is_not_nan().fill_null(False)).to_numpy()
    lacking = dict(zip(LACKING, (~is_scored, is_scored & (signs == 0)), strict=True))
    counts = Counter(rows=len(scores), **{why: int(np.sum(rows)) for why, rows in lacking.items()})
    return is_scored & (signs != 0), counts


def left_out(found: Counter[str]) -> str:
    """Return a sentence with the rows that are left out, by the numbers of :func:`in_use`."""
    reasons = ", ".join(f"{found[why]} {why}" for why in LACKING if found[why])
    n = sum(found[why] for why in LACKING)
    return f"{counted(n)} of {found['rows']} left out: {reasons}." if reasons else ""


def charted(group: Any) -> str | None:
    """Return the name of a group as charts show it; None for all samples."""
    return None if group is None else typeset(str(group), math_too=False)


def stored(path: Path) -> tuple[Threshold | GroupThresholds, dict[str, Any]]:
    """Return the threshold in a file that ``npbench threshold`` wrote, and the columns that it was made from."""
    try:
        text = path.read_text(encoding="utf-8")
        deployed, columns = from_json(text), json.loads(text).get("columns", {})
        if not isinstance(columns, dict) or not columns.keys() <= set(THRESHOLD_COLUMNS):
            raise ValueError("columns are not the names of columns")
    except OSError as error:
        raise RequestError(f"Cannot read {path}: {error.strerror}.") from error
    except ValueError as error:
        raise RequestError(f"{path} is not what `npbench threshold` writes: {str(error).rstrip('.')}.") from error
    return deployed, columns


def conclude(
    output: Path,
    name: str,
    *,
    title: str,
    text: str,
    stored: Mapping[str, Any],
    sheets: Sequence[Sheet],
    pictures: Mapping[str, Figure],
    note: str,
) -> None:
    """Write a result as JSON and as a page with its pictures, all in one folder, and print it."""
    as_json, page = output / f"{name}.json", output / f"{name}.html"
    drawn = {output / file: figure for file, figure in pictures.items()}
    try:
        output.mkdir(parents=True, exist_ok=True)
        as_json.write_text(json.dumps(stored) + "\n", encoding="utf-8")
        for path, figure in drawn.items():
            save_picture(figure, path)
        write_pictures(page, title, text, sheets, list(drawn))
    except OSError as error:
        raise RequestError(f"Cannot write {error.filename}: {error.strerror}. Choose another --output.") from error
    console = Console()
    write(f"{note}\n{text}".lstrip(), console)
    for sheet in sheets:
        terminal.show_sheet(terminal.shortened(sheet, f"in {page} and {as_json}"), console)
    write(f"\nIn {output}: {', '.join(path.name for path in (as_json, page, *drawn))}", console)
