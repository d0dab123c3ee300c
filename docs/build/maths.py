"""Formulas of the site as MathML, which browsers show without a script: mkdocs calls this hook for each page."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace each block of LaTeX, fenced as ``math`` as on GitHub, by a formula."""

    def formula(block: re.Match[str]) -> str:
        return f'<div class="math">{convert(block[1], display="block")}</div>'

    return re.sub(r"^```math\n(.*?)\n```$", formula, markdown, flags=re.MULTILINE | re.DOTALL)
