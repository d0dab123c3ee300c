"""Checks of data sets: the description against the data read or drawn."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npbench import registry
from npbench.contracts import Dataset, resolve
from npbench.errors import RequestError
from npbench.signature import REQUIRED, signature
from npbench.testing.check import Check, Skipped, checks, require
from npbench.testing.composing import composed
from npbench.testing.importing import fresh_process, light

DESCRIBED = ("title", "positive", "source", "licence", "citation")

_CODE = """
import sys
from npbench.contracts import Dataset
from npbench.testing.datasets import read
print(read(Dataset(name="again", load=sys.argv[1]), sys.argv[2:]).sha256)
"""


def check_dataset(name: str) -> list[Check]:
    """Return the checks of a data set, as :func:`check_solver` does; those of absent files are skipped."""
    functions: list[Callable[[Dataset], None]] = [description, light, settings, content, leaks, same_again, divided]
    return list(checks(iter(functions), registry.installed().dataset(name)))


def description(dataset: Dataset) -> None:
    """The description names a loader and the origin of the data, with a hash for every file."""
    require(callable(resolve(dataset.load)), f"load names {dataset.load!r}, which is not callable.")
    empty = [name for name in DESCRIBED if not getattr(dataset, name)]
    require(not empty, f"The description has no {', '.join(empty)}: users need them.")
    for file in dataset.all_files:
        is_hash = re.fullmatch("[0-9a-f]{64}", file.sha256)
        require(is_hash, f"The hash of {file.path} is {file.sha256!r}: expected 64 hexadecimal digits.")
        require(re.match("https?://", file.url), f"The address of {file.path} is {file.url!r}: expected http or https.")
        require(file.size > 0, f"The size of {file.path} is {file.size}: expected its length in bytes.")


def settings(dataset: Dataset) -> None:
    """The YAML, written or generated, has settings that the loader takes."""
    from npbench.data.loading import parameter_faults

    _require_no_more_settings(dataset)
    section = composed(f"dataset={dataset.name}")["dataset"]
    require(section["name"] == dataset.name, f"The YAML says name: {section['name']}, expected {dataset.name}.")
    faults = parameter_faults(dataset, {name: value for name, value in section.items() if name != "name"})
    require(not faults, " ".join(faults))


def content(dataset: Dataset) -> None:
    """The data have the counts of the description, labels -1 and +1, and no infinite feature."""
    data = read(dataset, _paths(dataset))
    for name in ("n_samples", "n_features", "n_positive"):
        said, found = getattr(dataset, name), getattr(data, name)
        require(said in (None, found), f"{name} is {found}, but {said} in the description: one of the two is wrong.")


def leaks(dataset: Dataset) -> None:
    """No feature separates the classes alone, and few rows are copies of others; the reason says what to look at."""
    from npbench.data.suspects import suspects

    if found := list(suspects(read(dataset, _paths(dataset)))):
        raise Skipped(" ".join(found))  # some data are like this: their author judges


def same_again(dataset: Dataset) -> None:
    """Read in another process, the data have the same hash."""
    paths = _paths(dataset)
    here = read(dataset, paths).sha256
    # A different hash seed changes set order; loaders must not depend on it.
    other = fresh_process(_CODE, dataset.load, *map(str, paths), PYTHONHASHSEED="1")
    require(other.returncode == 0, f"In another process it cannot be read: {other.stderr.strip()[-500:]}")
    there = other.stdout.split()[-1]
    shown = f"{here[:12]} here and {there[:12]} in another process"
    require(here == there, f"Its hash is {shown}: draw random numbers from a seed, and ignore the order of a set.")


def divided(dataset: Dataset) -> None:
    """Protocols split it in the same way in this process and as shared with workers."""
    from npbench.data.cache import share
    from npbench.evaluation.protocols import CrossValidation, Official, Permutations

    data = read(dataset, _paths(dataset))
    protocols: list[Any] = [CrossValidation(folds=2)]
    if dataset.test_rows is not None:
        protocols.append(Official(test_rows=dataset.test_rows))
    if dataset.n_train is not None:
        protocols.append(Permutations(n_train=dataset.n_train))
    with tempfile.TemporaryDirectory() as folder:
        shared = share(data, Path(folder)).open()
        require(shared.sha256 == data.sha256, "Shared with a worker, it has another hash: report it to npbench.")
        for protocol in protocols:
            require(not protocol.faults(), " ".join(protocol.faults()))
            first, second = (protocol.split(one, 0, 0).sha256 for one in (data, shared))
            require(first == second, f"protocol={protocol.name} splits the shared copy differently: report it.")


def read(dataset: Dataset, paths: Any) -> Any:
    """Return the data with default settings, read again; skip the check if that is not possible."""
    from npbench.data import BinaryData

    try:
        X, y, *rest = resolve(dataset.load)(*map(Path, paths))
    except RequestError as error:  # such as one about a file that the user has to provide
        raise Skipped(str(error)) from error
    (more,) = rest or ({},)
    return BinaryData.checked(X, y, dataset.name, **more)


def _paths(dataset: Dataset) -> list[Path]:
    """Return the paths of the files; skip the check if files are absent or a parameter must be set."""
    from npbench.data import sources

    _require_no_more_settings(dataset)
    found = [sources.find(file) for file in dataset.files]
    if None in found:
        raise Skipped(f"Its files are in no data folder: `npbench data fetch {dataset.name}` downloads them.")
    return [path for path in found if path]


def _require_no_more_settings(dataset: Dataset) -> None:
    own = signature(dataset.load, len(dataset.files)).defaults
    if required := [f"dataset.{name}" for name, default in own.items() if default is REQUIRED]:
        raise Skipped(f"It needs {', '.join(required)}, as it has no data of its own.")
