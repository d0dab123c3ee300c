"""Docstrings of estimators that share parameters: each one is described once, in the class that introduces it."""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

T = TypeVar("T")

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S.*?) : .*\n(?:(?:[ ]+.*)?\n)*", re.MULTILINE)
ORDER = ("", "Parameters", "Attributes", "Raises", "Warns", "Notes", "References", "Examples")


def inherit_docs(cls: type[T]) -> type[T]:
    """Complete the docstring of an estimator from its base classes.

    Adds the parameters that ``__init__`` takes and the attributes that base classes describe, after those of the
    class itself, which replace inherited ones; and the notes of the nearest base class, if the class has none.

    Examples
    --------
    >>> class Base:
    ...     '''Anything with a tolerance.
    ...
    ...     Parameters
    ...     ----------
    ...     tol : float
    ...         Largest error.
    ...     '''
    >>> @inherit_docs
    ... class Method(Base):
    ...     '''A method.'''
    ...
    ...     def __init__(self, *, tol=1e-3):
    ...         self.tol = tol
    >>> "tol : float" in Method.__doc__
    True
    """
    # The docstrings of scikit-learn's own base classes address authors of estimators, not users.
    lineage = [_sections(one) for one in cls.__mro__ if not one.__module__.startswith("sklearn.")]
    own, taken = lineage[0], set(inspect.signature(cls).parameters)
    parameters, attributes = (_merged(lineage, heading) for heading in ("Parameters", "Attributes"))
    own["Parameters"] = "".join(entry for names, entry in parameters.items() if names.split(", ")[0] in taken)
    own["Attributes"] = "".join(attributes.values())
    own["Notes"] = next((sections["Notes"] for sections in lineage if "Notes" in sections), "")
    text = {heading: own[heading] for heading in ORDER if own.get(heading)}
    cls.__doc__ = "\n".join(f"{name}\n{'-' * len(name)}\n{body}" if name else body for name, body in text.items())
    return cls


def _sections(cls: type) -> dict[str, str]:
    """Return the text of a class's own docstring by heading, with "" for the text before the first one."""
    parts = HEADING.split(inspect.cleandoc(vars(cls).get("__doc__") or ""))
    return {name: text.strip("\n") + "\n" for name, text in zip(["", *parts[1::2]], parts[0::2], strict=True)}


def _merged(lineage: list[dict[str, str]], heading: str) -> dict[str, str]:
    """Return the entries below a heading by name, those of the most derived class first."""
    entries: dict[str, str] = {}
    for sections in lineage:
        for found in ENTRY.finditer(sections.get(heading, "")):
            entries.setdefault(found[1], found[0])
    return entries
