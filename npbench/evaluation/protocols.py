"""Protocols that split data by seed and repeat alone; no group of rows is on both sides of a split."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.evaluation.splits import Need, Split, fewest, k_fold, leave_one_out, random_state, require, stratified
from npbench.values import is_whole

FEWER_FOLDS = "Use fewer folds (protocol.folds=...), protocol=holdout, or more data."
FEWER_NESTED_FOLDS = "Use fewer folds (protocol.outer=..., protocol.folds=...), or more data."
OTHER_SHARES = "Change the shares (protocol.test_size=..., protocol.validation_size=...), or use more data."
OTHER_ROWS = "Name other rows (protocol.test_rows=...), or use protocol=holdout."
OTHER_DRAW = "Use another seed or another size (protocol.n_train=...), or more data."
OTHER_CUTS = "Raise protocol.min_part, or use protocol=cv."


@dataclass(frozen=True)
class SplitProtocol(ABC):
    """Protocol that splits data; its parameters are shares and counts."""

    name: ClassVar[str]
    title: ClassVar[str]
    # Class counts alone decide whether a split exists, so that one repeat stands for all.
    stratified: ClassVar[bool] = True
    least: ClassVar[Mapping[str, int]] = {}  # smallest values of integers, where it is not 2

    def faults(self) -> list[str]:
        """Return an error for each parameter out of range."""
        faults = []
        for field in fields(self):
            value, least = getattr(self, field.name), self.least.get(field.name, 2)
            if field.type is int and not is_whole(value, least):
                faults.append(f"protocol.{field.name} is {value!r}: expected an integer of {least} or more")
            if field.type == (int | None) and not (value is None or is_whole(value, least)):
                faults.append(f"protocol.{field.name} is {value!r}: expected an integer of {least} or more, or null")
            if field.type is float and not (isinstance(value, float) and 0 < value < 1):
                faults.append(f"protocol.{field.name} is {value!r}: expected a number between 0 and 1, both excluded")
            if field.type is bool and not isinstance(value, bool):
                faults.append(f"protocol.{field.name} is {value!r}: expected true or false")
        return faults

    def check(self, data: BinaryData) -> None:
        """Refuse data that no repeat can split, without drawing a split; raise RequestError."""
        require(data.y, self._needs)

    def split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        """Split the rows of ``data``; ``repeat`` numbers the repeats under one seed."""
        self.check(data)
        return self._split(data, seed, repeat)

    @abstractmethod
    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        """Yield the needs of each part for a class of ``count`` samples; see :func:`require`."""

    @abstractmethod
    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        """Split data that :meth:`check` accepts."""


@dataclass(frozen=True)
class CrossValidation(SplitProtocol):
    """A stratified part for testing; k-fold cross-validation on the rest, which the final fit uses."""

    name: ClassVar[str] = "cv"
    title: ClassVar[str] = "test part, k-fold cross-validation on the rest"
    test_size: float = 0.25  # share of each class set aside
    folds: int = 4

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        random = random_state(seed, repeat)
        train, test = stratified(np.arange(data.n_samples), data, self.test_size, random)
        return Split(train, test, k_fold(train, data, self.folds, random))

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        left, test = fewest(count, n_samples, self.test_size)
        yield "the test part", test, 1, OTHER_SHARES
        yield f"the {self.folds} folds", left, self.folds, FEWER_FOLDS


@dataclass(frozen=True)
class Holdout(SplitProtocol):
    """Stratified parts for testing and for validation; every fit, including the final one, uses the rest."""

    name: ClassVar[str] = "holdout"
    title: ClassVar[str] = "test part, validation part, training part"
    test_size: float = 0.25  # shares of each class set aside, with a sum below 1
    validation_size: float = 0.25

    def faults(self) -> list[str]:
        """Return an error for each parameter out of range."""
        faults = super().faults()
        if not faults and (total := self.test_size + self.validation_size) >= 1:
            faults.append(f"protocol.test_size + protocol.validation_size is {total:g}: expected less than 1")
        return faults

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        random = random_state(seed, repeat)
        rest, test = stratified(np.arange(data.n_samples), data, self.test_size, random)
        train, validate = stratified(rest, data, self._share_of_rest, random)
        return Split(train, test, [(train, validate)])

    @property
    def _share_of_rest(self) -> float:
        return self.validation_size / (1 - self.test_size)

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        rest, test = fewest(count, n_samples, self.test_size)
        n_rest = n_samples - math.ceil(self.test_size * n_samples)
        yield "the test part", test, 1, OTHER_SHARES
        yield from _needs_of_both(rest, n_rest, self._share_of_rest)


@dataclass(frozen=True)
class Nested(SplitProtocol):
    """Cross-validation inside cross-validation: each outer fold is the test part of one repeat.

    The final fit uses all rows outside the test part. Every ``outer`` repeats test each row once. Groups stay together.
    """

    name: ClassVar[str] = "nested"
    title: ClassVar[str] = "a fold for testing in each repeat, k-fold cross-validation on the rest"
    outer: int = 10
    folds: int = 10

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        division, fold = divmod(repeat, self.outer)
        random = random_state(seed, division)
        train, test = k_fold(np.arange(data.n_samples), data, self.outer, random)[fold]
        return Split(train, test, k_fold(train, data, self.folds, random))

    def _needs(self, count: int, _: int) -> Iterator[Need]:
        yield f"the {self.outer} outer folds", count, self.outer, FEWER_NESTED_FOLDS
        left = count - math.ceil(count / self.outer)
        yield f"the {self.folds} folds", left, self.folds, FEWER_NESTED_FOLDS


@dataclass(frozen=True)
class Official(SplitProtocol):
    """The predefined test part of a data set; a stratified part of the rest for validation, as in holdout."""

    name: ClassVar[str] = "official"
    title: ClassVar[str] = "the data set's own test part, validation part, training part"
    test_rows: tuple[int, int] | None = None  # the first and the one after the last, from 0; by default the data set's
    validation_size: float = 0.25  # share of each class of the rest

    def __post_init__(self) -> None:
        if isinstance(self.test_rows, list):  # from YAML
            object.__setattr__(self, "test_rows", tuple(self.test_rows))

    def faults(self) -> list[str]:
        """Return an error for each parameter out of range."""
        faults = super().faults()
        match self.test_rows:
            case (int(first), int(end)) if 0 <= first < end:
                return faults
            case None:
                fault = "protocol=official requires a dataset with a predefined test split; this one has none"
            case _:
                fault = f"protocol.test_rows is {self.test_rows!r}, expected the first row and the one after the last"
        return [*faults, f"{fault}: use protocol=holdout, or set protocol.test_rows=[0,1000]"]

    def check(self, data: BinaryData) -> None:
        """Refuse data without these test rows, with groups in both parts, or with too few samples of a class."""
        y = data.y
        test, rest = self._parts(np.arange(len(y)))
        require(y[test], lambda count, _: [("the test part", count, 1, OTHER_ROWS)])
        require(y[rest], self._needs)
        if data.groups is not None and np.isin(data.groups[test], data.groups[rest]).any():
            raise RequestError("protocol=official splits groups: use protocol=holdout, which keeps groups together")

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        test, rest = self._parts(np.arange(data.n_samples))
        train, validate = stratified(rest, data, self.validation_size, random_state(seed, repeat))
        return Split(train, test, [(train, validate)], "fixed")

    def _parts(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self.test_rows is not None  # see faults()
        first, end = self.test_rows
        if end > len(rows):
            raise RequestError(f"protocol.test_rows is [{first}, {end}], but there are {len(rows)} rows: name fewer")
        return rows[first:end], np.delete(rows, slice(first, end))

    def _needs(self, count: int, n_samples: int) -> Iterator[Need]:
        yield from _needs_of_both(count, n_samples, self.validation_size)


@dataclass(frozen=True)
class Permutations(SplitProtocol):
    """A training part of fixed size, the rest for testing; cross-validation on the training part.

    If the data have published splits with this number of training rows (see :class:`npbench.data.BinaryData`), repeat k
    is the k-th of them, whatever the seed. Otherwise rows are drawn without regard to their class.
    """

    name: ClassVar[str] = "permutations"
    title: ClassVar[str] = "training part of a fixed size, test part; leave-one-out or k-fold cross-validation"
    stratified: ClassVar[bool] = False
    least: ClassVar[Mapping[str, int]] = {"n_train": 4}
    n_train: int | None = None  # by default the data set's
    folds: int | None = None  # stratified folds of the training part; None for leave-one-out

    def faults(self) -> list[str]:
        """Return an error for each parameter out of range."""
        absent = "protocol.n_train: this dataset states no training size, set it or use protocol=cv"
        return [*([absent] if self.n_train is None else []), *super().faults()]

    def check(self, data: BinaryData) -> None:
        """Refuse data with groups; each split has class counts of its own."""
        if data.groups is not None:
            raise RequestError("protocol=permutations draws single rows, but this dataset has groups: use protocol=cv")

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        y, random = data.y, random_state(seed, repeat)
        train, published = self._train(data, repeat, random)
        test = np.delete(np.arange(len(y)), train)
        require(y[test], lambda count, _: [("the test part", count, 1, OTHER_DRAW)])
        require(y[train], self._needs)
        folds = leave_one_out(train) if self.folds is None else k_fold(train, data, self.folds, random)
        return Split(train, test, folds, "published" if published else "drawn")

    def _train(self, data: BinaryData, repeat: int, random: np.random.RandomState) -> tuple[np.ndarray, bool]:
        """Return the training rows, and whether they are published."""
        rows, n_train = data.published, self.n_train
        assert n_train is not None  # see faults()
        if rows is None or rows.shape[1] != n_train:
            if n_train >= data.n_samples:
                raise RequestError(f"protocol.n_train is {n_train} of {data.n_samples} rows: leave some for testing")
            return np.sort(random.permutation(data.n_samples)[:n_train]), False
        if repeat >= len(rows):
            raise RequestError(f"no published split {repeat}: use repeats={len(rows)} or fewer, or protocol=cv")
        return rows[repeat], True

    def _needs(self, count: int, _: int) -> Iterator[Need]:
        yield "the training part", count, 2, OTHER_DRAW
        if self.folds is not None:
            yield f"the {self.folds} folds", count, self.folds, FEWER_FOLDS


@dataclass(frozen=True)
class TimeOrdered(SplitProtocol):
    """Earlier rows for training, later rows for testing; stratified k-fold cross-validation on the earlier ones.

    Repeat k cuts at the k-th of ``origins`` moments, spread evenly over those where time changes. Folds are drawn as in
    ``cv``, so that only the test part differs from it: forward chaining would select on fewer rows and positives.
    """

    name: ClassVar[str] = "time"
    title: ClassVar[str] = "later rows for testing, k-fold cross-validation on the earlier ones"
    stratified: ClassVar[bool] = False
    origins: int = 5
    min_part: float = 0.15  # least share of the rows before the first cut and after the last
    folds: int = 4
    shuffled: bool = False  # draw parts of the same sizes instead, for comparison

    def check(self, data: BinaryData) -> None:
        """Refuse data without times, or with fewer moments to cut at than origins."""
        if data.time is None:
            raise RequestError(
                "protocol=time requires times of rows: name their column by dataset.time, or use protocol=cv"
            )
        if (n_cuts := len(self._cuts(data.time))) < self.origins:
            often = f"{n_cuts} times with a share of {self.min_part:g} of the rows before and after"
            raise RequestError(f"protocol.origins is {self.origins}, but time changes {often}: lower it, or min_part")

    def _split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        assert data.time is not None  # see check()
        random, cuts, moment = random_state(seed, repeat), self._cuts(data.time), data.time
        n_train = cuts[(2 * (repeat % self.origins) + 1) * len(cuts) // (2 * self.origins)]
        units = np.arange(data.n_samples) if data.groups is None else data.groups
        if self.shuffled:
            moment = random.permutation(units.max() + 1)[units]
        is_early = moment <= np.sort(moment)[n_train - 1]
        train, test = np.flatnonzero(is_early), np.flatnonzero(~is_early)
        if np.isin(units[test], units[train]).any():
            raise RequestError("protocol=time splits some groups of rows: use protocol=cv, which keeps groups together")
        require(data.y[test], lambda count, _: [("the test part", count, 1, OTHER_CUTS)])
        require(data.y[train], self._needs)
        return Split(train, test, k_fold(train, data, self.folds, random))

    def _cuts(self, time: np.ndarray) -> np.ndarray:
        """Return how many rows come before each change of time that leaves enough rows on both sides."""
        before = np.flatnonzero(np.diff(np.sort(time))) + 1
        return before[np.minimum(before, len(time) - before) >= self.min_part * len(time)]

    def _needs(self, count: int, _: int) -> Iterator[Need]:
        yield f"the {self.folds} folds", count, self.folds, FEWER_FOLDS


def _needs_of_both(count: int, n_samples: int, validation_size: float) -> Iterator[Need]:
    train, validation = fewest(count, n_samples, validation_size)
    yield "the validation part", validation, 1, OTHER_SHARES
    yield "the training part", train, 1, OTHER_SHARES


PROTOCOLS: dict[str, type[SplitProtocol]] = {
    protocol.name: protocol for protocol in (CrossValidation, Holdout, Nested, Official, Permutations, TimeOrdered)
}
