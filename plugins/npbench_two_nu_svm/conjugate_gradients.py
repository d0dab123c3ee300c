"""Conjugate gradients over many free weights, projected onto their bounds.

An inverse over m free weights takes O(m^2) memory and O(m^3) time. Beyond a few hundred, a few products with Q_FF
take less, above all under narrow kernels, where Q is well-conditioned; where it is not, the caller turns to an inverse.
The products are bound by the bytes of Q_FF, so they read the upper triangle of a copy in single precision: 2 m^2 bytes.
The caller takes the step in double precision.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from npbench.numerics.extrema import larger

MAX_STEPS = 300  # each takes a product with Q_FF
FREE_STEPS = 8  # after these, steps end when a weight leaves its bounds
RESIDUAL_REDUCTION = 0.1  # steps end when the norm of the residual has fallen by this factor
NEGLIGIBLE = 1e-15  # compared to 1 in single precision; smaller products would underflow, which is slow
PROJECTION_BISECTIONS = 60
FAST = {"reassoc", "nsz", "contract", "arcp"}


@register_jitable(fastmath=FAST, error_model="numpy")
def _copy_upper_triangle(Q, members, block):
    """Copy the upper triangle of ``Q[members][:, members]`` in single precision."""
    for r in range(members.shape[0]):
        # a value of 0 in place of a negligible one avoids underflow in single precision
        row, to, which = Q[members[r]], block[r, r:], members[r:]
        for c in range(to.shape[0]):
            value = row[which[c]]
            to[c] = value * (abs(value) > NEGLIGIBLE)


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def product(block, v, image):
    """Set ``image`` to a symmetric matrix times v, in single precision, from the upper triangle, by four rows."""
    image[:] = 0.0
    m = v.shape[0]
    for r in range(0, m, 4):
        # columns up to the last of the four rows
        end = min(r + 4, m)
        for i in range(r, end):
            image[i] += block[i, i] * v[i]
            for j in range(i + 1, end):
                image[i] += block[i, j] * v[j]
                image[j] += block[i, j] * v[i]
        if end == m:
            break

        # columns beyond
        a, b, c, d = block[r, end:], block[r + 1, end:], block[r + 2, end:], block[r + 3, end:]
        to, x = image[end:], v[end:]
        of_a, of_b, of_c, of_d = v[r], v[r + 1], v[r + 2], v[r + 3]
        sum_a = sum_b = sum_c = sum_d = np.float32(0.0)
        for k in range(to.shape[0]):
            to[k] += (of_a * a[k] + of_b * b[k]) + (of_c * c[k] + of_d * d[k])
            sum_a += a[k] * x[k]
            sum_b += b[k] * x[k]
            sum_c += c[k] * x[k]
            sum_d += d[k] * x[k]
        image[r] += sum_a
        image[r + 1] += sum_b
        image[r + 2] += sum_c
        image[r + 3] += sum_d


@register_jitable(fastmath=FAST, error_model="numpy")
def _centre(v):
    total = 0.0
    for k in range(v.shape[0]):
        total += v[k]
    mean = total / max(v.shape[0], 1)
    for k in range(v.shape[0]):
        v[k] -= mean


@register_jitable(fastmath=FAST, error_model="numpy")
def _square(v):
    total = 0.0
    for k in range(v.shape[0]):
        total += v[k] * v[k]
    return total


@register_jitable(fastmath=FAST, error_model="numpy")
def _largest(v):
    largest = 0.0
    for k in range(v.shape[0]):
        largest = larger(largest, abs(v[k]))
    return largest


@register_jitable(error_model="numpy")
def _project(u, change, upper):
    """Change the weights u of one class by ``change``, projected onto their bounds and their sum."""
    # bisect for the threshold that keeps the sum
    m, total, low, high = u.shape[0], 0.0, 0.0, 0.0
    for k in range(m):
        total += u[k]
        low, high = min(low, u[k] + change[k] - upper[k]), max(high, u[k] + change[k])
    for _ in range(PROJECTION_BISECTIONS):
        middle, reached = 0.5 * (low + high), 0.0
        for k in range(m):
            reached += min(max(u[k] + change[k] - middle, 0.0), upper[k])
        if reached > total:
            low = middle
        else:
            high = middle

    # take it, and share what rounding left among the weights between their bounds
    n_between = 0
    for k in range(m):
        u[k] = min(max(u[k] + change[k] - high, 0.0), upper[k])
        total -= u[k]
        n_between += 0.0 < u[k] < upper[k]
    for k in range(m):
        if 0.0 < u[k] < upper[k]:
            u[k] = min(max(u[k] + total / n_between, 0.0), upper[k])


@njit(cache=True, nogil=True, error_model="numpy")
def target(Q, p, upper, u, G, members, small, block):
    """Return weights near the least objective over the free weights, within all bounds, and the number of products.

    ``members`` has the m free weights in ascending order, ``block`` is a float32 buffer of shape (m, m), and a residual
    of ``small`` needs no reduction. The sum of each class is kept.
    """
    m, n_pos = members.shape[0], np.searchsorted(members, p)
    # start with the steepest descent that keeps the sum of each class
    _copy_upper_triangle(Q, members, block)
    residual, image, single = -G[members], np.empty(m, np.float32), np.empty(m, np.float32)
    _centre(residual[:n_pos])
    _centre(residual[n_pos:])
    free, bounds, change, direction, power = u[members], upper[members], np.zeros(m), residual.copy(), _square(residual)
    least, products = RESIDUAL_REDUCTION**2 * power, 0
    for step in range(MAX_STEPS):
        # end when the residual is small, or when weights leave their bounds
        if power <= least or _largest(residual) <= small:
            break
        n_outside = 0
        for k in range(m):
            n_outside += free[k] + change[k] < 0.0 or free[k] + change[k] > bounds[k]
        if step >= FREE_STEPS and n_outside > 0:
            break
        # product with a direction of length 1, which single precision represents
        length = np.sqrt(_square(direction))
        for k in range(m):
            value = direction[k] / length
            single[k] = value if abs(value) > NEGLIGIBLE else 0.0
        product(block, single, image)
        products += 1
        curvature = 0.0
        for k in range(m):
            curvature += length * direction[k] * image[k]
        # rounding in single precision: the step would be unbounded
        if curvature <= 0.0:
            break

        # conjugate gradient step
        share, before = power / curvature, power
        for k in range(m):
            change[k] += share * direction[k]
            residual[k] -= share * length * image[k]
        _centre(residual[:n_pos])
        _centre(residual[n_pos:])
        power = _square(residual)
        for k in range(m):
            direction[k] = residual[k] + power / before * direction[k]
    # project each class onto its bounds and its sum
    _project(free[:n_pos], change[:n_pos], bounds[:n_pos])
    _project(free[n_pos:], change[n_pos:], bounds[n_pos:])
    return free, products
