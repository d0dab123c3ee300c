"""What a split is, and the draws and checks that protocols share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from npbench.errors import RequestError

Fold = tuple[np.ndarray, np.ndarray]


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
    test_part : {"drawn", "fixed", "published"}
        Where the test part comes from: drawn from the seed, named by the protocol for all repeats, or the one of this
        repeat that was published with the data.
    """

    train: np.ndarray
    test: np.ndarray
    folds: Sequence[Fold]
    test_part: Literal["drawn", "fixed", "published"] = "drawn"


class Need(NamedTuple):
    """How many samples of a class some part of a split has at worst, and needs."""

    part: str
    has: int
    at_least: int
    remedy: str


def require(y: np.ndarray, needs: Callable[[int, int], Iterator[Need]]) -> None:
    """Refuse labels of which a part of the split would be left with too few of a class.

    Parameters
    ----------
    y : array
        Labels of the rows to be divided.
    needs : callable
        ``needs(count, n_samples)`` yields what the parts have and need of a class with ``count`` of ``n_samples``.

    Raises
    ------
    RequestError
        With a sentence for each class and part.
    """
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


def random_state(seed: int, repeat: int) -> np.random.RandomState:
    """Return the stream that everything random in one repeat is drawn from."""
    # scikit-learn's splitters take no Generator; MT19937 seeded by a SeedSequence is as independent per repeat.
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence([seed, repeat])))


def stratified(rows: np.ndarray, y: np.ndarray, share: float, random: np.random.RandomState) -> Fold:
    """Set ``share`` of the rows aside, in proportion to the classes ``y``; return what is left and what is aside."""
    first, second = train_test_split(rows, test_size=math.ceil(share * len(rows)), stratify=y, random_state=random)
    return np.sort(first), np.sort(second)


def k_fold(rows: np.ndarray, y: np.ndarray, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Divide the rows, with classes ``y``, into stratified folds."""
    kfold = StratifiedKFold(n_folds, shuffle=True, random_state=random)
    return [(rows[fit], rows[validate]) for fit, validate in kfold.split(rows, y)]


def leave_one_out(rows: np.ndarray) -> list[Fold]:
    """Return a fold for each row that validates on it alone: views of one array of n (n - 1) rows."""
    n = len(rows)
    others = np.broadcast_to(rows, (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    return list(zip(others, rows[:, None], strict=True))


def fewest(count: int, n_samples: int, share: float) -> tuple[int, int]:
    """Return the fewest samples of a class, ``count`` of ``n_samples``, that may be left and be set aside.

    The samples set aside are divided in proportion to the classes; where both are due a half more, the draw decides
    which is rounded up. Taking the worse case, a request is refused for all its repeats or for none.
    """
    n_samples = max(n_samples, 1)
    aside = math.ceil(share * n_samples)
    return count - math.ceil(Fraction(aside * count, n_samples)), aside * count // n_samples
