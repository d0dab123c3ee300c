"""A request, what one composed configuration asks for, and its jobs: one repeat each, on known data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from npbench.contracts import Dataset, Metric, Solver
from npbench.data import BinaryData
from npbench.problem import Problem
from npbench.records.fields import ASKED, FIELDS, Role
from npbench.records.record import Primitive
from npbench.values import canonical

# Options for the features, the default first; see npbench.evaluation.preprocess.
CHOICES: dict[str, tuple[str, ...]] = {
    "preprocess": ("standardize", "unit_range", "unit_norm", "none"),
    "missing": ("refuse", "drop", "impute", "keep"),
    "categories": ("one_hot", "codes"),
}
DEFAULTS = {option: choices[0] for option, choices in CHOICES.items()}


@dataclass(frozen=True, kw_only=True)
class Request:
    """One solver on one data set for one problem under one protocol, for the repeats 0, ..., ``repeats`` - 1."""

    solver: Solver
    params: Mapping[str, Any]  # fixed parameters, without the problem's parameters
    search: Mapping[str, Sequence[Any]]  # candidate values of other parameters
    dataset: Dataset
    dataset_params: Mapping[str, Any]
    problem: Problem
    protocol: Any  # from npbench.evaluation.protocols
    metrics: Sequence[Metric]
    features: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))  # an option for each of CHOICES
    seed: int = 0
    repeats: int = 1
    method: str = ""  # choice of the solver as typed, variants included; empty for the solver's name
    validate: bool = False  # measure the validation loss even where nothing is selected; changes no answer

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """The record's columns that say what was asked."""
        return {
            "solver": self.solver.name,
            "method": self.method or self.solver.name,
            "params": canonical(self.params),
            "search": canonical(self.search),
            "dataset": self.dataset.name,
            "dataset_params": canonical(self.dataset_params),
            "problem": self.problem.name,
            "problem_params": canonical(self.problem.parameters()),
            "protocol": self.protocol.name,
            "protocol_params": canonical({"name": self.protocol.name, **asdict(self.protocol)}),
            **self.features,
            "metrics": canonical(sorted(metric.name for metric in self.metrics)),
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Options:
    """What a record keeps beside the measurements, and the threads of the solver."""

    n_threads: int = 1
    trace: bool = False  # trace of the selection, or else the estimator's ``trace_`` with all metrics of its stages
    keep_scores: bool = False  # scores of the test part


STANDARD = Options()


@dataclass(frozen=True)
class DataIdentity:
    """Content hash of a data set, and its numbers of rows, columns and positive rows."""

    data_sha256: str
    n_samples: int
    n_features: int
    n_positive: int

    @classmethod
    def of(cls, data: BinaryData) -> DataIdentity:
        """Return the identity of loaded data."""
        return cls(data.sha256, data.n_samples, data.n_features, data.n_positive)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One unit of work, small enough to send to a worker; the data follow by content hash."""

    # With ``search`` ordered by name, so that ties between candidates do not depend on the order of writing.
    request: Request
    data: DataIdentity
    distribution: str  # distribution that ships the solver
    code: Mapping[str, str]  # source hashes that the answer depends on, by package
    versions: Mapping[str, str]  # package versions that the answer depends on
    repeat: int = 0  # number of the split under the request's seed

    @property
    def key(self) -> str:
        """SHA-256 of everything that can change the answer: the content of the data but not their name, no limits."""
        return self.key_of(self.repeat)

    def key_of(self, repeat: int) -> str:
        """Return the key of the same job on another split."""
        return hashlib.sha256(f"{self._identity}{repeat:d}".encode()).hexdigest()

    def with_repeat(self, repeat: int) -> Job:
        """Return the same job on another split; what the two have in common is computed once and shared."""
        other = replace(self, repeat=repeat)
        # What cached_property would store.
        vars(other).update(_identity=self._identity, _shared_columns=self._shared_columns)
        return other

    @property
    def setting(self) -> dict[str, Any]:
        """Columns of the record that say what was asked; code, versions and data may differ underneath."""
        return {name: value for name, value in self.columns.items() if name in ASKED}

    @property
    def columns(self) -> dict[str, Primitive]:
        """Columns of the record that are known before the job runs."""
        return {**self._shared_columns, "key": self.key, "repeat": self.repeat}

    @cached_property
    def _identity(self) -> str:
        asked = {name: value for name, value in self.request.columns.items() if Role.IDENTITY in FIELDS[name].roles}
        own = {"distribution": self.distribution, "code": self.code, "versions": self.versions}
        return canonical({**asked, "data_sha256": self.data.data_sha256, **own})

    @cached_property
    def _shared_columns(self) -> dict[str, Primitive]:
        parameters = self.request.problem.parameters()
        return {
            **self.request.columns,
            **{name: float(value) for name, value in parameters.items() if isinstance(value, (int, float))},
            **vars(self.data),
            "distribution": self.distribution,
            "distribution_version": self.versions.get(self.distribution, "absent"),
            "code_sha256": hashlib.sha256(canonical(self.code).encode()).hexdigest(),
            "code": canonical(self.code),
            "versions": canonical(self.versions),
        }


class JobStream(Sized, Iterable[Job], Protocol):
    """Jobs that are counted before they are drawn; no more than that number are drawn."""
