"""``npbench info NAME``: parameters, source and an example of a solver, data set, metric, problem or experiment."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from npbench import registry
from npbench.commands import list as listing
from npbench.commands.catalogue import ABSENT, CORRUPT, PRESENT, named_rows
from npbench.config.files import config_folders, group_files, merged_choice
from npbench.console import printable
from npbench.contracts import DataFile, Dataset, resolve
from npbench.data import sources
from npbench.errors import Exit, RequestError, unknown_name
from npbench.problem import PROBLEMS
from npbench.signature import REQUIRED, filled_in, signature

ELSEWHERE = ("name", "title", "files", "original", "mirror")  # fields of a data set that the first table leaves out


def run(words: Sequence[str]) -> Exit:
    """Describe everything that has one of the names."""
    parser = ArgumentParser("npbench info", description=__doc__.partition("NAME``: ")[2].capitalize())
    parser.add_argument("names", nargs="+", metavar="NAME", help="`npbench list` prints the names")
    names = parser.parse_args(list(words) or ["--help"]).names
    known = {kind: set(find()) for kind, (find, _) in KINDS.items()}
    everything = set().union(*known.values())
    if unknown := [name for name in names if name not in everything]:
        reasons = map(str, registry.installed().unavailable)
        raise RequestError(*(unknown_name("name", name, everything) for name in unknown), *reasons)
    for name in names:
        for kind, (_, show) in KINDS.items():
            if name in known[kind]:
                show(name)
    return Exit.OK


def _print(name: str, title: str, rows: Sequence[tuple[str, str]], *parts: tuple[str, str]) -> None:
    """Print a heading, a table of what is stated, and titled texts that are not empty."""
    console = Console()
    console.print(Text(printable(f"{name}: {title}"), "bold"))
    console.print(named_rows([(key, printable(value)) for key, value in rows if value]))
    for part, text in parts:
        if text:
            console.print(Text(part, "bold"))
            console.print(Text(text.rstrip() + "\n"), soft_wrap=True)


def _show_solver(name: str) -> None:
    solver_name, section = merged_choice(name, group_files("solver"))
    solver = registry.installed().solver(solver_name)
    parameters, text = [], ""
    with contextlib.suppress(Exception):  # a plugin that cannot be imported has no parameters to show
        hidden = filled_in(solver)
        defaults = {key: value for key, value in signature(solver.estimator).defaults.items() if key not in hidden}
        grids = section.get("search") or {}
        values = {**defaults, **{key: value for key, value in section.items() if key != "search"}}
        searched = {key: f", searched over {grid}" for key, grid in grids.items() if grid}
        parameters = [f"{key}: {_shown(value)}{searched.get(key, '')}" for key, value in values.items()]
        text = _parameters_section(resolve(solver.estimator))
    provider = registry.installed().providers["solver", solver_name]
    rows = [
        ("variant of", solver_name if solver_name != name else ""),
        ("reference", solver.reference),
        ("solves", ", ".join(solver.solves)),
        ("tags", ", ".join(sorted(solver.tags))),
        ("plugin", str(provider)),
    ]
    problem = "" if "np" in solver.solves else f" problem={solver.solves[0]}"
    example = f"npbench solver={name} dataset=breast{problem}"
    parts = [("Settings (solver.NAME=VALUE)", "\n".join(parameters)), ("Parameters", text), ("Example", example)]
    _print(name, _listed("solvers", name)[0], rows, *parts)


def _listed(kind: str, name: str) -> list[str]:
    """Return the title and the notes that ``npbench list`` prints."""
    return dict(listing.KINDS[kind][1]())[name]


def _parameters_section(documented: Any) -> str:
    """Return the section Parameters of a numpydoc docstring."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", inspect.getdoc(documented) or "", re.M | re.S)
    return found[1] if found else ""


