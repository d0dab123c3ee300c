"""A checked request: what one composed configuration asks for, with every name resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npbench.contracts import Dataset, Metric, Solver
from npbench.problem import Problem


@dataclass(frozen=True)
class Request:
    """One solver on one data set for one problem, under one protocol, repeated.

    Parameters
    ----------
    solver : Solver
        Description of the method.
    params : mapping
        Fixed values of the estimator's parameters (those of the problem not included).
    search : mapping of str to sequence
        Candidate values of the parameters to be selected; disjoint from ``params``.
    dataset : Dataset
        Description of the data set.
    dataset_params : mapping
        Parameters of a generator; empty for files.
    problem : Problem
        What is asked.
    protocol : CrossValidation or Holdout
        How data are divided.
    preprocess : {"standardize", "none"}
        What is done to the features, fitted on the training part only.
    metrics : sequence of Metric
        What is measured on the test part.
    seed, repeats : int
        The jobs are repeats 0, ..., repeats - 1 under this seed.
    """

    solver: Solver
    params: Mapping[str, Any]
    search: Mapping[str, Sequence[Any]]
    dataset: Dataset
    dataset_params: Mapping[str, Any]
    problem: Problem
    protocol: Any
    preprocess: str
    metrics: Sequence[Metric]
    seed: int = 0
    repeats: int = 1
