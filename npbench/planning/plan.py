"""From checked requests to jobs: load the data, list the jobs, and find those without a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from npbench.console import status
from npbench.data import BinaryData, load
from npbench.data.missing import without_missing
from npbench.errors import AbsentDataError, RequestError, collect_errors
from npbench.evaluation.job import DataIdentity, Job
from npbench.evaluation.request import Request
from npbench.evaluation.splits import Split
from npbench.planning.jobs import Jobs
from npbench.records import provenance
from npbench.records.fields import SCHEMA
from npbench.records.files import RECORDS
from npbench.records.store import RecordStore
from npbench.registry import installed
from npbench.signature import imported_names

MAX_ROUNDING = 2  # by how many samples of a class stratified parts of different repeats may differ


@dataclass(frozen=True)
class Plan:
    """The jobs of a run, each once."""

    data: Mapping[str, BinaryData]  # by content hash
    jobs: Jobs
    todo: Jobs  # those without a record of success, or of a timeout that counts; all when forced
    store: RecordStore
    timed_out: Set[str] = frozenset()  # key_of(0) of jobs with a timeout that counts, on some split
    absent: Mapping[str, str] = field(default_factory=dict)  # a message for each data set without its files

    def skips(self, request: Request) -> bool:
        """Return whether a request was left out because its data set is absent."""
        return _source(request) in self.absent

    def records(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the latest record of each job; no copy where the folder holds no others, as there may be a million."""
        stored = self.store.frame(columns)
        keys = pl.DataFrame({"key": pl.Series(self.jobs.keys(), dtype=pl.String)})
        places = stored.select("key").with_row_index("place").join(keys, on="key", how="semi", maintain_order="left")
        return stored if len(places) == len(stored) else stored[places["place"]]

    def n_stored(self, trace: bool, scores: bool) -> int:
        """Return the number of jobs with a record of success, that has a trace or test scores where asked."""
        return len(self.store.done(trace, scores).intersection(self.jobs.keys()))


def prepare(
    requests: Sequence[Request],
    results: Path,
    *,
    force: bool = False,
    trace: bool = False,
    scores: bool = False,
    skip_absent: bool = False,
    time_limit: float | None = None,
) -> Plan:
    """Load each data set once, list the jobs, and look for their records."""
    absent: dict[str, AbsentDataError] = {}
    data = _load(requests, absent if skip_absent else None)
    requests = [request for request in requests if _source(request) not in absent]
    with status("Listing the jobs"):
        listed = collect_errors([partial(jobs_of, request, data[_divided(request)]) for request in _grouped(requests)])
        jobs = Jobs.each_once(listed)
        store = RecordStore(results / RECORDS)
    with status("Looking for records"):
        timed_out = set() if force or time_limit is None else store.timed_out(time_limit)
        todo = jobs if force else jobs.without(store.done(trace, scores) | timed_out)
    with status("Checking the splits"):  # a record of success shows that there is a split
        _check_splits([job.request for job, _ in todo.parts], data)
    return Plan(
        {d.sha256: d for d in data.values()},
        jobs,
        todo,
        store,
        jobs.settings_of(timed_out) if timed_out else frozenset(),
        {source: str(error) for source, error in absent.items()},
    )


def _grouped(requests: Sequence[Request]) -> list[Request]:
    """Order requests by data set, then by solver, because a worker is replaced when the solver changes."""
    sources = {source: n for n, source in enumerate(dict.fromkeys(map(_source, requests)))}
    solvers = {name: n for n, name in enumerate(dict.fromkeys(request.solver.name for request in requests))}
    return sorted(requests, key=lambda request: (sources[_source(request)], solvers[request.solver.name]))


def _source(request: Request) -> str:
    return repr((request.dataset.name, sorted(request.dataset_params.items())))


def _divided(request: Request) -> str:
    return f"{_source(request)} {request.features['missing']}"


def _load(requests: Sequence[Request], absent: dict[str, AbsentDataError] | None) -> dict[str, BinaryData]:
    """Load each data set once; return what is to be split, by :func:`_divided`.

    Errors of data sets with absent files are added to ``absent`` by :func:`_source`, unless it is None or all are.
    """
    distinct = {_source(request): request for request in requests}
    names = ", ".join(dict.fromkeys(request.dataset.name for request in distinct.values()))
    with status(f"Loading {names}"):
        loaded = collect_errors([partial(_loaded, source, r, absent) for source, r in distinct.items()])
    data = {source: one for source, one in zip(distinct, loaded, strict=True) if one is not None}
    if absent and not data:
        raise RequestError(*(fault for error in absent.values() for fault in error.faults))
    divided = {_divided(request): request for request in requests if _source(request) in data}
    complete = collect_errors(
        [partial(without_missing, data[_source(r)], r.features["missing"]) for r in divided.values()]
    )
    return dict(zip(divided, complete, strict=True))


