"""Tables of what is installed, for ``npbench list`` and ``npbench data``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text


def named_rows(rows: Iterable[Sequence[str | Text]], justify: Sequence[str] = ()) -> Table:
    """Return a table whose first column has names, and whose last one is folded; an empty row ends it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    for side in justify:  # of the columns between
        table.add_column(justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column(overflow="fold")
    for name, *cells in rows:
        table.add_row(f"  {name}", *(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    table.add_row()
    return table
