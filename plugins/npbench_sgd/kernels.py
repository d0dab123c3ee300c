"""Passes over the rows of an array or a CSR matrix, for :mod:`npbench_sgd.descent`.

``rows`` is a C-contiguous array, or the triple (data, indices, indptr) of a CSR matrix; neither is copied. The weights
are stored as w = scale v, so that shrinking w changes one number and a step costs only the non-zeros of its row. Numba
compiles one version for each type of rows.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from npbench.numerics.fastmath import REORDERED
from npbench.numerics.losses import loss_and_slope

# Below this, v is rescaled to w: otherwise v_sum v and u become large numbers with a small sum.
SMALLEST_SCALE = 1e-4

# Rows come in random order, which the hardware cannot predict. Requesting each row a few steps ahead took 45 % off the
# time of a step on sparse rows of rcv1's shape, and 60 % on dense rows of 50 features.
PREFETCH_DISTANCE = 8  # steps
PREFETCHED_LINES = 32  # per row; the hardware predicts the rest
CACHE_LINE_BYTES = 64


class State(NamedTuple):
    """Everything that a step changes, except the vectors v and u.

    The iterate after step t has the weight (t + 1)^3 in the averages: ``sum_t weight_t w_t = v_sum v + u``.
    """

    scale: float  # w / v
    b: float
    multiplier: float
    t: int  # number of steps taken
    weight_sum: float
    v_sum: float  # sum of weighted scales
    b_sum: float
    multiplier_sum: float


@intrinsic
def _prefetch(typing_context, array, offset):
    """Request the cache line of element ``offset``; the call does not wait and accepts any address."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        # Arguments of llvm.prefetch: read access, highest locality, data cache.
        builder.call(prefetch, [address, number(0), number(3), number(1)])

    return types.void(array, offset), generate


@njit(cache=True, nogil=True)
def _prefetch_range(array, start, stop):
    step = CACHE_LINE_BYTES // array.itemsize
    for k in range(start, min(stop, start + PREFETCHED_LINES * step), step):
        _prefetch(array, k)  # type: ignore[call-arg]  # Numba passes the typing context


def _prefetch_row(rows, i):
    """Request row i from memory."""


@overload(_prefetch_row, jit_options={"nogil": True})
def _prefetch_row_of(rows, i):
    if isinstance(rows, types.Array):
        return lambda rows, i: _prefetch_range(rows, i * rows.shape[1], (i + 1) * rows.shape[1])

    def csr(rows, i):
        data, indices, indptr = rows
        _prefetch_range(data, indptr[i], indptr[i + 1])
        _prefetch_range(indices, indptr[i], indptr[i + 1])

    return csr


def _products(rows, i, v):
    """Return ``x_i'v`` and ``x_i'x_i``."""


@overload(_products, jit_options={"nogil": True, "fastmath": REORDERED})
def _products_of(rows, i, v):
    if isinstance(rows, types.Array):

        def dense(rows, i, v):
            with_v, with_itself = 0.0, 0.0
            for j in range(len(v)):
                x = np.float64(rows[i, j])
                with_v += x * v[j]
                with_itself += x * x
            return with_v, with_itself

        return dense

    def csr(rows, i, v):
        data, indices, indptr = rows
        with_v, with_itself = 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[k])
            with_v += x * v[np.uintp(indices[k])]  # unsigned: no check for negative indices
            with_itself += x * x
        return with_v, with_itself

    return csr


def _add(rows, i, factor, v, factor_u, u):
    """Add ``factor x_i`` to v and ``factor_u x_i`` to u, which may be empty."""


@overload(_add, jit_options={"nogil": True})
def _add_of(rows, i, factor, v, factor_u, u):
    if isinstance(rows, types.Array):

        def dense(rows, i, factor, v, factor_u, u):
            for j in range(len(v)):
                v[j] += factor * rows[i, j]
            for j in range(len(u)):
                u[j] += factor_u * rows[i, j]

        return dense

    def csr(rows, i, factor, v, factor_u, u):
        data, indices, indptr = rows
        for k in range(indptr[i], indptr[i + 1]):
            j = np.uintp(indices[k])
            v[j] += factor * data[k]
            if len(u):
                u[j] += factor_u * data[k]

    return csr


