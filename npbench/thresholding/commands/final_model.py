"""The model of a record; the final model of a request, with a threshold; the best of several requests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline

from npbench import registry
from npbench.config.run_settings import RunSettings
from npbench.contracts import resolve
from npbench.data import BinaryData
from npbench.data.loading import load
from npbench.errors import RequestError
from npbench.estimators.frame_encoder import FrameEncoder
from npbench.evaluation.fitting import estimator_factory, select
from npbench.evaluation.job import Request
from npbench.evaluation.measure import solver_seed
from npbench.evaluation.preprocess import pipeline
from npbench.evaluation.splits import k_fold, random_state
from npbench.numerics.copies import copies
from npbench.planning.plan import Sources, prepare
from npbench.thresholding.classifier import NPThresholdClassifier, hold_out

FOLDS = 4  # of the selection, where the protocol has no number


def from_record(record: Mapping[str, Any], /) -> Pipeline:
    """Return the unfitted model of a record: its preprocessing and its solver, with the parameters that it selected.

    Parameters
    ----------
    record : mapping
        A row that :func:`npbench.run` returns, or of a results folder. Its data set is loaded for the kinds of columns.

    Returns
    -------
    Pipeline
        Fit it to a matrix with the columns of the data set, alone or in :class:`npbench.NPThresholdClassifier`.

    Raises
    ------
    RequestError
        If the record is not of a job that succeeded, or its solver or data set is not there.

    Examples
    --------
    >>> import tempfile
    >>> from npbench import load_dataset, run
    >>> with tempfile.TemporaryDirectory() as results:
    ...     records = run(solver="gen", dataset="breast", repeats=1, results=results)
    >>> data = load_dataset("breast")
    >>> from_record(records.row(0, named=True)).fit(data.X, data.y).predict(data.X).shape
    (569,)
    """
    if lacks := [name for name in ("solver", "dataset", "chosen_params") if record.get(name) is None]:
        raise RequestError(f"The record has no {', '.join(lacks)}: use one with the status ok.")
    found, options = registry.installed(), {name: record[name] for name in ("preprocess", "missing", "categories")}
    samples = load(found.dataset(record["dataset"]), **json.loads(record["dataset_params"]))
    of_class = resolve(found.solver(record["solver"]).estimator)
    problem, params, chosen = (json.loads(record[name]) for name in ("problem_params", "params", "chosen_params"))
    of_problem = {name: problem[name] for name in problem.keys() & of_class().get_params().keys()}
    return _chain(samples, options, of_class(**{**of_problem, **params, **chosen}))


def _chain(samples: BinaryData, features: Mapping[str, str], estimator: Any) -> Pipeline:
    """Return the preprocessing and an estimator; frames become matrices first."""
    is_sparse = sparse.issparse(samples.X)
    steps = pipeline(is_sparse, samples.categorical, **features)
    return make_pipeline(*([] if is_sparse else [FrameEncoder(samples.columns, samples.words)]), steps, estimator)


def winner(requests: Sequence[Request], settings: RunSettings) -> Request:
    """Return the request with the smallest mean of its problem's metric in the stored records."""
    if len({(one.dataset.name, str(one.dataset_params), str(one.problem)) for one in requests}) > 1:
        raise RequestError("fit compares solvers on one data set for one problem: give one dataset and one bound.")
    plan = prepare(requests, settings.results)
    if len(plan.todo):
        fault = f"{len(plan.todo)} of {len(plan.jobs)} jobs have no record in {settings.results}"
        raise RequestError(f"{fault}: run the same command without `fit` first, or give one solver.")
    judged_by = requests[0].problem.judged_by
    frame = plan.store.frame([judged_by])
    of_parts = [(job.request, [job.key_of(repeat) for repeat in repeats]) for job, repeats in plan.jobs.parts]
    means = [frame.filter(pl.col("key").is_in(keys))[judged_by].to_numpy().mean() for _, keys in of_parts]
    return of_parts[int(np.argmin(means))][0]


def final_model(request: Request, *, delta: float | None = None, rule: str | None = None) -> NPThresholdClassifier:
    """Return a fitted pipeline with a threshold.

    A solver that sets a threshold itself keeps its settings, with a rule and a delta given here in place of its own.
    Others hold out as many negatives as the rule makes use of, usually fewer than half. Parameters are selected by
    cross-validation on the rows that the pipeline is fitted to.
    """
    if "rho" not in request.problem.parameters():
        raise RequestError(f"problem={request.problem.name} has no bound on false alarms: use problem=np.")
    samples = Sources().data(request)
    make = estimator_factory(request, solver_seed(request))
    try:
        model = _thresholded(request, make(), threshold=rule, delta=delta)
        train, model.cv = _split(request, samples, model)
        estimator = make(**_selected(request, samples, train))
        if hasattr(estimator, "without_threshold"):
            estimator = estimator.without_threshold()
        model.estimator = _chain(samples, request.features, estimator)
        return model.fit(samples.X, samples.y, groups=samples.groups)
    except ValueError as error:
        raise RequestError(f"{request.columns['method']} on {request.dataset.name}: {error}") from error


def _thresholded(request: Request, estimator: Any, **given: Any) -> NPThresholdClassifier:
    """Return a model with the threshold that is given, or else the solver's own, or else the default."""
    own = estimator.threshold_params() if hasattr(estimator, "threshold_params") else {}
    if searched := sorted(own.keys() & request.search.keys()):
        raise ValueError(f"solver.search.{searched[0]} has several values: give one, as solver.{searched[0]}.")
    typed = {name: value for name, value in given.items() if value is not None}
    rho, seed = request.problem.parameters()["rho"], solver_seed(request)
    return NPThresholdClassifier(estimator, **{**own, **typed}, rho=rho, random_state=seed)


def _split(request: Request, samples: BinaryData, model: NPThresholdClassifier) -> tuple[np.ndarray, Any]:
    """Return the rows to fit to, and the splits of the model; groups, and copies of a row, stay on one side."""
    every = np.arange(samples.n_samples)
    if model.cv is not None:
        return every, model.cv
    units = copies(samples.X) if samples.groups is None else samples.groups
    kept, random = np.ones(samples.n_samples, dtype=bool), random_state(request.seed, 0)
    train, drawn = hold_out(model, samples.y > 0, None, units, kept, random)
    # of copies, the first one sets the threshold
    return train, [(train, np.unique(units[drawn]) if samples.groups is None else drawn)]


def _selected(request: Request, samples: BinaryData, rows: np.ndarray) -> Mapping[str, Any]:
    folds = getattr(request.protocol, "folds", None)
    parts = k_fold(rows, samples, folds if isinstance(folds, int) else FOLDS, random_state(request.seed, 0))
    places = [(np.searchsorted(rows, fit), np.searchsorted(rows, validate)) for fit, validate in parts]
    steps = pipeline(sparse.issparse(samples.X), samples.categorical, **request.features).fit(samples.X[rows])
    X, y = steps.transform(samples.X[rows]), samples.y[rows]
    selection = select(request, estimator_factory(request, solver_seed(request)), X, y, places, n_threads=1)
    return {**request.params, **selection.params}
