"""Run one job: split, preprocess, select, fit, predict, measure.

The solver sees only rows outside the test part. Scores and metrics are computed here, not by the solver.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from npbench.contracts import Estimate, Selection, resolve
from npbench.data import BinaryData
from npbench.evaluation.job import Job, Request
from npbench.evaluation.preprocess import fitted
from npbench.evaluation.protocols import CrossValidation, Permutations
from npbench.evaluation.selection import validation_loss
from npbench.evaluation.splits import Fold, Split
from npbench.numerics.roc_grid import true_positive_rates
from npbench.records.record import TEST_SCORES, Record
from npbench.records.scores import packed
from npbench.values import canonical

MAX_WARNINGS_KEPT = 3
ROC_DECIMALS = 4


def run(job: Job, data: BinaryData, n_threads: int = 1, trace: bool = False, keep_scores: bool = False) -> Record:
    """Run a job and return its record, even if the solver fails.

    A failure keeps the measurements made before it. ``trace`` keeps the trace of the selection or, without one, the
    estimator's ``trace_`` with every metric of its stages on both parts; ``keep_scores`` the scores of the test part.
    """
    record: dict[str, Any] = {**job.columns, "status": "ok", "n_threads": n_threads}
    start = time.perf_counter()
    try:
        with _warnings_counted(record):
            _measure(job, data, n_threads, record, trace, keep_scores)
    except (Exception, SystemExit) as error:  # a solver may raise anything; other jobs continue
        record |= failure(error)
    record["seconds"] = time.perf_counter() - start
    return Record(record)  # bounded here, in the worker: a message of 300 MB must not go through the pipe


def failure(error: BaseException) -> dict[str, Any]:
    """Return the columns that describe an exception."""
    return {
        "status": "out_of_memory" if isinstance(error, MemoryError) else "failed",
        "error_type": type(error).__name__,
        "error": str(error) or type(error).__name__,
        "traceback": "".join(traceback.format_exception(error)),
    }


def warm_up(job: Job, n_features: int, is_sparse: bool, n_threads: int = 1) -> float:
    """Run a tiny job of the same kind, so that kernels compile outside the clock; return its seconds.

    It has the solver, problem and parameters of ``job``, at most two candidates of its grids, and toy data of the same
    storage (kernels compile separately for CSR). rho is set to 0.5, so that umbrella thresholds work with few samples.
    Failures are ignored: the job itself will show them.
    """
    start = time.perf_counter()
    random = np.random.default_rng(0)
    y = np.repeat(np.array([-1, 1], dtype=np.int8), 32)
    X = random.normal(size=(len(y), min(n_features, 5))) + 0.5 * y[:, None]
    toy = BinaryData(sparse.csr_array(X) if is_sparse else X, y, "toy")
    request = job.request
    problem: Any = request.problem
    if problem.number:
        problem = dataclasses.replace(problem, **{problem.number.name: 0.5})
    # Searches may take another path with leave-one-out folds.
    leaves_one_out = isinstance(request.protocol, Permutations) and request.protocol.folds is None
    protocol = Permutations(n_train=16) if leaves_one_out else CrossValidation(folds=2)
    changes = {"problem": problem, "search": _at_most_two(request.search), "protocol": protocol}
    tiny = dataclasses.replace(job, request=dataclasses.replace(request, **changes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(tiny, toy, n_threads)
    return time.perf_counter() - start


def _at_most_two(search: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return two candidates, which differ in one parameter; in mappings, in the first name only, if possible."""
    tiny = {name: values[:1] for name, values in search.items()}
    for name, (first, *others) in search.items():
        if others:
            second = others[0]
            if isinstance(first, Mapping):
                second = min(others, key=lambda one: [part for part in first if one.get(part) != first[part]])
            return {**tiny, name: [first, second]}
    return tiny


