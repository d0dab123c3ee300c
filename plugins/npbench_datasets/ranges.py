"""Checks of the parameters of generators."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from npbench.errors import RequestError


def whole(lowest: int, **parameters: Any) -> list[str]:
    """Return a message for each parameter that is not a whole number of at least ``lowest``."""
    return [
        f"dataset.{name} is {value!r}: it must be a whole number, {lowest} or more."
        for name, value in parameters.items()
        if not isinstance(value, Integral) or isinstance(value, bool) or value < lowest
    ]


def between(low: float, high: float, **parameters: Any) -> list[str]:
    """Return a message for each parameter that is not a number in ]low, high[."""
    limits = f"between {low:g} and {high:g}" if math.isfinite(high) else f"and finite, above {low:g}"
    return [
        f"dataset.{name} is {value!r}: it must be a number {limits}."
        for name, value in parameters.items()
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low < value < high
    ]


def truth(**parameters: Any) -> list[str]:
    """Return a message for each parameter that is neither true nor false."""
    return [
        f"dataset.{name} is {value!r}: it must be true or false."
        for name, value in parameters.items()
        if not isinstance(value, bool)
    ]


def refuse(faults: list[str]) -> None:
    """Raise a RequestError if there are faults."""
    if faults:
        raise RequestError(*faults)
