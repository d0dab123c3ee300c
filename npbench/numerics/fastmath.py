"""Sets of fast-math flags for Numba."""

REORDERED = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity keep their meaning
FAST = {"reassoc", "nnan", "nsz", "contract", "arcp"}  # right for finite values, which the caller has checked
