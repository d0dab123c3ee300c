"""Values as canonical JSON and in words, and checks of numbers."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

NAME = re.compile(r"\w[\w.+-]{0,59}")  # of a plugin's object: typed as a setting, printed, and part of file names
MAX_LISTED = 10  # items in a sentence


def is_whole(value: Any, at_least: int) -> bool:
    """Return whether ``value`` is an int, not a bool, and at least ``at_least``."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a finite real number and not a bool."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def is_positive(value: Any) -> bool:
    """Return whether ``value`` is a finite number above 0."""
    return is_number(value) and value > 0


def is_range(ends: Any) -> bool:
    """Return whether ``ends`` are two rates, the first below the second."""
    is_pair = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(map(is_number, ends))
    return is_pair and 0 <= ends[0] < ends[1] <= 1


def canonical(value: Any) -> str:
    """Return ``value`` as JSON, as ``{"a":true,"b":[1,2]}``; equal values have equal texts."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return ``value`` in JSON types: 1.0 becomes 1, a tuple a list, a NumPy number a Python number.

    >>> plain({"degree": 3.0, "range": (0, 0.5)})
    {'degree': 3, 'range': [0, 0.5]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [plain(part) for part in value]
    raise TypeError(f"{value!r} is not a number, a string, or a list or mapping of them")


def listed(items: Iterable[str], most: int = MAX_LISTED, separator: str = ", ") -> str:
    """Join the first items, with the number of the others.

    >>> listed("abc"), listed("abc", 2)
    ('a, b, c', 'a, b and 1 more')
    """
    every = [item if item.isprintable() else repr(item) for item in items]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return separator.join(every[:most]) + more


def counted(n: int, noun: str = "row") -> str:
    """Return a number of things, as in ``1 record`` and ``2 records``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
