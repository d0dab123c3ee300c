"""Data sets: arrays and their checks, sources of files, and the cache that worker processes share."""

from npbench.data.binary import BinaryData

__all__ = ["BinaryData"]
