"""Errors, surrogate risks and accuracies at each iteration of a fit: Figures 5 to 10 of Barlaud et al. (2015).

Records need the trace of an estimator with stages, kept with ``execution.trace=true``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from npbench.report.render.palette import BLUE, VERMILION
from npbench.report.sheet import MISSING, Row, Sheet, spread
from npbench.values import counted
from npbench_papers.axes import SMALL, Axes, Figure, tidy, traced
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, with_traces

DATA_PARTS = {"train": "training", "test": "test"}
RISKS = {"p_fa": "type I, 0/1", "risk_fa": "type I, surrogate", "p_nd": "type II, 0/1", "risk_nd": "type II, surrogate"}
ACCURACIES = {"accuracy": "global accuracy", "balanced_accuracy": "mean accuracy"}
MEASURED = {**RISKS, **ACCURACIES}
COLUMNS = [f"{part}_{name}" for part in DATA_PARTS for name in MEASURED]
BOUND_TOLERANCE = 1e-6
# By the parameters accelerate and step of the solver splitting.
ALGORITHMS = {
    ("none", "frobenius"): "algorithm (37)",
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
PANEL_SIZE = (3.0, 3.1)  # inches


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return the errors, risks and accuracies after the last iteration, for each data set and algorithm.

    Records are of the problem np; several samples or splits have a mean and its standard deviation.
    """
    fits: dict[str, list[tuple[dict[str, Any], pl.DataFrame]]] = {}
    for record, course in with_traces(records, COLUMNS):
        fits.setdefault(title(record), []).append((record, course))
    return [_sheet(name, found) for name, found in fits.items()]


def plot(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw the risks on both parts, and the accuracies: a row for the first fit of each table."""
    return traced(firsts(records), COLUMNS, _panels, PANEL_SIZE, 3)


def firsts(records: pl.DataFrame) -> pl.DataFrame:
    """Return the first record with a trace of each title."""
    ordered = records.sort("seed", "repeat", "dataset_params", descending=True).to_dicts()
    keys = {title(record): record["key"] for record in ordered if record["trace"]}
    return records.filter(pl.col("key").is_in([*keys.values()]))


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
    """Return the title of the table of a record."""
    return f"{record['dataset']}, rho={record['rho']:g}, {algorithm(record)}"


def _sheet(name: str, fits: Sequence[tuple[Mapping[str, Any], pl.DataFrame]]) -> Sheet:
    measured = [(record, course.row(-1, named=True)) for record, course in fits if len(course)]
    if not measured:
        return Sheet(name, ["part", "measured"], [[part, MISSING] for part in DATA_PARTS.values()])
    rho, lasts = measured[0][0]["rho"], [last for _, last in measured]
    rows: list[Row] = []
    for part, shown in DATA_PARTS.items():
        means = [spread([last[f"{part}_{one}"] for last in lasts], ".4f") for one in MEASURED]
        rows.append([shown, *means, _kept(lasts, part, rho)])
    steps = max(last["step"] for last in lasts)
    statuses = " or ".join(dict.fromkeys(str(record["solver_status"]) for record, _ in measured))
    excess = max(last["train_risk_fa"] for last in lasts) - rho
    note = f"On the training part the surrogate type I risk minus rho is {excess:.1e} at most."
    columns = ["part", *MEASURED.values(), "fits with type I at most rho"]
    described = f"{name}, {counted(len(lasts), 'fit')} of at most {steps} iterations, {statuses}"
    return Sheet(described, columns, rows, [note])


def algorithm(record: Mapping[str, Any]) -> str:
    """Return the algorithm and the scaling of a record in words."""
    params = json.loads(record["params"])
    how = ALGORITHMS.get((params["accelerate"], params.get("step")), ALGORITHMS.get((params["accelerate"], None), ""))
    features = FEATURES.get(record["preprocess"], f"preprocess={record['preprocess']}")
    return f"{how or params['accelerate']}, {features}"


def _kept(lasts: Sequence[Mapping[str, float]], part: str, rho: float) -> str:
    """Return how many fits have an error, and a surrogate risk, of at most rho."""
    error = sum(last[f"{part}_p_fa"] <= rho for last in lasts)
    surrogate = sum(last[f"{part}_risk_fa"] <= rho + BOUND_TOLERANCE for last in lasts)
    return f"0/1: {error}/{len(lasts)}, surrogate: {surrogate}/{len(lasts)}"


def _curves(axes: Axes, course: pl.DataFrame, parts: Sequence[str], names: Mapping[str, str]) -> None:
    iterates = course.filter(pl.col("step") > 0)  # without the start
    for part in parts:
        for name, shown in names.items():
            colour, line = LOOKS[name]
            label = shown
            if len(parts) > 1:  # the line style then distinguishes the parts
                label, line = f"{shown}, {DATA_PARTS[part]}", "-" if part == "test" else ":"
            x, y = iterates["step"], iterates[f"{part}_{name}"]
            axes.plot(x, y, color=colour, linestyle=line, linewidth=1.3, label=label)
    tidy(axes, x="iteration", log="x")
