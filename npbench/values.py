"""Configuration values: as plain data, and what they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from npbench.errors import RequestError

if TYPE_CHECKING:
    from omegaconf import DictConfig


def as_plain(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, with references resolved.

    Raises
    ------
    RequestError
        If a value is missing or a reference leads nowhere.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    if not OmegaConf.is_config(config):
        return dict(config)
    try:
        return OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        key = error.full_key or "a setting"
        raise RequestError(f"{key} has no value: {str(error).splitlines()[0]}. Set it, as in {key}=1.") from error


def is_whole(value: Any, at_least: int) -> bool:
    """Return whether ``value`` is an int, no bool, and not below ``at_least``.

    Examples
    --------
    >>> is_whole(3, 1), is_whole(0, 1), is_whole(3.0, 1), is_whole(True, 1)
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a finite real number, and no bool.

    Examples
    --------
    >>> is_number(0.5), is_number(float("inf")), is_number("0.5")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: Any) -> bool:
    """Return whether ``value`` is a finite number above 0."""
    return is_number(value) and value > 0
