"""Rebuild what was asked from the columns of a record, with what is installed here."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from npbench.contracts import Solver
from npbench.errors import RequestError
from npbench.evaluation.job import Job, Request
from npbench.evaluation.protocols import PROTOCOLS
from npbench.planning.plan import Sources, first_job
from npbench.problem import PROBLEMS
from npbench.records.fields import FEATURES
from npbench.registry import installed
from npbench.signature import built


@contextmanager
def as_request_errors(what: str) -> Iterator[None]:
    """Turn any error raised by settings of a wrong type or range into a RequestError that begins with ``what``."""
    try:
        yield
    except RequestError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise RequestError(f"{what} cannot be used ({reason})") from error


def request_of(record: Mapping[str, Any], solver: Solver | None = None) -> Request:
    """Return the request of a record, with enough repeats to include the record's."""
    known = installed()
    request = Request(
        solver=solver or known.solver(record["solver"]),
        params=json.loads(record["params"]),
        search=json.loads(record["search"]),
        dataset=known.dataset(record["dataset"]),
        dataset_params=json.loads(record["dataset_params"]),
        problem=built("problem", PROBLEMS, record["problem"], json.loads(record["problem_params"])),
        protocol=built("protocol", PROTOCOLS, record["protocol"], json.loads(record["protocol_params"])),
        metrics=[known.metric(name) for name in json.loads(record["metrics"])],
        features={name: record[name] for name in FEATURES},
        seed=record["seed"],
        repeats=record["repeat"] + 1,
        method=record.get("method") or "",
    )
    columns = request.columns
    if differing := [name for name in columns if name != "method" and columns[name] != record[name]]:
        version = record.get("npbench_version") or "of unknown version"
        found = f"{', '.join(differing)} of a record cannot be rebuilt"
        raise RequestError(f"{found}: it was stored by npbench {version}, use that version")
    return request


def job_of(record: Mapping[str, Any], sources: Sources) -> Job:
    """Return the job of a record on the data that are here."""
    request = request_of(record)
    return first_job(request, sources.data(request)).with_repeat(record["repeat"])
