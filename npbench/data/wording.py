"""Settings in error messages about files, in the words of whoever reads them: settings, options or keywords."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
