"""Long reference tables that mkdocs writes when it builds the site, in place of ``<!-- reference: NAME WORDS -->``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import docstrings
import speed

from npbench import contracts, registry
from npbench.records import schema


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
    """Return the columns of the records, with meanings from the comments in the schema."""
    return docstrings.table(("column", "type", ""), map(_column, *zip(*commented_columns(), strict=True)))


def _column(name: str, meaning: str) -> tuple[str, str, str]:
    return (f"`{name}`", schema.SCHEMA[name].__name__, meaning) if name else (f"**{meaning}**", "", "")


def commented_columns() -> Iterator[tuple[str, str]]:
    """Yield each column's name and comment; headings have an empty name."""
    table = inspect.getsource(schema).partition("SCHEMA: dict")[2].partition("\n}")[0]
    for line in table.splitlines():
        if "dict.fromkeys(FEATURES" in line:
            yield from ((name, "[option](features.md) for the features") for name in schema.FEATURES)
        elif column := re.match(r'    "(\w+)": [\w.]+,(?:  # (.*))?$', line):
            yield column[1], column[2] or ""
        elif heading := re.match(r"    # (.*)$", line):
            yield "", heading[1]


def columns_in_brief() -> str:
    """Return the names of the columns of the records by subject."""
    groups: dict[str, list[str]] = {}
    subject = "Record"
    for name, meaning in commented_columns():
        if name:
            groups.setdefault(subject, []).append(f"`{name}`")
        else:
            subject = meaning
    return docstrings.table(("subject", "columns"), ((subject, ", ".join(names)) for subject, names in groups.items()))


TABLES: dict[str, Callable[..., str]] = {
    "api": docstrings.api,
    "checks": docstrings.checks,
    "columns": columns,
    "datasets": datasets,
    "descriptions": docstrings.descriptions,
    "generators": docstrings.generators,
    "suite": speed.suite,
}
