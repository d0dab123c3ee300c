"""What a plugin hands to npbench: frozen descriptions of solvers, data sets and metrics.

A description is data. It names the code that does the work as ``"module:attribute"`` and nothing is imported
until that work is asked for, so that listing and completion never load numerics.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


def resolve(target: str) -> Any:
    """Import and return what ``"module:attribute"`` names.

    Examples
    --------
    >>> resolve("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A method under comparison.

    Parameters
    ----------
    name : str
        What users type: ``solver=<name>``.
    estimator : str
        ``"module:Class"`` of a scikit-learn classifier with keyword-only hyperparameters; its
        ``decision_function`` is larger for more positive samples and is thresholded at 0. If it has a
        ``staged_decision_function``, that gives the scores of one classifier for each step of its ``trace_``.
    solves : tuple of str
        Names of the problems it solves (see :mod:`npbench.problem`). The quantities of the problem (``rho``,
        ``q``, ...) are parameters of the estimator, filled in by the problem.
    search : mapping of str to grid
        Default candidate values of the parameters to be selected; a list, or ``["geomspace", low, high,
        count]`` as in :func:`numpy.geomspace`, or the same with ``"linspace"``. Used when the plugin ships no
        ``conf/solver/<name>.yaml``.
    select : str, optional
        ``"module:function"`` with the signature of :func:`npbench.evaluation.selection.grid_search`, for methods where
        the
        search is the method, or where a grid shares work. Without it, every candidate is fitted on every fold.
    imports : tuple of str
        Parameters whose values are import paths, ``"package.module.Class"``, or names of other solvers: answers depend
        on that code too, so that a job is run again when its package has changed.
    title, reference : str
        One line for tables; the paper.
    tags : frozenset of str
        Capabilities: ``kernel``, ``linear``, ``sparse``, ``convex``, ``stochastic``. :mod:`npbench.testing` holds the
        solver to those it claims, and to the order of rows not mattering if it is not ``stochastic``.
    expected_failures : mapping of str to str
        Checks of :mod:`npbench.testing` and of scikit-learn that it does not pass, each with the reason.
    """

    name: str
    estimator: str
    solves: tuple[str, ...]
    search: Mapping[str, Any] = field(default_factory=dict)
    select: str | None = None
    imports: tuple[str, ...] = ()
    title: str = ""
    reference: str = ""
    tags: frozenset[str] = frozenset()
    expected_failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file that a data set is read from.

    Parameters
    ----------
    path : str
        Where it lies below a data folder, ``<dataset>/<file>``.
    sha256 : str
        Hash of its bytes, hexadecimal.
    size : int
        Its length in bytes.
    url : str
        Where it is downloaded from when no data folder holds it.
    """

    path: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True, kw_only=True)
class Original:
    """What a data set is read from instead of its own files, where data folders hold it; it is not downloaded unasked.

    For a file that brings the divisions of the literature and need not be had: without it, the data set has the same
    samples, and divisions are drawn.

    Parameters
    ----------
    load : str
        ``"module:function"`` as in :class:`Dataset`, called with the paths of these files.
    files : tuple of DataFile
        Only where all of them are found is any of them read.
    """

    load: str
    files: tuple[DataFile, ...]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A binary classification data set.

    Parameters
    ----------
    name : str
        What users type: ``dataset=<name>``.
    load : str
        ``"module:function"`` that returns ``(X, y)`` with y in {-1, +1}; X is a float64 array or CSR matrix of
        shape (n_samples, n_features), NaN where a value is missing. It is called with the paths of ``files``, in
        order, then with the parameters of the data set as keywords. Where there is more to say, it returns ``(X, y,
        more)``, a mapping with any of: ``published``, the training rows of divisions that come with the data, of shape
        (n_divisions, n_train), the rest being tested; ``categorical``, the columns that hold codes of categories;
        ``groups``, a number or word for each row, the same for rows that must not be divided; ``columns``, names.
        What it returns for files and parameters is kept, and must depend on nothing else; X is taken over, not copied.
    title, source, licence, citation : str
        One line for tables; where it comes from; under which terms; the paper or archive to cite.
    positive : str
        Which class is +1, and whose choice that is.
    files : tuple of DataFile
        What it is read from; empty for generators, and for what a library carries or a user brings.
    original : Original, optional
        What it is read from instead, where that is at hand.
    n_samples, n_features, n_positive : int, optional
        What the literature says, checked after loading; None where a parameter decides it.
    test_rows : (int, int), optional
        First row of the test part that the literature fixes, and the row after its last, for ``protocol=official``.
    n_train : int, optional
        Rows of the training part in the literature, for ``protocol=permutations``.
    """

    name: str
    load: str
    title: str = ""
    positive: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    files: tuple[DataFile, ...] = ()
    original: Original | None = None
    n_samples: int | None = None
    n_features: int | None = None
    n_positive: int | None = None
    test_rows: tuple[int, int] | None = None
    n_train: int | None = None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure computed from a fitted classifier on held-out data.

    Parameters
    ----------
    name : str
        Its column in the records.
    compute : str
        ``"module:function"``, called as ``function(y, scores, problem=..., estimator=...)`` with y in {-1, +1} and
        ``scores`` the decision function on the test part. It returns a float, or an :class:`Estimate` when the
        figure has confidence limits (stored as ``<name>_low`` and ``<name>_high``).
    direction : {"lower", "higher", "none"}
        Which way is better.
    problems : tuple of str, optional
        The problems it makes sense for; None for all.
    label : str
        Short name for axes of charts; the name by default.
    title, reference : str
        One line for tables; where the definition comes from.
    tags : frozenset of str
        Claims that :mod:`npbench.testing` holds it to: ``ranks``, any increasing transformation of the scores leaves it
        as it is; ``decisions``, only the signs of the scores matter.
    """

    name: str
    compute: str
    direction: Literal["lower", "higher", "none"]
    problems: tuple[str, ...] | None = None
    title: str = ""
    reference: str = ""
    tags: frozenset[str] = frozenset()
    label: str = ""


@dataclass(frozen=True)
class Estimate:
    """A figure with its confidence limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Selection:
    """What model selection leaves.

    Parameters
    ----------
    params : mapping of str to value
        The chosen values of the searched parameters.
    loss : float
        The problem's validation loss there (the smallest of all candidates).
    n_candidates : int
        How many parameter combinations were compared.
    n_unconverged : int
        How many of the fits did not meet their tolerance.
    losses : sequence of float
        The validation loss of every candidate, in the order of the grid (last parameter fastest).
    trace : sequence of NamedTuple
        What the search looked at, in order: NamedTuples of numbers, all of one kind. Records keep it, in place of the
        estimator's ``trace_``, when ``execution.trace`` asks for it.
    """

    params: Mapping[str, Any]
    loss: float
    n_candidates: int = 1
    n_unconverged: int = 0
    losses: Sequence[float] = field(default=())
    trace: Sequence[Any] = ()
