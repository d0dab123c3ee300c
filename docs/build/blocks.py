"""Blocks of Markdown, tables and fenced text; published records."""

import functools
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from npbench.records.reading import conformed

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
COMPARED_WITH = {"bach_table1_forced": ["bach_table1"]}


def stored(name: str) -> list[Path]:
    """Return the files of a published run or experiment: one, none, or several if there are many records."""
    return sorted(PUBLISHED.glob(f"**/records/{name}.*parquet"), key=lambda path: (len(path.name), path.name))


@functools.cache
def published(name: str) -> pl.DataFrame:
    """Return the published records of a run or an experiment, with those of another that it is compared with."""
    paths = [path for one in (name, *COMPARED_WITH.get(name, ())) for path in stored(one)]
    return conformed(pl.concat(map(pl.read_parquet, paths), how="diagonal_relaxed"))


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with blank lines around it, or nothing without rows."""
    head, *lines = (tuple(cells) for cells in (columns, *rows))
    written = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in (head, *lines)]
    return "\n".join(["", written[0], f"|{'---|' * len(head)}", *written[1:], ""]) if lines else ""


def fenced(language: str, text: str) -> str:
    """Return a fenced block with blank lines around it."""
    return f"\n```{language}\n{text.strip()}\n```\n"
