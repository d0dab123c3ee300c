"""Load a data set: from its description to checked arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from npbench.contracts import DataFile, Dataset, Original, resolve
from npbench.data import cache, sources
from npbench.data.binary import BinaryData
from npbench.errors import AbsentDataError, RequestError, collect_errors, unknown_name
from npbench.signature import signature

REPORT = "Report it to the authors of its plugin."


def load(dataset: Dataset, /, **params: Any) -> BinaryData:
    """Find, verify and read the files of a data set or of its original, and check the arrays.

    Arrays read from the same files before are opened from the cache as memory maps.
    """
    _, (target, files) = collect_errors([partial(_require_known, dataset, params), partial(_located, dataset)])
    key = cache.key(target, list(files.values()), params)
    cached = cache.recall(key, dataset.name)
    data = cached or _call(dataset.name, target, list(files), params)
    _compare(dataset, data)
    if not cached:
        cache.keep(key, data)
    return data


def locate(dataset: Dataset) -> list[Path]:
    """Return verified copies of the files that the data set is read from; fetch those in no data folder."""
    return list(_located(dataset)[1])


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
        loader: Callable[..., Any] = resolve(target)
    except Exception as error:  # a plugin's module may raise anything
        raise RequestError(
            f"The loader {target!r} of data set {name!r} cannot be imported: {type(error).__name__}: {error}. {REPORT}"
        ) from error
    return loader


def _located(dataset: Dataset) -> tuple[str, dict[Path, str]]:
    """Return the loader, and the hash of each file by path.

    Data folders are searched for all files of the original, then of the data set. The mirror comes before a download:
    a package index often answers where the official address does not.
    """
    local: list[Original | Dataset] = [dataset.original, dataset] if dataset.original else [dataset]
    for one in local:
        held = collect_errors([partial(sources.find, file) for file in one.files])
        if all(held):
            return one.load, _hashes(held, one.files)
    failed = ""
    if mirror := dataset.mirror:
        try:
            return mirror.load, _hashes(sources.locate_all(mirror.files), mirror.files)
        except sources.UnavailableError as error:
            failed = f" The mirror {error.first}."
    try:
        return dataset.load, _hashes(sources.locate_all(dataset.files), dataset.files)
    except sources.UnavailableError as error:
        raise AbsentDataError(f"{error}{failed}") from error


def _hashes(paths: Sequence[Path], files: Sequence[DataFile]) -> dict[Path, str]:
    return {path: file.sha256 for path, file in zip(paths, files, strict=True)}


def _call(name: str, target: str, paths: list[Path], params: Mapping[str, Any]) -> BinaryData:
    try:
        X, y, *rest = _loader(name, target)(*paths, **params)
        (more,) = rest or ({},)
        return BinaryData.checked(X, y, name, **more, copy=False)
    except RequestError:
        raise
    except Exception as error:  # a plugin's loader may raise anything
        origin = f" from {', '.join(map(str, paths))}" if paths else ""
        raise RequestError(
            f"Data set {name!r} could not be read{origin}: its loader {target!r} failed with "
            f"{type(error).__name__}: {error}. {REPORT}"
        ) from error


def _compare(dataset: Dataset, data: BinaryData) -> None:
    # Files that npbench finds have the right hash; files that a user brings may be the wrong ones.
    remedy = REPORT if dataset.files else f"Check what it is read from. {REPORT}"
    faults = [
        f"Data set {dataset.name!r} has {attribute} = {getattr(data, attribute)}, expected {expected}. {remedy}"
        for attribute in ("n_samples", "n_features", "n_positive")
        if (expected := getattr(dataset, attribute)) not in (None, getattr(data, attribute))
    ]
    if faults:
        raise RequestError(*faults)
