"""``npbench data list``: data sets, and whether their files are here. Imports no loader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from npbench import registry
from npbench.console import printable
from npbench.contracts import DataFile, Dataset
from npbench.data import sources

PRESENT, INCOMPLETE, ABSENT, CORRUPT = "here", "in part", "to fetch", "WRONG"
COLOURS = {PRESENT: "green", INCOMPLETE: "yellow", CORRUPT: "red"}


def show_list() -> None:
    """Print each data set with its size and whether its files are here; files are not read."""
    console = Console()
    datasets = sorted(registry.installed().datasets.values(), key=lambda dataset: dataset.name)
    console.print(Text("Read from files (npbench data fetch NAME)", "bold"))
    rows, absent = [], set[DataFile]()
    for dataset in filter(lambda dataset: dataset.files, datasets):
        state, note = state_of(dataset)
        size = decimal(_size(dataset.files))
        cells = (shape_of(dataset), size, Text(state, COLOURS.get(state, "")), Text(note, "dim"))
        rows.append((dataset.name, *cells))
        if state != PRESENT:
            absent.update(file for file in dataset.files if not any(sources.copies(file)))
    console.print(named_rows(rows, ["right", "right", "left"]))
    console.print(Text("Generated, from a library, or from files you bring", "bold"))
    console.print(named_rows((dataset.name, dataset.source) for dataset in datasets if not dataset.files))
    console.print(f"{decimal(_size(absent))} are not here and can be fetched.", highlight=False)


def named_rows(rows: Iterable[Sequence[str | Text]], justify: Sequence[str] = ()) -> Table:
    """Return a table whose first column has names, and whose last one is folded; an empty row ends it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    for side in justify:  # of the columns between
        table.add_column(justify=side, no_wrap=True)  # type: ignore[arg-type]
    table.add_column(overflow="fold")
    for name, *cells in rows:
        shown = [Text(printable(cell)) if isinstance(cell, str) else cell for cell in (f"  {name}", *cells)]
        table.add_row(*shown)
    table.add_row()
    return table


def shape_of(dataset: Dataset) -> str:
    """Return the size of a data set as described; empty where it varies."""
    return f"{dataset.n_samples} x {dataset.n_features}" if dataset.n_samples and dataset.n_features else ""


def state_of(dataset: Dataset) -> tuple[str, str]:
    """Return whether the files of a data set are here, and a note on them."""
    found = [next(sources.copies(file), None) for file in dataset.files]
    wrong = [
        f"{path} has {path.stat().st_size} bytes, not {file.size}"
        for file, path in zip(dataset.files, found, strict=True)
        if path and path.stat().st_size != file.size
    ]
    n_here = len(found) - found.count(None)
    if wrong:
        return CORRUPT, "; ".join(wrong)
    if n_here < len(found) and dataset.mirror and all(any(sources.copies(file)) for file in dataset.mirror.files):
        return PRESENT, "from its mirror"
    if 0 < n_here < len(found):
        return INCOMPLETE, f"{n_here} of {len(found)} files"
    note = ""
    if dataset.original:
        names = ", ".join(Path(file.path).name for file in dataset.original.files)
        is_here = all(any(sources.copies(file)) for file in dataset.original.files)
        note = f"{names} is here and read instead" if is_here else f"{names} is not here"
    return PRESENT if n_here else ABSENT, note


def _size(files: Iterable[DataFile]) -> int:
    return sum(file.size for file in files)
