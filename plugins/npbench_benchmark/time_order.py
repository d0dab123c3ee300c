"""Tables of the benchmark in the order of time, beside parts of the same sizes that are drawn at random."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from npbench.records.fields import METHOD
from npbench.report.sheet import MISSING, Row, Sheet, estimate, number
from npbench_benchmark.leaderboard import NOISE, Setting, Standing, settings

ALL, RATES = "all", ("p_fa", "p_nd")
COSTS = ["setting", "data set", "cuts", "methods", "exceed", "exceed, shuffled", "P_fa/rho added", "P_nd added"]
PAIRED = ("above rho", "P_fa/rho", "P_nd", "verdict")
COLUMNS = ["data set", "method", "promise", *(column for name in PAIRED for column in (name, f"{name}, shuffled"))]
NOTE = (
    "Shuffled: training and test parts of the same sizes, drawn at random. Above rho: share of test parts with P_fa > "
    "rho. P_fa and P_nd: means over cuts. Verdict: as in the benchmark; promises are made for rows drawn at random."
)
COST_NOTE = (
    "Methods: those with a promise. Exceed: how many exceed rho beyond noise. Added: how much higher P_fa, as a share "
    "of rho, and misses are in the order of time, on average over methods, P_fa with 95 % limits by the noise of test "
    "parts. Cuts overlap, so the true limits are wider."
)

Pair = tuple[Standing, Standing]  # a method in the order of time, and shuffled
Pairs = Mapping[str, list[Pair]]  # of all data sets and each


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return what the order of time costs, and for each setting how methods do in this order and shuffled."""
    each = [(setting, _by_dataset(setting.records)) for setting in settings(records)]
    costs = [cells for setting, found in each for cells in _costs(setting, found)]
    found = [Sheet("what the order of time costs", COSTS, costs, [COST_NOTE])] if costs else []
    return [*found, *(_sheet(setting, pairs) for setting, pairs in each)]


def _by_dataset(records: pl.DataFrame) -> Pairs:
    """Return the pairs of all data sets and of each, from jobs that have both orders."""
    is_shuffled = pl.Series(['"shuffled":true' in params for params in records["protocol_params"]], dtype=pl.Boolean)
    orders, job = (records.filter(~is_shuffled), records.filter(is_shuffled)), [*METHOD, "dataset", "repeat"]
    kinds = [one.join(other, job, how="semi", nulls_equal=True) for one, other in (orders, orders[::-1])]
    names = sorted(kinds[0]["dataset"].unique())
    return {ALL: _pairs(*kinds), **{name: _pairs(*(part.filter(dataset=name) for part in kinds)) for name in names}}


def _pairs(*kinds: pl.DataFrame) -> list[Pair]:
    """Return each method in the order of time and shuffled."""
    leagues = (Setting("", part).leagues for part in kinds if len(part))
    every = [{one.label: one for league in found for one in league.methods} for found in leagues]
    return [(one, every[1][label]) for label, one in every[0].items()] if every else []


def _costs(setting: Setting, found: Pairs) -> list[Row]:
    """Return for each data set how many promises are exceeded in each order, and what the order of time adds."""
    rows: list[Row] = []
    for name, pairs in found.items():
        if name != ALL and (promised := [pair for pair in pairs if pair[0].promise != "none"]):
            exceed = [[one.verdict for one in side].count("exceeded") for side in zip(*promised, strict=True)]
            added = (sum(getattr(one, rate) - getattr(other, rate) for one, other in promised) for rate in RATES)
            alarms, misses = added
            # methods are tested on the same rows, so that the noise of their mean is that of one
            noise = math.fsum(NOISE * math.hypot(one.noise, other.noise) for one, other in promised)
            of_rho, off = (sum_ / len(promised) / float(setting.value) for sum_ in (alarms, noise))
            limits = None if math.isnan(off) else (of_rho - off, of_rho + off)
            cuts = max(one.n_jobs for one, _ in promised)
            counts = [number(count, "d") for count in (cuts, len(promised), *exceed)]
            points = number(misses / len(promised), "+.3f")
            rows.append([setting.text, name, *counts, estimate(of_rho, limits, "+.2f"), points])
    return rows


def _sheet(setting: Setting, found: Pairs) -> Sheet:
    rows = [_row(name, pair, float(setting.value)) for name, pairs in found.items() for pair in pairs]
    title = f"{setting.text}: in the order of time"
    return Sheet(title, COLUMNS, rows, [NOTE], title.replace(":", ""))


def _row(dataset: str, pair: Pair, rho: float) -> Row:
    each = [(number(one.share), number(one.p_fa / rho), number(one.p_nd), one.verdict or MISSING) for one in pair]
    return [dataset, pair[0].label, pair[0].promise, *(cell for cells in zip(*each, strict=True) for cell in cells)]
