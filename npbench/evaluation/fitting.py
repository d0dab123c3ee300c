"""Select, fit and predict: the part of a job that runs the solver's code, without any label of the test part."""

import dataclasses
import functools
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbench.contracts import Selection, resolve
from npbench.evaluation.job import Request
from npbench.evaluation.selection import validated
from npbench.evaluation.splits import Fold
from npbench.records.record import Record
from npbench.values import canonical

MAX_WARNINGS_KEPT = 3
MAX_NUMBERS = 2**24  # of a fitted attribute that metrics may use

# A step of a fit: facts that JSON can express, and numbers. The process that judges must not unpickle anything.
Step = tuple[dict[str, Any], Sequence[np.ndarray]]


@dataclass(frozen=True)
class Fitting:
    """Everything that a solver may know of its job."""

    request: Request  # without data set, protocol and metrics
    random_state: int
    X: Any  # the rows that ``folds`` and ``train`` index, none of the test part
    y: np.ndarray
    folds: Sequence[Fold]
    train: np.ndarray
    X_test: Any
    n_threads: int = 1
    trace: bool = False


def steps(fitting: Fitting) -> Iterator[Step]:
    """Yield what a solver does, whatever it raises.

    ``phase`` names what comes next; ``scores`` are those of the test part, ``stage`` those of a part at one step of the
    trace, each followed by the estimator's numbers that metrics may use; ``ended`` has columns of the record.
    """
    columns: dict[str, Any] = {"status": "ok"}
    try:
        with _warnings_counted(columns):
            yield from _steps(fitting, columns)
    except (Exception, SystemExit) as error:  # a solver may raise anything; other jobs continue
        columns |= failure(error)
    course = columns.pop("trace", None)
    bounded = Record({"key": "", **columns})  # a message of 300 MB must not go through the pipe
    yield {"ended": bounded, "trace": course}, ()


def _steps(fitting: Fitting, columns: dict[str, Any]) -> Iterator[Step]:
    X, y, train = fitting.X, fitting.y, fitting.train
    yield {"phase": "creating the estimator"}, ()
    make = estimator_factory(fitting.request, fitting.random_state)
    yield {"phase": "selecting parameters"}, ()
    with _timed("select", columns):
        selection = select(fitting.request, make, X, y, list(fitting.folds), fitting.n_threads)
    columns |= {
        "chosen_params": canonical(selection.params),
        "selection_loss": None if np.isnan(selection.loss) else float(selection.loss),  # NaN if nothing was compared
        "n_candidates": int(selection.n_candidates),
        "n_unconverged": int(selection.n_unconverged),
    }
    yield {"phase": "creating the estimator"}, ()
    estimator = make(**selection.params)
    yield {"phase": "fitting"}, ()
    X_train, y_train = (X, y) if len(train) == len(y) else (X[train], y[train])
    with _timed("fit", columns):
        estimator.fit(X_train, y_train)
    columns |= _outcome(estimator)
    of_search = len(selection.trace) > 0
    if fitting.trace:
        columns["trace"] = _course(selection.trace if of_search else getattr(estimator, "trace_", ()))
    yield {"phase": "predicting"}, ()
    with _timed("predict", columns):
        scores = estimator.decision_function(fitting.X_test)
    yield _scored("scores", "test", checked(scores, fitting.X_test.shape[0]), estimator)
    if fitting.trace and not of_search and hasattr(estimator, "staged_decision_function"):
        for part, samples in (("train", X_train), ("test", fitting.X_test)):
            for scores in estimator.staged_decision_function(samples):
                stage = checked(scores, samples.shape[0], "staged_decision_function")
                yield _scored("stage", part, stage, estimator)


def estimator_factory(request: Request, random_state: int = 0) -> Callable[..., Any]:
    """Return a function from parameters to the unfitted estimator, with the problem's parameters and a seed set."""
    estimator = resolve(request.solver.estimator)
    known = estimator().get_params()
    filled = {name: value for name, value in request.problem.parameters().items() if name in known}
    if "random_state" in known:
        filled["random_state"] = random_state
    return functools.partial(estimator, **{**filled, **request.params})


