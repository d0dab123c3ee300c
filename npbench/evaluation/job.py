"""A job: one repeat of a request on known data, with everything that identifies its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from npbench.data import BinaryData
from npbench.evaluation.request import Request
from npbench.records.fields import ASKED
from npbench.records.record import Primitive
from npbench.values import canonical


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
        own = {"distribution": self.distribution, "code": self.code, "versions": self.versions}
        return canonical({**self.request.identity(), "data_sha256": self.data.data_sha256, **own})

    @cached_property
    def _shared_columns(self) -> dict[str, Primitive]:
        """The columns that are the same on every split."""
        parameters = self.request.problem.parameters()
        return {
            **self.request.columns(),
            **{name: float(value) for name, value in parameters.items() if isinstance(value, (int, float))},
            **vars(self.data),
            "distribution": self.distribution,
            "distribution_version": self.versions.get(self.distribution, "absent"),
            "code_sha256": hashlib.sha256(canonical(self.code).encode()).hexdigest(),
            "code": canonical(self.code),
            "versions": canonical(self.versions),
        }
