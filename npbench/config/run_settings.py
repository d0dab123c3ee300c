"""How a run is carried out: what changes no result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from npbench.errors import RequestError, unknown_name
from npbench.values import is_positive, is_whole

KEYS = ("name", "n_jobs", "time_limit", "memory_limit", "force", "trace")
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
    memory_limit : float or None
        MB (10^6 bytes) a job may allocate.
    force : bool
        Whether to run again what the results folder already holds.
    trace : bool
        Whether records keep the course of the final fit or of the search; those that do not have it are made again.
    name : {"local", "dask"}
        Who carries it out.
    address : str or None
        Of a Dask scheduler; None starts a cluster on this machine.
    """

    results: Path
    n_jobs: int = -1
    time_limit: float | None = None
    memory_limit: float | None = None
    force: bool = False
    trace: bool = False
    name: str = "local"
    address: str | None = None


def check_settings(configs: Iterable[Mapping[str, Any]]) -> RunSettings:
    """Return the settings that all configurations of a run share.

    Parameters
    ----------
    configs : iterable of mapping
        Plain configurations (see :func:`npbench.config.compose.as_plain`), at least one.

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
    execution, results = config.get("execution"), config.get("results")
    if not isinstance(execution, dict):
        raise RequestError(f"No execution is chosen: add execution=NAME, one of {', '.join(EXECUTIONS)}.")
    faults = [*_execution_faults(execution), *_folder_faults(results)]
    if faults:
        raise RequestError(*faults)
    return RunSettings(Path(str(results)), **execution)


def _execution_faults(execution: Mapping[str, Any]) -> Iterable[str]:
    name, n_jobs, time_limit, memory_limit, *switches = map(execution.get, KEYS)
    if name not in EXECUTIONS:
        yield unknown_name("execution", str(name), EXECUTIONS)
    keys = EXECUTIONS.get(str(name), KEYS)
    known = [f"execution.{key}" for key in keys]
    yield from (unknown_name("setting", f"execution.{key}", known) for key in execution if key not in keys)
    address = execution.get("address")
    if not (address is None or (isinstance(address, str) and ADDRESS.fullmatch(address))):
        yield f"execution.address is {address!r}: it must be a Dask scheduler's, as in tcp://localhost:8786, or null."
    if not (n_jobs == -1 or is_whole(n_jobs, at_least=1)):
        yield f"execution.n_jobs is {n_jobs!r}: it must be a whole number, 1 or more, or -1 for one per core."
    if not (time_limit is None or is_positive(time_limit)):
        yield f"execution.time_limit is {time_limit!r}: it must be a positive number of seconds, or null for no limit."
    if not (memory_limit is None or is_positive(memory_limit)):
        yield (
            f"execution.memory_limit is {memory_limit!r}: it must be a positive number of MB, or null for the worker's "
            "share of the machine's memory."
        )
    for key, switch in zip(KEYS[4:], switches, strict=True):
        if not isinstance(switch, bool):
            yield f"execution.{key} is {switch!r}: it must be true or false."


def _folder_faults(results: Any) -> Iterable[str]:
    if not isinstance(results, str) or not results:
        yield f"results is {results!r}: it must name a folder, as in results=results."
        return
    path = Path(results).absolute()
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    if not existing.is_dir():
        yield f"results={results} is no folder: {existing} is a file. Name another folder."
        return
    try:  # permissions do not tell of every file system that refuses
        with TemporaryDirectory(prefix=".npbench-", dir=existing):
            pass
    except OSError as error:
        reason = error.strerror or error
        yield f"results={results} cannot be written: {existing} takes no new folder ({reason}). Name another folder."
