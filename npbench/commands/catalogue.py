"""``npbench data list|info``: data sets and places of their files. Only ``info`` imports the loaders."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from npbench import registry
from npbench.config.files import config_folders
from npbench.console import printable
from npbench.contracts import DataFile, Dataset, resolve
from npbench.data import sources
from npbench.errors import RequestError
from npbench.signature import REQUIRED, signature

PRESENT, INCOMPLETE, ABSENT, CORRUPT = "here", "in part", "to fetch", "WRONG"
COLOURS = {PRESENT: "green", INCOMPLETE: "yellow", CORRUPT: "red"}
NOT_IN_TABLE = ("name", "title", "files", "original", "mirror")  # fields with a place of their own


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


def show(dataset: Dataset) -> None:
    """Print the description of a data set, the place and state of each file, and the settings."""
    console = Console()
    provider = registry.installed().providers["dataset", dataset.name]
    console.print(Text(f"{dataset.name}: {dataset.title}", "bold"))
    values = ((field.name, getattr(dataset, field.name)) for field in dataclasses.fields(dataset))
    stated = [(name, str(value)) for name, value in values if name not in NOT_IN_TABLE and value not in (None, "", ())]
    console.print(named_rows([*stated, ("plugin", str(provider))]))
    instead = f", read instead if it is here: npbench data fetch --original {dataset.name}"
    mirrored = ", with the same data, read where the files above are absent"
    for files, note in (
        (dataset.files, ""),
        (dataset.original.files if dataset.original else (), instead),
        (dataset.mirror.files if dataset.mirror else (), mirrored),
    ):
        for file in files:
            console.print(Text(f"{file.path}{note}", "bold"), named_rows(_places(file)))
    for title, text in _settings(dataset):
        console.print(Text(title, "bold"))
        console.print(Text(text), soft_wrap=True)


def _places(file: DataFile) -> Iterator[tuple[str, str | Text]]:
    yield "size", f"{file.size} bytes ({decimal(file.size)})"
    yield from (("sha256", file.sha256), ("address", file.url))
    if file.wheel:
        yield "wheel", f"{file.wheel.package} {file.wheel.version}, {file.member}"
        yield "licence", file.wheel.licence
    paths = list(sources.copies(file))
    for path in paths:
        try:
            sources.verify(path, file)
            yield PRESENT, f"{path}, hash right"
        except RequestError as error:
            yield CORRUPT, Text(str(error), "red")
    if not paths:
        yield ABSENT, "in none of the data folders (npbench data path)"


def _settings(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the YAML of a data set or, without any, its parameters with the loader's documentation of them."""
    paths = [folder / "dataset" / f"{dataset.name}.yaml" for folder in config_folders()]
    if found := [path for path in paths if path.is_file()]:
        yield from ((f"Settings, {path.name}", path.read_text(encoding="utf-8")) for path in found)
        return
    with contextlib.suppress(Exception):  # a plugin that cannot be imported has no settings to show
        defaults = signature(dataset.load, len(dataset.files)).defaults
        lines = [f"{name}: {_shown(value)}" for name, value in defaults.items()]
        if lines:
            yield "Settings", "\n".join([*lines, "", inspect.getdoc(resolve(dataset.load)) or ""])


def _shown(value: Any) -> str:
    return "required" if value is REQUIRED else "null" if value is None else str(value)
