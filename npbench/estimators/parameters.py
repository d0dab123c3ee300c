"""Constructors of estimators, written from the parameters that a class and its bases declare."""

import inspect
import re
from collections import ChainMap
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S.*?)(?: : .*)?\n(?:(?:[ ]+.*)?\n)*", re.MULTILINE)
ORDER = ("", "Parameters", "Attributes", "Raises", "Warns", "Notes", "References", "Examples")


def parameter(*allowed: Any, **options: Any) -> Any:
    """Return the field of a parameter from the values it may have, as in ``_parameter_constraints``, and its default.

    ``options`` are those of :func:`dataclasses.field`.
    """
    return field(metadata={"allowed": list(allowed)}, **options)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def keyword_parameters(cls: type[T]) -> type[T]:
    """Make an estimator's annotated attributes its keyword-only parameters, in addition to its base classes'.

    This is a dataclass that compares and prints as scikit-learn's estimators do. Its ``__init__`` names each parameter,
    as ``get_params`` and ``clone`` require. A class inherits the entries of its bases' docstrings, and the values that
    a :func:`parameter` may have. Attributes set in ``fit`` are not annotated in such a class.

    Examples
    --------
    >>> from npbench.estimators.constraints import POSITIVE
    >>> from npbench.estimators.binary import LinearClassifier
    >>> @keyword_parameters
    ... class Family(LinearClassifier):
    ...     C: float = parameter(POSITIVE, default=1.0)
    ...     max_iter: int = 100
    >>> @keyword_parameters
    ... class Method(Family):
    ...     rho: float = 0.05
    ...     max_iter: int = 200
    >>> Method(rho=0.1).get_params()
    {'C': 1.0, 'max_iter': 200, 'rho': 0.1}
    """
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    allowed = {one.name: one.metadata["allowed"] for one in fields(made) if "allowed" in one.metadata}
    own, *inherited = [vars(base).get("_parameter_constraints", {}) for base in made.__mro__]
    made._parameter_constraints = dict(ChainMap(own, allowed, *inherited))
    return _inherit_docs(made)


def _inherit_docs(cls: type[T]) -> type[T]:
    """Add to a docstring the entries of bases that it does not replace, and their nearest notes and references."""
    # The docstrings of scikit-learn's own base classes address authors of estimators, not users.
    lineage = [sections(vars(one).get("__doc__")) for one in cls.__mro__ if not one.__module__.startswith("sklearn.")]
    own, taken = lineage[0], set(inspect.signature(cls).parameters)
    parameters, attributes = (_merged(lineage, heading) for heading in ("Parameters", "Attributes"))
    own["Parameters"] = "".join(entry for names, entry in parameters.items() if names.split(", ")[0] in taken)
    own["Attributes"] = "".join(attributes.values())
    for heading in ("Notes", "References"):
        own[heading] = next((one[heading] for one in lineage if heading in one), "")
    text = {heading: own[heading] for heading in ORDER if own.get(heading)}
    cls.__doc__ = "\n".join(f"{name}\n{'-' * len(name)}\n{body}" if name else body for name, body in text.items())
    return cls


def sections(docstring: str | None) -> dict[str, str]:
    """Return the text of a docstring by heading, with "" for the text before the first one."""
    parts = HEADING.split(inspect.cleandoc(docstring or ""))
    return {name: text.strip("\n") + "\n" for name, text in zip(["", *parts[1::2]], parts[0::2], strict=True)}


def _merged(lineage: list[dict[str, str]], heading: str) -> dict[str, str]:
    """Return the entries below a heading by name, those of the most derived class first."""
    entries: dict[str, str] = {}
    for one in lineage:
        for found in ENTRY.finditer(one.get(heading, "")):
            entries.setdefault(found[1], found[0])
    return entries
