"""``npbench compare``: which of two models misses less at the same bound on false alarms, on the same rows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from npbench.data.table import Table, named_column, numbers
from npbench.errors import Exit, RequestError
from npbench.report.render.drawing import blank, own_style, typeset
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.thresholding.commands import score_files
from npbench.thresholding.compare import LEAST_ALARMS, Comparison, compare, misses_at, ranks
from npbench.thresholding.threshold import Threshold
from npbench.values import counted, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_NAME = 30  # characters
CURVE_POINTS, BOUNDS = 400, 25


def run(words: Sequence[str]) -> Exit:
    """Compare the scores in two files, or in two columns of one, and write the result with a picture and a page."""
    parser = _parser()
    options, others = parser.parse_known_args(list(words) or ["--help"])
    if others and not any(word.startswith("-") for word in others):
        raise RequestError(f"compare takes two files, but also got {', '.join(others)}: compare two at a time.")
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    options.other, options.other_score = options.other or options.file, options.other_score or options.score
    options.files = options.file, options.other
    scores, positive, note = _read(options)
    deployed = [score_files.stored(path)[0] for path in options.thresholds or ()]
    if any(not isinstance(one, Threshold) for one in deployed):
        raise RequestError("A file of --thresholds has a threshold for each group: compare the rows of each group.")
    asked: dict[str, Any] = {"rho": options.rho, "thresholds": deployed or None, "names": _names(options)}
    try:
        found = compare(scores[0], scores[1], positive, pos_label=True, **asked)
    except ValueError as error:
        raise RequestError(str(error)) from error
    score_files.conclude(
        options.output,
        "comparison",
        title="Two models at the same bound on false alarms",
        text=found.verdict,
        stored=found.to_dict(),
        sheets=[_sheet(found)],
        pictures={"comparison.png": _drawn(found, ranks(scores[0], scores[1], positive), positive)},
        note=note,
    )
    return Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench compare",
        description="Compare the misses of two models at the same bound on false alarms, on the same rows, which "
        "neither has seen. Limits and test are paired.",
        epilog="Exit code: 0, whichever is better; 2 if the request is wrong.",
    )
    score_files.add_options(parser, score="score", label="label")
    option = parser.add_argument
    option("other", type=Path, nargs="?", metavar="FILE", help="scores of the second model (default: the same file)")
    option("--other-score", metavar="COLUMN", help="scores of the second model (default: --score)")
    option("--id", metavar="COLUMN", help="column that pairs the rows of two files (default: by order)")
    option("--rho", type=float, default=0.05, help="bound on the false-alarm rate (default: 0.05)")
    option("--thresholds", type=Path, nargs=2, metavar="JSON", help="deployed thresholds, to compare at them, too")
    option("--output", type=Path, default=Path("comparison"), metavar="FOLDER", help="default: comparison")
    return parser


def _read(options: Namespace) -> tuple[list[np.ndarray], np.ndarray, str]:
    """Return the scores of both models for the same rows, which rows are positive, and a note on rows left out."""
    if (options.other, options.other_score) == (options.file, options.score):
        raise RequestError("There is only one model: name another file, or the second model's column in --other-score.")
    table, other = (score_files.read(Namespace(**{**vars(options), "file": path})) for path in options.files)
    signs, _ = score_files.signs(named_column(table, options.label, "--label"), options)
    rows, other_rows = _pairs(table, other, options)
    signs = signs[rows]
    # a file of scores alone has no labels to compare
    if options.label in other.frame.columns:
        others, _ = score_files.signs(other.frame[options.label], options)
        if differing := int(np.sum(signs != others[other_rows])):
            hint = "pair them by --id" if options.id is None else "correct them"
            raise RequestError(f"{differing} of {len(signs)} pairs of rows differ in {options.label!r}: {hint}.")
    first = numbers(table, options.score, "--score")[rows]
    scores = [first, numbers(other, options.other_score, "--other-score")[other_rows]]
    kept, lacking = zip(*(score_files.in_use(one, signs) for one in scores), strict=True)
    alone = {path: len(one.frame) - len(rows) for one, path in zip((table, other), options.files, strict=True)}
    unpaired = [f"{counted(n)} of {path} left out: no partner in the other file." for path, n in alone.items() if n]
    both = kept[0] & kept[1]
    note = "\n".join(dict.fromkeys([*unpaired, *filter(None, map(score_files.left_out, lacking))]))
    return [one.to_numpy()[both] for one in scores], signs[both] > 0, note


def _pairs(table: Table, other: Table, options: Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of both tables that belong together: by id, or in order."""
    if options.id is None:
        n, n_other = len(table.frame), len(other.frame)
        if n != n_other:
            raise RequestError(f"{options.file} has {n} rows and {options.other} {n_other}: pair them by --id.")
        if options.label not in other.frame.columns:
            raise RequestError(f"{options.other} has no column {options.label!r}: pair the rows by --id.")
        return np.arange(n), np.arange(n)
    ids = [named_column(one, options.id, "--id") for one in (table, other)]
    for column, path in zip(ids, options.files, strict=True):
        if len(repeated := column.filter(column.is_duplicated() | column.is_null())):
            raise RequestError(f"--id is {options.id!r}: {path} has {repeated[0]!r} more than once, or missing ids.")
    if ids[0].dtype != ids[1].dtype:
        ids = [column.cast(pl.String, strict=False) for column in ids]
    frames = [column.to_frame("id").with_row_index("row") for column in ids]
    pairs = frames[0].join(frames[1], on="id", maintain_order="left")
    if pairs.is_empty():
        examples = listed(repr(column[0]) for column in ids)
        raise RequestError(f"--id is {options.id!r}: the files share no id. Their first ones are {examples}.")
    return pairs["row"].to_numpy(), pairs["row_right"].to_numpy()


