"""Long reference tables that mkdocs writes when it builds the site, in place of ``<!-- reference: NAME WORDS -->``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import docstrings
import speed

from npbench import contracts, registry
from npbench.records import fields


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write the tables of a page; mkdocs calls this hook for each page."""
    return re.sub(r"^<!-- reference: (\w+) ?(.*?) ?-->$", _written, markdown, flags=re.MULTILINE)


def _written(comment: re.Match[str]) -> str:
    return TABLES[comment[1]](*comment[2].split())


def datasets() -> str:
    """Return size and positive class of each data set, except for the tables of the benchmark."""
    rows = (
        (f"`{name}`", _size(dataset), dataset.positive.partition("; negative")[0])
        for name, dataset in sorted(registry.installed().datasets.items())
        if not any(file.wheel for file in dataset.files)
    )
    return docstrings.table(("data set", "size", "positive class"), rows)


def _size(dataset: contracts.Dataset) -> str:
    known = [str(n) if n else "any" for n in (dataset.n_samples, dataset.n_features)]
    positive = f", {dataset.n_positive} +" if dataset.n_positive else ""
    return "" if known == ["any", "any"] else f"{' x '.join(known)}{positive}"


def columns() -> str:
    """Return the columns of the records, with their meanings."""
    rows = [
        row
        for subject, of_subject in fields.SUBJECTS.items()
        for row in [
            *([(f"**{subject}**", "", "")] if subject != "Record" else []),
            *((f"`{field.name}`", field.dtype.__name__, field.about) for field in of_subject),
        ]
    ]
    return docstrings.table(("column", "type", ""), rows)


def columns_in_brief() -> str:
    """Return the names of the columns of the records by subject."""
    listed = (
        (subject, ", ".join(f"`{field.name}`" for field in of_subject))
        for subject, of_subject in fields.SUBJECTS.items()
    )
    return docstrings.table(("subject", "columns"), listed)


TABLES: dict[str, Callable[..., str]] = {
    "api": docstrings.api,
    "checks": docstrings.checks,
    "columns": columns,
    "datasets": datasets,
    "descriptions": docstrings.descriptions,
    "generators": docstrings.generators,
    "suite": speed.suite,
}
