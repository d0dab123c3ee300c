"""Prepare records and printed values for the tables of the papers."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from npbench.report.select.collect import TRAINING_SECONDS
from npbench.report.select.labels import labels
from npbench.report.select.traces import traces
from npbench.report.sheet import MISSING, Cell, number

Printed = Sequence[Mapping[str, Any]]
MACHINE = ["cpu", "n_jobs", "n_threads"]  # equal for seconds whose ratio means something
CPU_SECONDS = pl.col("select_cpu_seconds").fill_null(0.0) + pl.col("fit_cpu_seconds")  # of selection and fit
MAX_WAIT = 1.5  # wall clock over processor seconds; more where a busy machine makes a fit wait


def with_labels(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records with the columns ``label`` and ``seconds``, of a processor for selection and fit."""
    return records.with_columns(labels(records), seconds=CPU_SECONDS)


def values(records: pl.DataFrame, name: str) -> list[float]:
    """Return the values of a column without nulls; none if there is no such column."""
    return records[name].drop_nulls().to_list() if name in records.columns else []


def with_traces(records: pl.DataFrame, columns: Sequence[str]) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """Return each record of the problem np with the rows of its trace that have these columns."""
    found = traces(records, columns)
    ordered = records.sort("dataset", "rho", "seed", "repeat").to_dicts()
    return [(record, found.filter(key=record["key"]).drop_nulls(columns)) for record in ordered]


def printed_for(printed: Printed, **about: Any) -> dict[str, Any]:
    """Return the paper's values for ``about``, merged over all rows that agree in the keys that they have.

    Examples
    --------
    >>> rows = [{"rho": 0.1, "speedup": [2.32, 1.51]}, {"rho": 0.2, "speedup": [2.71, 1.78]}]
    >>> printed_for(rows, rho=0.2, dataset="pima")["speedup"]
    [2.71, 1.78]
    """
    found: dict[str, Any] = {}
    for row in printed:
        if all(row[key] == value for key, value in about.items() if key in row):
            found |= row
    return found


def is_stand_in(printed: Printed, dataset: Any) -> bool:
    """Return whether a data set stands in for the paper's, by its name or a printed row."""
    return str(dataset).endswith("_like") or bool(printed_for(printed, dataset=dataset).get("stand_in"))


def difference(ours: Cell, theirs: Cell, form: str = ".3f") -> Cell:
    """Return our value minus the paper's, both rounded as in the table; missing if one of them is."""
    if ours.value is None or theirs.value is None:
        return MISSING
    here, there = (float(f"{cell.value:{form}}") for cell in (ours, theirs))
    return number(here - there, f"+z{form}")


def unhindered(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records whose training did not wait for a processor: the seconds of others are from a busy machine."""
    return records.filter((TRAINING_SECONDS <= MAX_WAIT * CPU_SECONDS).fill_null(True))


def timing_notes(records: pl.DataFrame) -> list[str]:
    """Return a sentence for each machine and load that timed records, and one for those of a busy machine."""
    used = unhindered(records)
    machines = dict.fromkeys(used.select(MACHINE).rows())
    waited, about = len(records) - len(used), f"{MAX_WAIT:g} times their processor seconds"
    busy = [f"Seconds of {waited} of {len(records)} jobs are left out: a busy machine made them take {about}."]
    return (busy if waited else []) + [
        f"Timed on {cpu}; parallel jobs: {jobs}, threads of each: {threads}." for cpu, jobs, threads in machines
    ]
