"""Ranges of hyperparameters, for ``_parameter_constraints``; only this module imports scikit-learn's private names."""

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions  # noqa: F401 - for estimators

NUMBER = Interval(Real, None, None, closed="neither")
POSITIVE = Interval(Real, 0, None, closed="neither")
FRACTION = Interval(Real, 0, 1, closed="neither")
SHARE = Interval(Real, 0, 1, closed="right")  # a fraction, or all
PROPER_SHARE = Interval(Real, 0, 1, closed="left")  # a fraction, or nothing
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
TWO_OR_MORE = Interval(Integral, 2, None, closed="left")
ZERO_OR_MORE = Interval(Integral, 0, None, closed="left")
