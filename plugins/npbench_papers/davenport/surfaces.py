"""Validated error rates over two parameters of a search, from the traces of records.

Davenport, Baraniuk and Scott (2006), section 3.3: P_F and P_M vary smoothly over (nu_pos, nu_neg).
"""

import json
from collections.abc import Iterator

import numpy as np
import polars as pl

from npbench.report.chart import Chart, Panel, Surface
from npbench.report.escape import file_name
from npbench.report.sections.layout import paged
from npbench.report.select.traces import traces
from npbench_papers.davenport.strategies import with_strategy
from npbench_papers.records import Printed, with_labels

RATE_TITLES = {"p_fa": "P_fa", "p_nd": "P_nd"}
PLANE = {"nu_pos": "ν₊", "nu_neg": "ν₋"}
POINT = ("gamma", *PLANE)
ABOUT = ("dataset", "solver", "strategy", "rho", "seed", "repeat")
MAPS_PER_ROW = 4  # two searches
CAPTION = (
    "Rates estimated on validation parts by the search of the first repeat, at the gamma that it selected. The mark is "
    "the selected point, the line is where P_fa equals rho. Grey: not visited."
)


def surfaces(records: pl.DataFrame) -> pl.DataFrame:
    """Return every point that searches visited, in order, with the rates estimated there.

    The selected point has the prefix ``chosen_``. Records of the problem np without such a trace have no rows.
    """
    visited = traces(records, [*POINT, *RATE_TITLES, "seconds"]).drop_nulls([*POINT, *RATE_TITLES])
    about = with_strategy(records).select("key", *ABOUT, *_chosen(records))
    return visited.join(about, on="key", maintain_order="left").select(
        "key", *ABOUT, "step", *POINT, *RATE_TITLES, "seconds", pl.col("^chosen_.*$")
    )


def charts(records: pl.DataFrame, printed: Printed) -> list[Chart]:
    """Return maps of P_fa and P_nd over (nu_pos, nu_neg) at the selected gamma, for each data set and problem.

    The first of several repeats is shown.
    """
    made = []
    for (dataset, rho), group in _searches(with_labels(records)).group_by("dataset", "rho", maintain_order=True):
        maps = [panel for search in group.partition_by("key", maintain_order=True) for panel in _panels(search)]
        rows = [maps[start : start + MAPS_PER_ROW] for start in range(0, len(maps), MAPS_PER_ROW)]
        setting = f"rho={rho:g}"
        name, title = file_name("surfaces", str(dataset), setting), f"Validated rates on {dataset}, {setting}"
        made += paged(name, title, rows, [CAPTION])
    return made


def _searches(records: pl.DataFrame) -> pl.DataFrame:
    """Return the points visited at the selected gamma, by the first repeat of each label."""
    firsts = (
        records.drop_nulls("trace")
        .sort("dataset", "rho", "label", "seed", "repeat")
        .unique(["dataset", "rho", "label"], keep="first", maintain_order=True)
    )
    # A gamma fixed by name, such as "scale", is the only one of its search.
    at_choice = surfaces(firsts).filter(pl.col("gamma") == pl.col("chosen_gamma").fill_null(pl.col("gamma")))
    return at_choice.join(firsts.select("key", "label"), on="key", maintain_order="left")


def _chosen(records: pl.DataFrame) -> list[pl.Series]:
    """Return the parameters that each record's search selected or had fixed; null for a gamma fixed by name."""
    texts = records.select("params", "chosen_params").rows()
    choices = [{**json.loads(params), **json.loads(chosen or "{}")} for params, chosen in texts]
    return [pl.Series(f"chosen_{name}", [one.get(name) for one in choices], pl.Float64, strict=False) for name in POINT]


def _panels(search: pl.DataFrame) -> Iterator[Panel]:
    first = search.row(0, named=True)
    nu_pos, column = np.unique(search["nu_pos"], return_inverse=True)
    nu_neg, row = np.unique(search["nu_neg"], return_inverse=True)
    rates = np.full((len(RATE_TITLES), len(nu_neg), len(nu_pos)), np.nan)
    rates[:, row, column] = search.select(*RATE_TITLES).to_numpy().T
    alarms = rates[0]
    crossed = np.min(alarms) <= first["rho"] < np.max(alarms)  # False if a point was not visited, hence NaN
    border = (alarms, first["rho"]) if crossed else None
    point = (first["chosen_nu_pos"], first["chosen_nu_neg"])
    chosen = None if None in point else point
    for title, of_one in zip(RATE_TITLES.values(), rates, strict=True):
        surface = Surface(nu_pos.tolist(), nu_neg.tolist(), of_one, chosen, "validated rate", border)
        yield Panel(f"{first['label']}: {title}", PLANE["nu_pos"], PLANE["nu_neg"], surface=surface)
