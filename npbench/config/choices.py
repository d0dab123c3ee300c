"""Choices of the group ``solver``: what each installed solver and variant sets and searches."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from npbench import registry
from npbench.config.files import config_folders, content, group_files, merged
from npbench.config.solver_settings import divided
from npbench.errors import RequestError

NO_PARAMETERS = ("defaults", "name", "search")


@dataclass(frozen=True)
class Choice:
    """The solver that a name on the command line chooses, with its fixed parameters and search."""

    solver: str
    params: Mapping[str, Any]
    search: Mapping[str, list[Any]]


def choices() -> Mapping[str, Choice]:
    """Return the installed choices of a solver by name, without malformed ones: a run names their faults."""
    return _choices(tuple(config_folders()), tuple(registry.installed().solvers))


@functools.lru_cache(maxsize=2)
def _choices(_: tuple[Path, ...], solvers: tuple[str, ...]) -> Mapping[str, Choice]:
    files = group_files("solver")
    found = {}
    for name in dict.fromkeys([*solvers, *files]):
        try:
            solver, node = _merged_node(name, files)
            settings = {key: value for key, value in node.items() if key not in NO_PARAMETERS}
            found[name] = Choice(solver, *divided(settings, node.get("search") or {}))
        except (RequestError, OSError, yaml.YAMLError, TypeError, ValueError, AttributeError, LookupError):
            continue
    return found


def _merged_node(name: str, files: Mapping[str, Path]) -> tuple[str, dict[str, Any]]:
    """Return the solver of a choice, and its settings merged over those that it starts from."""
    own = content(files[name]) if name in files else {}
    described = registry.installed().solvers.get(name)
    solver, node = own.get("name", name), {"search": described.search} if described else {}
    for base in own.get("defaults", ()):
        if base != "_self_":
            solver, node = _merged_node(base, files)
    return solver, merged(node, own)
