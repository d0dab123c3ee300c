"""Phrases of error messages about files, in the words of whoever reads them: settings, options or keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MAX_LISTED = 10


@dataclass(frozen=True)
class Settings:
    """How a caller spells settings: ``dataset.label=y``, ``--label y`` or ``label=y``."""

    form: str  # of a name and a value
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str, value: str = "") -> str:
        """Return a setting with its value, or its name alone."""
        return self.form.format(self.renamed.get(name, name), value).rstrip("= ")


DATASET, OPTIONS = Settings("dataset.{}={}"), Settings("--{} {}")
KEYWORDS = Settings("{}={}", {"positive": "pos_label"})


def listed(items: Iterable[str]) -> str:
    """Join the first ten items by commas, with the number of the others."""
    every = [item if item.isprintable() else repr(item) for item in items]
    more = f" and {len(every) - MAX_LISTED} more" if len(every) > MAX_LISTED else ""
    return ", ".join(every[:MAX_LISTED]) + more


def counted(n_rows: int) -> str:
    """Return the number of rows in words."""
    return "1 row" if n_rows == 1 else f"{n_rows} rows"
