"""Data sets: arrays and their checks, sources of files, and the cache that worker processes share.

BinaryData is imported on first use, so that :mod:`npbench.data.sources` works without loading numerics.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npbench.data.binary import BinaryData

__all__ = ["BinaryData"]


if not TYPE_CHECKING:  # type checkers refuse a name that is not imported above

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from npbench.data.binary import BinaryData

        return BinaryData
