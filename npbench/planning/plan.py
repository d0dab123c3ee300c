"""From checked requests to jobs: load the data, list the jobs, find those without a record, and check their splits."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from npbench.console import status
from npbench.data import BinaryData
from npbench.data.loading import load, takes_missing, without_missing
from npbench.errors import AbsentDataError, RequestError, collect_errors
from npbench.evaluation.job import DataIdentity, Job, Request
from npbench.evaluation.splits import Split
from npbench.records import provenance
from npbench.records.fields import METHOD, SCHEMA
from npbench.records.files import RECORDS
from npbench.records.reading import with_methods
from npbench.records.store import RecordStore
from npbench.registry import installed
from npbench.signature import imported_names
from npbench.values import canonical

MAX_ROUNDING = 2  # by how many samples of a class stratified parts of different repeats may differ


class Sources:
    """Data sets by request; ``absent`` holds the errors of those that were skipped."""

    def __init__(self) -> None:
        self.absent: dict[str, AbsentDataError] = {}
        self._data: dict[tuple[str, str], BinaryData] = {}

    def load(self, requests: Sequence[Request], *, skip_absent: bool) -> list[tuple[Request, BinaryData]]:
        """Return the requests with their data; leave out those with absent files if so asked, unless all are absent."""
        distinct = {(name_of(request), request.features["missing"]): request for request in requests}
        names = ", ".join(dict.fromkeys(request.dataset.name for request in distinct.values()))
        with status(f"Loading {names}"):
            collect_errors([partial(self._load, request, skip_absent) for request in distinct.values()])
        if self.absent and not self._data:
            raise RequestError(*(fault for error in self.absent.values() for fault in error.faults))
        return [(request, self.data(request)) for request in requests if not self.skips(request)]

    def data(self, request: Request) -> BinaryData:
        """Return the data of a request."""
        key = name_of(request), request.features["missing"]
        if key not in self._data:
            takes = partial(takes_missing, request.solver, request.params)
            self._data[key] = without_missing(load(request.dataset, **request.dataset_params), key[1], takes)
        return self._data[key]

    def skips(self, request: Request) -> bool:
        """Return whether the data of a request are absent, and skipped."""
        return name_of(request) in self.absent

    def by_hash(self) -> dict[str, BinaryData]:
        """Return the data of all requests by content hash."""
        return {data.sha256: data for data in self._data.values()}

    def _load(self, request: Request, skip_absent: bool) -> None:
        try:
            self.data(request)
        except AbsentDataError as error:
            if not skip_absent:
                raise
            self.absent[name_of(request)] = error


def name_of(request: Request) -> str:
    """Return what identifies a request's data before they are loaded."""
    return repr((request.dataset.name, sorted(request.dataset_params.items())))


class Jobs:
    """Jobs as one job per request and its repeats: no memory for each, or 8 bytes if some are left out."""

    def __init__(self, parts: Iterable[tuple[Job, Sequence[int]]]) -> None:
        self.parts = [(job, repeats) for job, repeats in parts if len(repeats)]

    @classmethod
    def of(cls, jobs: Iterable[Job]) -> Self:
        """Return all repeats of the requests of these jobs; of requests that differ only in repeats, the most."""
        distinct: dict[str, Job] = {}
        for job in jobs:
            if job.request.repeats > distinct.setdefault(job.key_of(0), job).request.repeats:
                distinct[job.key_of(0)] = job
        return cls((job, range(job.request.repeats)) for job in distinct.values())

    def __len__(self) -> int:
        return sum(len(repeats) for _, repeats in self.parts)

    def __iter__(self) -> Iterator[Job]:
        # jobs that may share fits are those on the same split: they follow each other
        for _, parts in groupby(self.parts, lambda part: fits_of(part[0].request) or id(part)):
            jobs = [map(job.with_repeat, repeats) for job, repeats in parts]
            yield from merge(*jobs, key=lambda job: job.repeat)

    def keys(self) -> Iterator[str]:
        """Yield the key of each job without creating the job."""
        return (job.key_of(repeat) for job, repeats in self.parts for repeat in repeats)

    def without(self, done: Set[str]) -> Self:
        """Return the jobs whose keys are not in ``done``."""
        if not done:
            return self
        return type(self)(
            (job, array("q", (repeat for repeat in repeats if job.key_of(repeat) not in done)))
            for job, repeats in self.parts
        )

    def settings_of(self, keys: Set[str]) -> set[str]:
        """Return ``key_of(0)`` of the jobs of which some repeat has one of these keys."""
        return {job.key_of(0) for job, repeats in self.parts if not keys.isdisjoint(map(job.key_of, repeats))}


