"""Benchmarks and reference solvers for Neyman-Pearson classification and partial AUC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npbench.hookspecs import hookimpl

if TYPE_CHECKING:
    from npbench.data import BinaryData

__version__ = "0.1.0"
__all__ = ["__version__", "hookimpl", "load_dataset", "solver"]


def solver(name: str, /, **params: Any) -> Any:
    """Return the unfitted scikit-learn estimator of the solver called ``name``.

    Parameters
    ----------
    name : str
        A name from ``npbench list solvers``.
    **params
        The estimator's parameters, as in ``npbench.solver("np_svm", rho=0.05)``.

    Raises
    ------
    RequestError
        If no installed plugin provides the solver; the message has the nearest name.

    Examples
    --------
    >>> solver("np_svm", rho=0.1)
    NPSVM(rho=0.1)
    """
    from npbench import contracts, registry

    return contracts.resolve(registry.installed().solver(name).estimator)(**params)


def load_dataset(name: str, /, **params: Any) -> BinaryData:
    """Return the data set called ``name``, from a data folder, the cache, or its official source.

    Parameters
    ----------
    name : str
        A name from ``npbench list datasets``.
    **params
        Settings of the data set, as in ``npbench.load_dataset("synthetic", seed=1)``; ``npbench data info NAME`` tells
        them.

    Raises
    ------
    RequestError
        If no plugin provides the data set, or its files can be neither found nor downloaded.

    Examples
    --------
    >>> load_dataset("breast").X.shape
    (569, 30)
    """
    from npbench import data, registry

    return data.load(registry.installed().dataset(name), **params)
