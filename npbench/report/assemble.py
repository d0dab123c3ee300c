"""Puts the sections of a report in order."""

from __future__ import annotations

import polars as pl

from npbench.report.section import Section
from npbench.report.sections import brief, failures, origins, overview
from npbench.report.sections import comparison as statistics
from npbench.report.sections import figures as curves
from npbench.report.select.collect import Collection

PARTS = (brief, overview, curves, statistics, failures, origins)


def assemble(collection: Collection) -> list[Section]:
    """Return the sections of a report: who is ahead; what was measured, drawn, compared; what failed; origins."""
    made = (part.sections(collection.records) for part in PARTS)
    return [lead(collection), *(section for sections in made for section in sections)]


def lead(collection: Collection) -> Section:
    """Return the section before all others: how much there is, and what could not be read."""
    records = collection.records
    good, problems = records.filter(status="ok"), records["problem"].unique().sort().to_list()
    count = "1 job" if len(records) == 1 else f"{len(records)} jobs"
    notes = [
        f"{count}, {len(good)} of them good: {_number(records['label'], 'setting')} of "
        f"{_number(records['solver'], 'solver')} on {_number(records['dataset'], 'data set')}."
    ]
    if len(problems) > 1:
        notes.append(f"They are of {len(problems)} problems, {', '.join(problems)}: each has sections of its own.")
    if collection.n_older:
        notes.append(f"{collection.n_older} older records of the same jobs were left out; the latest counts.")
    if any(origins.mixtures(records)):
        notes.append(f"Not all that stands side by side was made alike: see the notes under {origins.TITLE!r}.")
    return Section("Records", notes=[*notes, *collection.faults])


def _number(column: pl.Series, what: str) -> str:
    count = column.n_unique()
    return f"{count} {what}{'' if count == 1 else 's'}"
