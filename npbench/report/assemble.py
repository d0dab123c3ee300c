"""Puts the sections of a report in order."""

from __future__ import annotations

from npbench.contracts import resolve
from npbench.report.collect import Collection
from npbench.report.section import Section

PARTS = ("overview", "statistics", "curves", "failures", "origins")


def assemble(collection: Collection) -> list[Section]:
    """Return the sections of a report: what was measured, compared, drawn; what failed; how it was run."""
    import importlib.util

    records = collection.records
    made = [
        section
        for part in PARTS
        if importlib.util.find_spec(f"npbench.report.{part}")
        for section in resolve(f"npbench.report.{part}:sections")(records)
    ]
    return [_lead(collection), *made]


def _lead(collection: Collection) -> Section:
    records = collection.records
    notes = [f"{len(records)} records."]
    return Section("Report", notes=[*notes, *collection.faults])