def select(
    request: Request, make: Callable[..., Any], X: Any, y: np.ndarray, folds: list[Fold], n_threads: int
) -> Selection:
    """Return the parameters chosen by the solver's selection on the folds."""
    search = resolve(request.solver.selection)
    selection: Selection = search(make, X, y, folds, request.problem, request.search, n_threads=n_threads)
    if not request.validate or not np.isnan(selection.loss):
        return selection
    scored, unconverged = validated(functools.partial(make, **selection.params), X, y, folds)
    return dataclasses.replace(selection, loss=request.problem.loss(scored), n_unconverged=unconverged)


def failure(error: BaseException) -> dict[str, Any]:
    """Return the columns that describe an exception."""
    return {
        "status": "out_of_memory" if isinstance(error, MemoryError) else "failed",
        "error_type": type(error).__name__,
        "error": str(error) or type(error).__name__,
        "traceback": "".join(traceback.format_exception(error)),
    }


def checked(scores: Any, n_samples: int, method: str = "decision_function") -> np.ndarray:
    """Return scores as float64, one finite number for each sample; raise TypeError or ValueError for others."""
    if np.ma.isMaskedArray(scores) or np.iscomplexobj(scores):
        kind = "a masked array" if np.ma.isMaskedArray(scores) else "complex scores"
        raise TypeError(f"{method} returned {kind}, expected an array of real numbers")
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (n_samples,):
        raise ValueError(f"{method} returned scores of shape {scores.shape}, expected ({n_samples},): one per sample")
    if wrong := int(np.sum(~np.isfinite(scores))):
        raise ValueError(f"{method} returned NaN or infinite scores for {wrong} of {n_samples} samples")
    return scores


def _scored(step: str, part: str, scores: np.ndarray, estimator: Any) -> Step:
    """Return scores with the estimator's numbers: fitted attributes, and its ``surrogate_loss`` at plus and minus f."""
    arrays = {name: np.asarray(value) for name, value in vars(estimator).items() if _is_fitted_number(name, value)}
    if hasattr(estimator, "surrogate_loss"):
        arrays |= {f"loss{sign}": np.asarray(estimator.surrogate_loss(sign * scores)) for sign in (1, -1)}
    return {step: part, "numbers": list(arrays)}, (scores, *arrays.values())


def _is_fitted_number(name: str, value: Any) -> bool:
    if isinstance(value, (tuple, list)) and not all(isinstance(one, (bool, int, float, np.number)) for one in value):
        return False  # NumPy would look into whatever they hold
    is_number = isinstance(value, (bool, int, float, np.generic, np.ndarray, tuple, list))
    return name.endswith("_") and is_number and np.size(value) <= MAX_NUMBERS and np.asarray(value).dtype.kind in "biuf"


@contextmanager
def _timed(stage: str, columns: dict[str, Any]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        columns[f"{stage}_seconds"] = time.perf_counter() - wall
        columns[f"{stage}_cpu_seconds"] = time.process_time() - cpu


def _outcome(estimator: Any) -> dict[str, Any]:
    converters: dict[str, Callable[[Any], Any]] = {
        "n_iter": lambda value: int(np.max(value)),  # some of scikit-learn count for each subproblem
        "converged": bool,
        **dict.fromkeys(("objective", "duality_gap", "gram_seconds"), float),
        "status": str,
    }
    found = {name: getattr(estimator, f"{name}_", None) for name in converters}
    outcome = {name: None if value is None else converters[name](value) for name, value in found.items()}
    outcome["solver_status"] = outcome.pop("status")
    return outcome


def _course(trace: Sequence[Any]) -> dict[str, list[float]]:
    if not all(hasattr(step, "_fields") for step in trace):
        raise TypeError(f"trace_ holds a {type(trace[0]).__name__}, expected a list of NamedTuples of numbers")
    names = trace[0]._fields if trace else ()
    return {name: [float(getattr(step, name)) for step in trace] for name in names}


@contextmanager
def _warnings_counted(columns: dict[str, Any]) -> Iterator[None]:
    """Count warnings and keep the first texts; a list of all could use more memory than the job."""
    texts: list[str] = []
    columns["n_warnings"] = 0

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        columns["n_warnings"] += 1
        text = f"{category.__name__}: {' '.join(str(message).split())}"
        if len(texts) < MAX_WARNINGS_KEPT and text not in texts:
            texts.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        try:
            yield
        finally:
            columns["warnings"] = "\n".join(texts)
