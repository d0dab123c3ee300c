"""``npbench list``: installed plugins, their packages, and what could not be loaded. Imports no numerics."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text
from yaml import YAMLError

from npbench import registry
from npbench.commands.catalogue import named_rows, shape_of
from npbench.config.files import content, group_files
from npbench.console import printable
from npbench.errors import Exit, RequestError, unknown_name
from npbench.problem import PROBLEMS

MAX_LINES = 6  # of the names of a kind, in the list of all kinds
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}

Entry = tuple[str, list[str]]  # name; title, then notes


def run(words: Sequence[str]) -> Exit:
    """Describe the kinds that are named, or print the names of all."""
    parser = ArgumentParser("npbench list", description="List what is installed; `npbench info NAME` describes it.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (default: the names of all)")
    words = parser.parse_args(list(words)).kinds
    kinds = [word if word in KINDS else f"{word}s" for word in words]  # `npbench list solver` as well
    wrong = [word for word, kind in zip(words, kinds, strict=True) if kind not in KINDS]
    if wrong:
        hint = "`npbench info NAME` describes one solver or data set."
        raise RequestError(*(f"{unknown_name('kind to list', word, KINDS)} {hint}" for word in wrong))
    registry.installed()  # refuses unknown plugins before anything is printed
    if kinds:
        show(kinds)
    else:
        show_names()
    return Exit.OK


def show_names(console: Console | None = None) -> None:
    """Print the first names of each kind, on one screen."""
    console = console or Console()
    for kind, (heading, entries) in KINDS.items():
        names = sorted(name for name, _ in entries())
        lines = textwrap.wrap(", ".join(names), console.width - 2, break_on_hyphens=False)
        shown = "\n".join(lines[:MAX_LINES])
        console.print(Text(f"{heading}: {len(names)}", "bold"))
        console.print(Text(printable(textwrap.indent(shown, "  "))))
        if n_hidden := len(names) - len(shown.replace(",", " ").split()):
            console.print(Text(f"  and {n_hidden} more: npbench list {kind}", "dim"))
    _show_unavailable(console)
    console.print(Text("npbench list solvers describes each; npbench info NAME shows all of one.", "dim"))


def show(kinds: Iterable[str], console: Console | None = None) -> None:
    """Print the entries of each kind, then the unavailable plugins with the reason."""
    console = console or Console()
    for kind in kinds:
        heading, entries = KINDS[kind]
        console.print(Text(heading, "bold"))
        rows = []
        for name, (title, *notes) in sorted(entries()):
            rows.append(
                (name, Text.assemble(printable(title), *((f"\n{printable(note)}", "dim") for note in notes if note)))
            )
        console.print(named_rows(rows))
    _show_unavailable(console)


def _show_unavailable(console: Console) -> None:
    for unavailable in registry.installed().unavailable:
        console.print(printable(str(unavailable)), style="red", markup=False, highlight=False)


def _from(kind: str, name: str) -> str:
    provider = registry.installed().providers[kind, name]
    return f"from {provider.distribution} {provider.version}"


def _solvers() -> Iterator[Entry]:
    for solver in registry.installed().solvers.values():
        solves = f"solves {', '.join(solver.solves)}"
        yield solver.name, [solver.title, solver.reference, f"{solves}; {_from('solver', solver.name)}"]
    for name, path in group_files("solver").items():  # variants, with the comment at the top of their file
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
        try:
            node = content(path)
            nodes = [node, *(content(files[base]) for base in node.get("defaults") or [] if base in files)]
            papers = filter(None, (one.get("paper") for one in nodes))  # it may be inherited
            yield name, [str(node.get("title") or ""), str(next(papers, ""))]
        except (OSError, YAMLError, TypeError) as error:
            yield name, [f"cannot be read: {' '.join(str(error).split())}"]


KINDS = {
    "solvers": ("Solvers (solver=NAME)", _solvers),
    "datasets": ("Data sets (dataset=NAME)", _datasets),
    "metrics": ("Metrics (metrics=[NAME,...])", _metrics),
    "problems": ("Problems (problem=NAME)", _problems),
    "experiments": ("Experiments (+experiment=NAME)", _experiments),
}
