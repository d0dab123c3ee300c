"""Docstrings of estimators that share parameters: each one is described once, in the class that introduces it."""

from __future__ import annotations

import inspect
import re
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^\S.*\n(?:(?:[ ]+.*)?\n)*", re.MULTILINE)


def inherit_docs(cls: Class) -> Class:
    """Complete the docstring of an estimator from its base classes.

    Adds the parameters and attributes that base classes describe, and the notes of the nearest one if the estimator
    has none. A description of its own replaces an inherited one. Parameters follow the order of ``__init__``, which
    also gives their default values; a described parameter that ``__init__`` does not take is left out.

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
    >>> "tol : float, default=0.001" in Method.__doc__
    True
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    # The docstrings of scikit-learn's own base classes address authors of estimators, not users.
    ours = [base for base in reversed(cls.__mro__) if not base.__module__.startswith("sklearn.")]
    lineage = [_sections(base) for base in ours]
    sections = lineage[-1]
    signature = inspect.signature(cls).parameters
    sections["Parameters"] = _parameters(_merged(lineage, "Parameters"), signature)
    sections["Attributes"] = "".join(_merged(lineage, "Attributes").values())
    sections["Notes"] = next((base["Notes"] for base in reversed(lineage) if "Notes" in base), "")
    cls.__doc__ = _written(sections)
    return cls


def _sections(cls: type) -> dict[str, str]:
    """Return the parts of the docstring written in a class by heading; "" is the text before the first one."""
    parts = HEADING.split(inspect.cleandoc(vars(cls).get("__doc__") or ""))
    return {name: text.strip("\n") + "\n" for name, text in zip(["", *parts[1::2]], parts[0::2], strict=True)}


def _merged(lineage: list[dict[str, str]], heading: str) -> dict[str, str]:
    """Return the entries below a heading by name; a derived class replaces those of its bases, in place."""
    return {
        entry.partition(" : ")[0]: entry for sections in lineage for entry in ENTRY.findall(sections.get(heading, ""))
    }


def _parameters(entries: dict[str, str], signature: Any) -> str:
    order = {name: place for place, name in enumerate(signature)}
    first = {names: names.split(", ")[0] for names in entries}
    taken = sorted((names for names in entries if first[names] in order), key=lambda names: order[first[names]])
    return "".join(_with_default(entries[names], signature[first[names]].default) for names in taken)


def _with_default(entry: str, default: Any) -> str:
    head, rest = entry.split("\n", 1)
    if default is None or "default=" in head or "optional" in head:
        return entry
    value = f'"{default}"' if isinstance(default, str) else repr(default)
    return f"{head}, default={value}\n{rest}"


ORDER = ("", "Parameters", "Attributes", "Raises", "Warns", "Notes", "References", "Examples")


def _written(sections: dict[str, str]) -> str:
    text = [
        f"{heading}\n{'-' * len(heading)}\n{sections[heading]}" if heading else sections[""]
        for heading in ORDER
        if sections.get(heading)
    ]
    return "\n".join(text).rstrip()
