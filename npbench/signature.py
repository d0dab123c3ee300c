"""Keyword parameters of the code that descriptions name, read from signatures."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npbench.contracts import Solver, resolve
from npbench.problem import PROBLEMS

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Signature:
    """Keyword parameters of a callable.

    Parameters
    ----------
    defaults : mapping of str to value
        Default of each parameter; ``REQUIRED`` for those without one.
    is_open : bool
        Whether it accepts any other name (``**params``).
    """

    defaults: Mapping[str, Any]
    is_open: bool

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return the ``names`` that the callable does not accept."""
        return [] if self.is_open else [name for name in names if name not in self.defaults]


@functools.cache
def signature(target: str, n_positional: int = 0) -> Signature:
    """Return the keyword parameters of ``target`` after its first ``n_positional`` ones; this imports it.

    Parameters
    ----------
    target : str
        ``"module:attribute"`` of a class or function.
    n_positional : int
        Number of leading parameters that the caller passes by position.

    Examples
    --------
    >>> signature("math:isclose", 2).defaults
    {'rel_tol': 1e-09, 'abs_tol': 0.0}
    """
    parameters = list(inspect.signature(resolve(target)).parameters.values())[n_positional:]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return Signature(
        defaults={p.name: p.default for p in parameters if p.kind in named},
        is_open=any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters),
    )


def filled_in(solver: Solver) -> set[str]:
    """Return the estimator's parameters that users do not set: those of its problems, and the seed."""
    problems = [PROBLEMS[name] for name in solver.solves if name in PROBLEMS]
    return {"random_state"}.union(*(fields(problem) for problem in problems))


def imported_names(solver: Solver, params: Mapping[str, Any], search: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the solvers or classes that a solver imports by name, from its parameters or their candidates."""
    values = (value for name in solver.imports for value in search.get(name) or [params.get(name)])
    return [value for value in values if isinstance(value, str)]


def fields(dataclass_type: Any) -> dict[str, Any]:
    """Return the defaults of a dataclass's fields, by name."""
    return {field.name: field.default for field in dataclasses.fields(dataclass_type)}
