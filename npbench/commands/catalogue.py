"""Catalogue of what is installed, by kind: names, titles and notes. Imports neither Hydra nor a solver."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from yaml import YAMLError

from npbench import registry
from npbench.config.files import content, group_files
from npbench.contracts import Dataset, Metric, Solver
from npbench.problem import PROBLEMS

UNREADABLE = (OSError, ValueError, TypeError, YAMLError)  # ValueError: not UTF-8


class Kind(NamedTuple):
    """A kind of things to choose: how they are typed, what exists by name, and the title and notes of one."""

    heading: str
    found: Callable[[], Mapping[str, Any]]  # descriptions; for what a file chooses, its path
    describe: Callable[[Any], list[str]]


def solves(problem: str) -> list[str]:
    """Return the names of the solvers for a problem."""
    return sorted(solver.name for solver in registry.installed().solvers.values() if problem in solver.solves)


def _from(kind: str, name: str) -> str:
    provider = registry.installed().providers[kind, name]
    return f"from {provider.distribution} {provider.version}"


def _solver(solver: Solver) -> list[str]:
    return [solver.title, solver.reference, f"solves {', '.join(solver.solves)}; {_from('solver', solver.name)}"]


def _variant(path: Path) -> list[str]:
    first = path.read_text(encoding="utf-8").partition("\n")[0]  # a comment
    title = first.strip("# ").partition(". ")[0].rstrip(".") if first.startswith("#") else ""
    return [title, f"variant of {next(iter(content(path).get('defaults', ())), '')}"]


def _dataset(dataset: Dataset) -> list[str]:
    notes = [shape_of(dataset), dataset.source, _from("dataset", dataset.name)]
    return [dataset.title, "; ".join(filter(None, notes))]


def shape_of(dataset: Dataset) -> str:
    """Return the size of a data set as described; empty where it varies."""
    return f"{dataset.n_samples} x {dataset.n_features}" if dataset.n_samples and dataset.n_features else ""


def _metric(metric: Metric) -> list[str]:
    only = f"for {', '.join(metric.problems)}" if metric.problems else ""
    better = f"{metric.direction} is better" if metric.direction != "none" else ""
    notes = [better, only, _from("metric", metric.name)]
    return [metric.title, metric.reference, "; ".join(filter(None, notes))]


def _problem(problem: Any) -> list[str]:
    return [problem.title, f"solved by {', '.join(solves(problem.name)) or 'no installed solver'}"]


def _experiment(path: Path) -> list[str]:
    node, files = content(path), group_files("experiment")
    nodes = [node, *(content(files[base]) for base in node.get("defaults") or [] if base in files)]
    paper = next((one["paper"] for one in nodes if one.get("paper")), "")  # it may be inherited
    return [str(node.get("title") or ""), str(paper)]


KINDS = {
    "solver": Kind("Solvers (solver=NAME)", lambda: {**group_files("solver"), **registry.installed().solvers}, _solver),
    "dataset": Kind(
        "Data sets (dataset=NAME)", lambda: {**group_files("dataset"), **registry.installed().datasets}, _dataset
    ),
    "metric": Kind("Metrics (metrics=[NAME,...])", lambda: registry.installed().metrics, _metric),
    "problem": Kind("Problems (problem=NAME)", lambda: PROBLEMS, _problem),
    "experiment": Kind("Experiments (+experiment=NAME)", lambda: group_files("experiment"), _experiment),
}


def title_and_notes(kind: str, item: Any) -> list[str]:
    """Return the title and the notes of an entry; for a file that cannot be read, the reason."""
    try:
        return _variant(item) if isinstance(item, Path) and kind != "experiment" else KINDS[kind].describe(item)
    except UNREADABLE as error:
        return [f"cannot be read: {' '.join(str(error).split())}"]
