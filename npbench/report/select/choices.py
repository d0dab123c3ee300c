"""The choices of a solver that are installed, with their settings: a record of one of them has its name."""

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from npbench.config.files import config_folders, group_files, merged_choice
from npbench.config.solver_settings import divided
from npbench.registry import installed


@dataclass(frozen=True)
class Choice:
    """The solver that a name on the command line chooses, with its fixed parameters and search."""

    solver: str
    params: Mapping[str, Any]
    search: Mapping[str, list[Any]]


def choices() -> Mapping[str, Choice]:
    """Return the installed choices of a solver by name, without malformed ones: a run names their faults."""
    return _choices(tuple(config_folders()), tuple(installed().solvers))


@functools.lru_cache(maxsize=2)
def _choices(_: tuple[Path, ...], solvers: tuple[str, ...]) -> Mapping[str, Choice]:
    files = group_files("solver")
    found = {}
    for name in dict.fromkeys([*solvers, *files]):
        with contextlib.suppress(OSError, yaml.YAMLError, TypeError, ValueError, AttributeError, LookupError):
            solver, node = merged_choice(name, files)
            grids = node.pop("search", None) or {}
            found[name] = Choice(solver, *divided(node, grids))
    return found
