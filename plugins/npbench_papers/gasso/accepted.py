"""How many positives solvers accept at a q-value: Table V of Gasso et al. (2011)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from npbench.report.select.labels import labels
from npbench.report.sheet import NONE, Sheet, difference, figure, mean_of, printed_for, spread


def table(records: pl.DataFrame, printed: Sequence[Mapping[str, Any]], *, base: str | None = None) -> list[Sheet]:
    """Return for each data set the positives of the test part accepted at a q-value of at most q.

    Parameters
    ----------
    records : DataFrame
        For the problem qvalue, with the metric ``accepted``.
    printed : sequence of mapping
        By ``q``, ``solver`` and any of its fixed parameters, with ``accepted``, a number of positives.
    base : str, optional
        The solver to which the others are compared.
    """
    named = records.with_columns(label=pl.Series(labels(records), dtype=pl.String))
    if "accepted" not in named.columns:
        named = named.with_columns(accepted=pl.lit(None, pl.Float64))
    number = pl.col("accepted") * pl.col("n_test_positive")
    found = named.with_columns(number=number).sort("dataset", "q", "label", "repeat")
    return [
        _sheet(str(dataset), group, base, printed)
        for (dataset,), group in found.group_by("dataset", maintain_order=True)
    ]


def _sheet(dataset: str, group: pl.DataFrame, base: str | None, printed: Sequence[Mapping[str, Any]]) -> Sheet:
    rows = []
    for (q,), same in group.group_by("q", maintain_order=True):
        shares = _means(same, "label")
        bases = _means(same, "solver")
        best = max(shares.values(), default=None)
        for (label,), one in same.group_by("label", maintain_order=True):
            good, solver = one.filter(status="ok"), one["solver"][0]
            about, params = {"dataset": dataset, "q": q}, json.loads(one["params"][0])
            theirs = printed_for(printed, **{**params, **about, "solver": solver}).get("accepted")
            theirs_base = printed_for(printed, **about, solver=base).get("accepted")
            gain = _gain(shares.get(label), bases.get(base or ""))
            in_paper = _gain(mean_of(theirs), mean_of(theirs_base))
            rows.append(
                [
                    f"{q:g}",
                    label,
                    spread(good["accepted"].drop_nulls().to_list()),
                    spread(good["number"].drop_nulls().to_list(), ".0f"),
                    figure(theirs, ".0f"),
                    gain,
                    in_paper,
                    difference(gain, in_paper),
                    f"{len(good)}/{len(one)}",
                    _verdict(shares.get(label), best),
                ]
            )
    over = f"over {base}" if base else "over base"
    return Sheet(
        f"{dataset}: positives of the test part accepted at a q-value of at most q; mean±standard deviation",
        ["q", "solver", "share", "number", "paper", over, "in the paper", "difference", "ok", "verdict"],
        rows,
    )


def _means(same: pl.DataFrame, by: str) -> dict[str, float]:
    good = same.filter(status="ok").drop_nulls("accepted")
    return {str(name): fmean(group["accepted"]) for (name,), group in good.group_by(by)}


def _gain(value: float | None, base: float | None) -> str:
    return f"{100 * (value / base - 1):+.1f} %" if value is not None and base else NONE


def _verdict(share: float | None, best: float | None) -> str:
    if share is None:
        return "not measured"
    return "most" if share == best else "fewer"
