"""Checked request: what one composed configuration asks for, with every name resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npbench.contracts import Dataset, Metric, Solver
from npbench.evaluation.preprocess import DEFAULTS
from npbench.problem import Problem
from npbench.records.fields import FIELDS, Role


@dataclass(frozen=True, kw_only=True)
class Request:
    """One solver on one data set for one problem, under one protocol, repeated.

    Its jobs are the repeats 0, ..., ``repeats`` - 1 under ``seed``.
    """

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

    def columns(self) -> dict[str, Any]:
        """Return the record's columns that say what was asked."""
        return {name: encode(self) for name, encode in ENCODERS.items()}

    def identity(self) -> dict[str, Any]:
        """Return the columns that can change the answer: the content of a data set counts, not its name."""
        return {name: value for name, value in self.columns().items() if Role.IDENTITY in FIELDS[name].roles}


ENCODERS = {field.name: field.encode for field in FIELDS.values() if field.encode}
