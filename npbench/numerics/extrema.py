"""Maximum, minimum and ratio of two floats for loops that must be vectorised.

LLVM does not vectorise a loop that keeps the larger of two floats in Numba's form of it, a branch. It does if the loop
calls the intrinsic that stands for the processor's instruction. NaN are not allowed, as in all loops with fastmath.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _vectorised(name: str) -> Any:
    """Return a function of two floats of equal type that compiles to the LLVM intrinsic ``name``."""

    @intrinsic
    def function(_: Any, a: Any, b: Any) -> Any:
        if a != b or a not in (types.float32, types.float64):
            return None

        def generate(_: Any, builder: Any, __: Any, values: Any) -> Any:
            kind = values[0].type
            called = builder.module.declare_intrinsic(f"llvm.{name}", [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(called, values, fastmath=("fast",))

        return a(a, b), generate

    return function


larger = _vectorised("maxnum")
smaller = _vectorised("minnum")


@intrinsic
def ratio(_: Any, a: Any, b: Any) -> Any:
    """Return a / b for a positive normal b, to 0.2 % in single precision: division is the slowest vector operation."""
    if a != b or a not in (types.float32, types.float64):
        return None

    def generate(_: Any, builder: Any, __: Any, values: Any) -> Any:
        above, below = values
        if a == types.float64:
            return builder.fdiv(above, below)
        # subtracting the bits of b from a constant negates its exponent; a step of Newton's method follows
        bits, single = ir.IntType(32), ir.FloatType()
        guess = builder.bitcast(builder.sub(bits(0x7EF311C7), builder.bitcast(below, bits)), single)
        product = builder.fmul(below, guess, flags=("fast",))
        inverse = builder.fmul(guess, builder.fsub(single(2.0), product, flags=("fast",)), flags=("fast",))
        return builder.fmul(above, inverse, flags=("fast",))

    return a(a, b), generate
