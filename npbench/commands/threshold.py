"""Old path of :mod:`npbench.thresholding.commands.threshold`; it goes with the next minor version."""

from npbench.thresholding.commands.threshold import per_second, run

__all__ = ["per_second", "run"]
