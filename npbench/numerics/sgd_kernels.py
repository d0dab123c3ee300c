"""Passes over the rows of an array or a CSR matrix, for :mod:`npbench.numerics.sgd`.

``rows`` is a C-contiguous array, or the triple (data, indices, indptr) of a CSR matrix; either is read where it is.
The weights are w = scale v, so that shrinking them costs nothing and a step costs what the row holds. Numba compiles
a version for each kind of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

# Sums may be reordered, which lets them be vectorised; infinities and NaN keep their meaning.
REORDERED = {"reassoc", "contract", "nsz"}

# Below, w = scale v starts anew: v_sum v and u would be large numbers with a small sum.
SMALLEST_SCALE = 1e-4

# Rows are drawn from all over memory, where no hardware guesses the next one: each is asked for this many steps ahead.
AHEAD = 8
LINE = 64  # bytes of a cache line
LINES = 32  # asked for of one row; beyond, the hardware has seen where it leads


class Rule(NamedTuple):
    """The constants of Algorithm 4.

    Parameters
    ----------
    is_ramp : bool
        Whether the loss is the ramp; the sigmoid otherwise.
    eta, width : float
        Of the loss: its parameter, and 1 / max |l'|.
    rho, lambda_c, gamma_0, nu : float
        As in the paper.
    cost_pos, cost_neg : float
        The coefficients a_i, that of the negatives before it is multiplied by lambda.
    least, most : float
        Bounds of lambda.
    """

    is_ramp: bool
    eta: float
    width: float
    rho: float
    lambda_c: float
    gamma_0: float
    nu: float
    cost_pos: float
    cost_neg: float
    least: float
    most: float


class State(NamedTuple):
    """What a step changes, next to the vectors v and u.

    What step t leaves has the weight (t + 1)^3 in the averages: ``sum_t weight_t w_t = v_sum v + u``.

    Parameters
    ----------
    scale, b, multiplier : float
        w / v, the intercept, lambda.
    t : int
        Steps taken.
    weight_sum, v_sum, b_sum, multiplier_sum : float
        Sums of the weights, and of the weighted scales, intercepts and multipliers.
    """

    scale: float
    b: float
    multiplier: float
    t: int
    weight_sum: float
    v_sum: float
    b_sum: float
    multiplier_sum: float


@intrinsic
def _prefetch(typing_context, array, offset):
    """Ask for the cache line of element ``offset``; nothing waits for it, and no address is wrong."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        builder.call(prefetch, [address, number(0), number(3), number(1)])  # to read, for all caches, of data

    return types.void(array, offset), generate


@njit(cache=True, nogil=True)
def _fetch(array, start, stop):
    step = LINE // array.itemsize
    for k in range(start, min(stop, start + LINES * step), step):
        _prefetch(array, k)  # type: ignore[call-arg]  # the typing context is Numba's to give


def _expect(rows, i):
    """Ask for row i."""


@overload(_expect, jit_options={"nogil": True})
def _expect_kind(rows, i):
    if isinstance(rows, types.Array):
        return lambda rows, i: _fetch(rows, i * rows.shape[1], (i + 1) * rows.shape[1])

    def csr(rows, i):
        data, indices, indptr = rows
        _fetch(data, indptr[i], indptr[i + 1])
        _fetch(indices, indptr[i], indptr[i + 1])

    return csr


def _products(rows, i, v):
    """Return ``x_i'v`` and ``x_i'x_i``."""


@overload(_products, jit_options={"nogil": True, "fastmath": REORDERED})
def _products_kind(rows, i, v):
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
            with_v += x * v[np.uintp(indices[k])]  # unsigned: no test for indices from the end
            with_itself += x * x
        return with_v, with_itself

    return csr


def _add(rows, i, factor, v, factor_u, u):
    """Add ``factor x_i`` to v and ``factor_u x_i`` to u, which may be empty."""


@overload(_add, jit_options={"nogil": True})
def _add_kind(rows, i, factor, v, factor_u, u):
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
def loss_and_slope(z, is_ramp, eta):
    """Return l(z) and -l'(z) of the ramp or the sigmoid, as in :mod:`npbench.numerics.losses`."""
    if is_ramp:
        return min(max((eta - z) / (2.0 * eta), 0.0), 1.0), 0.5 / eta if abs(z) < eta else 0.0
    loss = 1.0 / (1.0 + np.exp(eta * z))
    return loss, eta * loss * (1.0 - loss)


@njit(cache=True, nogil=True)
def descend(rows, is_positive, order, v, u, state, rule):
    """Take a step of Algorithm 4 on each of the rows ``order``; change v, and u unless it is empty, in place.

    Returns
    -------
    state : State
        After the steps.
    sum_nd, sum_fa : float
        Sums of the losses met, of positives and of negatives, each before its own step.
    n_positive : int
        How many positives were met.
    """
    scale, b, multiplier, t, weight_sum, v_sum, b_sum, multiplier_sum = state
    sum_nd, sum_fa, n_positive = 0.0, 0.0, 0
    for k in range(len(order)):
        if k + AHEAD < len(order):
            _expect(rows, order[k + AHEAD])
        i = order[k]
        y = 1.0 if is_positive[i] else -1.0
        product, squared_norm = _products(rows, i, v)
        loss, slope = loss_and_slope(y * (scale * product + b), rule.is_ramp, rule.eta)
        gamma = rule.gamma_0 / (1.0 + rule.lambda_c * t)
        cost = rule.cost_pos if is_positive[i] else multiplier * rule.cost_neg
        # However long a row or high its cost, its step moves its own score by the width of the loss at most.
        step = min(gamma * cost * slope, rule.width / (1.0 + squared_norm))
        scale *= 1.0 - gamma * rule.lambda_c
        if step > 0.0:
            change = y * step / scale
            _add(rows, i, change, v, -v_sum * change, u)
            b += y * step
        if is_positive[i]:
            sum_nd += loss
            n_positive += 1
        else:
            sum_fa += loss
            multiplier *= 1.0 + rule.nu * (loss - rule.rho)
            multiplier = min(max(multiplier, rule.least), rule.most)
        t += 1
        weight = float(t) ** 3
        weight_sum += weight
        v_sum += weight * scale
        b_sum += weight * b
        multiplier_sum += weight * multiplier
        if scale < SMALLEST_SCALE:
            if len(u):
                u += v_sum * v
            v *= scale
            scale, v_sum = 1.0, 0.0
    return State(scale, b, multiplier, t, weight_sum, v_sum, b_sum, multiplier_sum), sum_nd, sum_fa, n_positive


@njit(cache=True, nogil=True)
def class_loss(rows, members, y, w, b, is_ramp, eta, gradient):
    """Return the mean loss of the rows ``members``, of class y, under f(x) = w'x + b, and its derivative by b.

    Its gradient by w is added to ``gradient``.
    """
    none = np.empty(0)
    total, by_b = 0.0, 0.0
    for k in range(len(members)):
        if k + AHEAD < len(members):
            _expect(rows, members[k + AHEAD])
        score = _products(rows, members[k], w)[0] + b
        loss, slope = loss_and_slope(y * score, is_ramp, eta)
        change = -y * slope / len(members)
        _add(rows, members[k], change, gradient, 0.0, none)
        total += loss
        by_b += change
    return total / len(members), by_b
