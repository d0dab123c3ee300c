"""``npbench list``: installed plugins, their packages, and what could not be loaded. Imports no numerics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text
from yaml import YAMLError

from npbench import registry
from npbench.commands.catalogue import shape_of
from npbench.commands.tables import named_rows
from npbench.config.files import content, group_files
from npbench.errors import Exit, RequestError, unknown_name
from npbench.problem import PROBLEMS

KINDS = ("solvers", "datasets", "metrics", "problems", "experiments")
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}

Entry = tuple[str, list[str]]  # name; title, then notes


def run(words: Sequence[str]) -> Exit:
    """List the kinds that are named, or all."""
    kinds = [word if word in KINDS else f"{word}s" for word in words]  # `npbench list solver` as well
    wrong = [word for word, kind in zip(words, kinds, strict=True) if kind not in KINDS]
    if wrong:
        raise RequestError(*(unknown_name("kind to list", word, KINDS) for word in wrong))
    show(kinds or KINDS)
    return Exit.OK


def show(kinds: Sequence[str], console: Console | None = None) -> None:
    """Print the entries of each kind, then the unavailable plugins with the reason."""
    console = console or Console()
    unusable = registry.installed().unavailable  # first: it refuses two plugins with one name
    for kind in kinds:
        title, entries = _KINDS[kind]
        console.print(Text(title, "bold"))
        found = ((name, _lines(*lines)) for name, lines in sorted(entries()))
        console.print(named_rows(found))
    for unavailable in unusable:
        console.print(str(unavailable), style="red", markup=False, highlight=False)


def _lines(title: str, *notes: str) -> Text:
    return Text.assemble(title, *((f"\n{note}", "dim") for note in notes if note))


def _from(kind: str, name: str) -> str:
    provider = registry.installed().providers[kind, name]
    return f"from {provider.distribution} {provider.version}"


def _solvers() -> Iterator[Entry]:
    for solver in registry.installed().solvers.values():
        solves = f"solves {', '.join(solver.solves)}"
        yield solver.name, [solver.title, solver.reference, f"{solves}; {_from('solver', solver.name)}"]
    yield from _variants()


def _variants() -> Iterator[Entry]:
    """Yield the settings of solvers that have a name of their own, with the comment at the top of their file."""
    for name, path in group_files("solver").items():
        comment = path.read_text(encoding="utf-8").partition("\n")[0]
        if name not in registry.installed().solvers and comment.startswith("#"):
            base = next(iter(content(path).get("defaults", ())), "")
            yield name, [comment.strip("# ").partition(". ")[0].rstrip("."), f"variant of {base}"]


def _datasets() -> Iterator[Entry]:
    for data in registry.installed().datasets.values():
        notes = [shape_of(data), data.source, _from("dataset", data.name)]
        yield data.name, [data.title, "; ".join(filter(None, notes))]


def _metrics() -> Iterator[Entry]:
    for metric in registry.installed().metrics.values():
        only = f"for {', '.join(metric.problems)}" if metric.problems else ""
        notes = [BETTER[metric.direction], only, _from("metric", metric.name)]
        yield metric.name, [metric.title, metric.reference, "; ".join(filter(None, notes))]


def _problems() -> Iterator[Entry]:
    for problem in PROBLEMS.values():
        solvers = [s.name for s in registry.installed().solvers.values() if problem.name in s.solves]
        yield problem.name, [problem.title, f"solved by {', '.join(sorted(solvers)) or 'no installed solver'}"]


def _experiments() -> Iterator[Entry]:
    files = group_files("experiment")
    for name, path in files.items():
        yield name, _described(path, files)


def _described(path: Path, files: Mapping[str, Path]) -> list[str]:
    """Return the title and the paper of an experiment, which it may inherit."""
    try:
        node = content(path)
        nodes = [node, *(content(files[name]) for name in node.get("defaults") or [] if name in files)]
        return [str(node.get("title") or ""), str(next(filter(None, (one.get("paper") for one in nodes)), ""))]
    except (OSError, YAMLError, TypeError) as error:
        return [f"cannot be read: {' '.join(str(error).split())}"]


_KINDS = {
    "solvers": ("Solvers (solver=NAME)", _solvers),
    "datasets": ("Data sets (dataset=NAME)", _datasets),
    "metrics": ("Metrics (metrics=[NAME,...])", _metrics),
    "problems": ("Problems (problem=NAME)", _problems),
    "experiments": ("Experiments (+experiment=NAME)", _experiments),
}
