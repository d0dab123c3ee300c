"""Table of the benchmark in the order of time, beside parts of the same sizes that are drawn at random."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from npbench.records.fields import METHOD
from npbench.report.sheet import MISSING, Row, Sheet, number
from npbench_benchmark.leaderboard import Setting, Standing, settings

PAIRED = ("above rho", "P_fa/rho", "P_nd", "verdict")
COLUMNS = ["data set", "method", "promise", *(column for name in PAIRED for column in (name, f"{name}, shuffled"))]
NOTE = (
    "Shuffled: training and test parts of the same sizes, drawn at random. Above rho: share of test parts with P_fa > "
    "rho. P_fa and P_nd: means over cuts. Verdict: as in the benchmark; promises are made for rows drawn at random."
)
COST = (
    "{} of {} methods with a promise exceed it in the order of time, and {} shuffled. Time adds {:+.0f} % of rho to "
    "their P_fa, and {:+.1f} points to their misses."
)

Pair = tuple[Standing, Standing]  # a method in the order of time, and shuffled


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return for each setting how methods do in the order of time and shuffled, over all data sets and on each."""
    return [_sheet(f"{setting.text}: in the order of time", setting.records) for setting in settings(records)]


def _sheet(title: str, records: pl.DataFrame) -> Sheet:
    kinds = _kinds(records)
    names, rho = sorted(kinds[0]["dataset"].unique()), records["rho"][0]
    found = {"all": _pairs(*kinds), **{name: _pairs(*(part.filter(dataset=name) for part in kinds)) for name in names}}
    rows = [_row(name, pair, rho) for name, pairs in found.items() for pair in pairs]
    promised = [pair for pair in found["all"] if pair[0].promise != "none"]
    return Sheet(title, COLUMNS, rows, [*([cost(promised, rho)] if promised else []), NOTE], title.replace(":", ""))


def _kinds(records: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the records in the order of time and the shuffled ones, of jobs that are there in both ways."""
    is_shuffled = pl.Series(['"shuffled":true' in params for params in records["protocol_params"]], dtype=pl.Boolean)
    one, other = records.filter(~is_shuffled), records.filter(is_shuffled)
    job = [*METHOD, "dataset", "repeat"]
    return one.join(other, job, how="semi", nulls_equal=True), other.join(one, job, how="semi", nulls_equal=True)


def _pairs(*kinds: pl.DataFrame) -> list[Pair]:
    """Return each method in both ways."""
    leagues = (Setting("", part).leagues for part in kinds if len(part))
    every = [{one.label: one for league in found for one in league.methods} for found in leagues]
    return [(one, every[1][label]) for label, one in every[0].items()] if every else []


def _row(dataset: str, pair: Pair, rho: float) -> Row:
    each = [
        (number(one.share), number((one.p_fa or 0) / rho), number(one.p_nd), one.verdict or MISSING) for one in pair
    ]
    return [dataset, pair[0].label, pair[0].promise, *(cell for cells in zip(*each, strict=True) for cell in cells)]


def cost(pairs: Sequence[Pair], rho: float) -> str:
    """Return what the order of time costs these methods, in words."""
    in_time, shuffled = ([one.verdict for one in side].count("exceeded") for side in zip(*pairs, strict=True))
    alarms, misses = ([getattr(a, rate) - getattr(b, rate) for a, b in pairs] for rate in ("p_fa", "p_nd"))
    return COST.format(
        in_time, len(pairs), shuffled, 100 * sum(alarms) / len(pairs) / rho, 100 * sum(misses) / len(pairs)
    )
