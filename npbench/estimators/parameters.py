"""Constructors of estimators, written from the parameters that a class and its bases declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from npbench.estimators.docstrings import inherit_docs

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False)
def keyword_parameters(cls: type[T]) -> type[T]:
    """Make an estimator's annotated attributes its keyword-only parameters, with those of its base classes.

    This is a dataclass that compares and prints as scikit-learn's estimators do. Its ``__init__`` names each parameter,
    as ``get_params`` and ``clone`` need it, and the classes of a family declare and describe each one once
    (:func:`npbench.estimators.docstrings.inherit_docs`). Attributes set in ``fit`` are not annotated in such a class.

    Examples
    --------
    >>> from npbench.estimators.linear import LinearClassifier
    >>> @keyword_parameters
    ... class Family(LinearClassifier):
    ...     C: float = 1.0
    ...     max_iter: int = 100
    >>> @keyword_parameters
    ... class Method(Family):
    ...     rho: float = 0.05
    ...     max_iter: int = 200
    >>> Method(rho=0.1).get_params()
    {'C': 1.0, 'max_iter': 200, 'rho': 0.1}
    """
    return inherit_docs(dataclass(kw_only=True, eq=False, repr=False)(cls))
