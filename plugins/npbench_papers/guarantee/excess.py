"""Share of thresholds that exceed the bound on false alarms, by the number of negatives used to set them.

Records are of the solver ``scorer`` with ``protocol=cv``. Each repeat has its own training part, and a test part so
large that the rate on it is practically the true rate.
"""

import json
import math
from collections.abc import Sequence
from statistics import fmean

import polars as pl

from npbench.numerics.binomial_limits import rate_limits
from npbench.numerics.thresholds import RULES
from npbench.report.chart import Chart, Panel, Series
from npbench.report.sheet import Row, Sheet, interval, number, out_of, spread
from npbench.report.stats.paired import kept
from npbench_papers.records import Printed, printed_for

NOTES = [
    "By formula: the probability for scores without ties; there is no formula for a majority. Bound: whether the share "
    "is at most delta. Verdict: agrees if the limits of the share contain the formula's value or, without a formula, a "
    "share of at most delta."
]
CASE = ["dataset", "rho", "delta", "left_out", "rule"]
COLUMNS = ["n", "threshold", "above rho", "share", "95 % limits", "by formula", "P_fa", "P_nd"]


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and bound the share of repeats with P_fa > rho, for each n and threshold rule.

    Printed, by ``n`` and ``threshold``: miss rates of other methods, each in a column of its own.
    """
    shown = list(dict.fromkeys(key for row in printed for key in row if key not in ("n", "threshold")))
    groups = with_rules(records).group_by("dataset", "rho", "delta", maintain_order=True)
    sheets = []
    for (dataset, rho, delta), group in groups:
        title = f"{dataset}: how often P_fa > {rho:g}, with n negatives left out; delta = {delta:g}"
        rows = [_row(same, printed, shown) for same in group.partition_by("left_out", "rule", maintain_order=True)]
        sheets.append(Sheet(title, [*COLUMNS, *shown, "bound", "verdict"], rows, NOTES))
    return sheets


def charts(records: pl.DataFrame, printed: Printed) -> list[Chart]:
    """Return the share of repeats with P_fa > rho, and the mean of P_nd, against n: a row for each data set."""
    groups = with_rules(records).group_by("dataset", "rho", "delta", maintain_order=True)
    several = records["dataset"].n_unique() > 1
    rows = [
        _panels(f"bound on false alarms: {rho:g}{f', {dataset}' if several else ''}", delta, group)
        for (dataset, rho, delta), group in groups
    ]
    notes = ["Bars: exact 95 % limits of the share."]
    return [Chart("", "How often thresholds exceed the bound", rows, notes)] if rows else []


def with_rules(records: pl.DataFrame) -> pl.DataFrame:
    """Return the successful records in order, with the columns ``delta``, ``left_out`` and ``rule``.

    ``left_out`` is the number of negatives left out of each fit.
    """
    good = records.filter(status="ok")
    settings = []
    for params, protocol, n, n_positive in good.select("params", "protocol_params", "n_samples", "n_positive").rows():
        one, test_size = json.loads(params), json.loads(protocol)["test_size"]
        left_out = math.ceil(one["calibration_size"] * round((n - n_positive) * (1 - test_size)))
        rule = one["threshold"] + (f", {one['n_splits']} splits" if one["n_splits"] > 1 else "")
        settings.append((float(one["delta"]), left_out, rule))
    columns = {"delta": pl.Float64, "left_out": pl.Int64, "rule": pl.String}
    return good.hstack(pl.DataFrame(settings, columns, orient="row")).sort(*CASE, "repeat")


def _row(same: pl.DataFrame, printed: Printed, shown: Sequence[str]) -> Row:
    n, rule, rho, delta = (same[name][0] for name in ("left_out", "rule", "rho", "delta"))
    above, low, high = _share(same)
    exact = RULES["umbrella"].level(n, RULES[rule].accepted(n, rho, delta), rho) if rule in RULES else None
    theirs = printed_for(printed, n=n, threshold=rule)
    shares = [out_of(above, len(same)), number(above / len(same)), interval((low, high)), number(exact)]
    rates = [spread(same["p_fa"].to_list()), spread(same["p_nd"].to_list())]
    papers = [number(theirs.get(name)) for name in shown]
    word = "agrees" if (low <= delta if exact is None else low <= exact <= high) else "differs"
    return [number(n, "d"), rule, *shares, *rates, *papers, kept(above / len(same), low, delta), word]


def _share(same: pl.DataFrame) -> tuple[int, float, float]:
    above = int((same["p_fa"] > same["rho"]).sum())
    return above, *rate_limits(above, len(same))


def _panels(title: str, delta: float, group: pl.DataFrame) -> list[Panel]:
    shares, misses = [], []
    for (rule,), of_rule in group.group_by("rule", maintain_order=True):
        parts = of_rule.partition_by("left_out", maintain_order=True)
        n = [part["left_out"][0] for part in parts]
        above, low, high = zip(*map(_share, parts), strict=True)
        share = [count / len(part) for count, part in zip(above, parts, strict=True)]
        shares.append(Series(str(rule), n, share, low, high))
        misses.append(Series(str(rule), n, [fmean(part["p_nd"]) for part in parts]))
    x_title = "negatives that set the threshold"
    return [
        Panel(title, x_title, "share of repeats above the bound", shares, x_log=True, level=("allowed share", delta)),
        Panel(title, x_title, "share of positives missed", misses, x_log=True),
    ]
