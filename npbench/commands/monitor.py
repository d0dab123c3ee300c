"""``npbench monitor``: test whether a deployed threshold still keeps its bound on new samples."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from npbench.commands import score_files
from npbench.errors import Exit, RequestError
from npbench.report.render import terminal
from npbench.report.render.drawing import own_style, save_picture
from npbench.thresholding.monitoring import Monitoring, monitor
from npbench.thresholding.sequential import betting_evidence
from npbench.thresholding.threshold import GroupThresholds, Threshold, from_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHART_POINTS = 2000


def run(words: Sequence[str]) -> Exit:
    """Test new scores, print and draw the findings; return 1 if the bound is exceeded or the scores have changed."""
    options = _parser().parse_args(list(words) or ["--help"])
    deployed, names = _stored(options)
    table = score_files.read(options.file)
    if options.label:
        score_files.column(table, options.label)  # without the option, labels may be missing
    if options.time:
        table = table.sort(score_files.column(table, options.time).name)
    try:
        found = _monitored(table, deployed, names, options.alpha)
    except ValueError as error:
        raise RequestError(str(error)) from error
    console = terminal.PipeSafeConsole()
    for name, one in found.items():
        terminal.write(str(one) if name is None else f"{name}: {one}", console)
    if not options.no_chart:
        terminal.write(_drawn(found, options.output), console)
    return Exit.OK if all(one.ok for one in found.values()) else Exit.FAILED


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench monitor",
        description="Test whether the false-alarm rate of a deployed threshold exceeds its bound (sequentially: run it "
        "as often as you like on a growing file), and whether the scores of negatives have changed (one look).",
        epilog="Exit code: 0; 1 if the bound is exceeded or the scores have changed; 2 if the request is wrong.",
    )
    score_files.add_columns(parser, score=None, label=None)
    option = parser.add_argument
    option("--threshold", type=Path, required=True, metavar="JSON", help="file that `npbench threshold` wrote")
    option("--time", metavar="COLUMN", help="column to sort by (default: the order of the file)")
    option("--alpha", type=float, default=0.05, help="level of each test (default: 0.05)")
    option("--output", type=Path, default=Path("monitor.png"), metavar="PNG", help="chart (default: monitor.png)")
    option("--no-chart", action="store_true", help="draw nothing")
    return parser


def _stored(options: Namespace) -> tuple[Threshold | GroupThresholds, dict[str, Any]]:
    """Return the threshold in the file, and the columns: those of the options, or else those it was made from."""
    names: dict[str, Any] = {"score": "score", "label": None, "positive": None, "by": None}
    try:
        text = options.threshold.read_text(encoding="utf-8")
        deployed, columns = from_json(text), json.loads(text).get("columns", {})
        if not isinstance(columns, dict) or not columns.keys() <= names.keys():
            raise ValueError("columns are not the names of columns")
        names |= {name: value if value is None or name == "positive" else str(value) for name, value in columns.items()}
    except OSError as error:
        raise RequestError(f"Cannot read {options.threshold}: {error.strerror}.") from error
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise RequestError(f"{options.threshold} is not what `npbench threshold` writes: {reason}.") from error
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return deployed, {**names, **given}


def _monitored(
    table: pl.DataFrame, deployed: Threshold | GroupThresholds, names: Mapping[str, Any], alpha: float
) -> dict[Any, Monitoring]:
    """Return the findings, by group if the threshold has groups; these share alpha."""
    scores = score_files.numbers(table, names["score"])
    labels = table[names["label"]] if names["label"] in table.columns else None
    positive = None if labels is None else _is_positive(labels, names["positive"])
    if isinstance(deployed, Threshold):
        return {None: monitor(scores, positive, threshold=deployed, alpha=alpha, pos_label=True)}
    if names["by"] is None:
        raise RequestError("The threshold has groups: name their column by --by.")
    by = score_files.column(table, names["by"])
    deployed.values(by)  # refuses unknown groups
    each = alpha / len(deployed.groups)
    found = {}
    for name, one in deployed.groups.items():
        if (rows := by == name).any():
            part = None if positive is None else positive.filter(rows)
            found[name] = monitor(scores.filter(rows), part, threshold=one, alpha=each, pos_label=True)
    return found


def _is_positive(labels: pl.Series, positive: Any) -> pl.Series:
    """Return which labels are positive; a batch without positives is usual."""
    if positive is None:
        return labels == score_files.positive_label(labels, None)
    if labels.null_count():
        raise RequestError(f"{labels.name} has {labels.null_count()} missing values: label them, or leave them out.")
    return labels.cast(pl.String).str.to_lowercase() == str(positive).lower()


def _drawn(found: Mapping[Any, Monitoring], path: Path) -> str:
    """Draw the chart, and return where it is, or why there is none: the findings count without it too."""
    try:
        with own_style():
            save_picture(_chart(found), path)
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: an unknown suffix; RuntimeError: of Matplotlib
        return f"no chart: {error}. Choose another --output, or --no-chart."
    return f"chart: {path}"


def _chart(found: Mapping[Any, Monitoring]) -> Figure:
    """Return the rate of false alarms so far and the evidence against the bound, by number of negatives."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    rate, evidence = figure.subplots(2, 1, sharex=True)
    for name, one in found.items():
        n = np.unique(np.linspace(1, one.n_negatives, min(one.n_negatives, CHART_POINTS)).astype(int))
        alarms = np.cumsum(one.alarms)[n - 1]
        label = None if name is None else str(name)
        line = rate.plot(n, alarms / n, label=label)[0]
        evidence.plot(n, betting_evidence(alarms, n, one.rho) / math.log(10), label=label)
        if one.exceeded_after is not None:
            for axes in (rate, evidence):
                axes.axvline(one.exceeded_after, color=line.get_color(), linestyle=":", linewidth=1)
    first = next(iter(found.values()))
    rate.axhline(first.rho, color="grey", linestyle="--", linewidth=1)
    evidence.axhline(-math.log10(first.alpha), color="grey", linestyle="--", linewidth=1)
    rate.set(ylabel="false-alarm rate so far", ylim=(0, None))
    evidence.set(ylabel=f"log10 evidence\nfor more than {first.rho:g}", xlabel="negatives (dotted: shown to exceed)")
    if None not in found:
        rate.legend()
    return figure
