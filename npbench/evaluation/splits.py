"""Splits of a data set, and the draws and checks that protocols share."""

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from npbench.data import BinaryData
from npbench.errors import RequestError

Fold = tuple[np.ndarray, np.ndarray]
Folds = Sequence[Fold]

MAX_GROUP_FOLDS = 20  # a share of whole groups is set aside as some of at most this number of folds
FEWER_PARTS = "Use fewer folds (protocol.folds), a larger protocol.test_size, another seed, or data with more groups."


@dataclass(frozen=True)
class Split:
    """Row indices of one repeat."""

    train: np.ndarray  # for the final fit
    test: np.ndarray  # for the metrics
    folds: Sequence[Fold]  # rows to fit and to validate on in the selection, disjoint from test
    # Drawn from the seed, fixed by the protocol for all repeats, or published with the data for this repeat.
    test_part: Literal["drawn", "fixed", "published"] = "drawn"

    @property
    def sha256(self) -> str:
        """Hash of training, test and validation rows; a fold is fitted on the training rows that it leaves out."""
        digest = hashlib.sha256()
        for rows in (self.train, self.test, *(validate for _, validate in self.folds)):
            digest.update(f"{len(rows)} ".encode())
            digest.update(np.ascontiguousarray(rows, dtype="<i8").data)
        return digest.hexdigest()


Need = tuple[str, int, int, str]  # a part, the samples of a class that it may get and those that it needs, the remedy


def require(y: np.ndarray, needs: Callable[[int, int], Iterable[Need]]) -> None:
    """Refuse labels that leave a part with too few samples of a class: ``needs(count, n_samples)`` yields its needs."""
    classes = {"positive": int(np.sum(y > 0)), "negative": int(np.sum(y < 0))}
    faults = [
        f"too few {name} samples, {count} of {len(y)}: {part} may get {has} of them and needs at least {least}. "
        f"{remedy}"
        for name, count in classes.items()
        for part, has, least, remedy in needs(count, len(y))
        if has < least
    ]
    if faults:
        raise RequestError(*faults)


def random_state(seed: int, repeat: int) -> np.random.RandomState:
    """Return the random stream of one repeat."""
    # scikit-learn's splitters accept no Generator; MT19937 seeded by a SeedSequence is as independent per repeat.
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence([seed, repeat])))


def stratified(
    rows: np.ndarray, data: BinaryData, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Set ``share`` of each class aside, groups together; return the rows left and the rows set aside."""
    if data.groups is not None:
        return _grouped(rows, data, share, random)
    from sklearn.model_selection import train_test_split  # slow to import, and what only plans needs no split

    aside = math.ceil(share * len(rows))
    first, second = train_test_split(rows, test_size=aside, stratify=data.y[rows], random_state=random)
    return np.sort(first), np.sort(second)


def k_fold(rows: np.ndarray, data: BinaryData, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Split the rows into stratified folds; groups stay together."""
    if data.groups is not None:
        folds = _group_folds(rows, data, n_folds, random)
        return [_both_classes(rows, data, validate, "a fold") for validate in folds]
    from sklearn.model_selection import StratifiedKFold

    kfold = StratifiedKFold(n_folds, shuffle=True, random_state=random)
    return [(rows[fit], rows[validate]) for fit, validate in kfold.split(rows, data.y[rows])]


def _grouped(
    rows: np.ndarray, data: BinaryData, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    part = Fraction(share).limit_denominator(MAX_GROUP_FOLDS)
    part = min(max(part, Fraction(1, MAX_GROUP_FOLDS)), 1 - Fraction(1, MAX_GROUP_FOLDS))
    folds = _group_folds(rows, data, part.denominator, random)
    # Folds are filled from the largest group on: in that order it would be set aside in every repeat.
    drawn = random.permutation(len(folds))[: part.numerator]
    return _both_classes(rows, data, np.sort(np.concatenate([folds[number] for number in drawn])), "the part set aside")


def _group_folds(rows: np.ndarray, data: BinaryData, n_folds: int, random: np.random.RandomState) -> list[np.ndarray]:
    from sklearn.model_selection import StratifiedGroupKFold

    assert data.groups is not None
    y, groups = data.y[rows], data.groups[rows]
    n_groups, n_most = len(np.unique(groups)), max(np.sum(y > 0), np.sum(y < 0))
    if min(n_groups, n_most) < n_folds:
        raise RequestError(f"{n_groups} groups of {len(rows)} rows are too few for {n_folds} parts. {FEWER_PARTS}")
    kfold = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few members of a class: see _both_classes
        return [rows[validate] for _, validate in kfold.split(rows, y, groups)]


def _both_classes(rows: np.ndarray, data: BinaryData, aside: np.ndarray, what: str) -> Fold:
    """Return the rows left and the rows set aside; refuse parts without samples of both classes."""
    left = np.setdiff1d(rows, aside)
    for part, name in ((aside, what), (left, f"the rest without {what}")):
        if len(np.unique(data.y[part])) < 2:
            raise RequestError(f"{name} has samples of one class only, because groups stay together. {FEWER_PARTS}")
    return left, aside


def leave_one_out(rows: np.ndarray) -> list[Fold]:
    """Return a fold per row that validates on this row alone: views of one array of n (n - 1) rows."""
    n = len(rows)
    others = np.broadcast_to(rows, (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    return list(zip(others, rows[:, None], strict=True))


def fewest(count: int, n_samples: int, share: float) -> tuple[int, int]:
    """Return the minimum numbers of samples of a class, ``count`` of ``n_samples``, that are left and set aside.

    If both classes are off by half a sample, the draw decides which is rounded up. The worse case counts, so that a
    request is refused for all its repeats or for none.
    """
    n_samples = max(n_samples, 1)
    aside = math.ceil(share * n_samples)
    return count - math.ceil(Fraction(aside * count, n_samples)), aside * count // n_samples
