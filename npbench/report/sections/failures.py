"""What went wrong: jobs that failed, fits that did not converge, warnings that solvers gave."""

from __future__ import annotations

import polars as pl

from npbench.report.section import Section
from npbench.report.sheet import Sheet

SHOWN = 100  # kinds of error or warning; the records hold them all
ABOUT = ["problem", "dataset", "label", "repeat"]
NO_WORD = "no word on it"
NUMBER = r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?"


def sections(records: pl.DataFrame) -> list[Section]:
    """Return one section: errors, fits that did not converge, and warnings, a table each where there are any."""
    tables = [_errors(records), _unconverged(records), _warnings(records)]
    sheets = [table for table in tables if table.rows]
    if not sheets:
        return []
    failed, total = len(records.filter(pl.col("status") != "ok")), len(records)
    note = f"{failed} of {total} jobs failed; the figures of a setting are those of its other jobs."
    return [Section("Failures and warnings", sheets, notes=[note if failed else "No job failed."])]


def _errors(records: pl.DataFrame) -> Sheet:
    error = pl.col("error").str.split("\n").list.first()
    failed = records.filter(pl.col("status") != "ok").select(
        *ABOUT, "status", text=error.fill_null(pl.col("error_type")).fill_null(NO_WORD)
    )
    return _table("failures", "Jobs that failed", failed, "error")


def _unconverged(records: pl.DataFrame) -> Sheet:
    loose = records.filter(pl.col("status") == "ok", pl.col("converged").not_())
    told = loose.select(*ABOUT, "status", text=pl.col("solver_status").fill_null(NO_WORD))
    return _table(
        "unconverged", "Final fits that did not converge, which count all the same", told, "what the solver says"
    )


def _warnings(records: pl.DataFrame) -> Sheet:
    given = records.select(*ABOUT, "status", text=pl.col("warnings").fill_null("").str.split("\n"))
    each = given.explode("text", empty_as_null=True, keep_nulls=True).filter(pl.col("text") != "")
    return _table("warnings", "Warnings, the first few different ones of each job", each, "warning")


def _table(name: str, title: str, told: pl.DataFrame, header: str) -> Sheet:
    """Return a row for each text, of those alike but for their numbers the first, with its jobs and their repeats."""
    place = ["problem", "dataset", "label", "status"]
    kinds = (
        told.group_by(*place, pl.col("text").str.replace_all(NUMBER, "#").alias("kind"))
        .agg(pl.col("text").sort_by("repeat").first(), jobs=pl.len(), repeats=pl.col("repeat").unique().sort())
        .sort("jobs", *place, "text", descending=[True, *[False] * (len(place) + 1)])
    )
    rows = [
        [*(row[name] for name in place), str(row["jobs"]), _span(row["repeats"]), row["text"]]
        for row in kinds.head(SHOWN).iter_rows(named=True)
    ]
    more = len(kinds) - len(rows)
    notes = [f"and {more} more kinds, which the records tell"] if more > 0 else []
    return Sheet(title, ["problem", "data", "solver", "status", "jobs", "repeats", header], rows, notes, name)


def _span(repeats: list[int]) -> str:
    """Return the numbers of repeats, runs of them by their ends.

    Examples
    --------
    >>> _span([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    runs: list[list[int]] = []
    for repeat in repeats:
        if runs and repeat == runs[-1][-1] + 1:
            runs[-1][1:] = [repeat]
        else:
            runs.append([repeat])
    return ", ".join("-".join(map(str, run)) for run in runs)
