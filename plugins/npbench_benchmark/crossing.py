"""Scorers crossed with thresholds, so that a difference between two methods can be traced to either."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from npbench.report.sheet import MISSING, Cell, Row, Sheet, ends, number
from npbench_benchmark.leaderboard import table

# What the names of methods, as typed, say about their thresholds.
OF_THRESHOLD = re.compile(
    r"(?:[ ,_]+(?:umbrella|half|aligned|average|measured|oob|folds|empirical))+$"
    r"|[ ,]+(?:threshold|calibration_size|cv|n_splits|randomized)=\S+"
)
OWN, UMBRELLA, HALF = "own", "umbrella", 0.5
NOTE = (
    "Misses, and the share of test parts above rho. Half, aligned: the umbrella threshold on half of the negatives, or "
    "on those that the rule makes use of. All negatives: on scores out of fold or out of bag. Own: the solver's. Last "
    "column: mean difference of misses from the first scorer at the same thresholds. Last row: from the first "
    "threshold of the same scorers. Both with 95 % limits over data sets (Student's t)."
)


def crossing(text: str, results: pl.DataFrame) -> Iterator[Sheet]:
    """Yield scorers by thresholds at one setting, over the data sets that all of them have, if there are several."""
    params = results.group_by("label", maintain_order=True).agg(pl.first("params"))
    labels = {place: label for label, place in places(dict(params.iter_rows())).items()}
    if not labels:
        return
    datasets, misses = table(results, list(labels.values()), "p_nd")
    complete = np.isfinite(misses).all(axis=1)
    shared = [name for name, is_shared in zip(datasets, complete, strict=True) if is_shared]
    shares = results.filter(pl.col("dataset").is_in(shared)).group_by("label").agg(pl.sum("above") / pl.sum("n_jobs"))
    above = dict(shares.iter_rows())
    scorers, thresholds = (_by_number([place[axis] for place in labels]) for axis in (0, 1))
    values = np.full((len(scorers), len(thresholds), len(shared)), np.nan)
    for column, (scorer, threshold) in enumerate(labels):
        values[scorers.index(scorer), thresholds.index(threshold)] = misses[complete, column]
    rows: list[Row] = []
    for scorer, cells, effect in zip(scorers, values, effects(values, 0), strict=True):
        rates = [above.get(labels.get((scorer, threshold), "")) for threshold in thresholds]
        pairs = zip(cells.mean(axis=1).tolist(), rates, strict=True)
        rows.append([scorer, *(one for mean, rate in pairs for one in (_known(mean), number(rate))), effect])
    last = [cell for effect in effects(values, 1) for cell in (effect, MISSING)]
    rows.append([f"from {thresholds[0]}", *last, MISSING])
    heads = [head for threshold in thresholds for head in (threshold, f"{threshold}: above")]
    title = f"{text}: scorers by thresholds, {len(shared)} data sets"
    yield Sheet(title, ["scorer", *heads, f"from {scorers[0]}"], rows, [NOTE], f"{text} crossed", detail=True)


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
    ('average, all negatives', 'own')
    """
    if not {"estimator", "threshold"} <= params.keys():
        return OWN
    size = params.get("calibration_size", HALF)
    held_out = "half" if size == HALF else str(size)
    rule = "" if params["threshold"] in (UMBRELLA, "auto") else params["threshold"]
    if params.get("cv") is not None:
        held_out = "all negatives"
    elif rule and size == HALF:
        held_out = ""
    splits = params.get("n_splits", 1)
    words = [rule, held_out, f"{splits} splits" * (splits > 1), "randomized" * bool(params.get("randomized"))]
    return ", ".join(filter(None, words))


def _by_number(names: list[str]) -> list[str]:
    """Return each name once, the most frequent first."""
    return [name for name, _ in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))]


def effects(values: np.ndarray, axis: int) -> list[Cell]:
    """Return the mean difference from the first along an axis, where both are known, with limits over data sets."""
    differences = np.ma.masked_invalid(values - values.take([0], axis=axis))
    means = differences.mean(axis=1 - axis)
    return [MISSING, *(_effect(one.compressed()) for one in means[1:])]


def _effect(differences: np.ndarray) -> Cell:
    n = len(differences)
    if n < 2:
        return MISSING
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / np.sqrt(n)
    half = float(stats.t.isf(0.025, n - 1)) * error
    limits = mean - half, mean + half
    return Cell("{:+.3f} [{:+.3f}, {:+.3f}]".format(mean, *limits), mean, further=ends(limits))


def _known(value: float) -> Cell:
    return MISSING if np.isnan(value) else number(value)
