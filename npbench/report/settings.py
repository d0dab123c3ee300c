"""What the records of a report were asked for: their parameters as columns, and which of them tell them apart."""

from __future__ import annotations

import json

import polars as pl

from npbench.job import canonical

QUOTE = '"'

# What pairs of solvers must agree in, apart from the repeat and the parameters.
SITUATION = ["dataset", "dataset_params", "problem", "problem_params", "protocol_params", "preprocess", "seed"]


def parameters(records: pl.DataFrame) -> pl.DataFrame:
    """Return the solvers' fixed parameters: a row for each record, a column of JSON texts for each parameter.

    A parameter that a solver does not have is null.

    Examples
    --------
    >>> parameters(pl.DataFrame({"params": ['{"C":1}', '{"C":1,"kernel":"rbf"}']})).rows()
    [('1', None), ('1', '"rbf"')]
    """
    rows = [{name: canonical(value) for name, value in json.loads(text).items()} for text in records["params"]]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        [[row.get(name) for name in names] for row in rows], dict.fromkeys(names, pl.String), orient="row"
    )


def varying(records: pl.DataFrame) -> pl.DataFrame:
    """Return those columns of :func:`parameters` that have several values among the records of some solver."""
    asked, solvers = parameters(records), records["solver"]
    groups = [asked.filter(solvers == solver) for solver in solvers.unique()]
    return asked.select(name for name in asked.columns if any(group[name].n_unique() > 1 for group in groups))


def fixed(records: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Return by solver the parameters that all its records have in common.

    Examples
    --------
    >>> fixed(pl.DataFrame({"solver": ["gen", "gen"], "params": ['{"C":1,"tol":0.1}', '{"C":2,"tol":0.1}']}))
    {'gen': {'tol': '0.1'}}
    """
    same = parameters(records).drop(varying(records).columns)
    firsts = same.with_columns(records["solver"]).unique("solver", keep="first", maintain_order=True)
    return {row.pop("solver"): {k: v for k, v in row.items() if v is not None} for row in firsts.to_dicts()}


def labels(records: pl.DataFrame) -> list[str]:
    """Return for each record its solver, with the parameters that tell its settings apart.

    Examples
    --------
    >>> labels(pl.DataFrame({"solver": ["gen", "gen"], "params": ['{"C":1,"tol":0.1}', '{"C":2,"tol":0.1}']}))
    ['gen C=1', 'gen C=2']
    """
    apart = varying(records).to_dicts() if len(records) else []
    rows = apart or [{} for _ in range(len(records))]
    told = [[f"{name}={text.strip(QUOTE)}" for name, text in row.items() if text is not None] for row in rows]
    return [" ".join([solver, *texts]) for solver, texts in zip(records["solver"], told, strict=True)]
