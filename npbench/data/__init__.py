"""Data sets: checks, sources of files, cache; BinaryData is imported on first use, as sources need no numerics."""

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
