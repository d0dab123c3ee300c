"""ROC curves by intercept, by asymmetry and by both, from classifiers measured on test parts.

Figure 4, top, of Bach, Heckerman and Horvitz (2006). Records are of a solver whose stages are the points of the curves
(``svm_path`` with ``solver.stages=roc``), with ``execution.trace=true`` and the metrics p_fa and p_nd.
"""

import json
from collections.abc import Mapping

import numpy as np
import polars as pl
from sklearn.isotonic import isotonic_regression

from npbench.report.sheet import Row, Sheet, number, out_of, spread
from npbench_papers.axes import SMALL, Figure, panels
from npbench_papers.bach.asymmetry_figures import CURVES
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed

TRACE_NUMBERS = {"by intercept": 1, "by asymmetry": 0, "by both": 2}
TABLE_P_FA = np.array([0.05, 0.1, 0.2, 0.3, 0.5])
FIGURE_P_FA = np.linspace(0, 1, 201)
PAIRS = [("by asymmetry", "by intercept"), ("by both", "by asymmetry"), ("by both", "by intercept")]
PAIRS += [("by asymmetry", "its hull")]
PANEL_WIDTH = 3.5  # inches, a column of a paper


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return the miss rates of each curve at some false-alarm rates: mean and standard deviation over the splits."""
    sheets = []
    for (dataset,), group in records.group_by("dataset", maintain_order=True):
        curves = averaged(group, TABLE_P_FA)
        rows: list[Row] = [[kind, *(spread(column.tolist()) for column in found.T)] for kind, found in curves.items()]
        n_splits = len(curves["by both"])
        title = f"{dataset}: P_nd at the P_fa of the column, on test parts; {n_splits} of {len(group)} splits"
        sheets.append(Sheet(title, ["curve", *(f"{rate:g}" for rate in TABLE_P_FA)], rows))
        sheets += [_differences(dataset, averaged(group, FIGURE_P_FA))] if n_splits else []
    return sheets


def _differences(dataset: str, curves: Mapping[str, np.ndarray]) -> Sheet:
    """Return how the mean curves, and the hull of the one by asymmetry, differ at all rates of the figure."""
    means = {kind: found.mean(axis=0) for kind, found in curves.items()}
    varied = means["by asymmetry"]
    # slopes of the largest convex function below a curve are the isotonic regression of its own
    means["its hull"] = varied[0] + np.append(0, np.cumsum(isotonic_regression(np.diff(varied))))
    rows: list[Row] = []
    for pair in PAIRS:
        less = means[pair[0]] - means[pair[1]]
        counts = (out_of(int(np.sum(side)), len(less)) for side in (less < -1e-9, less > 1e-9))
        rows.append([" - ".join(pair), number(less.min(), "z.3f"), number(less.max(), "z.3f"), *counts])
    title = f"{dataset}: differences of mean P_nd at {len(FIGURE_P_FA)} P_fa from 0 to 1"
    return Sheet(title, ["curves", "smallest", "largest", "below 0 at", "above 0 at"], rows)


def figure(records: pl.DataFrame, printed: Printed) -> Figure:
    """Draw the mean curves of each data set, a panel each."""
    groups = records.partition_by("dataset", maintain_order=True, as_dict=True)
    drawing, (row,) = panels(1, len(groups), (PANEL_WIDTH, PANEL_WIDTH))
    for axes, ((dataset,), group) in zip(row, groups.items(), strict=False):
        curves = averaged(group, FIGURE_P_FA)
        drawn = {kind: 1 - found.mean(axis=0) for kind, found in curves.items() if len(found)}
        for kind, detected in drawn.items():
            axes.plot(FIGURE_P_FA, detected, label=kind, **CURVES[kind])
        if drawn:
            axes.legend(fontsize=SMALL, loc="lower right")
        axes.set(aspect="equal", xlim=(-0.01, 1), ylim=(0, 1.01), xlabel="$P_{fa}$", ylabel="$1 - P_{nd}$")
        axes.set_title(f"{dataset}, mean of {len(curves['by both'])} splits", size=SMALL)
        axes.tick_params(labelsize=SMALL)
    return drawing


def averaged(records: pl.DataFrame, at: np.ndarray) -> dict[str, np.ndarray]:
    """Return the miss rates of each curve at false-alarm rates, of shape (n_splits, len(at)), where there is a trace.

    A curve is straight between its points, and to the trivial ones (0, 1) and (1, 0): a random choice between two
    neighbours attains these rates. Of several points with one false-alarm rate, the one with the fewest misses counts.
    """
    traces = [json.loads(trace) for trace in records.filter(status="ok")["trace"].drop_nulls()]
    columns = [[one["kind"], one["test_p_fa"], one["test_p_nd"]] for one in traces if one.get("test_p_fa")]
    usable = [np.array(one, dtype=float) for one in columns]
    found: dict[str, np.ndarray] = {}
    for kind, code in TRACE_NUMBERS.items():
        curves = [_interpolated(p_fa[kinds == code], p_nd[kinds == code], at) for kinds, p_fa, p_nd in usable]
        found[kind] = np.array(curves).reshape(len(usable), len(at))
    return found


def _interpolated(p_fa: np.ndarray, p_nd: np.ndarray, at: np.ndarray) -> np.ndarray:
    order = np.lexsort((np.append(p_nd, [1, 0]), np.append(p_fa, [0, 1])))
    alarms, misses = np.append(p_fa, [0, 1])[order], np.append(p_nd, [1, 0])[order]
    first = np.append(True, np.diff(alarms) > 0)
    return np.interp(at, alarms[first], misses[first])
