"""Judge a job: split, preprocess, give the solver what it may know, measure the scores that it returns.

Executors run the solver's part (:mod:`npbench.evaluation.fitting`) in another process, which never holds a label of
the test part and whose answer is data, never code.
"""

import dataclasses
import functools
import math
import time
import types
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from npbench.contracts import Dataset, Estimate, resolve
from npbench.data import BinaryData
from npbench.evaluation.fitting import Fitting, Step, checked, failure, steps
from npbench.evaluation.job import STANDARD, Job, Options, Request
from npbench.evaluation.preprocess import pipeline
from npbench.evaluation.protocols import CrossValidation, Permutations
from npbench.evaluation.splits import Split
from npbench.numerics.roc_grid import true_positive_rates
from npbench.records.fields import SCHEMA, Role, names
from npbench.records.record import TEST_SCORES, Record
from npbench.records.scores import packed
from npbench.values import canonical

ROC_DECIMALS = 4
OUTCOMES = ("ok", "failed", "out_of_memory")
REPORTED = names(Role.REPORTED)


def record(
    job: Job, data: BinaryData, options: Options = STANDARD, fit: Callable[[Fitting], Iterable[Step]] = steps
) -> Record:
    """Return the record of a job, its measurements before a failure included; ``fit`` does the solver's part."""
    columns: dict[str, Any] = {**job.columns, "status": "ok", "n_threads": options.n_threads}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the solver's are counted where it runs
            _measure(job, data, options, fit, columns)
    except (Exception, SystemExit) as error:
        columns |= failure(error)
    columns["seconds"] = time.perf_counter() - start
    return Record(columns)


def _measure(
    job: Job, data: BinaryData, options: Options, fit: Callable[[Fitting], Iterable[Step]], columns: dict[str, Any]
) -> None:
    split = job.request.protocol.split(data, job.request.seed, job.repeat)
    columns |= split_columns(split, data)
    # Many data sets are sorted by class. The solver does not know the hash of the split.
    order = np.random.default_rng(int(split.sha256, 16)).permutation(len(split.test))
    back: dict[str, Any] = {"test": np.argsort(order), "train": slice(None)}
    labels = {"test": data.y[split.test], "train": data.y[split.train]}
    scored: dict[str, tuple[np.ndarray, Any]] = {}
    stages: list[tuple[str, dict[str, float]]] = []
    ended: Mapping[str, Any] = {}
    for facts, arrays in fit(_fitting(job, data, split, split.test[order], options)):
        if "ended" in facts:
            ended = facts
        elif facts.get("scores") == "test":
            scores, model = _model(facts, arrays, len(order))
            scored["test"] = scores[back["test"]], model
        elif facts.get("stage") in labels:
            y = labels[facts["stage"]]
            scores, model = _model(facts, arrays, len(y))
            stages.append((facts["stage"], _measured(job.request, model, y, scores[back[facts["stage"]]])))
    columns |= reported(ended.get("ended"))
    if columns["status"] != "ok":
        return
    scores, model = scored["test"]
    columns |= score_metrics(job.request, labels["test"], scores, model)
    if options.keep_scores:
        columns[TEST_SCORES] = packed(job.key, split.test, labels["test"], scores)
    if options.trace:
        columns["trace"] = _trace(job.request, ended["trace"], stages)


def _fitting(job: Job, data: BinaryData, split: Split, tested: np.ndarray, options: Options) -> Fitting:
    """Return what the solver may know: neither row numbers nor the seed of the split, which give labels away."""
    known = _known(split)
    steps = pipeline(sparse.issparse(data.X), data.categorical, **job.request.features)
    transform = steps.fit(data.X[split.train]).transform
    folds = [(np.searchsorted(known, fit), np.searchsorted(known, validate)) for fit, validate in split.folds]
    return Fitting(
        dataclasses.replace(
            job.request, dataset=Dataset(name="", load=""), dataset_params={}, protocol=None, metrics=(), seed=0
        ),
        solver_seed(job.request, job.repeat),
        transform(data.X[known]),
        data.y[known],
        folds,
        np.searchsorted(known, split.train),
        transform(data.X[tested]),
        options.n_threads,
        options.trace,
    )


def solver_seed(request: Request, repeat: int = 0) -> int:
    """Return the seed of the solver in one repeat, independent of the split."""
    sequence = np.random.SeedSequence([request.seed, repeat], spawn_key=(1,))
    return int(sequence.generate_state(1)[0])


