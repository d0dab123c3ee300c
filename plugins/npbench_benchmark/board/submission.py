"""Scores of a method that npbench cannot run: check them against the splits, and compute the records.

Scores are ``decision_function`` values on the test rows, larger for more positive samples. They are thresholded at 0
for each setting of the problem, so a method that moves a threshold with ``rho`` submits scores shifted by it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from npbench.contracts import Solver
from npbench.data import BinaryData
from npbench.errors import RequestError, collect_errors, unknown_name
from npbench.evaluation.job import Job, Request
from npbench.evaluation.measure import score_metrics, split_columns
from npbench.evaluation.splits import Split
from npbench.planning.plan import Sources, first_job
from npbench.records.record import TEST_SCORES, Record
from npbench.records.scores import packed
from npbench_benchmark.board.split_files import SPLITS
from npbench_benchmark.board.stored_request import as_request_errors, request_of
from npbench_benchmark.formats import validate

SUBMITTED = "submitted scores"  # stands where records name the distribution of the solver
ROW, SCORE = "row", "score"


class Submitted:
    """Stands for the estimator of a method that npbench cannot run."""


@dataclass(frozen=True)
class Task:
    """One part of a submission: the test part of a split, for one setting of the problem."""

    job: Job
    data: BinaryData
    split: Split

    @property
    def name(self) -> dict[str, Any]:
        """Columns that name this part in a table of scores: data set, repeat, parameters of the problem."""
        asked = self.job.request
        parameters = json.loads(asked.columns["problem_params"]).items()  # numbers, or the JSON text of anything else
        columns = {name: float(v) if isinstance(v, (int, float)) else json.dumps(v) for name, v in parameters}
        return {"dataset": asked.dataset.name, "repeat": self.job.repeat, **columns}


def read_tasks(folder: Path, name: str) -> tuple[list[str], list[Task]]:
    """Return the settings of a folder of splits, and the tasks of a method called ``name``."""
    path = folder / SPLITS
    if wrong := validate.faults("splits", path):
        raise RequestError(f"{path}: {wrong[0]}; name the folder of `npbench splits --write` with --splits")
    described = json.loads(path.read_text(encoding="utf-8"))
    sources = Sources()
    found = collect_errors([partial(_tasks, one, name, sources) for one in described["tasks"]])
    return described["words"], [task for tasks in found for task in tasks]


def _tasks(asked: Mapping[str, Any], name: str, sources: Sources) -> list[Task]:
    method = {"solver": name, "params": "{}", "search": "{}", "repeat": asked["repeats"] - 1}
    described = {**asked, **method}
    with as_request_errors(f"a task of {asked['dataset']} in {SPLITS}"):
        request = request_of(described, _stand_in(described))
        data = sources.data(request)
        splits = [request.protocol.split(data, request.seed, repeat) for repeat in range(request.repeats)]
    remedy = "write the splits again and score them again"
    if data.sha256 != asked["data_sha256"]:
        raise RequestError(f"dataset {data.name!r} differs from the one whose splits were written: {remedy}")
    if [split.sha256 for split in splits] != asked["split_sha256"]:
        raise RequestError(f"dataset {data.name!r} is split differently from when the splits were written: {remedy}")
    job = replace(first_job(request, data), distribution=SUBMITTED)
    return [Task(job.with_repeat(repeat), data, split) for repeat, split in enumerate(splits)]


def _stand_in(record: Mapping[str, Any]) -> Solver:
    return Solver(name=record["solver"], estimator=f"{__name__}:Submitted", solves=(record["problem"],))


def checked(table: pl.DataFrame, tasks: Sequence[Task]) -> list[np.ndarray]:
    """Return the scores of each task, in the order of its test rows."""
    table, names = _typed(table, tasks[0].name), [*tasks[0].name, ROW]
    expected = pl.concat([pl.DataFrame({**task.name, ROW: task.split.test}) for task in tasks])
    datasets = set(expected["dataset"])
    if unknown := [name for name in table["dataset"].unique(maintain_order=True) if name not in datasets]:
        raise RequestError(*(unknown_name("data set", str(name), datasets) for name in unknown))
    odd = table.filter(~pl.col(SCORE).is_finite().fill_null(False))
    twice = table.filter(pl.struct(names).is_duplicated())
    other = table.join(expected, on=names, how="anti", maintain_order="left")
    missing = expected.join(table, on=names, how="anti", maintain_order="left")
    for wrong, what, remedy in (
        (odd, f"of {len(table)} scores are NaN, infinite or missing", "expected finite numbers"),
        (twice, "scores are duplicates", "expected one for each row"),
        (other, f"of {len(table)} scores are not in the test part of a split", "score the rows whose part is test"),
        (missing, f"of {len(expected)} test rows are missing", "expected a score for each of them"),
    ):
        if len(wrong):
            first = ", ".join(f"{name}={value}" for name, value in wrong.select(names).row(0, named=True).items())
            raise RequestError(f"{len(wrong)} {what}, the first at {first}: {remedy}")
    scores = expected.join(table, on=names, how="left", maintain_order="left")[SCORE].to_numpy()
    return np.split(scores, np.cumsum([len(task.split.test) for task in tasks])[:-1])


def _typed(table: pl.DataFrame, example: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns of a task's name, row and score in their types."""
    types: dict[str, Any] = {name: pl.String if isinstance(v, str) else pl.Float64 for name, v in example.items()}
    types |= {"repeat": pl.Int64, ROW: pl.Int64, SCORE: pl.Float64}
    if missing := [name for name in types if name not in table.columns]:
        raise RequestError(f"the scores lack the columns {', '.join(missing)}: expected {', '.join(types)}")
    numbers = [name for name, value in example.items() if isinstance(value, float)]
    try:  # 0.1 as float32 and as float64 are different numbers with the same text
        return table.cast(dict.fromkeys(numbers, pl.String)).select(pl.col(name).cast(t) for name, t in types.items())
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise RequestError(f"the scores have columns of a wrong type ({reason}): expected numbers") from error


def records(tasks: Sequence[Task], scores: Sequence[np.ndarray], facts: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the record of each task, with its scores; metrics that need a model are NaN, and there are no seconds."""
    for task, values in zip(tasks, scores, strict=True):
        y = task.data.y[task.split.test]
        kept = packed(task.job.key, task.split.test, y, values)
        answers = answers_of(task.job.request, task.data, task.split, values)
        columns: dict[str, Any] = {**facts, **task.job.columns, **answers, TEST_SCORES: kept}
        yield Record(columns)


def answers_of(request: Request, data: BinaryData, split: Split, scores: np.ndarray) -> dict[str, Any]:
    """Return what follows from the scores of the test rows of a split."""
    return {"status": "ok", **split_columns(split, data), **score_metrics(request, data.y[split.test], scores)}


def rescored(record: Mapping[str, Any], stored: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """Compute what follows from the stored test scores of a record, on its own split of the data that are here."""
    what = f"the scores of {record['solver']} on {record['dataset']}"
    request = request_of(record, _stand_in(record))
    data = sources.data(request)
    split = request.protocol.split(data, request.seed, record["repeat"])
    expected = split.test, data.y[split.test]
    scores = np.array(stored["score"], dtype=float)
    is_here = (np.array_equal(stored[name], one) for name, one in zip(("row", "label"), expected, strict=True))
    if not all(is_here) or len(scores) != len(split.test):
        raise RequestError(f"{what} belong to other rows than those here")
    if not np.isfinite(scores).all():
        raise RequestError(f"{what} are not finite")
    return answers_of(request, data, split, scores)
