"""Check the parameters of loaders and generators."""

import math
from numbers import Integral
from typing import Any

from npbench.errors import RequestError


def integer(lowest: int, **parameters: Any) -> list[str]:
    """Return an error for each parameter that is not an integer of at least ``lowest``."""
    return [
        f"dataset.{name} is {value!r}: expected an integer of {lowest} or more."
        for name, value in parameters.items()
        if not isinstance(value, Integral) or isinstance(value, bool) or value < lowest
    ]


def between(low: float, high: float, **parameters: Any) -> list[str]:
    """Return an error for each parameter that is not a number in ]low, high[."""
    limits = f"between {low:g} and {high:g}" if math.isfinite(high) else f"and finite, above {low:g}"
    return [
        f"dataset.{name} is {value!r}: expected a number {limits}."
        for name, value in parameters.items()
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low < value < high
    ]


def sizes(n_pos: int, n_neg: int, seed: int) -> list[str]:
    """Return the errors in the numbers of samples of each class and the seed of a generator."""
    return integer(1, n_pos=n_pos, n_neg=n_neg) + integer(0, seed=seed)


def refuse(faults: list[str]) -> None:
    """Raise a RequestError if there are faults."""
    if faults:
        raise RequestError(*faults)