def reported(columns: Any) -> dict[str, Any]:
    """Return the columns that the solver's process may report, with values of their types; raise ValueError."""
    if not isinstance(columns, dict) or columns.get("status") not in OUTCOMES:
        raise ValueError("the process of the solver did not say how it ended")
    kinds: dict[str, tuple[type, ...]] = {"Float64": (int, float), "Int64": (int,), "Boolean": (bool,)}
    found = {name: columns[name] for name in REPORTED if columns.get(name) is not None}
    for name, value in found.items():
        if type(value) not in kinds.get(SCHEMA[name].__name__, (str,)):
            raise ValueError(f"the process of the solver reported {name} = {str(value)[:50]!r}")
    absent = dict.fromkeys(columns.keys() & set(REPORTED) - found.keys())
    return {"status": columns["status"], **absent, **found}


def _model(facts: Mapping[str, Any], arrays: Sequence[np.ndarray], n: int) -> tuple[np.ndarray, types.SimpleNamespace]:
    """Return the scores, and a namespace of the fitted attributes that are numbers, for metrics."""
    scores, *others = arrays
    named = dict(zip(facts["numbers"], others, strict=True))
    model = types.SimpleNamespace(**{name: array for name, array in named.items() if not name.startswith("loss")})
    scores = checked(scores, n)
    if "loss1" in named:
        margins, losses = np.r_[scores, -scores], np.r_[named["loss1"], named["loss-1"]]
        model.surrogate_loss = functools.partial(_tabulated, margins, losses)
    return scores, model


def _tabulated(margins: np.ndarray, losses: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the losses at some of the margins; others raise ValueError."""
    order = np.argsort(margins)
    places = order[np.minimum(np.searchsorted(margins, asked, sorter=order), len(order) - 1)]
    if not np.array_equal(margins[places], asked):
        raise ValueError("surrogate_loss is known at the scores of the samples and their negatives only")
    return losses[places]


def _trace(request: Request, course: Any, stages: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Return a trace as JSON: its columns, and every metric of each stage on a part of the data."""
    columns = {str(name): [float(value) for value in values] for name, values in dict(course).items()}
    for part in dict.fromkeys(part for part, _ in stages):
        values = [measured for of, measured in stages if of == part]
        n_steps = len(next(iter(columns.values()), values))
        if n_steps != len(values):
            method = "staged_decision_function"
            raise ValueError(f"{method} yields {len(values)} stages, expected {n_steps}, one for each step of trace_")
        columns |= {f"{part}_{metric.name}": [one[metric.name] for one in values] for metric in request.metrics}
    return canonical({name: [v if math.isfinite(v) else None for v in column] for name, column in columns.items()})


def toy_fitting(job: Job, n_features: int, is_sparse: bool, n_threads: int = 1) -> Fitting:
    """Return what the solver may know of a tiny job of the same kind, so that kernels compile outside the clock.

    It has the solver, problem and parameters of ``job``, at most two candidates of its grids, and data of the same
    storage (kernels compile separately for CSR). rho is set to 0.5, so that umbrella thresholds work with few samples.
    """
    random = np.random.default_rng(0)
    y = np.repeat(np.array([-1, 1], dtype=np.int8), 32)
    X = random.normal(size=(len(y), min(n_features, 5))) + 0.5 * y[:, None]
    data = BinaryData(sparse.csr_array(X) if is_sparse else X, y, "toy")
    request = job.request
    problem: Any = request.problem
    if problem.number:
        problem = dataclasses.replace(problem, **{problem.number.name: 0.5})
    # Searches may take another path with leave-one-out folds.
    leaves_one_out = isinstance(request.protocol, Permutations) and request.protocol.folds is None
    protocol = Permutations(n_train=16) if leaves_one_out else CrossValidation(folds=2)
    tiny = dataclasses.replace(request, problem=problem, search=_at_most_two(request.search))
    split = protocol.split(data, request.seed, 0)
    return _fitting(dataclasses.replace(job, request=tiny), data, split, split.test, Options(n_threads))


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


def _measured(request: Request, estimator: Any, y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    columns: dict[str, float] = {}
    for metric in request.metrics:
        name = metric.name
        value = resolve(metric.compute)(y, scores, problem=request.problem, estimator=estimator)
        if isinstance(value, Estimate):
            columns |= {name: float(value.value), f"{name}_low": float(value.low), f"{name}_high": float(value.high)}
        else:
            columns[name] = float(value)
    return columns