@njit(cache=True, nogil=True)
def descend(rows, signed_weight, order, v, u, state, rule):
    """Take a step of Algorithm 4 on each of the rows ``order``; change v, and u unless it is empty, in place.

    v is w divided by ``state.scale``; u is the part of the weighted sum of iterates that is not a multiple of v, empty
    if no average is wanted. Weights of negatives have a minus sign. Return the state, and the sums of losses and of
    weights of positives and of negatives, each loss before its own step.
    """
    scale, b, multiplier, t, weight_sum, v_sum, b_sum, multiplier_sum = state
    sum_nd, sum_fa, of_positives, of_negatives = 0.0, 0.0, 0.0, 0.0
    for k in range(len(order)):
        if k + PREFETCH_DISTANCE < len(order):
            _prefetch_row(rows, order[k + PREFETCH_DISTANCE])
            _prefetch(signed_weight, order[k + PREFETCH_DISTANCE])  # type: ignore[call-arg]

        # evaluate the loss of the sample, once for all updates
        i = order[k]
        y, sample_weight = (1.0, signed_weight[i]) if signed_weight[i] > 0.0 else (-1.0, -signed_weight[i])
        product, squared_norm = _products(rows, i, v)
        loss, slope = loss_and_slope(y * (scale * product + b), rule.loss, rule.eta)

        # step size; the bound keeps the change of the sample's own score below the width of the loss
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * t)
        cost = sample_weight * (rule.cost_pos if y > 0.0 else multiplier * rule.cost_neg)
        step = min(gamma * cost * slope, rule.width / (1.0 + squared_norm))

        # update w by (11a) and b by (11b); u takes back what the new v changes in the sum of earlier iterates
        scale *= 1.0 - gamma * rule.lambda_c
        if step > 0.0:
            change = y * step / scale
            _add(rows, i, change, v, -v_sum * change, u)
            b += y * step

        # update lambda by (12)
        if y > 0.0:
            sum_nd += sample_weight * loss
            of_positives += sample_weight
        else:
            sum_fa += sample_weight * loss
            of_negatives += sample_weight
            multiplier *= 1.0 + rule.nu * sample_weight * (loss - rule.bound)
            multiplier = min(max(multiplier, rule.least), rule.most)

        # add the iterate to the averages
        t += 1
        weight = float(t) ** 3
        weight_sum += weight
        v_sum += weight * scale
        b_sum += weight * b
        multiplier_sum += weight * multiplier

        # fold the scale into v before it underflows
        if scale < SMALLEST_SCALE:
            for j in range(len(u)):
                u[j] += v_sum * v[j]
            for j in range(len(v)):
                v[j] *= scale
            scale, v_sum = 1.0, 0.0
    state = State(scale, b, multiplier, t, weight_sum, v_sum, b_sum, multiplier_sum)
    return state, (sum_nd, of_positives), (sum_fa, of_negatives)


@njit(cache=True, nogil=True)
def class_loss(rows, members, signed_weight, w, b, kind, eta, gradient):
    """Return the mean loss of the rows ``members``, of one class, under f(x) = w'x + b, and its derivative by b.

    ``kind`` is the number of the loss. The gradient with respect to w is added to ``gradient``.
    """
    no_average = np.empty(0)
    total, by_b, weights = 0.0, 0.0, 0.0
    for i in members:
        weights += signed_weight[i]
    y, weights = (1.0, weights) if weights > 0.0 else (-1.0, -weights)
    for k in range(len(members)):
        if k + PREFETCH_DISTANCE < len(members):
            _prefetch_row(rows, members[k + PREFETCH_DISTANCE])
        score = _products(rows, members[k], w)[0] + b
        loss, slope = loss_and_slope(y * score, kind, eta)
        change = -signed_weight[members[k]] * slope / weights
        _add(rows, members[k], change, gradient, 0.0, no_average)
        total += y * signed_weight[members[k]] * loss
        by_b += change
    return total / weights, by_b
