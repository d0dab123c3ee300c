"""Data sets; names are imported on first use, so that :mod:`npbench.data.sources` works without loading numerics."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npbench.data.binary import BinaryData
    from npbench.data.cache import SharedData, share
    from npbench.data.loading import load, parameter_faults

__all__ = ["BinaryData", "SharedData", "load", "parameter_faults", "share"]

_MODULES = {
    "BinaryData": "binary",
    "SharedData": "cache",
    "load": "loading",
    "parameter_faults": "loading",
    "share": "cache",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
