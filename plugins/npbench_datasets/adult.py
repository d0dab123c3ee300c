"""Census data of UCI, Adult: categories and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from npbench.errors import RequestError
from npbench_datasets.ranges import integer, refuse

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
WORDS = {"workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"}
FEATURES = [name for name in COLUMNS if name not in {"education", "income"}]


def load_adult(train: Path, test: Path) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return 48842 x 13 features and labels, +1 for an income of up to 50,000 dollars, the training part first.

    ``education`` is left out, since ``education-num`` holds it in numbers; Bach et al. (2006) do not name the column
    that they left out. Words are coded by alphabetical rank within their column, from 0, ``?`` like any other.
    """
    # The test part starts with an extra line, and its labels end in a dot; both parts end in an empty line.
    table = pl.concat(
        pl.read_csv(path, has_header=False, new_columns=COLUMNS, skip_rows=skip, infer_schema=False)
        for path, skip in ((train, 0), (test, 1))
    )
    table = table.drop_nulls().select(pl.all().str.strip_chars(" ."))
    coded = (pl.col(name).rank("dense") - 1 if name in WORDS else pl.col(name).cast(pl.Float64) for name in FEATURES)
    X = table.select(coded).to_numpy()
    y = np.where(table["income"].to_numpy() == "<=50K", 1, -1)
    words = {FEATURES.index(name): table[name].unique().sort().to_list() for name in sorted(WORDS)}
    return X, y, {"categorical": words, "columns": FEATURES}


def load_adult_sample(
    train: Path, test: Path, n_samples: int = 2000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return rows of :func:`load_adult`, drawn without replacement, whatever their class."""
    refuse(integer(1, n_samples=n_samples) + integer(0, seed=seed))
    X, y, more = load_adult(train, test)
    if n_samples > len(y):
        raise RequestError(f"dataset.n_samples is {n_samples}, but there are {len(y)} rows: ask for fewer.")
    rows = np.sort(np.random.default_rng(seed).choice(len(y), n_samples, replace=False))
    return X[rows], y[rows], more
