"""Boosting that takes words and missing values as they are, against coded and imputed ones, as the benchmark has them.

`python tests/benchmarks/test_native.py` stores the misses at exactly rho on test parts, on the data sets of
np_benchmark with words or missing values; it leaves out those that are stored. Splits, grid and rule of choice are the
benchmark's.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import npbench
from npbench.evaluation.grids import combinations
from npbench.evaluation.preprocess import pipeline
from npbench.evaluation.protocols import CrossValidation
from npbench.numerics.pauc_metrics import interpolated
from npbench.numerics.roc_grid import true_positive_rates

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
STORED = PUBLISHED / "native.json"
GRID = combinations({"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31], "min_samples_leaf": [5, 20]})
SPLITS = 3


def bounds():
    """Return the bounds of each data set of the benchmark."""
    records = pl.read_parquet(PUBLISHED / "np_benchmark" / "records" / "*.parquet", columns=["dataset", "rho"])
    return dict(
        records.group_by("dataset").agg(pl.col("rho").unique().sort(descending=True)).sort("dataset").iter_rows()
    )


def has_words_or_gaps(data):
    return data.has_missing or (data.categorical is not None and data.categorical.any())


def prepared(data, train, is_native):
    """Return the rows as the classifier sees them, and its columns of words."""
    if is_native:
        return data.X, data.categorical
    coded = {"preprocess": "standardize", "missing": "impute", "categories": "one_hot"}
    return pipeline(False, data.categorical, **coded).fit(data.X[train]).transform(data.X), None


def scores(X, y, train, test, words, params):
    model = HistGradientBoostingClassifier(
        max_iter=1000, early_stopping=True, categorical_features=words, random_state=0, **params
    )
    return model.fit(X[train], y[train]).decision_function(X[test])


def misses(data, rhos, repeat, is_native):
    """Return the misses at each bound of the candidate with the largest area up to it on the folds."""
    split = CrossValidation(test_size=0.5, folds=4).split(data, seed=0, repeat=repeat)
    X, words = prepared(data, split.train, is_native)
    areas = np.zeros((len(GRID), len(rhos)))
    for row, params in zip(areas, GRID, strict=True):
        for fit, validate in split.folds:
            found = scores(X, data.y, fit, validate, words, params)
            row += [interpolated(data.y[validate], found, 0, rho).value for rho in rhos]
    chosen = {
        place: scores(X, data.y, split.train, split.test, words, GRID[place]) for place in {*areas.argmax(axis=0)}
    }
    of_bounds = zip(areas.argmax(axis=0), rhos, strict=True)
    return [1 - true_positive_rates(data.y[split.test], chosen[place], np.array([rho]))[0] for place, rho in of_bounds]


def test_stored_misses_are_of_the_data_sets_with_words_or_missing_values():
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    assert len({(row["data"], row["rho"], row["split"]) for row in rows}) == len(rows)
    known = bounds()
    for name in {row["data"] for row in rows}:
        assert {row["rho"] for row in rows if row["data"] == name} == {*known[name]}
        assert len({row["split"] for row in rows if row["data"] == name}) == SPLITS


@pytest.mark.slow  # fits sixty models of one small data set
def test_a_stored_row_is_measured_again():
    row = next(row for row in json.loads(STORED.read_text(encoding="utf-8")) if row["data"] == "keel_saheart")
    data = npbench.load_dataset("keel_saheart")
    found = [misses(data, [row["rho"]], row["split"], is_native)[0] for is_native in (True, False)]
    assert found == pytest.approx([row["native"], row["coded"]], abs=0.05)


if __name__ == "__main__":
    from store import here

    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    for name, rhos in bounds().items():
        data = npbench.load_dataset(name)
        if not has_words_or_gaps(data) or any(row["data"] == name for row in rows):
            continue
        about = {"data": name, "n": data.n_samples, "words": 0, "gaps": bool(data.has_missing)}
        if data.categorical is not None:
            about["words"] = int(data.categorical.sum())
        for repeat in range(SPLITS):
            found = (misses(data, rhos, repeat, is_native) for is_native in (True, False))
            for rho, native, coded in zip(rhos, *found, strict=True):
                row = {**about, "rho": rho, "split": repeat, "native": native, "coded": coded, **here()}
                rows.append(row)
                print(row, flush=True)
        STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
