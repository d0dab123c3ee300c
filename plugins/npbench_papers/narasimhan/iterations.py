"""Iterations of cutting planes against the range of false-positive rates and C.

Figures 8 and 9 of Narasimhan and Agarwal (2016): ranges [0, b] against b, and ranges that begin later against their
length. Records fix C, and their method if a solver has several.
"""

from collections.abc import Mapping

import polars as pl

from npbench.records.fields import COLLAPSED
from npbench.report.chart import Chart, Panel, Series
from npbench.report.sheet import Row, Sheet, number
from npbench_papers.claims import with_claims
from npbench_papers.narasimhan.partial_areas import fpr_range
from npbench_papers.records import Printed

PANELS_PER_ROW = 2

Means = Mapping[tuple[float, float], float | None]  # by length of the range, and C or beginning


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return for each data set and method the mean iterations by length of the range and by C, then by its beginning.

    Records without a fixed parameter ``C`` are left out.
    """
    return [_sheet(group, line) for group, line in _groups(records)]


def charts(records: pl.DataFrame, printed: Printed) -> list[Chart]:
    """Return the mean iterations of :func:`table` against the length of the range, a panel for each sheet."""
    panels = [_panel(group, line) for group, line in _groups(records)]
    rows = [panels[start : start + PANELS_PER_ROW] for start in range(0, len(panels), PANELS_PER_ROW)]
    return [Chart("", "Iterations of cutting planes", rows)] if rows else []


def _groups(records: pl.DataFrame) -> list[tuple[pl.DataFrame, str]]:
    """Return the records of each sheet, and the column that identifies its lines: ``C`` or ``lo``."""
    rows = [(lo, round(hi - lo, 9)) for lo, hi in map(fpr_range, records["problem_params"])]
    ranges = pl.DataFrame(rows, {"lo": pl.Float64, "length": pl.Float64}, orient="row")
    params = pl.col("params").str.json_decode(pl.Struct({"C": pl.Float64, "method": pl.String})).struct.unnest()
    found = records.with_columns(params, *ranges).drop_nulls("C")
    found = found.sort("dataset", "solver", "method", "C", "lo", "length")
    from_zero = found.filter(lo=0).partition_by("dataset", "solver", "method", maintain_order=True)
    others = found.filter(pl.col("lo") > 0).partition_by("dataset", "solver", "method", "C", maintain_order=True)
    return [*((group, "C") for group in from_zero), *((group, "lo") for group in others)]


def _sheet(group: pl.DataFrame, line: str) -> Sheet:
    lengths, lines = (sorted(group[name].unique()) for name in ("length", line))
    means: Means = {(length, one): mean for one, length, mean in _means(group, line).iter_rows()}
    across = [_ratio(means, (length, lines[-1]), (length, lines[0])) for length in lengths]
    falls = [_ratio(means, (lengths[0], one), (lengths[-1], one)) for one in lines]
    rows: list[Row] = [
        [number(length, "g"), *(number(means.get((length, one)), ".1f") for one in lines), number(rise, ".2f")]
        for length, rise in zip(lengths, across, strict=True)
    ]
    rows.append(["shortest / longest", *(number(ratio, ".2f") for ratio in falls), ""])
    heads = [f"C={one:g}" if line == "C" else f"[{one:g}, ...]" for one in lines]
    last = "largest / smallest C" if line == "C" else "last / first beginning"
    collapsed = len(group.filter(solver_status=COLLAPSED))
    notes = [f"w = 0 is the certified optimum of {collapsed} of {len(group)} fits."] if collapsed else []
    return Sheet(_title(group, line), ["length", *heads, last], rows, notes)


def _title(group: pl.DataFrame, line: str) -> str:
    about = group.row(0, named=True)
    named = about["solver"] + (f", method={about['method']}" if about["method"] else "")
    what = "ranges [0, b] by their length b" if line == "C" else f"ranges [a, a + length], C={about['C']:g}"
    n_failed, n_capped = len(group) - len(group.filter(status="ok")), len(group.filter(solver_status="max_iter"))
    failed = f"; {n_failed} of {len(group)} fits failed" if n_failed else ""
    capped = f"; {n_capped} of {len(group)} fits ended at max_iter" if n_capped else ""
    return f"{about['dataset']}, {named}: mean iterations, {what}{failed}{capped}"


def _means(group: pl.DataFrame, line: str) -> pl.DataFrame:
    return group.filter(status="ok").group_by(line, "length").agg(pl.col("n_iter").mean()).sort(line, "length")


def _ratio(means: Means, above: tuple[float, float], below: tuple[float, float]) -> float | None:
    top, bottom = means.get(above), means.get(below)
    return top / bottom if top and bottom else None


def _panel(group: pl.DataFrame, line: str) -> Panel:
    name = "C" if line == "C" else "a"
    lines = _means(group, line).group_by(line, maintain_order=True)
    series = [Series(f"{name}={one:g}", at["length"].to_list(), at["n_iter"].to_list()) for (one,), at in lines]
    title = _title(group, line).replace(": mean iterations", "")
    return Panel(title, "length of the range", "iterations", series, x_log=True, y_log=True)
