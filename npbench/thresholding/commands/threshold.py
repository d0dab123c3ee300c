"""``npbench threshold``: a threshold for a column of scores, what it promises and costs, and a file to deploy."""

from __future__ import annotations

import math
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from npbench.contracts import Estimate
from npbench.errors import Exit, RequestError
from npbench.numerics.np_roc import np_roc
from npbench.numerics.thresholds import RULES
from npbench.report.render.drawing import blank, own_style
from npbench.report.sheet import Row, Sheet, interval, number
from npbench.thresholding.commands import score_files
from npbench.thresholding.commands.batches import ScoreFile
from npbench.thresholding.rules import Asked, Part, bounded, calibrate_parts, united
from npbench.thresholding.threshold import GroupThresholds, Threshold, clopper_pearson, described, rounded_down

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.001)  # of the plan
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400, "month": 30 * 86400}


def run(words: Sequence[str]) -> Exit:
    """Set a threshold, print its promise, and write it with a picture and a page."""
    options = _parser().parse_args(list(words) or ["--help"])
    shared = ("delta", "rule", "recall", "precision", "abstain", "contamination", "randomized", "small")
    given = {name: getattr(options, name) for name in shared}
    rho = _bound(options)
    source = ScoreFile(options)
    source.require(score=options.score, label=options.label, by=options.by, weights=options.weights)
    # some results hold all scores, or take all ranks
    source.at_once |= options.keep_scores or options.contamination is not None
    with TemporaryFile() as file:
        try:
            random = np.random.RandomState(options.seed)
            asked = Asked(rho, weighted=options.weights is not None, **given)
            parts, known = source.parts(options, file, random)
            found = calibrate_parts(parts, asked, random=random, keep_scores=options.keep_scores)
        except ValueError as error:
            raise RequestError(str(error)) from error
        found = described(found, **known._asdict(), score=f"column {options.score}, larger for positives")
        columns = {"score": options.score, "label": options.label, **known._asdict(), "by": options.by}
        if isinstance(found, GroupThresholds):
            members = found.members().items()
            samples = {name: Sample(found.groups[of[0]], united(parts[one] for one in of)) for name, of in members}
        else:
            samples = {None: Sample(found, parts[None])}
        _conclude(found, samples, columns, options.output, source.note)
    return Exit.OK


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "npbench threshold",
        description="Set a threshold for scores, so that the false-alarm rate of new samples stays below a bound. "
        "The file holds scores of samples that the model has not seen.",
        epilog="Exit code: 0, or 2 if the request is wrong or the negatives are too few.",
    )
    score_files.add_options(parser, score="score", label="label")
    parser.add_argument("--by", metavar="COLUMN", help=score_files.BY)
    parser.add_argument("--rho", help='bound on the false-alarm rate (default: 0.05), or "none" for a recall alone')
    parser.add_argument("--budget", metavar="TEXT", help='affordable false alarms, as in "5 per day"; needs --rate')
    parser.add_argument("--rate", metavar="TEXT", help='expected negatives, as in "2000 per day"')
    parser.add_argument("--delta", type=float, default=0.05, help="probability of a broken promise (default: 0.05)")
    parser.add_argument("--recall", type=float, help="least recall to promise, too")
    parser.add_argument("--precision", type=float, help="least precision to promise, too")
    promises = ", ".join(f"{name}: {rule.promise}" for name, rule in RULES.items())
    parser.add_argument("--rule", choices=tuple(RULES), default="umbrella", help=f"rule, with its promise: {promises}")
    unsure = 'answer "don\'t know" between two thresholds, so that rho and recall are both kept'
    parser.add_argument("--abstain", action="store_true", help=unsure)
    shares = "where labels are wrong: at most M0 of those labelled negative and at least M1 of the others are negative"
    parser.add_argument("--contamination", nargs=2, type=float, metavar=("M0", "M1"), help=shares)
    ratios = "density ratios of future negatives, divided by the largest that can occur"
    parser.add_argument("--weights", metavar="COLUMN", help=ratios)
    parser.add_argument("--randomized", action="store_true", help="toss a coin where it saves misses")
    parser.add_argument("--seed", type=int, default=0, help="seed of the coin and the weights (default: 0)")
    parser.add_argument("--small", choices=("refuse", "pool"), default="refuse", help="groups of too few negatives")
    parser.add_argument("--keep-scores", action="store_true", help="keep the scores of negatives (default: quantiles)")
    parser.add_argument("--output", type=Path, default=Path("threshold"), metavar="FOLDER", help="default: threshold")
    return parser


class Sample(NamedTuple):
    """A threshold, and the scores that it was set on."""

    threshold: Threshold
    part: Part


def _bound(options: Namespace) -> float | None:
    """Return the bound on the false-alarm rate, given as a rate or as a budget; None if there is none."""
    if options.budget is None and options.rate is None:
        if options.rho == "none":
            return None
        try:
            return 0.05 if options.rho is None else float(options.rho)
        except ValueError as error:
            raise RequestError(f'--rho {options.rho}: expected a number, as in 0.01, or "none".') from error
    if options.rho is not None:
        raise RequestError("--rho and --budget both bound the false alarms: leave out one of them.")
    if options.budget is None or options.rate is None:
        raise RequestError('--budget and --rate belong together, as in --budget "5 per day" --rate "2000 per day".')
    budget, rate = per_second(options.budget), per_second(options.rate)
    rho = budget / rate if rate else math.inf
    if not 0 < rho < 1:
        raise RequestError(f"The budget {options.budget} at the rate {options.rate} is a bound of {rho:g}, not a rate.")
    return rho