def _loaded(source: str, request: Request, absent: dict[str, AbsentDataError] | None) -> BinaryData | None:
    try:
        return load(request.dataset, **request.dataset_params)
    except AbsentDataError as error:
        if absent is None:
            raise
        absent[source] = error
        return None


def jobs_of(request: Request, data: BinaryData) -> Jobs:
    """Return the jobs of a request on its data, one for each repeat."""
    clashes = sorted({metric.name for metric in request.metrics} & set(SCHEMA))
    if clashes:
        raise RequestError(
            f"metrics {', '.join(clashes)} have the names of record columns: rename them in their plugin."
        )
    shipped_by = [_distribution(*named) for named in _depends_on(request)]
    job = Job(
        request=replace(request, search={name: list(request.search[name]) for name in sorted(request.search)}),
        data=DataIdentity.of(data),
        distribution=shipped_by[0],
        code=provenance.code(targets(request)),
        versions=provenance.versions(shipped_by),
    )
    return Jobs([(job, range(request.repeats))])


def targets(request: Request) -> list[str]:
    """Return the ``"module:attribute"`` names of the code that answers a request, the named solvers' included."""
    solvers, names = installed().solvers, _named(request)
    used = [request.solver, *(solvers[name] for name in names if name in solvers)]
    of_solvers = [target for solver in used for target in (solver.estimator, solver.selection, solver.grid_search)]
    imported = [name for name in names if name not in solvers]
    found = [*of_solvers, *(metric.compute for metric in request.metrics), *imported]
    return [target for target in found if target]


def _depends_on(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of what a request uses from plugins, its solver first."""
    yield "solver", request.solver.name
    yield from (("solver", name) for name in _named(request) if name in installed().solvers)
    yield from (("metric", metric.name) for metric in request.metrics)


def _named(request: Request) -> list[str]:
    return imported_names(request.solver, request.params, request.search)


def _distribution(kind: str, name: str) -> str:
    provider = installed().providers.get((kind, name))
    return provider.distribution if provider else "unknown"


def _check_splits(requests: Iterable[Request], data: Mapping[str, BinaryData]) -> None:
    """Check once what is equal for all solvers."""
    distinct = {}
    for request in requests:
        split = (_divided(request), request.protocol, request.seed, request.repeats)
        distinct[split, request.problem, is_validated(request)] = request
    collect_errors([partial(check_split, request, data[_divided(request)]) for request in distinct.values()])


def is_validated(request: Request) -> bool:
    """Return whether a validation loss is measured."""
    return request.validate or any(len(values) > 1 for values in request.search.values())


def check_split(request: Request, data: BinaryData) -> None:
    """Refuse data that the protocol cannot split in every repeat."""
    try:
        one_for_all = request.protocol.stratified and data.groups is None
        if one_for_all and request.problem.measurable(0, 0):  # then on every part
            request.protocol.check(data)
            return
        for repeat in range(request.repeats):
            ample = _check_measurable(request, data.y, request.protocol.split(data, request.seed, repeat))
            if one_for_all and ample:
                break
    except RequestError as error:
        raise RequestError(*(f"dataset {data.name!r}: {fault}" for fault in error.faults)) from None


def _check_measurable(request: Request, y: np.ndarray, split: Split) -> bool:
    """Refuse parts without a loss; return whether all other stratified repeats are certain to have one."""
    if request.problem.measurable(0, 0):
        return True
    validated = [("a validation part", rows) for _, rows in split.folds] if is_validated(request) else []
    ample = True
    for part, rows in [("the test part", split.test), *validated]:
        n_pos = int((y[rows] > 0).sum())
        n_neg = len(rows) - n_pos
        if not request.problem.measurable(n_pos, n_neg):
            asked = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
            raise RequestError(
                f"problem={request.problem.name} with {asked} is undefined on {part}, which has {n_pos} positives "
                f"and {n_neg} negatives: set other values (problem.NAME=...), fewer folds (protocol.folds=...) or "
                "protocol=holdout, or use more data"
            )
        nearby = range(max(n_neg - MAX_ROUNDING, 1), n_neg + MAX_ROUNDING + 1)
        ample = ample and all(request.problem.measurable(n_pos, count) for count in nearby)
    return ample
