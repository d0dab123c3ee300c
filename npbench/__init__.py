"""Benchmarks and reference solvers for Neyman-Pearson classification and partial AUC."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from npbench.hookspecs import hookimpl

if TYPE_CHECKING:
    import polars as pl

    from npbench import metrics
    from npbench.contracts import Estimator
    from npbench.data import BinaryData
    from npbench.report.select.collect import load_records
    from npbench.thresholding.classifier import NPThresholdClassifier
    from npbench.thresholding.commands.final_model import from_record
    from npbench.thresholding.compare import Comparison, compare
    from npbench.thresholding.display import NPRocDisplay
    from npbench.thresholding.ensemble import NPEnsemble, SoftVote
    from npbench.thresholding.monitoring import monitor
    from npbench.thresholding.multiclass import NPMulticlassClassifier
    from npbench.thresholding.rules import threshold
    from npbench.thresholding.threshold import GroupThresholds, Threshold, from_json

__version__ = "0.2.0"
__all__ = [
    "Comparison",
    "GroupThresholds",
    "NPEnsemble",
    "NPMulticlassClassifier",
    "NPRocDisplay",
    "NPThresholdClassifier",
    "SoftVote",
    "Threshold",
    "__version__",
    "compare",
    "from_json",
    "from_record",
    "hookimpl",
    "load_dataset",
    "load_records",
    "metrics",
    "monitor",
    "run",
    "solver",
    "threshold",
]

# Imported at first use: listing and completion need no scikit-learn.
_LAZY = {
    "npbench.report.select.collect": ("load_records",),
    "npbench.thresholding.classifier": ("NPThresholdClassifier",),
    "npbench.thresholding.commands.final_model": ("from_record",),
    "npbench.thresholding.compare": ("Comparison", "compare"),
    "npbench.thresholding.display": ("NPRocDisplay",),
    "npbench.thresholding.ensemble": ("NPEnsemble", "SoftVote"),
    "npbench.thresholding.monitoring": ("monitor",),
    "npbench.thresholding.multiclass": ("NPMulticlassClassifier",),
    "npbench.thresholding.rules": ("threshold",),
    "npbench.thresholding.threshold": ("GroupThresholds", "Threshold", "from_json"),
}


if not TYPE_CHECKING:  # type checkers refuse a name that is not imported above

    def __getattr__(name: str) -> Any:
        if name == "metrics":
            return importlib.import_module("npbench.metrics")
        for module, names in _LAZY.items():
            if name in names:
                return getattr(importlib.import_module(module), name)
        raise AttributeError(f"module 'npbench' has no attribute {name!r}")


def run(**settings: Any) -> pl.DataFrame:
    """Run a solver on a data set, as the command line does, and return the records.

    Jobs that the results folder already holds are not run again.

    Parameters
    ----------
    **settings
        The settings of the command line. A mapping holds the settings of a group, and its ``name`` is the choice:
        ``solver={"name": "np_svm", "C": 1}``. A list is swept: ``dataset=["pima", "breast"]`` runs both, and several
        lists run every combination. A tuple is one value, a list on the command line: ``metrics=("p_fa", "p_nd")``.
        ``experiment="NAME"`` runs an experiment; ``**{"execution.n_jobs": 2}`` is a setting by its path.

    Returns
    -------
    DataFrame
        The latest record of each job, failed ones included: see the column ``status``.

    Raises
    ------
    RequestError
        With every fault of the settings, before anything runs.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as results:
    ...     records = run(solver="gen", dataset="breast", problem={"rho": [0.05, 0.1]}, repeats=1, results=results)
    >>> records.sort("rho").select("solver", "dataset", "problem_params", "status").rows()
    [('gen', 'breast', '{"rho":0.05}', 'ok'), ('gen', 'breast', '{"rho":0.1}', 'ok')]
    """
    from npbench import session
    from npbench.config.command_line import parse, requested
    from npbench.config.words import keyword_words
    from npbench.progress import Progress

    words = keyword_words(settings)
    return session.frame(requested(parse(["-m", *words]), words), Progress())


def solver(name: str, /, **params: Any) -> Estimator:
    """Return the unfitted scikit-learn estimator of the solver called ``name``.

    Parameters
    ----------
    name : str
        A name from ``npbench list solvers``, or a variant in ``conf/solver``, such as "random_forest". In a variant,
        parameters with a grid keep their defaults.
    **params
        The estimator's parameters, as in ``npbench.solver("np_svm", rho=0.05)``.

    Raises
    ------
    RequestError
        If no installed plugin provides the solver; the message suggests the nearest name.

    Examples
    --------
    >>> solver("np_svm", rho=0.1)
    NPSVM(rho=0.1)
    >>> solver("random_forest", rho=0.1).estimator
    'sklearn.ensemble.RandomForestClassifier'
    """
    from npbench import contracts, registry
    from npbench.config.files import settings_of

    found, preset = settings_of(name)
    return contracts.resolve(registry.installed().solver(found).estimator)(**{**preset, **params})


def load_dataset(name: str, /, **params: Any) -> BinaryData:
    """Return the data set called ``name``, from a data folder, the cache, or its official source.

    Parameters
    ----------
    name : str
        A name from ``npbench list datasets``.
    **params
        Settings of the data set, as in ``npbench.load_dataset("synthetic", seed=1)``; ``npbench info NAME`` lists them.

    Raises
    ------
    RequestError
        If no plugin provides the data set, or its files can be neither found nor downloaded.

    Examples
    --------
    >>> load_dataset("breast").X.shape
    (569, 30)
    """
    from npbench import registry
    from npbench.data.loading import load

    return load(registry.installed().dataset(name), **params)
