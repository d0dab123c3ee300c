"""``npbench list``: installed plugins, their packages, and what could not be loaded. Imports no numerics."""

import textwrap
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from npbench import registry
from npbench.commands.catalogue import KINDS, title_and_notes
from npbench.console import printable, write
from npbench.errors import Exit, RequestError, unknown_name

MAX_LINES = 6  # of the names of a kind, in the list of all kinds


def run(words: Sequence[str]) -> Exit:
    """Describe the kinds that are named, or print the names of all."""
    known = [f"{kind}s" for kind in KINDS]
    parser = ArgumentParser("npbench list", description="List what is installed; `npbench info NAME` describes it.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(known)} (default: the names of all)")
    kinds = {word.removesuffix("s"): word for word in parser.parse_args(list(words)).kinds}
    if wrong := [word for kind, word in kinds.items() if kind not in KINDS]:
        hint = "`npbench info NAME` describes one solver or data set."
        raise RequestError(*(f"{unknown_name('kind to list', word, known)} {hint}" for word in wrong))
    registry.installed()  # refuses unknown plugins before anything is printed
    if kinds:
        show(kinds)
    else:
        show_names()
    return Exit.OK


def show_names(console: Console | None = None) -> None:
    """Print the first names of each kind, on one screen."""
    console = console or Console()
    for kind, (heading, found, _) in KINDS.items():
        names = sorted(found())
        lines = textwrap.wrap(", ".join(names), console.width - 2, break_on_hyphens=False)
        shown = "\n".join(lines[:MAX_LINES])
        write(f"{heading}: {len(names)}", console, "bold")
        write(textwrap.indent(shown, "  "), console)
        if n_hidden := len(names) - len(shown.replace(",", " ").split()):
            write(f"  and {n_hidden} more: npbench list {kind}s", console, "dim")
    _show_unavailable(console)
    write("npbench list solvers describes each; npbench info NAME shows one in full.", console, "dim")


def show(kinds: Iterable[str], console: Console | None = None) -> None:
    """Print the entries of each kind, then the unavailable plugins with the reason."""
    console = console or Console()
    for kind in kinds:
        heading, found, _ = KINDS[kind]
        write(heading, console, "bold")
        rows = []
        for name, item in sorted(found().items()):
            title, *notes = map(printable, title_and_notes(kind, item))
            rows.append((name, Text.assemble(title, *((f"\n{note}", "dim") for note in notes if note))))
        console.print(named_rows(rows))
    _show_unavailable(console)


def named_rows(rows: Iterable[Sequence[str | Text]], justify: Sequence[str] = ()) -> Table:
    """Return a table whose first column has names, and whose last one is folded; an empty row ends it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    for side in justify:  # of the columns between
        table.add_column(justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column(overflow="fold")
    for name, *cells in rows:
        table.add_row(*(Text(printable(one)) if isinstance(one, str) else one for one in (f"  {name}", *cells)))
    table.add_row()
    return table


def _show_unavailable(console: Console) -> None:
    for unavailable in registry.installed().unavailable:
        write(str(unavailable), console, "red")
