"""Table of the trials of a sweeper that chooses values, and the best of them."""

from dataclasses import replace

import polars as pl

from npbench.console import write
from npbench.problem import PROBLEMS
from npbench.report.render import terminal
from npbench.report.sections import overview
from npbench_hydra.settings import VALIDATION_LOSS

MAX_TRIALS_SHOWN = 20
RATES_NOTE = "Its test rates follow; those of other trials are in the records: choosing by them would be optimistic."
METRIC_NOTE = "It is measured on the test parts, so its best value is optimistic."


def print_trials(frame: pl.DataFrame, objective: str | None, *, maximised: bool) -> pl.DataFrame:
    """Print the trials, the best first, and return the records of the best; all records if no trial ended.

    The objective is the mean of a metric over the repeats, by default the validation loss.
    """
    console, column = terminal.PipeSafeConsole(), objective or VALIDATION_LOSS
    rows = sorted(overview.rows(frame, [column]), key=lambda row: _order(row, column, maximised))
    what = f"the mean of {objective}" if objective else "the mean validation loss"
    title = f"Trials by the objective, {what}: {'larger' if maximised else 'smaller'} is better"
    notes = [f"and {len(rows) - MAX_TRIALS_SHOWN} more trials"] if len(rows) > MAX_TRIALS_SHOWN else []
    table = overview.measured(rows, PROBLEMS[frame["problem"][0]], title)
    notes += [METRIC_NOTE] if objective else []
    terminal.show_sheet(replace(table, rows=table.rows[:MAX_TRIALS_SHOWN], notes=notes), console)
    best = _best(frame, column, maximised)
    if best.is_empty():
        return frame
    (row,) = overview.rows(best, [column])
    chosen = {name: value for name, value in row.labels.items() if any(one.labels.get(name) != value for one in rows)}
    settings = "".join(f"{name}={value}, " for name, value in chosen.items())
    write(f"\nBest trial: {settings}{column} {row.values[column][0]:.6g}. {RATES_NOTE}", console, "bold")
    return best


def _order(row: overview.Row, column: str, maximised: bool) -> tuple[bool, float]:
    """Return what sorts rows: those with a value for every job first, the best of them first."""
    value = row.values.get(column, (None,))[0]
    return row.good < row.total or value is None, (value or 0.0) * (-1 if maximised else 1)


def _best(frame: pl.DataFrame, column: str, maximised: bool) -> pl.DataFrame:
    """Return the records of the setting with the best mean, among those whose jobs all have a value, or none."""
    if column not in frame.columns:
        return frame.clear()
    value = pl.col(column)
    ended = pl.all_horizontal(pl.col("status") == "ok", value.is_finite().fill_null(False))
    means = frame.group_by(overview.SETTING, maintain_order=True).agg(value.mean(), ended=ended.all()).filter("ended")
    first = means.sort(column, descending=maximised, maintain_order=True).head(1)
    return frame.join(first, on=overview.SETTING, how="semi", nulls_equal=True, maintain_order="left")