def _measure(
    job: Job, data: BinaryData, n_threads: int, record: dict[str, Any], trace: bool, keep_scores: bool
) -> None:
    request = job.request
    split = request.protocol.split(data, request.seed, job.repeat)
    known = _known(split)
    record |= split_columns(split, data)
    transform = fitted(data.X[split.train], data.categorical, **request.features)
    X, y = transform(data.X[known]), data.y[known]
    folds = [(np.searchsorted(known, fit), np.searchsorted(known, validate)) for fit, validate in split.folds]
    train = np.searchsorted(known, split.train)
    make = estimator_factory(request, job.repeat)

    with _timed("select", record):
        selection = select(request, make, X, y, folds, n_threads)
    record |= {
        "chosen_params": canonical(selection.params),
        "selection_loss": None if np.isnan(selection.loss) else float(selection.loss),  # NaN if nothing was compared
        "n_candidates": int(selection.n_candidates),
        "n_unconverged": int(selection.n_unconverged),
    }
    estimator = make(**selection.params)
    X_train, y_train = (X, y) if len(train) == len(known) else (X[train], y[train])
    with _timed("fit", record):
        estimator.fit(X_train, y_train)
    record |= _outcome(estimator)
    of_search = len(selection.trace) > 0
    course = _columns(selection.trace if of_search else getattr(estimator, "trace_", ())) if trace else {}
    if trace:
        record["trace"] = _json(course)

    X_test, y_test = transform(data.X[split.test]), data.y[split.test]
    with _timed("predict", record):
        scores = estimator.decision_function(X_test)
    scores = _checked(scores, len(y_test))
    if keep_scores:
        record[TEST_SCORES] = packed(job.key, split.test, y_test, scores)
    record |= score_metrics(request, y_test, scores, estimator)
    if trace and not of_search and hasattr(estimator, "staged_decision_function"):
        for part, samples, labels in (("train", X_train, y_train), ("test", X_test, y_test)):
            course |= _staged(part, job, estimator, samples, labels, course)
        record["trace"] = _json(course)


def _known(split: Split) -> np.ndarray:
    """Return the rows that reach the solver, which never sees the test part."""
    return np.unique(np.concatenate([split.train, *(rows for fold in split.folds for rows in fold)]))


def split_columns(split: Split, data: BinaryData) -> dict[str, Any]:
    """Return the columns of a record that describe the split."""
    return {
        "test_part": split.test_part,
        "split_sha256": split.sha256,
        "n_test_duplicates": int(np.isin(data.row_hashes[split.test], data.row_hashes[_known(split)]).sum()),
    }


def score_metrics(request: Request, y: np.ndarray, scores: np.ndarray, estimator: Any = None) -> dict[str, Any]:
    """Return the ROC curve and the metrics on the test part; metrics of a model are NaN without its ``estimator``."""
    return {
        "n_test_positive": int(np.sum(y > 0)),
        "roc": canonical(true_positive_rates(y, scores).round(ROC_DECIMALS)),
        **_measured(request, estimator, y, scores),
    }


def estimator_factory(request: Request, repeat: int = 0) -> Callable[..., Any]:
    """Return a function from parameters to the unfitted estimator, with the problem's parameters and a seed set."""
    estimator = resolve(request.solver.estimator)
    known = estimator().get_params()
    filled = {name: value for name, value in request.problem.parameters().items() if name in known}
    if "random_state" in known:
        # A child of the split's seed sequence is independent of the split.
        sequence = np.random.SeedSequence([request.seed, repeat], spawn_key=(1,))
        filled["random_state"] = int(sequence.generate_state(1)[0])
    return functools.partial(estimator, **{**filled, **request.params})


def select(
    request: Request, make: Callable[..., Any], X: Any, y: np.ndarray, folds: list[Fold], n_threads: int
) -> Selection:
    """Return the parameters chosen by the solver's selection on the folds."""
    search = resolve(request.solver.selection)
    selection: Selection = search(make, X, y, folds, request.problem, request.search, n_threads=n_threads)
    if not request.validate or not np.isnan(selection.loss):
        return selection
    loss, unconverged = validation_loss(functools.partial(make, **selection.params), X, y, folds, request.problem)
    return dataclasses.replace(selection, loss=loss, n_unconverged=unconverged)


