"""Refuse data that a protocol cannot split, or on whose parts a problem has no loss."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from npbench.data import BinaryData
from npbench.errors import RequestError, collect_errors
from npbench.evaluation.job import Request
from npbench.evaluation.splits import Split

MAX_ROUNDING = 2  # by how many samples of a class stratified parts of different repeats may differ


def check_splits(asked: Iterable[tuple[Request, BinaryData]]) -> None:
    """Check requests on their data, once what is equal for all solvers."""
    distinct = {}
    for request, data in asked:
        split = (data.sha256, request.protocol, request.seed, request.repeats)
        distinct[split, request.problem, is_validated(request)] = request, data
    collect_errors([partial(check_split, request, data) for request, data in distinct.values()])


def is_validated(request: Request) -> bool:
    """Return whether a validation loss is measured."""
    return request.validate or any(len(values) > 1 for values in request.search.values())


def check_split(request: Request, data: BinaryData) -> None:
    """Refuse data that the protocol cannot split in every repeat."""
    try:
        one_for_all = request.protocol.stratified and data.groups is None
        if one_for_all and request.problem.measurable(0, 0):  # then on every part
            request.protocol.check(data)
            return
        for repeat in range(request.repeats):
            ample = _check_measurable(request, data.y, request.protocol.split(data, request.seed, repeat))
            if one_for_all and ample:
                break
    except RequestError as error:
        raise RequestError(*(f"dataset {data.name!r}: {fault}" for fault in error.faults)) from None


def _check_measurable(request: Request, y: np.ndarray, split: Split) -> bool:
    """Refuse parts without a loss; return whether all other stratified repeats are certain to have one."""
    if request.problem.measurable(0, 0):
        return True
    validated = [("a validation part", rows) for _, rows in split.folds] if is_validated(request) else []
    ample = True
    for part, rows in [("the test part", split.test), *validated]:
        n_pos = int((y[rows] > 0).sum())
        n_neg = len(rows) - n_pos
        if not request.problem.measurable(n_pos, n_neg):
            asked = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
            where = f"{part}, which has {n_pos} positives and {n_neg} negatives"
            raise RequestError(
                f"problem={request.problem.name} with {asked} is undefined on {where}: set other values "
                "(problem.NAME=...), fewer folds (protocol.folds=...) or protocol=holdout, or use more data"
            )
        nearby = range(max(n_neg - MAX_ROUNDING, 1), n_neg + MAX_ROUNDING + 1)
        ample = ample and all(request.problem.measurable(n_pos, count) for count in nearby)
    return ample
