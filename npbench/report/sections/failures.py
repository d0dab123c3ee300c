"""Failed jobs, fits that did not converge, and warnings."""

import itertools

import polars as pl

from npbench.report.sheet import Section, Sheet
from npbench.values import counted, listed

MAX_MESSAGES_LISTED, MAX_NAMES = 100, 3
ABOUT = ["problem", "dataset", "label", "repeat"]
NO_MESSAGE = "no message"
# Type and place of an exception, as in "ValueError in estimator.py:17: "; empty without a traceback.
PLACE = pl.col("traceback").str.extract_all(r'[^/"]+", line \d+').list.last().str.replace('", line ', ":", literal=True)
ORIGIN = pl.format("{} in {}: ", "error_type", PLACE).fill_null("")
BEGINNING = r"\n([A-Z]\w*[a-z]\w*: )"  # of a warning: its class; in older records some have several lines
NUMBER = r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?"


def sections(records: pl.DataFrame, *, is_ranking: bool = False) -> list[Section]:
    """Return one section with a table each for errors, fits that did not converge, and warnings.

    ``is_ranking`` is true if the report counts a failed job as a result, and says so itself.
    """
    failed, loose = records.filter(pl.col("status") != "ok"), records.filter(pl.col("converged").not_(), status="ok")
    error = pl.col("error").str.split("\n").list.first().fill_null(pl.col("error_type")).fill_null(NO_MESSAGE)
    errors = failed.select(*ABOUT, "status", text=ORIGIN + error)
    unconverged = loose.select(*ABOUT, "status", text=pl.col("solver_status").fill_null(NO_MESSAGE))
    one_line_each = pl.col("warnings").fill_null("").str.replace_all(BEGINNING, "\0$1").str.replace_all(r"\s+", " ")
    given = records.select(*ABOUT, "status", text=one_line_each.str.split("\0"))
    warnings = given.explode("text").filter(pl.col("text") != "")
    tables = [
        _table("failures", "Jobs that failed", errors, "error"),
        _table("unconverged", "Final fits that did not converge; their values count", unconverged, "solver status"),
        _table("warnings", "Warnings, the first few of each job", warnings, "warning"),
    ]
    if not (sheets := [table for table in tables if table.rows]):
        return []
    others = "" if is_ranking else "; values of a setting are from its other jobs"
    note = f"{len(failed)} of {len(records)} jobs failed{others}."
    return [Section("Failures and warnings", sheets, notes=[note if len(failed) else "No job failed."])]


def _table(name: str, title: str, found: pl.DataFrame, header: str) -> Sheet:
    """Return a row for each setting, but one for all with the same warning; texts of a kind differ only in numbers."""
    place = ["problem", *(["label"] if name != "warnings" else []), "status"]
    alike = found.group_by(*place, kind=pl.col("text").str.replace_all(NUMBER, "#"))
    where = pl.col("dataset", "repeat").unique().sort()
    first = pl.col("text").sort_by("dataset", "repeat").first()
    kinds = alike.agg(where, first, jobs=pl.len(), labels=pl.col("label").unique().sort())
    kinds = kinds.sort("jobs", *place, "text", descending=[True, *[False] * (len(place) + 1)])
    shown = kinds.head(MAX_MESSAGES_LISTED).select("problem", "labels", "status", "dataset", "jobs", "repeat", "text")
    rows = [
        [problem, listed(labels, MAX_NAMES), status, listed(names, MAX_NAMES), jobs, _span(repeats), text]
        for problem, labels, status, names, jobs, repeats, text in shown.iter_rows()
    ]
    more = len(kinds) - len(rows)
    notes = [f"and {counted(more, 'more kind')} in the records"] if more > 0 else []
    columns = ["problem", "solver", "status", "data", "jobs", "repeats", header]
    return Sheet(title, columns, rows, notes, name, detail=name != "failures")


def _span(repeats: list[int]) -> str:
    """Return the numbers of repeats, with consecutive ones as ranges, as in ``0-2, 5``."""
    by_offset = itertools.groupby(enumerate(repeats), key=lambda pair: pair[1] - pair[0])
    runs = [[repeat for _, repeat in run] for _, run in by_offset]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
