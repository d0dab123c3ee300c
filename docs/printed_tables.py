"""Printed tables of the site as HTML, which narrow screens scroll sideways: mkdocs calls this hook for each page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from html import escape
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the tables in blocks of printed text."""
    return re.sub(r"^```text\n(.*?)^```$", _block, markdown, flags=re.MULTILINE | re.DOTALL)


def _block(block: re.Match[str]) -> str:
    parts = []
    for is_table, lines in itertools.groupby(block[1].splitlines(), _is_row):
        text = "\n".join(lines)
        if is_table and "\n" in text:
            parts.append(table(text.splitlines()))
        elif text.strip():
            parts.append("```text\n" + text.strip("\n") + "\n```")
    return "\n\n".join(parts)


def _is_row(line: str) -> bool:
    return len(re.findall(r"\S {2,}(?=\S)", line)) >= 2 and not line.startswith("|")


def table(lines: Sequence[str]) -> str:
    """Return rows below a head as HTML; columns end where two places or more are blank in all lines.

    Examples
    --------
    >>> print(table(["data    rho", "a b      .1", "        .05"]))
    <div class="printed"><table>
    <tr><th>data</th><th align="right">rho</th></tr>
    <tr><td>a b</td><td align="right">.1</td></tr>
    <tr><td></td><td align="right">.05</td></tr>
    </table></div>
    """
    width = max(map(len, lines))
    lines = [line.ljust(width) for line in lines]
    filled = "".join(" " if all(line[place] == " " for line in lines) else "x" for place in range(width))
    columns = [slice(*found.span()) for found in re.finditer(r"x( ?x)*", filled)]
    sides = [' align="right"' if _is_right([line[one] for line in lines]) else "" for one in columns]
    rows = (_row(line, columns, sides, "td" if place else "th") for place, line in enumerate(lines))
    return "\n".join(['<div class="printed"><table>', *rows, "</table></div>"])


def _is_right(cells: Sequence[str]) -> bool:
    return any(cell[0] == " " for cell in cells) and not any(cell[-1] == " " for cell in cells)


def _row(line: str, columns: Sequence[slice], sides: Sequence[str], cell: str) -> str:
    cells = (f"<{cell}{side}>{escape(line[one].strip())}</{cell}>" for one, side in zip(columns, sides, strict=True))
    return f"<tr>{''.join(cells)}</tr>"
