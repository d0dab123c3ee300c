"""Scorers crossed with thresholds, so that a difference between two methods can be traced to either."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from npbench.report.sheet import MISSING, Cell, Row, Sheet, estimate, number
from npbench.report.stats.paired import mean_limits
from npbench_benchmark.leaderboard import table

# Words in the names of methods, as typed, about their thresholds and about the search that serves all thresholds.
OF_THRESHOLD = re.compile(
    r"(?:[ ,_]+(?:umbrella|half|aligned|average|measured|oob|folds|empirical|ranked))+(?=$|[ ,]+\w+=)"
    r"|[ ,]+(?:threshold|calibration_size|cv|n_splits|randomized)=\S+"
)
OWN, UMBRELLA, HALF = "the solver's", "umbrella", 0.5
NOTE = (
    "Misses, and the share of test parts above rho. Half, aligned: the umbrella threshold on half of the negatives, or "
    "on those that the rule makes use of. Average, empirical: thresholds that keep rho on average, or only on these "
    "negatives. All negatives: on scores out of fold or out of bag. Scorers with the most thresholds stand first, by "
    "misses under the first threshold. Last column: mean difference of misses from the first scorer at the same "
    "thresholds, with 95 % limits over data sets (Student's t)."
)
NOTE_OF_THRESHOLDS = (
    "Mean difference of misses from the first threshold with the same scorers, with 95 % limits over data sets "
    "(Student's t)."
)


def crossing(text: str, results: pl.DataFrame) -> Iterator[Sheet]:
    """Yield scorers by thresholds at one setting, over the data sets that all of them have, if there are several."""
    params = results.group_by("label", maintain_order=True).agg(pl.first("params"))
    if not (labels := {place: label for label, place in places(dict(params.iter_rows())).items()}):
        return
    datasets, misses = table(results, list(labels.values()), "p_nd")
    complete = np.isfinite(misses).all(axis=1)
    if not (shared := [name for name, is_shared in zip(datasets, complete, strict=True) if is_shared]):
        return
    shares = results.filter(pl.col("dataset").is_in(shared)).group_by("label").agg(pl.sum("above") / pl.sum("n_jobs"))
    above = dict(shares.iter_rows())
    of_scorers, of_thresholds = (Counter(names) for names in zip(*labels, strict=True))
    thresholds = [name for name, _ in of_thresholds.most_common()]
    thresholds.sort(key="half".__ne__)  # others are compared with it
    first = dict(zip(labels, misses[complete].mean(axis=0), strict=True))
    scorers = sorted(of_scorers, key=lambda name: (-of_scorers[name], first.get((name, thresholds[0]), np.inf)))
    values = np.full((len(scorers), len(thresholds), len(shared)), np.nan)
    for column, (scorer, threshold) in enumerate(labels):
        values[scorers.index(scorer), thresholds.index(threshold)] = misses[complete, column]
    rows: list[Row] = []
    for scorer, cells, effect in zip(scorers, values, effects(values, 0), strict=True):
        rates = [above.get(labels.get((scorer, threshold), "")) for threshold in thresholds]
        pairs = zip(cells.mean(axis=1).tolist(), rates, strict=True)
        known = [(MISSING, MISSING) if rate is None else (number(mean), number(rate)) for mean, rate in pairs]
        rows.append([scorer, *(cell for pair in known for cell in pair), effect])
    heads = ["scorer", *(head for one in thresholds for head in (one, f"{one}: above")), f"from {scorers[0]}"]
    title = f"{text}: scorers by thresholds, {len(shared)} data sets"
    yield Sheet(title, heads, rows, [NOTE], f"{text} crossed", detail=True)
    against = [*map(list, zip(thresholds, effects(values, 1), strict=True))][1:]
    heads, note = ["threshold", f"from {thresholds[0]}"], [NOTE_OF_THRESHOLDS]
    yield Sheet(f"{text}: thresholds of the same scorers", heads, against, note, f"{text} thresholds", detail=True)


def places(params: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the scorer and the threshold of each method that shares either; ``params`` are JSON, by label."""
    found: dict[str, tuple[str, str]] = {}
    for label, text in params.items():
        place = OF_THRESHOLD.sub("", label), threshold_of(json.loads(text))
        found[label] = (label, place[1]) if place in found.values() else place
    scorers, thresholds = (Counter(place[axis] for place in found.values()) for axis in (0, 1))
    return {
        label: (scorer, kind)
        for label, (scorer, kind) in found.items()
        if scorers[scorer] > 1 or (kind != OWN and thresholds[kind] > 1)
    }


def threshold_of(params: Mapping[str, Any]) -> str:
    """Return where a method with these parameters takes its threshold from, in words.

    >>> threshold_of({"estimator": "sgd", "threshold": "umbrella", "calibration_size": "aligned"})
    'aligned'
    >>> threshold_of({"estimator": "sgd", "threshold": "average", "cv": 4}), threshold_of({"C": 1})
    ('average, all negatives', "the solver's")
    """
    if not {"estimator", "threshold"} <= params.keys():
        return OWN
    rule = "" if params["threshold"] in (UMBRELLA, "auto") else str(params["threshold"])
    size, splits = params.get("calibration_size", HALF), params.get("n_splits", 1)
    held_out = "half" * (not rule) if size == HALF else str(size)
    negatives = held_out if params.get("cv") is None else "all negatives"
    words = [rule, negatives, f"{splits} splits" * (splits != 1), "randomized" * bool(params.get("randomized"))]
    return ", ".join(filter(None, words))


def effects(values: np.ndarray, axis: int) -> list[Cell]:
    """Return the mean difference from the first along an axis, where both are known, with limits over data sets."""
    differences = np.ma.masked_invalid(values - values.take([0], axis=axis)).mean(axis=1 - axis)
    found = [(one, mean_limits(one)) for one in (row.compressed() for row in differences[1:])]
    return [MISSING, *(estimate(float(one.mean()), ends, "+.3f") if ends else MISSING for one, ends in found)]
