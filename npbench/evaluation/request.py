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

    Parameters
    ----------
    solver : Solver
        Description of the method.
    params : mapping
        Fixed values of the estimator's parameters, without those of the problem.
    search : mapping of str to sequence
        Candidate values of the parameters to select; disjoint from ``params``.
    dataset : Dataset
        Description of the data set.
    dataset_params : mapping
        Settings of the data set; most data sets read from files have none.
    problem : Problem
        The optimisation problem with its parameters.
    protocol : SplitProtocol
        How data are split (see :mod:`npbench.evaluation.protocols`).
    features : mapping of str to str
        Treatment of the features, an option for each of :data:`npbench.evaluation.preprocess.CHOICES`.
    metrics : sequence of Metric
        Metrics on the test part.
    seed, repeats : int
        The jobs are repeats 0, ..., repeats - 1 under this seed.
    method : str
        The choice of the solver as typed, variants included; empty for the solver's name. Records are shown by it.
    validate : bool
        Whether to measure the validation loss even where nothing is selected. It changes no answer, so it is not part
        of a job's identity.
    """

    solver: Solver
    params: Mapping[str, Any]
    search: Mapping[str, Sequence[Any]]
    dataset: Dataset
    dataset_params: Mapping[str, Any]
    problem: Problem
    protocol: Any
    metrics: Sequence[Metric]
    features: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    seed: int = 0
    repeats: int = 1
    method: str = ""
    validate: bool = False

    def columns(self) -> dict[str, Any]:
        """Return the record's columns that say what was asked."""
        return {name: encode(self) for name, encode in ENCODERS.items()}

    def identity(self) -> dict[str, Any]:
        """Return the columns that can change the answer: the content of a data set counts, not its name."""
        return {name: value for name, value in self.columns().items() if Role.IDENTITY in FIELDS[name].roles}


ENCODERS = {field.name: field.encode for field in FIELDS.values() if field.encode}
