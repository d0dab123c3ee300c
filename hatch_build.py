"""Addresses of a release on the package index: those of the repository whose workflow builds it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Take the addresses from ``NPBENCH_REPOSITORY``, ``NPBENCH_REVISION`` and ``NPBENCH_SITE``, if they are set."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the README with absolute links, and the project's URLs."""
        repository, site = os.environ.get("NPBENCH_REPOSITORY"), os.environ.get("NPBENCH_SITE")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if repository:
            revision = os.environ.get("NPBENCH_REVISION", "HEAD")
            text = absolute(text, Path(self.root), repository, revision)
            metadata["urls"] = {
                "Source": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/{revision}/CHANGELOG.md",
                **({"Documentation": site} if site else {}),
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, root: Path, repository: str, revision: str) -> str:
    """Return Markdown whose links to files below ``root`` lead to the repository; pictures lead to their bytes."""

    def link(found: re.Match[str]) -> str:
        start, target = found.groups()
        if not (root / target.partition("#")[0]).is_file():
            return found[0]
        kind = "raw" if Path(target).suffix in {".png", ".svg"} else "blob"
        return f"{start}{repository}/{kind}/{revision}/{target})"

    return re.sub(r"(\]\()([\w./-]+(?:#[\w-]+)?)\)", link, text)