@dataclass(frozen=True)
class Plan:
    """The jobs of a run, each once."""

    sources: Sources
    jobs: Jobs
    todo: Jobs  # those without a record of success, or of a timeout that counts; all when forced
    store: RecordStore
    finished: Callable[[], set[str]]  # keys of the store that need not run
    timed_out: Set[str] = frozenset()  # key_of(0) of jobs with a timeout that counts, on some split

    def records(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the latest record of each job; no copy where the folder holds no others, as there may be a million."""
        stored = self.store.frame(columns)
        keys = pl.DataFrame({"key": pl.Series(self.jobs.keys(), dtype=pl.String)})
        places = stored.select("key").with_row_index("place").join(keys, on="key", how="semi", maintain_order="left")
        found = stored if len(places) == len(stored) else stored[places["place"]]
        if "method" not in found.columns:
            return found
        asked = (job.request.columns for job, _ in self.jobs.parts)
        typed = {tuple(columns[name] for name in METHOD): columns["method"] for columns in asked}
        return with_methods(found, lambda setting, stored: typed.get(setting) or stored or setting[0])

    def n_stored(self) -> int:
        """Return the number of jobs with a record of success now, that has a trace or test scores where asked."""
        return len(self.finished().intersection(self.jobs.keys()))


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
    sources = Sources()
    with_data = sources.load(_grouped(requests), skip_absent=skip_absent)
    with status("Listing the jobs"):
        jobs = Jobs.of(collect_errors([partial(first_job, request, data) for request, data in with_data]))
    store = RecordStore(results / RECORDS)
    finished = partial(store.done, trace, scores)
    with status("Looking for records"):
        timed_out = set() if force or time_limit is None else store.timed_out(time_limit)
        todo = jobs if force else jobs.without(finished() | timed_out)
    with status("Checking the splits"):  # a record of success shows that there is a split
        check_splits([(job.request, sources.data(job.request)) for job, _ in todo.parts])
    return Plan(sources, jobs, todo, store, finished, jobs.settings_of(timed_out))


def fits_of(request: Request) -> str:
    """Return what is equal for requests that differ in their threshold only, or an empty text for other solvers."""
    if not (names := request.solver.of_threshold):
        return ""
    columns = {name: value for name, value in request.columns.items() if name not in ("method", "problem_params")}
    return canonical(columns | {"params": {name: value for name, value in request.params.items() if name not in names}})


def _grouped(requests: Sequence[Request]) -> list[Request]:
    """Order requests by data set, by solver, because a worker is replaced when the solver changes, and by fits."""
    first: dict[tuple[int, str], int] = {}  # places of names in the order of their first requests

    def places(request: Request) -> list[int]:
        names = enumerate((name_of(request), request.solver.name, fits_of(request)))
        return [first.setdefault(name, len(first)) for name in names]

    return sorted(requests, key=places)


def first_job(request: Request, data: BinaryData) -> Job:
    """Return the first repeat of a request on its data."""
    if clashes := sorted({metric.name for metric in request.metrics} & set(SCHEMA)):
        raise RequestError(f"metrics {', '.join(clashes)} have names of record columns: rename them in their plugin.")
    imported = imported_names(request.solver, request.params, request.search)
    named = [request.solver.name, *(name for name in imported if name in installed().solvers)]
    used = [*(("solver", name) for name in named), *(("metric", metric.name) for metric in request.metrics)]
    providers = [installed().providers.get(kind_and_name) for kind_and_name in used]
    shipped_by = [provider.distribution if provider else "unknown" for provider in providers]
    ordered = replace(request, search={name: list(request.search[name]) for name in sorted(request.search)})
    vars(ordered)["columns"] = request.columns  # the same: no grid of a thousand candidates becomes JSON again
    code = provenance.code(targets(request))
    return Job(
        request=ordered,
        data=DataIdentity.of(data),
        distribution=shipped_by[0],
        code=code,
        versions=provenance.versions(shipped_by, code),
    )


def targets(request: Request) -> list[str]:
    """Return the ``"module:attribute"`` names of the code that answers a request, the named solvers' included."""
    solvers, names = installed().solvers, imported_names(request.solver, request.params, request.search)
    used = [request.solver, *(solvers[name] for name in names if name in solvers)]
    of_solvers = [target for solver in used for target in (solver.estimator, solver.selection, solver.grid_search)]
    imported = [":".join(name.rsplit(".", 1)) for name in names if name not in solvers]
    found = [*of_solvers, *(metric.compute for metric in request.metrics), *imported]
    return [target for target in found if target]


def check_splits(asked: Iterable[tuple[Request, BinaryData]]) -> None:
    """Refuse data that a protocol cannot split in every repeat; what is equal for all solvers is checked once."""
    alike: dict[Any, tuple[BinaryData, dict[Any, Request]]] = {}  # by split, then by what needs its parts
    for request, data in asked:
        split = data.sha256, request.protocol, request.seed, request.repeats
        alike.setdefault(split, (data, {}))[1][request.problem, _is_validated(request)] = request
    collect_errors([partial(_check_split, data, [*requests.values()]) for data, requests in alike.values()])


def _is_validated(request: Request) -> bool:
    """Return whether a validation loss is measured."""
    return request.validate or any(len(values) > 1 for values in request.search.values())


def _check_split(data: BinaryData, requests: Sequence[Request]) -> None:
    """Check requests with the same splits."""
    asked, demanding = requests[0], [one for one in requests if not one.problem.measurable(0, 0)]
    try:
        one_for_all = asked.protocol.stratified and data.groups is None
        if one_for_all and not demanding:
            asked.protocol.check(data)
            return
        for repeat in range(asked.repeats):
            split = asked.protocol.split(data, asked.seed, repeat)
            ample = collect_errors([partial(_check_measurable, request, data.y, split) for request in demanding])
            if one_for_all and all(ample):
                break
    except RequestError as error:
        raise RequestError(*(f"dataset {data.name!r}: {fault}" for fault in error.faults)) from None


def _check_measurable(request: Request, y: np.ndarray, split: Split) -> bool:
    """Refuse parts without a loss; return whether all other stratified repeats are certain to have one."""
    validated = [("a validation part", rows) for _, rows in split.folds] if _is_validated(request) else []
    ample = True
    for part, rows in [("the test part", split.test), *validated]:
        n_pos = int((y[rows] > 0).sum())
        n_neg = len(rows) - n_pos
        if not request.problem.measurable(n_pos, n_neg):
            asked = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
            where = f"{part}, which has {n_pos} positives and {n_neg} negatives"
            fault = f"problem={request.problem.name} with {asked} is undefined on {where}"
            raise RequestError(f"{fault}: set other values, fewer folds or protocol=holdout, or use more data")
        nearby = range(max(n_neg - MAX_ROUNDING, 1), n_neg + MAX_ROUNDING + 1)
        ample = ample and all(request.problem.measurable(n_pos, count) for count in nearby)
    return ample
