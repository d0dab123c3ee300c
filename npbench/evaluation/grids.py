"""Search grids as written in configuration: ``[0.1, 1, 10]`` or ``[geomspace, 0.01, 100, 10]``.

Grids are lists, because Hydra replaces a list by a list, but not a mapping by a list. The grid of a parameter that is a
mapping is a mapping of names to grids, ``{C: [0.1, 1], gamma: [1]}``, or a list of mappings.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from npbench.values import is_number, is_positive, is_whole

T = TypeVar("T")
Make = Callable[..., T]  # returns an unfitted estimator with the fixed parameters and those given
Grids = Mapping[str, Sequence[Any]]  # candidate values by parameter

# Kinds of values that a grid lists.
KINDS = (is_number, lambda value: isinstance(value, (str, bool)), lambda value: isinstance(value, dict))
# Check of both ends, and the word for it.
SPACINGS = {"geomspace": (is_positive, "positive"), "linspace": (is_number, "finite")}


def grid_fault(name: str, grid: Any) -> str | None:
    """Return the error in the grid of the parameter ``name``, or None."""
    start = f"solver.search.{name} is {grid!r}: "
    if isinstance(grid, dict) and grid:
        return next(filter(None, (grid_fault(f"{name}.{part}", inner) for part, inner in grid.items())), None)
    spacing = grid[0] if isinstance(grid, list) and grid and isinstance(grid[0], str) else None
    if spacing in SPACINGS:
        possible, ends = SPACINGS[spacing]
        good = len(grid) == 4 and all(map(possible, grid[1:3])) and is_whole(grid[3], at_least=1)
        return None if good else f"{start}write [{spacing},low,high,count] with {ends} ends and a count of 1 or more."
    if isinstance(grid, list) and grid and any(all(map(is_kind, grid)) for is_kind in KINDS):
        return None
    example = f"solver.search.{name}=[0.1,1,10] or solver.search.{name}=[geomspace,0.01,100,10]"
    return f"{start}expected a list of finite numbers or of names, as in {example}, or null for no search."


def grid_values(grid: Any) -> list[Any]:
    """Return the values of a search grid; a mapping of names to grids gives one mapping per combination.

    >>> grid_values(["geomspace", 0.01, 100, 5])
    [0.01, 0.1, 1.0, 10.0, 100.0]
    >>> grid_values(["linspace", 0.25, 1, 4])
    [0.25, 0.5, 0.75, 1.0]
    >>> grid_values({"C": [1, 10], "dual": [True]})
    [{'C': 1, 'dual': True}, {'C': 10, 'dual': True}]
    """
    if isinstance(grid, Mapping):
        return combinations({name: grid_values(grid[name]) for name in sorted(grid)})
    if len(grid) and grid[0] in ("geomspace", "linspace"):
        spaced, (low, high, count) = getattr(np, grid[0]), grid[1:]
        # Rounding makes equal grids that are written differently give the same numbers.
        return [float(f"{value:.12g}") for value in spaced(low, high, int(count))]
    return list(grid)


def combinations(search: Grids) -> list[dict[str, Any]]:
    """Return every combination of the searched values, the last parameter fastest, or only a grid's ``chosen`` ones."""
    chosen: list[dict[str, Any]] | None = getattr(search, "chosen", None)
    return chosen or [dict(zip(search, values, strict=True)) for values in itertools.product(*search.values())]
