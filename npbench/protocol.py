"""Outer splits and inner model selection.

A split depends on the labels, the protocol and the seed alone. The protocols are those of Gasso et al. (2011),
section 5.1, stratified by class.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from npbench.contracts import Selection
from npbench.errors import RequestError
from npbench.problem import Problem

Fold = tuple[np.ndarray, np.ndarray]

FEWER_FOLDS = "Use fewer folds (protocol.folds=...), protocol=holdout, or more data."
OTHER_SHARES = "Set other shares aside (protocol.test_size=..., protocol.validation_size=...), or use more data."


@dataclass(frozen=True)
class Split:
    """Row indices of one repeat.

    Parameters
    ----------
    train : int array
        What the final classifier is fitted on.
    test : int array
        What it is measured on.
    folds : sequence of (int array, int array)
        Rows to fit and to validate on, for each fold of the model selection; none is in ``test``.
    """

    train: np.ndarray
    test: np.ndarray
    folds: Sequence[Fold]


class Need(NamedTuple):
    """How many samples of a class some part of a split has at worst, and needs."""

    part: str
    has: int
    at_least: int
    remedy: str


class SplitProtocol(Protocol):
    """How data are divided."""

    name: ClassVar[str]
    title: ClassVar[str]

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""

    def split(self, y: np.ndarray, seed: int, repeat: int) -> Split:
        """Divide the rows of ``y``; ``repeat`` numbers the repetitions under one seed."""


@dataclass(frozen=True)
class CrossValidation:
    """A stratified part for testing; k-fold cross-validation on the rest; the final fit uses all of the rest.

    Parameters
    ----------
    test_size : float
        Share of each class set aside for testing, in ]0, 1[.
    folds : int
        Number of folds, at least 2.
    """

    name: ClassVar[str] = "cv"
    title: ClassVar[str] = "test part, k-fold cross-validation on the rest"
    test_size: float = 0.25
    folds: int = 4

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""
        faults = _share_faults(test_size=self.test_size)
        if not (isinstance(self.folds, int) and self.folds >= 2):
            faults.append(f"protocol.folds is {self.folds!r}: it must be a whole number, 2 or more.")
        return faults

    def split(self, y: np.ndarray, seed: int, repeat: int) -> Split:
        """Divide the rows of ``y``."""
        _require(y, self._needs)
        random = _random_state(seed, repeat)
        train, test = _stratified(np.arange(len(y)), y, self.test_size, random)
        kfold = StratifiedKFold(self.folds, shuffle=True, random_state=random)
        folds = [(train[fit], train[validate]) for fit, validate in kfold.split(train, y[train])]
        return Split(train, test, folds)

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        left, test = _fewest(count, n_samples, self.test_size)
        yield Need("the test part", test, 1, OTHER_SHARES)
        yield Need(f"the {self.folds} folds", left, self.folds, FEWER_FOLDS)


@dataclass(frozen=True)
class Holdout:
    """Stratified parts for testing and for validation; every fit, the final one too, uses the rest.

    Parameters
    ----------
    test_size, validation_size : float
        Shares of each class set aside, in ]0, 1[, with a sum below 1.
    """

    name: ClassVar[str] = "holdout"
    title: ClassVar[str] = "test part, validation part, training part"
    test_size: float = 0.25
    validation_size: float = 0.25

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""
        faults = _share_faults(test_size=self.test_size, validation_size=self.validation_size)
        if not faults and self.test_size + self.validation_size >= 1:
            faults.append(
                f"protocol.test_size + protocol.validation_size is {self.test_size + self.validation_size:g}: "
                "it must stay below 1, or nothing is left to train on."
            )
        return faults

    def split(self, y: np.ndarray, seed: int, repeat: int) -> Split:
        """Divide the rows of ``y``."""
        _require(y, self._needs)
        random = _random_state(seed, repeat)
        rest, test = _stratified(np.arange(len(y)), y, self.test_size, random)
        train, validate = _stratified(rest, y[rest], self._share_of_rest, random)
        return Split(train, test, [(train, validate)])

    @property
    def _share_of_rest(self) -> float:
        return self.validation_size / (1 - self.test_size)

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        rest, test = _fewest(count, n_samples, self.test_size)
        n_rest = n_samples - math.ceil(self.test_size * n_samples)
        train, validation = _fewest(rest, n_rest, self._share_of_rest)
        for part, has in {"test": test, "validation": validation, "training": train}.items():
            yield Need(f"the {part} part", has, 1, OTHER_SHARES)


@dataclass(frozen=True)
class Official:
    """The test part that a data set comes with; of the rest, a stratified part for validation, as in holdout.

    Parameters
    ----------
    test_rows : (int, int)
        First row of the test part and the row after its last, counted from 0. A request fills in those of the data
        set (see :class:`npbench.contracts.Dataset`) where it says none.
    validation_size : float
        Share of each class of the rest set aside, in ]0, 1[.
    """

    name: ClassVar[str] = "official"
    title: ClassVar[str] = "the data set's own test part, validation part, training part"
    test_rows: tuple[int, int] | None = None
    validation_size: float = 0.25

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""
        faults = _share_faults(validation_size=self.validation_size)
        match self.test_rows:
            case (int(first), int(end)) if 0 <= first < end:
                return faults
            case None:
                fault = "protocol=official needs a data set with a test part of its own, which this one has not"
            case _:
                fault = f"protocol.test_rows is {self.test_rows!r}: it must be the first row and the one after the last"
        return [*faults, f"{fault}: use protocol=holdout, or name rows as in protocol.test_rows=[0,1000]."]

    def split(self, y: np.ndarray, seed: int, repeat: int) -> Split:
        """Divide the rows of ``y``; the test part is always the same."""
        rows = np.arange(len(y))
        test, rest = self._parts(rows)
        _require(y[test], self._test_needs)
        _require(y[rest], self._needs)
        train, validate = _stratified(rest, y[rest], self.validation_size, _random_state(seed, repeat))
        return Split(train, test, [(train, validate)])

    def _parts(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self.test_rows is not None  # a fault, so that no such protocol gets here
        first, end = self.test_rows
        if end > len(rows):
            raise RequestError(
                f"There are {len(rows)} rows, but protocol.test_rows is [{first}, {end}]: name fewer, or use "
                "protocol=holdout."
            )
        return rows[first:end], np.delete(rows, slice(first, end))

    def _test_needs(self, count: int, _: int) -> Iterator[Need]:
        yield Need("the test part", count, 1, "Name other rows (protocol.test_rows=...), or use protocol=holdout.")

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        train, validation = _fewest(count, n_samples, self.validation_size)
        for part, has in {"validation": validation, "training": train}.items():
            yield Need(f"the {part} part", has, 1, OTHER_SHARES)


PROTOCOLS: dict[str, type[SplitProtocol]] = {p.name: p for p in (CrossValidation, Holdout, Official)}


def _share_faults(**shares: Any) -> list[str]:
    return [
        f"protocol.{name} is {value!r}: it must be a share strictly between 0 and 1."
        for name, value in shares.items()
        if not (isinstance(value, float) and 0 < value < 1)
    ]


def _random_state(seed: int, repeat: int) -> np.random.RandomState:
    # scikit-learn's splitters take no Generator; MT19937 seeded by a SeedSequence is as independent per repeat.
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence([seed, repeat])))


def _stratified(rows: np.ndarray, y: np.ndarray, share: float, random: np.random.RandomState) -> Fold:
    first, second = train_test_split(rows, test_size=math.ceil(share * len(rows)), stratify=y, random_state=random)
    return np.sort(first), np.sort(second)


def _fewest(count: int, n_samples: int, share: float) -> tuple[int, int]:
    """Return the fewest samples of a class, ``count`` of ``n_samples``, that may be left and be set aside.

    The samples set aside are divided in proportion to the classes; where both are due a half more, the draw decides
    which is rounded up. Taking the worse case, a request is refused for all its repeats or for none.
    """
    n_samples = max(n_samples, 1)
    aside = math.ceil(share * n_samples)
    return count - math.ceil(Fraction(aside * count, n_samples)), aside * count // n_samples


def _require(y: np.ndarray, needs: Callable[[int, int], Iterator[Need]]) -> None:
    counts = {"positive": int(np.sum(y > 0)), "negative": int(np.sum(y < 0))}
    faults = [
        f"There are too few {name} samples, {count} of {len(y)}: {need.part} may be left with {need.has} of them and "
        f"must have at least {need.at_least}. {need.remedy}"
        for name, count in counts.items()
        for need in needs(count, len(y))
        if need.has < need.at_least
    ]
    if faults:
        raise RequestError(*faults)


def describe(protocol: CrossValidation | Holdout | Official) -> dict[str, Any]:
    """Return the protocol's name and parameters as a flat mapping."""
    return {"name": protocol.name, **asdict(protocol)}


def grid_values(grid: Any) -> list[Any]:
    """Return the values of a search grid: a list as it is, one that begins with geomspace or linspace expanded.

    A mapping of names to grids gives mappings, one for each combination, ordered by name.

    Examples
    --------
    >>> grid_values(["geomspace", 0.01, 100, 5])
    [0.01, 0.1, 1.0, 10.0, 100.0]
    >>> grid_values(["linspace", 0.25, 1, 4])
    [0.25, 0.5, 0.75, 1.0]
    >>> grid_values({"C": [1, 10], "dual": [True]})
    [{'C': 1, 'dual': True}, {'C': 10, 'dual': True}]
    """
    if isinstance(grid, Mapping):
        return combinations({name: grid_values(grid[name]) for name in sorted(grid)})
    if len(grid) and grid[0] in ("geomspace", "linspace"):
        spaced, (low, high, count) = getattr(np, grid[0]), grid[1:]
        # Rounded so that the same grid, however written, gives the same numbers in every record.
        return [float(f"{value:.12g}") for value in spaced(low, high, int(count))]
    return list(grid)


def combinations(search: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the searched values, the last parameter fastest."""
    return [dict(zip(search, values, strict=True)) for values in itertools.product(*search.values())]


def grid_search(
    make: Callable[..., Any],
    X: Any,
    y: np.ndarray,
    folds: Sequence[Fold],
    problem: Problem,
    search: Mapping[str, Sequence[Any]],
    n_threads: int = 1,
) -> Selection:
    """Choose parameters by fitting every candidate on every fold: the first with the smallest problem loss.

    Parameters
    ----------
    make : callable
        ``make(**params)`` returns an unfitted estimator with the fixed parameters already in place.
    X : {array, CSR matrix} of shape (n_samples, n_features)
        All rows that ``folds`` index.
    y : array of shape (n_samples,)
        Labels in {-1, +1}.
    folds : sequence of (fit rows, validation rows)
        Indices into ``X``.
    problem : Problem
        Gives the validation loss.
    search : mapping of str to sequence
        Candidate values of each searched parameter. When empty, nothing is fitted.
    n_threads : int
        Threads a solver's own search may use; this one uses none.

    Returns
    -------
    Selection
    """
    candidates = combinations(search)
    if len(candidates) == 1:
        return Selection(candidates[0], float("nan"))
    losses, unconverged = [], 0
    for params in candidates:
        scored = []
        for fit, validate in folds:
            estimator = make(**params)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
                estimator.fit(X[fit], y[fit])
            unconverged += not getattr(estimator, "converged_", True)
            scored.append((y[validate], estimator.decision_function(X[validate])))
        losses.append(problem.loss(scored))
    best = int(np.argmin(losses))
    return Selection(candidates[best], losses[best], len(candidates), unconverged, losses)
