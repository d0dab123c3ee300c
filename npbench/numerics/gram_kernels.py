"""The exponential of the Gaussian kernel, in a loop that LLVM vectorises.

NumPy's exponential of float64 is vectorised for AVX-512 only: 0.8 ns a value there and 4 ns elsewhere, beside 1.3 ns
for the passes over a block before it. The one pass here takes 0.7 ns with AVX-512, 1.5 ns with AVX2 and 4.7 ns without.
"""

import numpy as np
from numba import njit

from npbench.numerics.extrema import larger, smaller

LEAST_EXPONENT = -300.0  # exp(-300) = 5e-131 is negligible, and 2^k below remains a normal number
LOG2_E = 1.4426950408889634
LN_2 = 0.693147180369123816490, 1.90821492927058770002e-10  # the first part times an integer is exact
SHIFT = 1.5 * 2.0**52  # a number added to it loses its fraction, and is an integer in the last bits


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def gaussian(products, gamma, x_terms, z_terms):
    """Replace the products x'z, of shape (n, m), by ``exp(-gamma ||x - z||^2)``, to rounding.

    The finite terms, of shapes (n,) and (m,), are ``gamma ||x||^2`` and ``gamma ||z||^2``.
    """
    for r in range(products.shape[0]):
        row, x_term = products[r], x_terms[r]
        for c in range(row.shape[0]):
            t = larger(smaller(2.0 * gamma * row[c] - (x_term + z_terms[c]), 0.0), LEAST_EXPONENT)

            # t = k log 2 + s with an integer k and |s| <= 0.35, then the Taylor series of exp(s)
            shifted = t * LOG2_E + SHIFT
            k = shifted - SHIFT
            s = (t - k * LN_2[0]) - k * LN_2[1]
            e = 1.0 / 6227020800.0
            e = e * s + 1.0 / 479001600.0
            e = e * s + 1.0 / 39916800.0
            e = e * s + 1.0 / 3628800.0
            e = e * s + 1.0 / 362880.0
            e = e * s + 1.0 / 40320.0
            e = e * s + 1.0 / 5040.0
            e = e * s + 1.0 / 720.0
            e = e * s + 1.0 / 120.0
            e = e * s + 1.0 / 24.0
            e = e * s + 1.0 / 6.0
            e = e * s + 0.5
            e = e * s + 1.0
            e = e * s + 1.0
            row[c] = e * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)  # e 2^k
