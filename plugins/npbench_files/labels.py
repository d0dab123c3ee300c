"""Code labels as +1 and -1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from npbench.errors import RequestError
from npbench_files.wording import counted, listed

USUAL_PAIRS = ({"-1", "1"}, {"0", "1"}, {"false", "true"})  # the second is +1 by default
REST = "rest"  # value of dataset.negative for all labels that are not positive


def signs(labels: pl.Series, positive: Any = None, negative: Any = None) -> np.ndarray:
    """Return +1 for each row with a positive label, -1 for a negative one, and 0 for rows to leave out.

    ``positive`` and ``negative`` are values or lists, as in :func:`npbench_files.file.load_file`.

    Examples
    --------
    >>> signs(pl.Series(["b", "m", "b"]), positive="m")
    array([-1,  1, -1], dtype=int8)
    >>> signs(pl.Series([1, 2, 3]), positive=3, negative=1)
    array([-1,  0,  1], dtype=int8)
    """
    if labels.is_empty():
        raise RequestError("there are no rows.")
    labels = _without_nan(labels).rename("label")
    if missing := labels.null_count():
        raise RequestError(f"labels are missing in {counted(missing)} of {len(labels)}: add them, or remove the rows.")
    counts = dict(labels.value_counts(name="count").sort("label").iter_rows())
    if len(counts) == 1:
        raise RequestError(f"every row has the label {_shown(counts)}: expected two classes.")
    plus = _named("positive", [_default_positive(counts)] if positive is None else positive, counts)
    minus = _negative(plus, negative, counts)
    return labels.is_in(plus).to_numpy().astype(np.int8) - labels.is_in(minus).to_numpy().astype(np.int8)


def spelled(value: Any) -> str:
    """Return a label as users type it: 1.0 as 1, and booleans in lower case."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


def _without_nan(labels: pl.Series) -> pl.Series:
    if labels.dtype.is_float():
        return labels.fill_nan(None)
    return labels if labels.dtype.is_numeric() or labels.dtype == pl.Boolean else labels.cast(pl.String)


def _default_positive(counts: Mapping[Any, int]) -> str:
    """Return the positive label of a usual pair."""
    if {spelled(value) for value in counts} in USUAL_PAIRS:
        return max(spelled(value) for value in counts)
    raise RequestError(f"dataset.positive has no value: name the label that is +1. There are {_shown(counts)}.")


def _negative(plus: list[Any], negative: Any, counts: Mapping[Any, int]) -> list[Any]:
    rest = [value for value in counts if value not in plus]
    if not rest:
        raise RequestError(f"dataset.positive names every label, {_shown(counts)}: leave one for -1.")
    if negative is None and len(rest) > 1:
        raise RequestError(
            f"there are {len(counts)} labels, {_shown(counts)}: name those of -1 in dataset.negative, which leaves out "
            "all others, or set dataset.negative=rest for all that are not positive."
        )
    if negative is None or (negative == REST and REST not in counts):
        return rest
    minus = _named("negative", negative, counts)
    if both := [value for value in minus if value in plus]:
        raise RequestError(f"dataset.positive and dataset.negative both name {listed(map(repr, both))}: choose one.")
    return minus


def _named(setting: str, wanted: Any, counts: Mapping[Any, int]) -> list[Any]:
    """Return the labels named by a setting, in any spelling."""
    values = {spelled(value): value for value in counts}
    names = [spelled(name) for name in (wanted if isinstance(wanted, list) else [wanted])]
    if unknown := [name for name in names if name not in values]:
        raise RequestError(
            f"dataset.{setting} is {listed(map(repr, unknown))}, which no row has. There are {_shown(counts)}."
        )
    return [values[name] for name in names]


def _shown(counts: Mapping[Any, int]) -> str:
    return listed(f"{spelled(value)!r} ({counted(count)})" for value, count in counts.items())
