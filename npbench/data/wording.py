"""Phrases of error messages about files, in the words of whoever reads them: settings, options or keywords."""

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


def listed(items: Iterable[str], most: int = MAX_LISTED) -> str:
    """Join the first items by commas, with the number of the others."""
    every = [item if item.isprintable() else repr(item) for item in items]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def counted(number: int, what: str = "row") -> str:
    """Return a number of things in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
