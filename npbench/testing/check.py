"""A check, and the requirements and errors it is made of."""

import inspect
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Skipped = unittest.SkipTest  # pytest skips a test that raises it


@dataclass(frozen=True)
class Check:
    """One property that npbench relies on; call it to test it.

    A call raises AssertionError if the claim does not hold, and unittest.SkipTest if there is nothing to test.

    Parameters
    ----------
    name : str
        Word for the id of a test.
    claim : str
        Property, in one line.
    body : callable
        Test of the property, without arguments.
    """

    name: str
    claim: str
    body: Callable[[], None] = field(repr=False)

    def __call__(self) -> None:
        """Run the check; warnings are ignored unless the check itself looks at them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.body()
            except (AssertionError, Skipped):
                raise
            except Exception as error:  # whatever a plugin raises is a finding of the check
                hint = "(`npbench check --traceback` shows where.)"
                raise AssertionError(f"Unexpected {type(error).__name__}: {error} {hint}") from error

    def __str__(self) -> str:
        return self.name


def checks(
    functions: Iterator[Callable[..., None]], described: Any, expected_failures: Mapping[str, str] | None = None
) -> Iterator[Check]:
    """Yield a check for each function of a description: its name, and the first line of its docstring as the claim."""
    reasons = expected_failures or {}
    for function in functions:
        target = function.func if isinstance(function, partial) else function
        choice = f"_{'_'.join(function.keywords.values())}" if isinstance(function, partial) else ""
        body = partial(function, described)
        name = f"{target.__name__}{choice}"
        if name in reasons:
            body = partial(_expected_to_fail, body, reasons[name])
        yield Check(name, (inspect.getdoc(target) or "").partition("\n")[0], body)


def _expected_to_fail(body: Callable[[], None], reason: str) -> None:
    """Skip a check, with the reason, if it fails; fail if it passes."""
    try:
        body()
    except Skipped:
        raise
    except Exception as error:
        raise Skipped(f"It is expected to fail: {reason}") from error
    raise AssertionError(f"It passes, but is expected to fail ({reason}): remove it from expected_failures.")


def require(held: Any, sentence: str) -> None:
    """Raise AssertionError with ``sentence`` unless ``held``; unlike assert, even with ``python -O``."""
    if not held:
        raise AssertionError(sentence)


def require_known(what: str, names: Iterable[str], choices: Iterable[str]) -> None:
    """Raise AssertionError unless all names are among the choices."""
    unknown = sorted(set(names) - set(choices))
    require(not unknown, f"Unknown {what}: {', '.join(unknown)}. Available: {', '.join(sorted(choices))}.")
