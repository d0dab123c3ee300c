"""Cross-validation inside cross-validation, as Bach, Heckerman and Horvitz (2006) compare classifiers (section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from npbench.split import Need, Split, k_fold, random_state, require
from npbench.values import is_whole

if TYPE_CHECKING:
    from npbench.data import BinaryData

FEWER_FOLDS = "Use fewer folds (protocol.outer=..., protocol.folds=...), or more data."


@dataclass(frozen=True)
class Nested:
    """Each fold is the test part of one repeat; k-fold cross-validation on the rest, all of which the final fit uses.

    Every ``outer`` repeats test each row once. With groups, folds are of whole groups.

    Parameters
    ----------
    outer, folds : int
        Number of folds that are tested on, and that the rest is divided into; at least 2.
    """

    name: ClassVar[str] = "nested"
    title: ClassVar[str] = "a fold for testing in each repeat, k-fold cross-validation on the rest"
    stratified: ClassVar[bool] = True
    outer: int = 10
    folds: int = 10

    def faults(self) -> list[str]:
        """Return a sentence for each parameter out of range."""
        return [
            f"protocol.{name} is {value!r}: it must be a whole number, 2 or more."
            for name, value in asdict(self).items()
            if not is_whole(value, 2)
        ]

    def split(self, data: BinaryData, seed: int, repeat: int) -> Split:
        """Divide the rows of ``data``."""
        require(data.y, self._needs)
        division, fold = divmod(repeat, self.outer)
        random = random_state(seed, division)
        train, test = k_fold(np.arange(data.n_samples), data, self.outer, random)[fold]
        return Split(train, test, k_fold(train, data, self.folds, random))

    def _needs(self, count: int, _: int) -> Iterator[Need]:
        yield Need(f"the {self.outer} outer folds", count, self.outer, FEWER_FOLDS)
        yield Need(f"the {self.folds} folds", count - math.ceil(count / self.outer), self.folds, FEWER_FOLDS)
