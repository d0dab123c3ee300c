"""Settings of a whole run, which change no result."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import formatannotation
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

from npbench import registry
from npbench.config.words import as_text
from npbench.contracts import resolve
from npbench.errors import RequestError, unknown_name
from npbench.records.files import RECORDS
from npbench.signature import signature
from npbench.values import is_number, is_positive, is_whole


@dataclass(frozen=True)
class RunSettings:
    """Settings of a whole run."""

    results: Path  # folder of the records
    n_jobs: int = -1  # worker processes; -1: one per core, or per GPU of ``gpus``
    gpus: int | None = None  # GPUs that the workers share out, each worker seeing one
    time_limit: float | None = None  # seconds a job may take
    retry_timeouts: bool = True  # run jobs that reached the time limit before, or on another split
    memory_limit: float | None = None  # MB (10^6 bytes) a job may allocate
    force: bool = False  # rerun jobs that have a record
    trace: bool = False  # keep the trace of the final fit or of the search; jobs without one are rerun
    keep_scores: bool = False  # store the scores of the test part; jobs without them are rerun
    objective: str | None = None  # metric that a sweeper of Hydra optimises; None: the validation loss
    name: str = "local"  # of an executor
    own: Mapping[str, Any] = field(default_factory=dict)  # settings of this executor


def own_settings(executor: str) -> dict[str, tuple[Any, Any]]:
    """Return default and type of each setting that a plugin's executor has besides the common ones, importing it."""
    target = registry.installed().executors[executor]
    types = get_type_hints(resolve(target))
    defaults = signature(target, n_positional=3).defaults  # after jobs, limits and context
    return {name: (default, types.get(name, object)) for name, default in defaults.items()}


def check_settings(configs: Iterable[Mapping[str, Any]]) -> RunSettings:
    """Return the settings that all plain configurations of a run, at least one, share."""
    distinct = {repr((config.get("execution"), config.get("results"))): config for config in configs}
    if len(distinct) > 1:
        raise RequestError("execution and results are settings of the whole run: give each of them one value.")
    (config,) = distinct.values()
    execution, results = config.get("execution", {}), config.get("results")
    # A section that is None is an unknown choice, reported when it was composed.
    faults = [*(() if execution is None else _execution_faults(execution)), *_folder_faults(results)]
    if faults or execution is None:
        raise RequestError(*faults)
    shared = {key: value for key, value in execution.items() if key == "name" or key in CHECKS}
    own = {key: value for key, value in execution.items() if key not in shared}
    return RunSettings(Path(str(results)), **shared, own=own)


def _execution_faults(execution: Mapping[str, Any]) -> Iterable[str]:
    name = execution.get("name")
    names = ("local", *registry.installed().executors)
    if name not in names:
        yield unknown_name("execution", str(name), names)
        return
    own = {} if name == "local" else own_settings(name)
    known = [f"execution.{key}" for key in ("name", *CHECKS, *own)]
    keys = [f"execution.{key}" for key in execution]
    yield from (unknown_name("setting", key, known) for key in keys if key not in known)
    for key, (is_valid, expected) in CHECKS.items():
        if not is_valid(execution.get(key)):
            yield f"execution.{key} is {execution.get(key)!r}: expected {expected}."
    for key, (_, wanted) in own.items():
        value = execution.get(key)
        if not isinstance(value, wanted) and not (isinstance(0.0, wanted) and is_number(value)):
            yield f"execution.{key} is {value!r}: expected a value of type {formatannotation(wanted)}."


SWITCHES = ("retry_timeouts", "force", "trace", "keep_scores")
# For each key, its valid values and how they are named.
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_jobs": (lambda v: v == -1 or is_whole(v, at_least=1), "a number of workers, 1 or more, or -1 for one per core"),
    "gpus": (lambda v: v is None or is_whole(v, at_least=1), "a number of GPUs, 1 or more, or null for none"),
    "time_limit": (lambda v: v is None or is_positive(v), "a positive number of seconds, or null for no limit"),
    "memory_limit": (lambda v: v is None or is_positive(v), "a positive number of MB, or null for the worker's share"),
    **dict.fromkeys(SWITCHES, (lambda v: isinstance(v, bool), "true or false")),
    "objective": (lambda v: v is None or isinstance(v, str), "the name of a metric, or null for the validation loss"),
}


def _folder_faults(results: Any) -> Iterable[str]:
    if not isinstance(results, str) or not results:
        hint = f"; for text, type {as_text(f'results={results}')}" if results else ""
        yield f"results is {results!r}: expected a folder, as in results=results{hint}."
        return
    existing = Path(results).absolute() / RECORDS
    try:
        while not existing.exists():
            existing = existing.parent
        if not existing.is_dir():
            yield f"results={results} is not a folder: {existing} is a file. Name another folder."
            return
        # Writing is the only reliable test: some file systems refuse it whatever the permissions.
        with TemporaryDirectory(prefix=".npbench-", dir=existing):
            pass
    except OSError as error:  # a name that is too long, a folder that must not be searched or written
        yield f"results={results} cannot be written ({error.strerror or error}): name another folder than {existing}."
