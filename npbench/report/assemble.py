"""Assemble the sections of a report."""

import polars as pl

from npbench.records.files import stamp
from npbench.report.sections import comparison, environment, failures, figures, overview, summary
from npbench.report.select.collect import Collection
from npbench.report.sheet import Section
from npbench.values import counted

SECTION_MODULES = (summary, overview, figures, comparison, failures, environment)


def assemble(collection: Collection) -> list[Section]:
    """Return all sections: summary, measurements, figures, statistics, failures and environment."""
    made = (part.sections(collection.records) for part in SECTION_MODULES)
    return [lead(collection), *(section for sections in made for section in sections)]


def lead(collection: Collection) -> Section:
    """Return the first section: the number of records, and what could not be read."""
    records = collection.records
    good, problems = records.filter(status="ok"), records["problem"].unique().sort().to_list()
    names = {"label": "setting", "solver": "solver", "dataset": "data set"}
    settings, solvers, data = (counted(records[column].n_unique(), noun) for column, noun in names.items())
    notes = [f"{counted(len(records), 'job')}, {len(good)} of them good: {settings} of {solvers} on {data}."]
    notes += filter(None, [environment.makers(records)])
    if len(problems) > 1:
        notes.append(f"Each of the {len(problems)} problems has its own sections: {', '.join(problems)}.")
    if collection.n_older:
        what = f"{counted(collection.n_older, 'older record')} of the same jobs left out"
        notes.append(f"{what}; the published one counts, then the latest.")
    if any(environment.mixtures(records)):
        where = f"see the notes in {environment.TITLE!r}"
        notes.append(f"Some results were not produced under the same conditions: {where}.")
    if n_ahead := len(records.filter(pl.col("stored_at") > stamp())):
        notes.append(f"{counted(n_ahead, 'record')} stamped in the future; others of the same job take precedence.")
    return Section("Records", notes=[notes[0], *collection.faults, *notes[1:]])
