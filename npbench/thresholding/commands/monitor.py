"""``npbench monitor``: test whether a deployed threshold still keeps its bound on new samples."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from npbench.console import write
from npbench.data.labels import Classes, Labels, classes, meaning
from npbench.data.table import days
from npbench.data.wording import OPTIONS
from npbench.errors import Exit, RequestError
from npbench.report.render import terminal
from npbench.report.render.drawing import blank, own_style, save_picture
from npbench.thresholding.commands import score_files
from npbench.thresholding.commands.batches import ScoreFile
from npbench.thresholding.monitoring import Monitoring, first_of_each, monitor_placed, placed_scores
from npbench.thresholding.threshold import GroupThresholds, Threshold, refuse_others, require_rate
from npbench.values import counted, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHART_POINTS = 2000
PENDING = 2  # in place of the sign of a label that has not arrived
LABELS = ("positive", "negative")  # of the two classes, of any type


def run(words: Sequence[str]) -> Exit:
    """Test new scores, print and draw the findings; return 1 if the bound is exceeded or the scores have changed."""
    options = _parser().parse_args(list(words) or ["--help"])
    deployed, names = _stored(options)
    source = ScoreFile(options)
    if not options.label and names["label"] not in source.schema:  # labels come later, or never
        names["label"] = None
    asked = {"score": names["score"], "label": names["label"], "by": names["by"], "time": options.time}
    source.require(**asked, groups=options.groups)
    of_all = source.at_once or options.groups is not None
    source.at_once = of_all or (options.time is not None and not _is_sorted(source, options.time))
    try:
        found = _monitored(source, names, deployed, options)
    except ValueError as error:
        raise RequestError(str(error)) from error
    console = terminal.PipeSafeConsole()
    if source.note:
        write(source.note, console)
    for name, one in found.items():
        write(str(one) if name is None else f"{name}: {one}", console)
    if not options.no_chart:
        write(_drawn(found, options.output), console)
    return Exit.OK if all(one.ok for one in found.values()) else Exit.FAILED


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench monitor",
        description="Test whether the false-alarm rate of a deployed threshold exceeds its bound (sequentially: run it "
        "as often as you like on a growing file), and whether the scores of negatives have changed (one look).",
        epilog="Exit code: 0; 1 if the bound is exceeded or the scores have changed; 2 if the request is wrong.",
    )
    score_files.add_options(parser, score=None, label=None, unlabelled=("pending", "drop", "refuse"))
    option = parser.add_argument
    option("--by", metavar="COLUMN", help=score_files.BY)
    option("--groups", metavar="COLUMN", help="customers or the like: the first negative of each counts")
    option("--threshold", type=Path, required=True, metavar="JSON", help="file that `npbench threshold` wrote")
    arrival = "column to sort by; if labels come late, their time of arrival (default: as in the file)"
    option("--time", metavar="COLUMN", help=arrival)
    option("--window", type=int, metavar="N", help="test the latest N negatives alone (default: all, at any time)")
    option("--alpha", type=float, default=0.05, help="level of each test (default: 0.05)")
    option("--output", type=Path, default=Path("monitor.png"), metavar="PNG", help="chart (default: monitor.png)")
    option("--no-chart", action="store_true", help="draw nothing")
    return parser


def _stored(options: Namespace) -> tuple[Threshold | GroupThresholds, dict[str, Any]]:
    """Return the threshold in the file, and the columns: those of the options, or else those it was made from."""
    deployed, columns = score_files.stored(options.threshold)
    names: dict[str, Any] = {**dict.fromkeys(score_files.THRESHOLD_COLUMNS), "score": "score"}
    names |= {name: value if value is None or name in LABELS else str(value) for name, value in columns.items()}
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "positive" in given:  # the stored negative label goes with the stored positive one
        names["negative"] = None
    return deployed, {**names, **given}


def _is_sorted(source: ScoreFile, name: str) -> bool:
    """Return whether times are complete and in order, so that batches of rows are, too."""
    last = None
    for table in source.batches(name):
        column = table.frame[name]
        is_complete = not (column.null_count() or (column.dtype.is_float() and column.is_nan().any()))
        if not is_complete or not column.is_sorted() or (last is not None and column[0] < last):
            return False
        last = column[-1]
    return True


def _signs(labels: Labels, names: Mapping[str, Any], options: Namespace) -> np.ndarray:
    """Return the sign of each label, or PENDING."""
    name = names["label"]
    if not options.negative:  # if given, it leaves out all other labels
        refuse_others(labels, Classes(names["positive"], names["negative"]), name)
    lacking = options.unlabelled != "refuse"
    signs, _ = classes(labels, names["positive"], names["negative"], name=name, settings=OPTIONS, drop_missing=lacking)
    if options.unlabelled == "pending":
        signs[labels.codes < 0] = PENDING
    return signs


def _monitored(
    source: ScoreFile, names: Mapping[str, Any], deployed: Threshold | GroupThresholds, options: Namespace
) -> dict[Any, Monitoring]:
    """Return the findings, by group if the threshold has groups, which share alpha."""
    label = None if names["label"] is None else source.values(names["label"])
    signs = np.empty(0) if label is None else _signs(label.labels(), names, options)
    by, part_of = None, np.zeros(1, dtype=int)
    if isinstance(deployed, Threshold):
        parts: dict[Any, Threshold] = {None: deployed}
    else:
        if names["by"] is None:
            raise RequestError("The threshold has groups: name their column with --by.")
        by, members = source.values(names["by"]), deployed.members()
        parts = {name: deployed.groups[of[0]] for name, of in members.items()}
        places = {meaning(one): place for place, of in enumerate(members.values()) for one in of}
        groups = Labels(days(by.values))
        part_of = np.array([places.get(meaning(one), len(places)) for one in [*groups.values, ""]])[groups.codes]
    blocks: dict[Any, list[np.ndarray]] = {name: [] for name in parts}  # of negatives, in the order of time
    n_rows, n_pending = Counter[Any](), Counter[Any]()
    for batch in source.used(names["score"], label, signs, by, time=options.time, units=options.groups):
        part = part_of[batch.groups]
        chosen = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=len(parts))))
        for (name, one), rows in zip(parts.items(), chosen, strict=False):
            sign = batch.signs[rows]
            negatives = rows[sign < 0]
            if batch.units is not None:
                negatives = first_of_each(negatives, batch.units)
            blocks[name].append(placed_scores(one, batch.scores[negatives]))
            n_rows[name] += len(rows)
            n_pending[name] += int(np.sum(sign == PENDING))
    alpha = options.alpha
    if by is not None and isinstance(deployed, GroupThresholds):
        deployed.limits(by.members(source.n_used)[0])  # refuses unknown groups
        require_rate("alpha", options.alpha)  # a share of 2 may be a rate
        alpha /= deployed.n_parts
    asked = {"alpha": alpha, "window": options.window, "labelled": label is not None, "by_group": bool(options.groups)}
    judged = [name for name in parts if n_pending[name] or any(map(len, blocks[name]))]
    if without := [str(name) for name in parts if n_rows[name] and name not in judged]:
        lacking = f"No negatives to count false alarms on: {listed(without, score_files.MAX_GROUPS)}."
        source.note = f"{source.note}\n{lacking}".strip()
    return {
        name: monitor_placed(blocks[name], parts[name], n_pending=n_pending[name], **asked)
        for name in judged or [*parts][:1]  # which raises
    }


def _drawn(found: Mapping[Any, Monitoring], path: Path) -> str:
    """Draw the chart, and return where it is, or why there is none: the findings count without it too."""
    tested = [(name, one) for name, one in found.items() if one.n_negatives]
    shown = dict(sorted(tested, key=lambda one: one[1].ok)[: score_files.MAX_GROUPS])  # findings first
    if not shown:
        return "no chart: no negatives with a label yet."
    try:
        with own_style():
            save_picture(_chart(shown), path)
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: an unknown suffix; RuntimeError: of Matplotlib
        return f"no chart: {error}. Choose another --output, or --no-chart."
    of_groups = f" of {counted(len(shown), 'group')}" if len(shown) < len(found) else ""
    return f"chart{of_groups}: {path}"


def _chart(found: Mapping[Any, Monitoring]) -> Figure:
    """Return the rate of false alarms so far and the evidence against the bound, by number of negatives."""
    figure = blank(7, 5, "constrained")
    rate, evidence = figure.subplots(2, 1, sharex=True)
    highest, lowest = 0.0, 0.0
    for name, one in found.items():
        n = np.unique(np.linspace(1, one.n_negatives, min(one.n_negatives, CHART_POINTS)).astype(int))
        alarms = one.alarms_among(n)
        label = score_files.charted(name)
        line = rate.plot(n, alarms / n, label=label)[0]
        shown = one.evidence_after(n) / math.log(10)
        evidence.plot(n, shown, label=label)
        # a first alarm among few negatives, or a rate far below the bound, must not set the scale
        settled = n >= min(1 / one.rho, one.n_negatives / 2)
        highest = max(highest, 1.5 * one.rho, 1.1 * np.max(alarms[settled] / n[settled]))
        lowest = min(lowest, max(2 * math.log10(one.alpha), np.min(shown)))
        if (after := one.exceeded_after) is not None:
            heights = (np.mean(one.alarms[:after]), one.evidence_after(np.array([after]))[0] / math.log(10))
            for axes, height in zip((rate, evidence), heights, strict=True):
                axes.axvline(after, color=line.get_color(), linestyle=":", linewidth=1)
                axes.plot(after, height, "o", color=line.get_color())
            rate.annotate(f"after {after}", (after, 0), xytext=(4, 4), textcoords="offset points")
    first = next(iter(found.values()))
    rate.axhline(first.rho, color="grey", linestyle="--", linewidth=1)
    evidence.axhline(-math.log10(first.alpha), color="grey", linestyle="--", linewidth=1)
    rate.set(ylabel="false-alarm rate so far", ylim=(0, min(1.05, highest)))
    evidence.set(ylabel=f"log10 evidence\nfor more than {first.rho:g}", xlabel="negatives", ylim=(1.1 * lowest, None))
    if None not in found:
        rate.legend()
    return figure