@contextmanager
def _timed(stage: str, record: dict[str, Any]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        record[f"{stage}_seconds"] = time.perf_counter() - wall
        record[f"{stage}_cpu_seconds"] = time.process_time() - cpu


def _outcome(estimator: Any) -> dict[str, Any]:
    converters: dict[str, Callable[[Any], Any]] = {
        "n_iter": lambda value: int(np.max(value)),  # some of scikit-learn count for each subproblem
        "converged": bool,
        "objective": float,
        "duality_gap": float,
        "gram_seconds": float,
        "status": str,
    }
    found = {name: getattr(estimator, f"{name}_", None) for name in converters}
    outcome = {name: None if value is None else converters[name](value) for name, value in found.items()}
    outcome["solver_status"] = outcome.pop("status")
    return outcome


def _columns(steps: Sequence[Any]) -> dict[str, list[float]]:
    """Return the numbers of the steps of a trace by name."""
    if not all(hasattr(step, "_fields") for step in steps):
        raise TypeError(f"trace_ holds a {type(steps[0]).__name__}, expected a list of NamedTuples of numbers")
    names = steps[0]._fields if steps else ()
    return {name: [float(getattr(step, name)) for step in steps] for name in names}


def _json(course: Mapping[str, Sequence[float]]) -> str:
    """Return a trace as JSON, with null for NaN and infinity."""
    return canonical({name: [v if math.isfinite(v) else None for v in column] for name, column in course.items()})


def _staged(
    part: str, job: Job, estimator: Any, X: Any, y: np.ndarray, course: Mapping[str, Sequence[float]]
) -> dict[str, list[float]]:
    """Return every metric of each stage on a part of the data, without limits, as ``<part>_<metric>``."""
    method = "staged_decision_function"
    stages = [
        _measured(job.request, estimator, y, _checked(scores, len(y), method))
        for scores in getattr(estimator, method)(X)
    ]
    n_steps = len(next(iter(course.values()), stages))
    if n_steps != len(stages):
        raise ValueError(f"{method} yields {len(stages)} stages, expected {n_steps}, one for each step of trace_")
    return {f"{part}_{metric.name}": [values[metric.name] for values in stages] for metric in job.request.metrics}


def _checked(scores: Any, n_samples: int, method: str = "decision_function") -> np.ndarray:
    if np.ma.isMaskedArray(scores) or np.iscomplexobj(scores):
        kind = "a masked array" if np.ma.isMaskedArray(scores) else "complex scores"
        raise TypeError(f"{method} returned {kind}, expected an array of real numbers")
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{method} returned an array of shape {scores.shape}, expected ({n_samples},): one score for each sample"
        )
    if wrong := int(np.sum(~np.isfinite(scores))):
        raise ValueError(f"{method} returned NaN or infinite scores for {wrong} of {n_samples} samples")
    return scores


def _measured(request: Request, estimator: Any, y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return every metric of the request by column."""
    columns: dict[str, float] = {}
    for metric in request.metrics:
        name = metric.name
        value = resolve(metric.compute)(y, scores, problem=request.problem, estimator=estimator)
        if isinstance(value, Estimate):
            columns |= {name: float(value.value), f"{name}_low": float(value.low), f"{name}_high": float(value.high)}
        else:
            columns[name] = float(value)
    return columns


@contextmanager
def _warnings_counted(record: dict[str, Any]) -> Iterator[None]:
    """Count warnings and keep the first texts; a list of all could use more memory than the job."""
    texts: list[str] = []
    record["n_warnings"] = 0

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        record["n_warnings"] += 1
        text = f"{category.__name__}: {message}"
        if len(texts) < MAX_WARNINGS_KEPT and text not in texts:
            texts.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        try:
            yield
        finally:
            record["warnings"] = "\n".join(texts)
