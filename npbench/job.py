"""A job: one solver on one data set for one problem, on one split. What it is, and what identifies its answer."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from npbench import provenance
from npbench.contracts import Metric, Solver
from npbench.errors import RequestError
from npbench.jobs import Jobs
from npbench.problem import Problem
from npbench.protocol import describe
from npbench.schema import SCHEMA

if TYPE_CHECKING:
    import numpy as np

    from npbench.data import BinaryData
    from npbench.request import Request
    from npbench.split import Split

NEARBY = 2  # most by which a part's samples of a class differ between stratified repeats: one for each rounding


@dataclass(frozen=True, kw_only=True)
class Job:
    """One unit of work, small enough to send to a worker; the data follow by content hash.

    Parameters
    ----------
    solver, params, search, problem, protocol, preprocess, missing, categories, metrics, seed
        As in :class:`npbench.request.Request`; ``search`` is ordered by name, so that ties between candidates fall
        the same way however the grids were written.
    dataset, dataset_params
        What the data are called; for the record only.
    data_sha256, n_samples, n_features, n_positive
        Content hash of the data, which stands for them in the identity, and their size for the record.
    distribution : str
        Who ships the solver.
    code, versions : mapping of str to str
        Hashes of sources and versions of packages that the answer depends on.
    repeat : int
        Number of the split under ``seed``.
    """

    solver: Solver
    params: Mapping[str, Any]
    search: Mapping[str, Sequence[Any]]
    dataset: str
    dataset_params: Mapping[str, Any]
    data_sha256: str
    n_samples: int
    n_features: int
    n_positive: int
    problem: Problem
    protocol: Any
    preprocess: str
    metrics: tuple[Metric, ...]
    distribution: str
    code: Mapping[str, str]
    versions: Mapping[str, str]
    seed: int = 0
    repeat: int = 0
    missing: str = "refuse"
    categories: str = "one_hot"

    @property
    def code_sha256(self) -> str:
        """One hash for all sources that the answer depends on."""
        return hashlib.sha256(canonical(self.code).encode()).hexdigest()

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change the answer, and nothing else, as primitives.

        Neither the name of the data set is in it (its content is), nor how the job is run: workers, time limit,
        folder, machine.
        """
        return {
            "solver": self.solver.name,
            "distribution": self.distribution,
            "code_sha256": self.code_sha256,
            "versions": plain(self.versions),
            "data_sha256": self.data_sha256,
            "params": plain(self.params),
            "search": plain(self.search),
            "problem": plain({"name": self.problem.name, **self.problem.parameters()}),
            "protocol": plain(describe(self.protocol)),
            "preprocess": self.preprocess,
            "missing": self.missing,
            "categories": self.categories,
            "metrics": sorted(metric.name for metric in self.metrics),
            "seed": self.seed,
            "repeat": self.repeat,
        }

    @property
    def key(self) -> str:
        """SHA-256 of the identity as canonical JSON."""
        return self.key_of(self.repeat)

    def key_of(self, repeat: int) -> str:
        """Return the key of the same job on another split; of a million, only the number is written anew."""
        before, after = self.around
        return hashlib.sha256(f"{before}{repeat:d}{after}".encode()).hexdigest()

    @cached_property
    def around(self) -> tuple[str, str]:
        """The identity as canonical JSON, what stands before the number of the repeat and what stands after it."""
        identity = self.identity
        before = canonical({name: value for name, value in identity.items() if name < "repeat"})
        after = canonical({name: value for name, value in identity.items() if name > "repeat"})
        return f'{before[:-1]},"repeat":', f",{after[1:]}"

    def at(self, repeat: int) -> Job:
        """Return the same job on another split; the texts that the two have in common are written once, and shared."""
        other = copy.copy(self)
        vars(other).update(repeat=repeat, around=self.around, _common=self._common)
        return other

    @property
    def setting(self) -> dict[str, Any]:
        """What the user asked for, as columns of the record; code, versions and data may differ underneath."""
        return {**_asked(self), "dataset": self.dataset, "repeat": self.repeat}

    @property
    def columns(self) -> dict[str, Any]:
        """The record's columns that are known before the job runs; numbers of the problem have one each."""
        return {**self._common, "key": self.key, "repeat": self.repeat}

    @cached_property
    def _common(self) -> dict[str, Any]:
        """The columns that are the same on every split."""
        numbers = {name: float(v) for name, v in self.problem.parameters().items() if isinstance(v, (int, float))}
        return {
            **_asked(self),
            **numbers,
            "dataset": self.dataset,
            "metrics": canonical(sorted(metric.name for metric in self.metrics)),
            "distribution": self.distribution,
            "distribution_version": self.versions.get(self.distribution, "absent"),
            "code_sha256": self.code_sha256,
            "code": canonical(self.code),
            "versions": canonical(self.versions),
            "data_sha256": self.data_sha256,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "n_positive": self.n_positive,
        }


