"""Positives accepted at a bounded q-value: Table V of Gasso et al. (2011)."""

import json
from statistics import fmean

import polars as pl

from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, ends, interval, number, spread
from npbench.report.stats.paired import Limits, mean_limits
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, difference, printed_for, with_labels
from npbench_papers.verdicts import NO_VERDICT, explained, judge

GAIN_TOLERANCE = 2.0  # per cent of the positives accepted by the base


@with_claims
def table(records: pl.DataFrame, printed: Printed, *, base: str) -> list[Sheet]:
    """Return for each data set the test positives accepted at a q-value of at most q, also relative to ``base``.

    Records are of the problem qvalue, with the metric ``accepted``. Printed, by ``q``, ``solver`` and any of its fixed
    parameters: ``accepted``, a number of positives; ``stand_in``, if the data are not the paper's.
    """
    if "accepted" not in records.columns:
        records = records.with_columns(accepted=pl.lit(None, pl.Float64))
    accepted = pl.col("accepted") * pl.col("n_test_positive")
    found = with_labels(records).with_columns(n_accepted=accepted).sort("dataset", "q", "label", "repeat")
    groups = found.group_by("dataset", maintain_order=True)
    return [_sheet(str(dataset), group, base, printed) for (dataset,), group in groups]


def _sheet(dataset: str, group: pl.DataFrame, base: str, printed: Printed) -> Sheet:
    rows: list[Row] = []
    for (q,), same in group.group_by("q", maintain_order=True):
        shares = _means(same, "label")
        base_share = _means(same, "solver").get(base)
        theirs = same.filter(status="ok", solver=base).select("seed", "repeat", base="accepted")
        base_printed = number(printed_for(printed, dataset=dataset, q=q, solver=base).get("accepted")).value
        for (label,), one in same.group_by("label", maintain_order=True):
            good, solver = one.filter(status="ok"), one["solver"][0]
            about = {**json.loads(one["params"][0]), "dataset": dataset, "q": q, "solver": solver}
            known = printed_for(printed, **about)
            paper = number(known.get("accepted"), ".0f")
            paired = good.join(theirs, on=["seed", "repeat"]).drop_nulls(["accepted", "base"])
            more = (paired["accepted"] - paired["base"]).to_list()
            limits = mean_limits([100 * x / base_share for x in more]) if base_share and solver != base else None
            gain = _gain(shares.get(str(label)), base_share, limits)
            in_paper = _gain(paper.value, base_printed)
            judged, stand_in = None if solver == base else in_paper.value, bool(known.get("stand_in"))
            word = judge(gain.value, judged, GAIN_TOLERANCE, limits=limits, n=len(more), neutral=0, stand_in=stand_in)
            numbers = [spread(good["n_accepted"].drop_nulls().to_list(), ".0f"), paper]
            gains, ok = [gain, in_paper, difference(gain, in_paper, ".1f")], count(len(good), len(one))
            rows.append([number(q, "g"), str(label), *numbers, *gains, ok, word])
    title = f"{dataset}: positives of the test part accepted at a q-value of at most q; mean±standard deviation"
    columns = ["q", "solver", "number", "paper", f"over {base}", "in the paper", "difference", "ok", "verdict"]
    words = {str(row[-1]) for row in rows}
    margin = f"The verdict is on the gain over {base}, to {GAIN_TOLERANCE:g} points." if words - NO_VERDICT else ""
    notes = ["In brackets: 95 % limits over splits.", *explained(margin, words)]
    return Sheet(title, columns, rows, notes)


def _means(same: pl.DataFrame, by: str) -> dict[str, float]:
    good = same.filter(status="ok").drop_nulls("accepted")
    return {str(name): fmean(group["accepted"]) for (name,), group in good.group_by(by)}


def _gain(value: float | None, base: float | None, limits: Limits | None = None) -> Cell:
    if value is None or not base:
        return MISSING
    per_cent = 100 * (value / base - 1)
    text = f"{per_cent:+.1f} %" + (f" {interval(limits, '.1f')}" if limits else "")
    return Cell(text, per_cent, further=ends(limits) if limits else ())