def per_second(text: str) -> float:
    """Return a number per time, such as "5 per day", per second."""
    # A comma stands between groups of three digits: elsewhere it may be meant as a decimal point.
    number = r"(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d+)?(?:e\d+)?"
    found = re.fullmatch(rf"\s*(?=[\d.])({number})\s*(?:per|/|a|an)\s*([a-z]+?)s?\s*", text.lower())
    if found is None or found[2] not in SECONDS:
        expected = f"a number per {', '.join(SECONDS)}, as in '0.5 per day' or '2,000 per day'"
        raise RequestError(f"{text!r} is not {expected}.")
    return float(found[1].replace(",", "").replace("_", "")) / SECONDS[found[2]]


def _conclude(
    found: Threshold | GroupThresholds, samples: Mapping[Any, Sample], names: Mapping[str, Any], output: Path, note: str
) -> None:
    """Write the result and print it; samples are by group, or under None."""
    shown = dict(islice(samples.items(), score_files.MAX_GROUPS))
    abstains = any(one.lower is not None for one, _ in samples.values())
    plans = [_plan(name, sample) for name, sample in shown.items()]
    sheets = [_thresholds(samples), *([_unsure(samples)] if abstains else []), *plans]
    has_positives = any(len(part.positives) for _, part in shown.values())
    score_files.conclude(
        output,
        "threshold",
        title="A threshold with a bound on false alarms",
        text=found.promise,
        stored={**found.to_dict(), "columns": dict(names)},
        sheets=sheets,
        pictures={"np_roc.png": _drawn(shown)} if has_positives else {},
        note=note,
    )


def _thresholds(samples: Mapping[Any, Sample]) -> Sheet:
    columns = ["threshold", "negatives", "needed", "false alarms", "positives", "misses", "95 % limits"]
    rows: list[Row] = []
    for name, (one, _) in samples.items():
        counts = [one.n_negatives, one.n_needed, one.false_alarms, one.n_positives]
        group = [] if name is None else [str(name)]
        # misses are the positives up to the lower threshold; in between, the answer is "don't know"
        lower = "" if one.lower is None else f", missed up to {one.lower:.6g}"
        rows.append([*group, f"score > {one.value:.6g}{lower}", *counts, *_rate(one.p_nd())])
    left = len(samples) - score_files.MAX_GROUPS
    notes = [f"pictures and other bounds: for the first {score_files.MAX_GROUPS} groups only"] if left > 0 else []
    return Sheet("on the calibration sample", columns if None in samples else ["group", *columns], rows, notes)


def _unsure(samples: Mapping[Any, Sample]) -> Sheet:
    """Return the range of scores that are answered by "don't know", and their share of each class."""
    rows: list[Row] = []
    for name, (one, _) in samples.items():
        for of_class, share in one.unsure().items():
            group = [] if name is None else [str(name)]
            rows.append([*group, f"{one.lower:.6g} to {one.value:.6g}", of_class, *_rate(share)])
    columns = ["score", "class", "share", "95 % limits"]
    return Sheet("don't know", columns if None in samples else ["group", *columns], rows, [])


def _plan(name: Any, sample: Sample) -> Sheet:
    """Return the negatives that the rule takes for each bound, and what the bound would cost in misses."""
    one, (negatives, positives) = sample.threshold, (sample.part.negatives, sample.part.positives)
    of_group = "" if name is None else f" in {name}"
    rule = RULES[one.rule]
    rows: list[Row] = []
    for rho in sorted({*BOUNDS, one.rho or BOUNDS[0]}, reverse=True):
        needed = rule.fewest(rho, one.share)
        missed = None
        if len(positives) and len(negatives) >= needed and one.lower is None:
            asked = Asked(rho, rule=one.rule, contamination=one.contamination)
            value = bounded(negatives, positives, asked, one.share_of_promise)
            missed = clopper_pearson(int(positives.count(value)), len(positives))
        missed_at = [] if one.lower is not None else _rate(missed)
        rows.append([f"{100 * rho:.4g} %", needed, max(0, needed - len(negatives)), *missed_at])
    at = f" at {rounded_down(100 * (1 - one.share), 4):g} %" if rule.promise == "guaranteed" else ""
    title = f"other bounds{at}, {rule.promise}; you have {len(negatives)} negatives{of_group}"
    columns = ["bound", "negatives", "to collect", "misses", "95 % limits"]
    return Sheet(title, columns if one.lower is None else columns[:3], rows)


def _rate(missed: Estimate | None) -> Row:
    """Return the cells of a miss rate and its limits."""
    return [number(missed.value), interval((missed.low, missed.high))] if missed else [None, None]


def _drawn(samples: Mapping[Any, Sample]) -> Figure:
    """Return the NP-ROC bands of samples with positives."""
    from npbench.thresholding.display import NPRocDisplay

    drawable = {name: sample for name, sample in samples.items() if len(sample.part.positives)}
    with own_style():
        figure = blank(6, 4)
        axes = figure.subplots()
        for place, (name, (one, part)) in enumerate(drawable.items()):
            curve = np_roc(part.negatives, part.positives, one.share)
            shown = NPRocDisplay(curve=curve, name=score_files.charted(name))
            shown.plot(axes, rho=None if place else one.rho)
    return figure