def jobs_of(request: Request, data: BinaryData) -> Jobs:
    """Return the jobs of a request: one for each repeat.

    Parameters
    ----------
    request : Request
        Checked, with every name resolved.
    data : BinaryData
        The data set that it names.

    Raises
    ------
    RequestError
        If a metric is named like a column of the records, or the sources of a plugin cannot be found.
    """
    from npbench.registry import installed

    clashes = sorted({metric.name for metric in request.metrics} & set(SCHEMA))
    if clashes:
        raise RequestError(
            f"The metrics {', '.join(clashes)} are named like columns of every record: rename them in their plugin."
        )
    imported = [value for name in request.solver.imports for value in _values(request, name) if isinstance(value, str)]
    solvers, providers = installed().solvers, installed().providers
    others = [name for name in imported if name in solvers]
    named = [("solver", name) for name in (request.solver.name, *others)]
    named += [("metric", metric.name) for metric in request.metrics]
    shipped_by = [providers[name].distribution if name in providers else "unknown" for name in named]
    targets = [request.solver.estimator, request.solver.select, *(metric.compute for metric in request.metrics)]
    targets += [solvers[name].estimator if name in others else name for name in imported]
    code = provenance.code(target for target in targets if target)
    versions = provenance.versions(shipped_by)
    job = Job(
        solver=request.solver,
        params=dict(request.params),
        search={name: list(request.search[name]) for name in sorted(request.search)},
        dataset=request.dataset.name,
        dataset_params=dict(request.dataset_params),
        data_sha256=data.sha256,
        n_samples=data.n_samples,
        n_features=data.n_features,
        n_positive=data.n_positive,
        problem=request.problem,
        protocol=request.protocol,
        preprocess=request.preprocess,
        missing=request.missing,
        categories=request.categories,
        metrics=tuple(request.metrics),
        distribution=shipped_by[0],
        code=code,
        versions=versions,
        seed=request.seed,
    )
    return Jobs([(job, range(request.repeats))])


def settings_of(request: Request) -> list[dict[str, Any]]:
    """Return the :attr:`Job.setting` of each job of a request; no data are needed."""
    asked = _asked(request)
    return [{**asked, "dataset": request.dataset.name, "repeat": repeat} for repeat in range(request.repeats)]


def _asked(of: Job | Request) -> dict[str, Any]:
    return {
        "solver": of.solver.name,
        "params": canonical(of.params),
        "search": canonical(of.search),
        "dataset_params": canonical(of.dataset_params),
        "problem": of.problem.name,
        "problem_params": canonical(of.problem.parameters()),
        "protocol": of.protocol.name,
        "protocol_params": canonical(describe(of.protocol)),
        "preprocess": of.preprocess,
        "missing": of.missing,
        "categories": of.categories,
        "seed": of.seed,
    }


def _values(request: Request, name: str) -> Sequence[Any]:
    """Return the value of a solver's parameter, or those that it is selected from."""
    return request.search.get(name) or [request.params.get(name)]


def check_split(request: Request, data: BinaryData) -> None:
    """Refuse data that the protocol cannot divide in each of the repeats.

    Raises
    ------
    RequestError
        If there are too few samples of a class, or too few rows, groups or published divisions, or a part whose
        samples are too few for the problem's loss.
    """
    try:
        one_for_all = request.protocol.stratified and data.groups is None
        for repeat in range(request.repeats):
            ample = _check_measurable(request, data.y, request.protocol.split(data, request.seed, repeat))
            if one_for_all and ample:
                break
    except RequestError as error:
        raise RequestError(*(f"Data set {data.name!r}: {fault}" for fault in error.faults)) from None


def _check_measurable(request: Request, y: np.ndarray, split: Split) -> bool:
    """Refuse a part without a loss; return whether those of other stratified repeats are certain to have one."""
    is_selected = any(len(values) > 1 for values in request.search.values())
    validated = [("a validation part", rows) for _, rows in split.folds] if is_selected else []
    ample = True
    for part, rows in [("the test part", split.test), *validated]:
        n_pos = int((y[rows] > 0).sum())
        n_neg = len(rows) - n_pos
        if not request.problem.measurable(n_pos, n_neg):
            asked = ", ".join(f"{name}={value}" for name, value in request.problem.parameters().items())
            raise RequestError(
                f"problem={request.problem.name} with {asked} cannot be measured on {part}, which has {n_pos} "
                f"positives and {n_neg} negatives: none of their pairs is in the range. Ask for a wider "
                "range (problem.fpr_range=...), use fewer folds (protocol.folds=...) or protocol=holdout, or more data."
            )
        nearby = range(max(n_neg - NEARBY, 1), n_neg + NEARBY + 1)
        ample = ample and all(request.problem.measurable(n_pos, count) for count in nearby)
    return ample


def canonical(value: Any) -> str:
    """Return ``value`` as JSON, one text for all spellings of the same value.

    Examples
    --------
    >>> canonical({"b": (1.0, 2), "a": True})
    '{"a":true,"b":[1,2]}'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return ``value`` in JSON's own types: 1.0 becomes 1, a tuple a list, a NumPy number a Python one.

    Raises
    ------
    TypeError
        If it has a part that is neither a primitive nor a list or mapping of primitives.

    Examples
    --------
    >>> plain({"degree": 3.0, "range": (0, 0.5)})
    {'degree': 3, 'range': [0, 0.5]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [plain(part) for part in value]
    raise TypeError(f"{value!r} is neither a number, a text nor a list or mapping of them")
