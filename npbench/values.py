"""Values as canonical JSON, and checks of numbers."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

NAME = re.compile(r"\w[\w.+-]{0,59}")  # of a plugin's object: typed as a setting, printed, and part of file names


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
