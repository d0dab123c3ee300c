"""A page of tables and pictures in one HTML file that opens offline."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from npbench.report.render import page
from npbench.report.sheet import Sheet


def write(path: Path, title: str, text: str, sheets: Sequence[Sheet], pictures: Sequence[Path]) -> None:
    """Write a page with a title, the lines of a text as paragraphs, PNG files, and tables."""
    images = {one.stem: base64.b64encode(one.read_bytes()).decode("ascii") for one in pictures}
    rendered = page.template("picture_page.html").render(title=title, text=text, sheets=sheets, pictures=images)
    path.write_text(rendered, encoding="utf-8", newline="\n")
