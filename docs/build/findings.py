"""Published experiments of the papers, for cog: their tables, and an overview for each paper."""

from __future__ import annotations

import dataclasses
from collections import Counter

import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs
from blocks import table
from pages import PUBLISHED, published, shown
from pictures import load_experiment

from npbench.commands.experiment import sections
from npbench.report.select import recorded_settings
from npbench_papers.headlines import headline
from npbench_papers.verdicts import MEANINGS

SAME_JOBS = {"bach_table2": "bach_table1"}  # experiments that another one has run


def experiment(name: str, *numbers: int) -> None:
    """Write the tables of a published experiment, or only those with the given numbers, from 0."""
    stored = published(name)
    found = sections(load_experiment(name), stored)
    if numbers:
        (section,) = found
        found = [dataclasses.replace(section, notes=[], sheets=[section.sheets[number] for number in numbers])]
    shown(found, stored)


def items(paper: str) -> None:
    """Write a table of a paper's published experiments: how run, its finding, ours, and the verdicts counted."""
    names = {path.stem: path.stem for path in (PUBLISHED / paper / "records").glob("*.parquet")}
    names |= {name: other for name, other in SAME_JOBS.items() if other in names}
    columns = ("item", "experiment", "how run", "paper", "here", "verdicts")
    cog.outl(table(columns, (_item(name, jobs) for name, jobs in sorted(names.items()))))


def _item(name: str, jobs: str) -> tuple[str, ...]:
    described, stored = load_experiment(name), published(jobs)
    sheets = [sheet for section in sections(described, stored) for sheet in section.sheets]
    words = Counter(
        cell
        for sheet in sheets
        for row in sheet.texts
        for column, cell in zip(sheet.columns, row, strict=True)
        if column.startswith("verdict")
    )
    verdicts = ", ".join(f"{words[word]} {word}" for word in MEANINGS if words[word])
    repeats = recorded_settings.notes(stored)[0].removeprefix("As run: ").partition(";")[0]
    stand_in = ", stand-in" if any(row.get("stand_in") for row in described.printed) else ""
    about = described.paper.partition("), ")[2], f"`{name}`", repeats + stand_in
    return *about, *headline(name, sheets), verdicts or "-"
