"""Blocks of Markdown, tables and fenced text; the folder of published records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with blank lines around it, or nothing without rows."""
    head, *lines = (tuple(cells) for cells in (columns, *rows))
    written = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in (head, *lines)]
    return "\n".join(["", written[0], f"|{'---|' * len(head)}", *written[1:], ""]) if lines else ""


def fenced(language: str, text: str) -> str:
    """Return a fenced block with blank lines around it."""
    return f"\n```{language}\n{text.strip()}\n```\n"
