"""``npbench metrics``: how well scores separate two classes at low false-alarm rates, with confidence limits."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from npbench.contracts import Estimate
from npbench.errors import Exit, RequestError
from npbench.numerics.pauc_metrics import detected
from npbench.report.render.drawing import blank, own_style
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.thresholding import sorted_metrics
from npbench.thresholding.commands import score_files
from npbench.thresholding.commands.batches import ScoreFile
from npbench.thresholding.rules import Part
from npbench.thresholding.threshold import require_rate
from npbench.values import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVE_POINTS = 400


def run(words: Sequence[str]) -> Exit:
    """Measure the scores in a file, print the metrics, and write them with a picture and a page."""
    options = _parser().parse_args(list(words) or ["--help"])
    source = ScoreFile(options)
    source.require(score=options.score, label=options.label, by=options.by)
    with TemporaryFile() as file:
        try:
            for name in ("fpr", "tpr"):
                for rate in getattr(options, name):
                    require_rate(f"--{name}", rate)
            parts, _ = source.parts(options, file, np.random.RandomState(0))
        except ValueError as error:
            raise RequestError(str(error)) from error
        for name, part in parts.items():
            if not (len(part.positives) and len(part.negatives)):
                where = "" if name is None else f" in {options.by} {name}"
                raise RequestError(f"There are samples of one class only{where}: metrics need both.")
        found = {name: _measured(part, options.fpr, options.tpr) for name, part in parts.items()}
        stored = [
            {
                "group": None if name is None else str(name),
                "n_positives": len(part.positives),
                "n_negatives": len(part.negatives),
                "metrics": {metric: asdict(one) for metric, one in metrics.items()},
            }
            for name, (part, metrics) in found.items()
        ]
        score_files.conclude(
            options.output,
            "metrics",
            title="Scores at low false-alarm rates",
            text=_headline(found, min(options.fpr)),
            stored={"groups": stored},
            sheets=[_sheet(found)],
            pictures={"roc.png": _drawn(found, options.fpr)},
            note=source.note,
        )
    return Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench metrics",
        description="Measure how well scores separate two classes at low false-alarm rates, with 95 % limits. The file "
        "holds scores of samples that the model has not seen.",
        epilog="Exit code: 0, or 2 if the request is wrong.",
    )
    score_files.add_options(parser, score="score", label="label")
    option = parser.add_argument
    option("--by", metavar="COLUMN", help="groups, each with its own metrics; times count by day")
    rates: dict[str, Any] = {"type": float, "nargs": "+", "metavar": "RATE"}
    option("--fpr", default=[0.01, 0.05, 0.1], help="false-positive rates (default: 0.01 0.05 0.1)", **rates)
    option("--tpr", default=[0.95], help="true-positive rates (default: 0.95)", **rates)
    option("--output", type=Path, default=Path("metrics"), metavar="FOLDER", help="default: metrics")
    parser.set_defaults(weights=None)
    return parser


class Measured(NamedTuple):
    """The scores of a group, and metrics of them by name."""

    part: Part
    metrics: dict[str, Estimate]


def _measured(part: Part, fprs: Sequence[float], tprs: Sequence[float]) -> Measured:
    of_classes = part.positives, part.negatives
    found = {f"TPR at FPR {fpr}": sorted_metrics.tpr_at_fpr(*of_classes, fpr) for fpr in fprs}
    found |= {f"partial AUC to {fpr}": sorted_metrics.partial_auc(*of_classes, 0.0, fpr) for fpr in fprs}
    found |= {f"FPR at TPR {tpr}": sorted_metrics.fpr_at_tpr(*of_classes, tpr) for tpr in tprs}
    return Measured(part, found | {"AUC": sorted_metrics.partial_auc(*of_classes, 0.0, 1.0)})


def _headline(found: Mapping[Any, Measured], fpr: float) -> str:
    """Return the true-positive rates of the first groups at the smallest false-positive rate, in sentences."""
    lines = []
    for name, (part, metrics) in islice(found.items(), score_files.MAX_GROUPS):
        one = metrics[f"TPR at FPR {fpr}"]
        share = f"{100 * one.value:.1f} % [{100 * one.low:.1f}, {100 * one.high:.1f}] are detected"
        samples = f"{counted(len(part.positives), 'positive')} and {counted(len(part.negatives), 'negative')}"
        lines.append(f"{'' if name is None else f'{name}: '}at {100 * fpr:.4g} % false alarms, {share}; {samples}.")
    return "\n".join(line[0].upper() + line[1:] if None in found else line for line in lines)


def _sheet(found: Mapping[Any, Measured]) -> Sheet:
    rows: list[Row] = []
    for name, (_, metrics) in found.items():
        group = [] if name is None else [str(name)]
        for metric, one in metrics.items():
            rows.append([*group, metric, number(one.value, ".4f"), interval((one.low, one.high), ".4f")])
    columns = ["metric", "value", "95 % limits"]
    return Sheet("on these samples", columns if None in found else ["group", *columns], rows)


def _drawn(found: Mapping[Any, Measured], fprs: Sequence[float]) -> Figure:
    """Return the ROC curves of the first groups, with limits at some rates."""
    with own_style():
        figure = blank(6, 4)
        axes = figure.subplots()
        for place, (name, (part, metrics)) in enumerate(islice(found.items(), score_files.MAX_GROUPS)):
            n = len(part.negatives)
            alarms = np.unique(np.geomspace(1, n, CURVE_POINTS).astype(int))
            heights = detected(part.positives, part.negatives, alarms) / len(part.positives)
            label = score_files.charted(name)
            axes.plot(alarms / n, heights, drawstyle="steps-post", color=f"C{place}", label=label)
            for fpr in fprs if name is None else ():  # limits of groups would hide each other
                one = metrics[f"TPR at FPR {fpr}"]
                limits = [[one.value - one.low], [one.high - one.value]]
                axes.errorbar(fpr, one.value, limits, fmt="o", color=f"C{place}")
        axes.set(xlabel="false alarms", ylabel="share of positives detected", xscale="log", ylim=(0, 1.01))
        if None not in found:
            axes.legend()
    return figure