def _names(options: Namespace) -> tuple[str, str]:
    """Return the names of the models: those of the files, or of the columns, where they differ."""
    files, columns = (path.name.partition(".")[0] for path in options.files), (options.score, options.other_score)
    for name, other in (files, columns):
        if name[:MAX_NAME] != other[:MAX_NAME]:
            return name[:MAX_NAME], other[:MAX_NAME]
    return "first", "second"


def _sheet(found: Comparison) -> Sheet:
    rows: list[Row] = []
    for name, one in found.differences.items():
        values = [number(one.first), number(one.second), number(one.value, "+.3f")]
        rows.append([name, *values, interval(one.limits, "+.3f"), one.p_text.removeprefix("p ").removeprefix("= ")])
    title = f"{found.n_negatives} negatives, {found.n_positives} positives"
    return Sheet(title, ["", *found.names, "difference", "95 % limits", "p"], rows)


def _drawn(found: Comparison, ranked: np.ndarray, positive: np.ndarray) -> Figure:
    """Return the ROC curves near the bound, and the difference of the misses at bounds around it."""
    n, rho = found.n_negatives, found.rho
    names = [typeset(name, math_too=False) for name in found.names]
    with own_style():
        figure = blank(10, 4, "constrained")
        curves, differences = figure.subplots(1, 2)
        least, most = max(1.0, rho * n / 100), max(2.0, min(1.0, 20 * rho) * n)
        alarms = np.unique(np.geomspace(least, most, CURVE_POINTS).astype(int))
        for name, positives in zip(names, np.sort(ranked[:, positive], axis=1), strict=True):
            detected = np.searchsorted(positives, alarms, side="right") / found.n_positives
            curves.plot(alarms / n, detected, label=name, drawstyle="steps-post")
        curves.set(xlabel="false alarms", ylabel="share of positives detected", ylim=(0, 1.01))
        curves.legend()
        bounds = np.geomspace(max(LEAST_ALARMS / n, rho / 10), max(rho, min(0.5, 10 * rho)), BOUNDS).tolist()
        drawn = {bound: misses_at(ranked, positive, bound) for bound in bounds} | {rho: found.misses}
        found_at = [(at, one.limits[0], one.value, one.limits[1]) for at, one in sorted(drawn.items()) if one.limits]
        at, low, value, high = np.array(found_at or [(np.nan,) * 4]).T
        differences.plot(at, value)
        differences.fill_between(at, low, high, alpha=0.2)
        here = at == rho
        differences.errorbar(at[here], value[here], [(value - low)[here], (high - value)[here]], fmt="o", color="C0")
        differences.axhline(0.0, color="black", linewidth=0.8)
        differences.set(xlabel="bound on false alarms ρ", ylabel=f"difference in misses, {' - '.join(names)}")
        for axes in (curves, differences):
            axes.set_xscale("log")
            axes.axvline(rho, color="grey", linestyle="--", linewidth=1)
    return figure
