"""Data sets: what one is, where its files are found, how it reaches worker processes."""

from npbench.data.binary import BinaryData
from npbench.data.loading import load, parameter_faults
from npbench.data.sharing import SharedData, share

__all__ = ["BinaryData", "SharedData", "load", "parameter_faults", "share"]
