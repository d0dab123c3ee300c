"""Values of several settings on the same splits, and how much the splits of a protocol overlap."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.records.fields import Role, names
from npbench.report.sheet import Cell, number

BLOCK = names(Role.BLOCK)
SAME_ROWS = ["data_sha256", *names(Role.SPLIT)]  # columns that records on the same rows share


@dataclass(frozen=True)
class Block:
    """A metric of several settings on the same data, problem and protocol."""

    dataset: str
    problem_params: str  # JSON
    labels: tuple[str, ...]  # of the settings that have the metric
    values: np.ndarray  # (n_splits, n_labels), NaN for a setting without a value on a split
    ratio: float  # number of test samples over number of training samples; NaN if unknown

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: column for column, label in enumerate(self.labels)}

    @property
    def about(self) -> list[Cell | str]:
        """The first cells of a row: the data set, then the problem's parameters."""
        return [self.dataset, *setting_cells(self.problem_params)]


def setting_cells(problem_params: str) -> list[Cell]:
    """Return the values of a problem's parameters as cells; two ranges are one, as ``[0, 0.1] x [0.5, 1]``."""
    values = json.loads(problem_params).values()
    if len(values) > 1:
        return [Cell(" x ".join(map(json.dumps, values)))]
    return [number(value, "") if isinstance(value, (int, float)) else Cell(json.dumps(value)) for value in values]


def setting_columns(problem: str) -> list[str]:
    """Return the headers of :attr:`Block.about`."""
    return ["data", *PROBLEMS[problem]().parameters()]


def setting_text(problem_params: str) -> str:
    """Return the parameters of a problem in words, as in ``rho=0.05``."""
    return ", ".join(f"{name}={value}" for name, value in json.loads(problem_params).items())


def blocks(records: pl.DataFrame, metric: str) -> Iterator[Block]:
    """Yield a metric in records of one problem, a block for each data set, setting of the problem, and protocol.

    Two records share a split if data, protocol, seed and repeat agree, and the hash of the split if both have one;
    older records have none. Failed records, and those without the metric, have no value.
    """
    if metric not in records.columns:
        return
    known = pl.col("split_sha256")
    value = pl.when(pl.col(metric).is_finite()).then(pl.col(metric))
    split_known = records.with_columns(split=known.fill_null(known.max().over(SAME_ROWS)), value=value)
    found = split_known.filter(status="ok").drop_nulls("value")
    split = ["seed", "repeat", "split"]
    # Rows and columns are numbered for all blocks at once, since there are many blocks.
    row, column = (part.rank("dense").over(BLOCK) - 1 for part in (pl.struct(split), pl.col("label")))
    numbered = found.sort(*BLOCK, "label", *split).with_columns(row=row, column=column)
    for part in numbered.partition_by(BLOCK, maintain_order=True):
        first = part.row(0, named=True)
        labels = part["label"].unique(maintain_order=True).to_list()
        rows, columns = part["row"].to_numpy(), part["column"].to_numpy()
        values = np.full((rows.max() + 1, len(labels)), np.nan)
        values[rows, columns] = part["value"].to_numpy()  # the last of several records on one split
        ratio = overlap(first["protocol_params"], first["n_samples"])
        yield Block(first["dataset"], first["problem_params"], tuple(labels), values, ratio)


def overlap(protocol_params: str, n_samples: int) -> float:
    """Return the number of test samples over the number of training samples; NaN if unknown.

    It is not defined for a fixed test part: repeats then differ in their validation parts only.

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
