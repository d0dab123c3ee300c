"""Figures of several settings on the same splits, and how much the splits of a protocol overlap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.registry import installed

Direction = Literal["lower", "higher", "none"]

BLOCK = ["dataset", "problem_params", "protocol_params", "data_sha256"]
PLACE = ["data_sha256", "protocol_params", "seed", "repeat"]


@dataclass(frozen=True)
class Block:
    """Settings that were asked the same of the same data, divided in the same way.

    Parameters
    ----------
    dataset : str
        Its name.
    problem_params : str
        What was asked, JSON.
    labels : tuple of str
        Of the settings that have the figure.
    values : array of shape (n_splits, n_labels)
        The figure, NaN where a setting has none on a split.
    ratio : float
        Samples tested on over samples trained on; NaN where that is not known.
    """

    dataset: str
    problem_params: str
    labels: tuple[str, ...]
    values: np.ndarray
    ratio: float

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: column for column, label in enumerate(self.labels)}

    @property
    def about(self) -> list[str]:
        """The first cells of a row: the data set, then the problem's parameters."""
        return [self.dataset, *asked(self.problem_params)]


def asked(problem_params: str) -> list[str]:
    """Return the values of a problem's parameters as cells.

    Examples
    --------
    >>> asked('{"rho":0.1}'), asked('{"fpr_range":[0.02,0.05]}')
    (['0.1'], ['[0.02, 0.05]'])
    """
    return [json.dumps(value) for value in json.loads(problem_params).values()]


def about(problem: str) -> list[str]:
    """Return the headers of :attr:`Block.about`.

    Examples
    --------
    >>> about("np")
    ['data', 'rho']
    """
    return ["data", *PROBLEMS[problem]().parameters()]


def blocks(records: pl.DataFrame, figure: str) -> Iterator[Block]:
    """Yield the figures of all settings, a block for each data set, choice of the problem's parameters, and protocol.

    Two records are of one split if the data, protocol, seed and repeat agree, and the hash of the split where both have
    one; those made before it was kept have none. Records that are not ok, or lack the figure, have no value.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    figure : str
        A column of numbers; without it there are no blocks.
    """
    if figure not in records.columns:
        return
    known = pl.col("split_sha256")
    value = pl.when(pl.col(figure).is_finite()).then(pl.col(figure))
    found = (
        records.with_columns(split=known.fill_null(known.max().over(PLACE)), value=value)
        .filter(status="ok")
        .drop_nulls("value")
    )
    split = ["seed", "repeat", "split"]
    # Rows and columns of the blocks, for all blocks at once: they are many.
    numbered = found.sort(*BLOCK, "label", *split).with_columns(
        row=pl.struct(split).rank("dense").over(BLOCK) - 1, column=pl.col("label").rank("dense").over(BLOCK) - 1
    )
    for part in numbered.partition_by(BLOCK, maintain_order=True):
        first = part.row(0, named=True)
        labels = part["label"].unique(maintain_order=True).to_list()
        rows, columns = part["row"].to_numpy(), part["column"].to_numpy()
        values = np.full((rows.max() + 1, len(labels)), np.nan)
        values[rows, columns] = part["value"].to_numpy()  # the last of several of one split
        yield Block(
            first["dataset"],
            first["problem_params"],
            tuple(labels),
            values,
            overlap(first["protocol_params"], first["n_samples"]),
        )


def overlap(protocol_params: str, n_samples: int) -> float:
    """Return the number of samples tested on over that of samples trained on; NaN where it cannot be told.

    For a test part that is the same in all repeats it tells nothing: these differ in what is validated on.

    Examples
    --------
    >>> overlap('{"name":"cv","test_size":0.25,"folds":4}', 400)
    0.3333333333333333
    >>> overlap('{"name":"holdout","test_size":0.5,"validation_size":0.25}', 400)
    2.0
    >>> overlap('{"name":"nested","outer":5,"folds":4}', 400), overlap('{"name":"permutations","n_train":100}', 400)
    (0.25, 3.0)
    """
    match json.loads(protocol_params):
        case {"outer": int(outer)}:
            return 1 / (outer - 1)
        case {"n_train": int(n_train)}:
            return (n_samples - n_train) / n_train
        case {"test_size": float(tested), "validation_size": float(validated)}:
            return tested / (1 - tested - validated)
        case {"test_size": float(tested)}:
            return tested / (1 - tested)
    return float("nan")


def headline(problem: str) -> list[str]:
    """Return the metrics that a problem is judged by, the most telling first; none for a problem not known here."""
    return list(PROBLEMS[problem].headline) if problem in PROBLEMS else []


def better(problem: str, figure: str) -> Direction:
    """Return which way a figure is better; below a bound that the problem sets, neither is.

    Examples
    --------
    >>> better("np", "p_fa"), better("np", "p_nd"), better("cost", "p_fa")
    ('none', 'lower', 'lower')
    """
    metric = installed().metrics.get(figure)
    return "none" if metric is None or figure in PROBLEMS[problem].bounds else metric.direction
