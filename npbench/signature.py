"""Keyword parameters of the code that descriptions name, read from signatures."""

import dataclasses
import functools
import inspect
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from npbench.contracts import Solver, resolve
from npbench.errors import RequestError, unknown_name
from npbench.problem import PROBLEMS

REQUIRED = inspect.Parameter.empty
IMPORT_LIMIT = 120.0  # seconds, also on a busy machine


@dataclass(frozen=True)
class Signature:
    """Keyword parameters of a callable."""

    defaults: Mapping[str, Any]  # REQUIRED for those without one
    is_open: bool  # to any other name (**params)

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return the ``names`` that the callable does not accept."""
        return [] if self.is_open else [name for name in names if name not in self.defaults]


@functools.cache
def signature(target: str, n_positional: int = 0) -> Signature:
    """Return the keyword parameters of ``"module:attribute"`` after its first ``n_positional`` ones, importing it."""
    with _import_limited(target):
        all_parameters = inspect.signature(resolve(target)).parameters.values()
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)  # after *paths
    parameters = [p for place, p in enumerate(all_parameters) if place >= n_positional or p.kind in by_name]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return Signature(
        defaults={p.name: p.default for p in parameters if p.kind in named},
        is_open=any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters),
    )


@contextmanager
def _import_limited(target: str) -> Iterator[None]:
    """Raise TimeoutError if the block takes too long; only the main thread receives signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeoutError(f"the import of {target.partition(':')[0]} has not ended after {IMPORT_LIMIT:g} s")

    handler = signal.signal(signal.SIGALRM, stop)
    timer = signal.setitimer(signal.ITIMER_REAL, IMPORT_LIMIT, 1)  # each second: the module may catch the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def filled_in(solver: Solver) -> set[str]:
    """Return the estimator's parameters that users do not set: parameters of its problems, and the seed."""
    problems = [PROBLEMS[name] for name in solver.solves if name in PROBLEMS]
    return {"random_state"}.union(*(fields(problem) for problem in problems))


def same(value: Any, default: Any) -> bool:
    """Return whether a value of a configuration or a record is the default of a signature.

    >>> same([0, 0.1], (0.0, 0.1)), same({}, None), same("0", 0)
    (True, True, False)
    """
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return len(value) == len(default) and all(map(same, value, default))
    if isinstance(value, Mapping) and default is None:  # a mapping without an entry
        return not value
    return bool(value == default)


def imported_names(solver: Solver, params: Mapping[str, Any], search: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the solvers or classes that a solver imports by name, from its parameters or their candidates."""
    values = (value for name in solver.imports for value in search.get(name) or [params.get(name)])
    return [value for value in values if isinstance(value, str)]


def built(kind: str, table: Mapping[str, Any], name: str, settings: Mapping[str, Any]) -> Any:
    """Return the problem or protocol called ``name``, a key that ``settings`` may hold too; raise all its faults."""
    if name not in table:
        raise RequestError(unknown_name(kind, name, table))
    given = {str(key): value for key, value in settings.items() if key != "name"}
    known = {f"{kind}.{key}": key for key in fields(table[name])}
    if wrong := [key for key in given if key not in known.values()]:
        raise RequestError(*(unknown_name("setting", f"{kind}.{key}", known) for key in wrong))
    value = table[name](**given)
    if faults := value.faults():
        raise RequestError(*faults)
    return value


def fields(dataclass_type: Any) -> dict[str, Any]:
    """Return the defaults of a dataclass's fields, by name."""
    return {field.name: field.default for field in dataclasses.fields(dataclass_type)}
