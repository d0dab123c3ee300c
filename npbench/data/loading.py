"""Load a data set: from its description to checked arrays, and leave out or refuse missing values."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from npbench.contracts import Dataset, Mirror, Original, Solver, resolve
from npbench.data import cache, sources
from npbench.data.binary import BinaryData
from npbench.data.checks import first
from npbench.data.suspects import suspects
from npbench.errors import RequestError, collect_errors, unknown_name
from npbench.registry import remedy
from npbench.signature import signature
from npbench.values import counted


def load(dataset: Dataset, /, **params: Any) -> BinaryData:
    """Return the checked data from files or the cache; warn of what makes rates too good in data that users bring."""
    _, (source, paths) = collect_errors([partial(_require_known, dataset, params), partial(located, dataset)])
    key = cache.key(source.load, [file.sha256 for file in source.files], params)
    cached = cache.recall(key, dataset.name) if key else None
    data = cached or _call(dataset.name, source.load, paths, params)
    _compare(dataset, data)
    if key and not cached:
        cache.keep(key, data)
    if dataset.named_by:  # users bring the data
        for sentence in suspects(data, signature(dataset.load).defaults):
            warnings.warn(sentence, stacklevel=2)
    return data


def parameter_faults(dataset: Dataset, params: Mapping[str, Any]) -> list[str]:
    """Return an error for each of ``params`` that the data set does not have."""
    if not params:
        return []  # a loader that is not needed need not be imported
    _loader(dataset.name, dataset.load)  # reports a plugin that cannot be imported
    own = signature(dataset.load, len(dataset.files))
    return [unknown_name(f"parameter of dataset={dataset.name}", name, own.defaults) for name in own.unknown(params)]


def _require_known(dataset: Dataset, params: Mapping[str, Any]) -> None:
    if faults := parameter_faults(dataset, params):
        raise RequestError(*faults)


def _loader(name: str, target: str) -> Callable[..., Any]:
    try:
        return resolve(target)
    except Exception as error:  # a plugin's module may raise anything
        fault = f"{type(error).__name__}: {error}. {remedy('dataset', name)}"
        raise RequestError(f"The loader {target!r} of data set {name!r} cannot be imported: {fault}") from error


def located(dataset: Dataset) -> tuple[Dataset | Original | Mirror, list[Path]]:
    """Return what is read (the data set, its original or its mirror), and verified copies of its files.

    Data folders are searched for all files of the original, then of the data set. The mirror comes before a download:
    a package index often answers where the official address does not.
    """
    local: list[Original | Dataset] = [dataset.original, dataset] if dataset.original else [dataset]
    for one in local:
        held = collect_errors([partial(sources.find, file) for file in one.files])
        if all(held):
            return one, held
    note = ""
    if dataset.mirror:
        try:
            return dataset.mirror, sources.locate_all(dataset.mirror.files)
        except sources.UnavailableError as error:
            note = f" The mirror {error.first}."
    return dataset, sources.locate_all(dataset.files, note)


def _call(name: str, target: str, paths: list[Path], params: Mapping[str, Any]) -> BinaryData:
    try:
        X, y, *rest = _loader(name, target)(*paths, **params)
        (more,) = rest or ({},)
        return BinaryData.checked(X, y, name, **more, copy=False)
    except RequestError:
        raise
    except Exception as error:  # a plugin's loader may raise anything
        origin = f" from {', '.join(map(str, paths))}" if paths else ""
        fault = f"its loader {target!r} failed with {type(error).__name__}: {error}. {remedy('dataset', name)}"
        raise RequestError(f"Data set {name!r} could not be read{origin}: {fault}") from error


def _compare(dataset: Dataset, data: BinaryData) -> None:
    # Files that npbench finds have the right hash; files that a user brings may be the wrong ones.
    cure = f"{'' if dataset.files else 'Check what it is read from. '}{remedy('dataset', dataset.name)}"
    faults = [
        f"Data set {dataset.name!r} has {attribute} = {getattr(data, attribute)}, expected {expected}. {cure}"
        for attribute in ("n_samples", "n_features", "n_positive")
        if (expected := getattr(dataset, attribute)) not in (None, getattr(data, attribute))
    ]
    if faults:
        raise RequestError(*faults)


def takes_missing(solver: Solver, params: Mapping[str, Any]) -> bool:
    """Return whether a solver with these parameters takes missing values."""
    from sklearn.utils import get_tags

    return bool(get_tags(resolve(solver.estimator)(**params)).input_tags.allow_nan)


def without_missing(data: BinaryData, missing: str, takes: Callable[[], bool] = bool) -> BinaryData:
    """Return data to split, without incomplete rows if "drop"; a refusal offers "keep" if the solver ``takes`` NaN."""
    if not data.has_missing or missing in ("impute", "keep"):
        return data
    absent = np.isnan(data.X)
    complete = ~absent.any(axis=1)
    if missing == "refuse":
        raise RequestError(_refusal(data, absent, complete, "missing=keep, as the solver takes NaN, " * takes()))
    if data.published is not None:
        raise RequestError(f"Data set {data.name!r} comes with divisions of all its rows: use missing=impute.")
    if len(set(data.y[complete].tolist())) < 2:
        complete_rows = f"{complete.sum()} of {data.n_samples} rows without missing values"
        raise RequestError(f"Data set {data.name!r} lacks a class in {complete_rows}: use missing=impute.")
    groups, time = (None if part is None else part[complete] for part in (data.groups, data.time))
    optional = {"categorical": data.words or data.categorical, "columns": data.columns, "groups": groups, "time": time}
    return BinaryData.checked(data.X[complete], data.y[complete], data.name, **optional, copy=False)


def _refusal(data: BinaryData, absent: np.ndarray, complete: np.ndarray, keep: str) -> str:
    rows, columns = np.nonzero(absent)
    named = columns if data.columns is None else np.array(data.columns, dtype=object)[np.unique(columns)]
    return (
        f"Data set {data.name!r} has {counted(len(rows), 'missing value')}, in {first('column', named)} and "
        f"{first('row', rows)} (counted from 0), {np.sum(~complete)} of {data.n_samples} rows: add {keep}"
        "missing=impute to fill in medians and most frequent categories of the training part, or missing=drop to leave "
        "out these rows."
    )
