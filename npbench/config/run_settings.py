"""Settings of a whole run, which change no result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from npbench.errors import RequestError, unknown_name
from npbench.values import is_positive, is_whole

KEYS = (
    "name",
    "n_jobs",
    "time_limit",
    "retry_timeouts",
    "memory_limit",
    "force",
    "trace",
    "keep_scores",
    "objective",
)
EXECUTIONS = {"local": KEYS, "dask": (*KEYS, "address")}
ADDRESS = re.compile(r"[a-z]+://\S+:\d+")


@dataclass(frozen=True)
class RunSettings:
    """Settings of a whole run.

    Parameters
    ----------
    results : Path
        Folder of the records.
    n_jobs : int
        Worker processes; -1 for one per core.
    time_limit : float or None
        Seconds a job may take.
    retry_timeouts : bool
        Whether jobs that reached the time limit before, or on another split, are run.
    memory_limit : float or None
        MB (10^6 bytes) a job may allocate.
    force : bool
        Whether to rerun jobs that have a record.
    trace : bool
        Whether records keep the trace of the final fit or of the search; jobs without one are rerun.
    keep_scores : bool
        Whether the scores of the test part are stored; jobs without them are rerun.
    name : {"local", "dask"}
        Where the jobs run.
    address : str or None
        Address of a Dask scheduler; None starts a cluster on this machine.
    objective : str or None
        Metric that a sweeper of Hydra optimises; None for the validation loss.
    """

    results: Path
    n_jobs: int = -1
    time_limit: float | None = None
    retry_timeouts: bool = True
    memory_limit: float | None = None
    force: bool = False
    trace: bool = False
    keep_scores: bool = False
    name: str = "local"
    address: str | None = None
    objective: str | None = None


def check_settings(configs: Iterable[Mapping[str, Any]]) -> RunSettings:
    """Return the settings that all plain configurations of a run, at least one, share.

    Raises
    ------
    RequestError
        With one sentence for each fault: a value out of range, a folder that cannot be written to, or settings that
        differ between configurations.
    """
    distinct = {repr((config.get("execution"), config.get("results"))): config for config in configs}
    if len(distinct) > 1:
        raise RequestError("execution and results are settings of the whole run: give each of them one value.")
    (config,) = distinct.values()
    execution, results = config.get("execution", {}), config.get("results")
    faults = [*_folder_faults(results)]
    if execution is None:  # an unknown choice, reported when it was composed
        raise RequestError(*faults)
    faults = [*_execution_faults(execution), *faults]
    if faults:
        raise RequestError(*faults)
    return RunSettings(Path(str(results)), **execution)


def _execution_faults(execution: Mapping[str, Any]) -> Iterable[str]:
    name = execution.get("name")
    if name not in EXECUTIONS:
        yield unknown_name("execution", str(name), EXECUTIONS)
        return
    keys = EXECUTIONS[name]
    known = [f"execution.{key}" for key in keys]
    yield from (unknown_name("setting", f"execution.{key}", known) for key in execution if key not in keys)
    for key, (is_valid, expected) in CHECKS.items():
        if not is_valid(execution.get(key)):
            yield f"execution.{key} is {execution.get(key)!r}: expected {expected}."


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and ADDRESS.fullmatch(value) is not None


# For each key, what it may be and how that is said.
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "address": (lambda v: v is None or _is_address(v), "a Dask scheduler, as in tcp://localhost:8786, or null"),
    "n_jobs": (lambda v: v == -1 or is_whole(v, at_least=1), "a number of workers, 1 or more, or -1 for one per core"),
    "time_limit": (lambda v: v is None or is_positive(v), "a positive number of seconds, or null for no limit"),
    "retry_timeouts": (lambda v: isinstance(v, bool), "true or false"),
    "memory_limit": (lambda v: v is None or is_positive(v), "a positive number of MB, or null for the worker's share"),
    "force": (lambda v: isinstance(v, bool), "true or false"),
    "trace": (lambda v: isinstance(v, bool), "true or false"),
    "keep_scores": (lambda v: isinstance(v, bool), "true or false"),
    "objective": (lambda v: v is None or isinstance(v, str), "the name of a metric, or null for the validation loss"),
}


def _folder_faults(results: Any) -> Iterable[str]:
    if not isinstance(results, str) or not results:
        yield f"results is {results!r}: expected a folder, as in results=results."
        return
    path = Path(results).absolute()
    try:
        existing = next(folder for folder in (path, *path.parents) if folder.exists())
    except OSError as error:  # a name that is too long, a folder that must not be searched
        yield f"results={results} cannot be a folder ({error.strerror or error}): choose another name."
        return
    if not existing.is_dir():
        yield f"results={results} is not a folder: {existing} is a file. Name another folder."
        return
    try:  # writing is the only reliable test: some file systems refuse it whatever the permissions
        with TemporaryDirectory(prefix=".npbench-", dir=existing):
            pass
    except OSError as error:
        yield f"results={results} cannot be written ({error.strerror or error}): name another folder than {existing}."
