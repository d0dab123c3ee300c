"""Errors, surrogate risks and accuracies at each iteration of a fit: Figures 5 to 10 of Barlaud et al. (2015).

Records need the trace of an estimator with stages, kept with ``execution.trace=true``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.sheet import MISSING, Row, Sheet, number
from npbench_papers.axes import SMALL, Axes, Figure, tidy, traced
from npbench_papers.records import Printed, is_stand_in, with_traces
from npbench_papers.verdicts import claim, explained

DATA_PARTS = {"train": "training", "test": "test"}
RISKS = {"p_fa": "type I, 0/1", "risk_fa": "type I, surrogate", "p_nd": "type II, 0/1", "risk_nd": "type II, surrogate"}
ACCURACIES = {"accuracy": "global accuracy", "balanced_accuracy": "mean accuracy"}
MEASURED = {**RISKS, **ACCURACIES}
COLUMNS = [f"{part}_{name}" for part in DATA_PARTS for name in MEASURED]
BOUND_TOLERANCE = 1e-6
NEAR_ZERO = 0.01  # largest type I error that counts as "close to zero" in the paper's words
VERDICT_NOTE = (
    "The paper: a type I risk close to zero, and its surrogate below rho, on both parts. Agrees: an error of at most "
    f"{NEAR_ZERO:g} and the surrogate at most rho; in direction: the error at most rho; differs: above it, or every "
    "sample rejected."
)
# By the parameters accelerate and step of the solver splitting.
ALGORITHMS = {
    ("none", "frobenius"): "algorithm (37) as printed",
    ("none", None): "algorithm (37) with longer steps",
    ("nesterov", None): "with momentum",
    ("newton", None): "by Newton's method",
}
FEATURES = {"none": "features uncentred", "standardize": "features standardised"}

LOOKS = {
    "p_fa": (VERMILION, "-"),
    "risk_fa": (VERMILION, "--"),
    "p_nd": (BLUE, "-"),
    "risk_nd": (BLUE, "--"),
    "accuracy": ("black", "-"),
    "balanced_accuracy": ("0.5", "-"),
}
ROW_SIZE = (9.0, 3.1)  # inches


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each record of the problem np its errors, risks and accuracies after the last iteration.

    Printed, by ``dataset``: ``stand_in``, whether the data are not the paper's.
    """
    return [_sheet(record, course, printed) for record, course in with_traces(records, COLUMNS)]


def plot(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw the risks on the training and on the test part, and both accuracies: a row for each record with a trace."""
    return traced(records, COLUMNS, _panels, ROW_SIZE, 3)


def _panels(row: list[Axes], record: Mapping[str, Any], course: pl.DataFrame) -> None:
    for part, axes in zip(DATA_PARTS, row, strict=False):
        _curves(axes, course, [part], RISKS)
        axes.axhline(record["rho"], color="black", linestyle=":", linewidth=1, label=r"bound $\rho$")
        axes.set_title(f"{record['dataset']}: risks, {DATA_PARTS[part]} part\n{algorithm(record)}", size=SMALL)
    _curves(row[2], course, list(DATA_PARTS), ACCURACIES)
    row[2].set_title(f"{record['dataset']}: accuracies", size=SMALL)
    for axes in row[::2]:
        axes.legend(fontsize=SMALL - 1, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)


def title(record: Mapping[str, Any]) -> str:
    """Return the title of a record's table."""
    return f"{record['dataset']}, rho={record['rho']:g}, repeat {record['repeat']}, {algorithm(record)}"


def _sheet(record: Mapping[str, Any], course: pl.DataFrame, printed: Printed) -> Sheet:
    if course.is_empty():
        return Sheet(title(record), ["part", "measured"], [[name, MISSING] for name in DATA_PARTS.values()])
    stand_in = is_stand_in(printed, record["dataset"])
    last = course.row(-1, named=True)
    rows: list[Row] = []
    for part, name in DATA_PARTS.items():
        shown = [number(last[f"{part}_{one}"], ".4f") for one in MEASURED]
        rows.append([name, *shown, *_verdict(last, part, record["rho"], stand_in)])
    excess = f"On the training part the surrogate type I risk minus rho is {last['train_risk_fa'] - record['rho']:.1e}."
    return Sheet(
        f"{title(record)}, after {last['step']} iterations, {record['solver_status']}",
        ["part", *MEASURED.values(), "type I at most rho", "verdict"],
        rows,
        [excess, *explained(VERDICT_NOTE, (row[-1] for row in rows))],
    )


def algorithm(record: Mapping[str, Any]) -> str:
    """Return the algorithm and the scaling of a record in words."""
    params = json.loads(record["params"])
    how = ALGORITHMS.get((params["accelerate"], params.get("step")), ALGORITHMS.get((params["accelerate"], None), ""))
    features = FEATURES.get(record["preprocess"], f"preprocess={record['preprocess']}")
    return f"{how or params['accelerate']}, {features}"


def _verdict(last: Mapping[str, float], part: str, rho: float, stand_in: bool) -> tuple[str, str]:
    error, risk = last[f"{part}_p_fa"], last[f"{part}_risk_fa"]
    kept = {"0/1": error <= rho, "surrogate": risk <= rho + BOUND_TOLERANCE}
    names = " and ".join(name for name, holds in kept.items() if holds) or "neither"
    learnt = last[f"{part}_p_nd"] < 1  # rejecting every sample keeps any bound
    near_zero = all(kept.values()) and error <= NEAR_ZERO
    return names, claim(learnt and near_zero, nearly=learnt and kept["0/1"], stand_in=stand_in)


def _curves(axes: Axes, course: pl.DataFrame, parts: Sequence[str], names: Mapping[str, str]) -> None:
    iterates = course.filter(pl.col("step") > 0)  # without the start
    for part in parts:
        for name, shown in names.items():
            colour, line = LOOKS[name]
            label = shown
            if len(parts) > 1:  # the line style then distinguishes the parts
                label, line = f"{shown}, {DATA_PARTS[part]}", "-" if part == "test" else ":"
            axes.plot(
                iterates["step"], iterates[f"{part}_{name}"], color=colour, linestyle=line, linewidth=1.3, label=label
            )
    tidy(axes, x="iteration", log="x")
