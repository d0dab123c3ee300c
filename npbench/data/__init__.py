"""Data sets: what one is, where its files are found, how it reaches worker processes.

Names are imported when they are first used: where files lie is told without loading numerics.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npbench.data.binary import BinaryData
    from npbench.data.loading import load, parameter_faults
    from npbench.data.sharing import SharedData, share

__all__ = ["BinaryData", "SharedData", "load", "parameter_faults", "share"]

_MODULES = {
    "BinaryData": "binary",
    "SharedData": "sharing",
    "load": "loading",
    "parameter_faults": "loading",
    "share": "sharing",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