def _show_metric(name: str) -> None:
    metric = registry.installed().metrics[name]
    text = ""
    with contextlib.suppress(Exception):
        text = inspect.getdoc(resolve(metric.compute)) or ""
    rows = [
        ("known as", metric.known_as),
        ("better", metric.direction),
        ("problems", ", ".join(metric.problems or PROBLEMS)),
        ("reference", metric.reference),
        ("plugin", str(registry.installed().providers["metric", name])),
    ]
    problem = f" problem={metric.problems[0]}" if metric.problems and "np" not in metric.problems else ""
    _print(name, metric.title, rows, ("Definition", text), ("Example", f"npbench metrics=[{name}]{problem}"))


def _show_problem(name: str) -> None:
    solvers = [solver.name for solver in registry.installed().solvers.values() if name in solver.solves]
    text, first = inspect.getdoc(PROBLEMS[name]) or "", next(iter(sorted(solvers)), "NAME")
    rows = [("solvers", ", ".join(sorted(solvers)))]
    _print(
        name, PROBLEMS[name].title, rows, ("Definition", text), ("Example", f"npbench problem={name} solver={first}")
    )


def _show_experiment(name: str) -> None:
    path = group_files("experiment")[name]
    text = path.read_text(encoding="utf-8", errors="replace")
    example = f"npbench plan +experiment={name}\nnpbench +experiment={name}"
    title, *notes = _listed("experiments", name)
    _print(name, title, [("paper", " ".join(notes))], (str(path), text), ("Example", example))


def show_dataset(dataset: Dataset) -> None:
    """Print the description of a data set, the place and state of each file, and the settings."""
    values = ((field.name, getattr(dataset, field.name)) for field in dataclasses.fields(dataset))
    stated = [(name, str(value)) for name, value in values if name not in ELSEWHERE and value not in (None, "", ())]
    _print(
        dataset.name,
        dataset.title,
        [*stated, ("plugin", str(registry.installed().providers["dataset", dataset.name]))],
    )
    console = Console()
    instead = f", read instead if it is here: npbench data fetch --original {dataset.name}"
    mirrored = ", with the same data, read where the files above are absent"
    for files, note in (
        (dataset.files, ""),
        (dataset.original.files if dataset.original else (), instead),
        (dataset.mirror.files if dataset.mirror else (), mirrored),
    ):
        for file in files:
            console.print(Text(f"{file.path}{note}", "bold"), named_rows(_places(file)))
    for title, text in _dataset_texts(dataset):
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


def _dataset_texts(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the YAML of a data set or, without any, its parameters with the loader's documentation; and an example."""
    defaults: dict[str, Any] = {}
    paths = [folder / "dataset" / f"{dataset.name}.yaml" for folder in config_folders()]
    if found := [path for path in paths if path.is_file()]:
        yield from ((f"Settings, {path.name}", path.read_text(encoding="utf-8")) for path in found)
    else:
        with contextlib.suppress(Exception):  # a plugin that cannot be imported has no settings to show
            defaults = dict(signature(dataset.load, len(dataset.files)).defaults)
            lines = [f"{name}: {_shown(value)}" for name, value in defaults.items()]
            if lines:
                yield "Settings", "\n".join([*lines, "", inspect.getdoc(resolve(dataset.load)) or ""])
    needed = [name for name, value in defaults.items() if value is REQUIRED or name == dataset.named_by]
    yield "Example", " ".join([f"npbench dataset={dataset.name}", *(f"dataset.{name}=..." for name in needed)])


def _shown(value: Any) -> str:
    return "required" if value is REQUIRED else "null" if value is None else str(value)


# Of each kind: its names, and the function that prints the description of one.
KINDS: dict[str, tuple[Callable[[], Any], Callable[[str], None]]] = {
    "solver": (lambda: {*registry.installed().solvers, *group_files("solver")}, _show_solver),
    "dataset": (lambda: registry.installed().datasets, lambda name: show_dataset(registry.installed().dataset(name))),
    "metric": (lambda: registry.installed().metrics, _show_metric),
    "problem": (lambda: PROBLEMS, _show_problem),
    "experiment": (lambda: group_files("experiment"), _show_experiment),
}
