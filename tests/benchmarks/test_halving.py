"""Searches in rungs against whole searches, of real data sets and of tables.

`python tests/benchmarks/test_halving.py` stores the rows that it measures, and leaves out those that are stored. Rungs
are taken however short the search; the first has a quarter of the rows, of 10,000 rows 3000.
"""

import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from sklearn.model_selection import StratifiedKFold

import npbench
from npbench.contracts import resolve
from npbench.estimators import halving
from npbench.evaluation.grids import combinations, grid_values
from npbench.numerics.rates import pooled_rates
from npbench.problem import NeymanPearson
from npbench.registry import installed
from npbench_two_nu_svm.selection import _by_bandwidth

STORED = Path(__file__).parents[2] / "results" / "published" / "halving.json"
REAL = ("banana", "letter", "prompt_injection", "proteomics")  # of np_svm_thresholds
# the ten tables of test_other_tables.py that have most rows: 10,000 to 43,699
TABLES = ("carData/MplsStops", "wooldridge/labsup", "Ecdat/VietNamI", "stevedata/mm_nhis", "wooldridge/happiness")
TABLES += (
    "medicaldata/covid_testing",
    "modeldata/hotel_rates",
    "Stat2Data/YouthRisk2007",
    "stevedata/wvs_usa_abortion",
)
TABLES += ("AER/SmokeBan",)
OF_SUITES = (*REAL, "ada", "caravan", "email", "keel_page_blocks0", "magic", "sylva")  # for slow searches
ROWS, OTHERS = {"gen": 4000, "two_nu_svm": 1500, "ac_svm_linear": 4000}, 10_000  # searches of more take too long
RHO = 0.1
COARSE = [0.01, 0.1, 1.0, 10.0, 100.0]  # costs of ac_svm: 250 candidates
LEAVES = {"min_samples_leaf": [1, 5, 20, 50]}
ROUNDS = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]}
SEARCHES = {
    "np_svm": ({}, None),
    "ac_svm": ({}, {"C_pos": COARSE, "C_neg": COARSE, "gamma": ["geomspace", 5e-5, 5000, 10]}),
    "gen": ({}, None),
    "two_nu_svm": ({}, None),
    "ac_svm_linear": ({"kernel": "linear"}, {"C_pos": COARSE, "C_neg": COARSE}),
    "random_forest": (
        {"estimator": "sklearn.ensemble.RandomForestClassifier"},
        {"params": combinations(LEAVES)},
    ),
    "gradient_boosting": (
        {"estimator": "sklearn.ensemble.HistGradientBoostingClassifier"},
        {"params": [{"max_iter": 50, **params} for params in combinations(ROUNDS)]},
    ),
}


class Measured(NeymanPearson):
    """The problem, which keeps the standard error of each loss."""

    errors: ClassVar[dict[float, float]] = {}

    def loss(self, folds):
        """Return the loss, and note its standard error from those of both rates."""
        loss = super().loss(folds)
        self.errors[loss] = error(*pooled_rates(folds), np.concatenate([y for y, _ in folds]))
        return loss


def error(p_nd, p_fa, y):
    """Return the standard error of a loss with these rates."""
    n_pos, n_neg = np.sum(y > 0), np.sum(y < 0)
    variance = p_nd * (1 - p_nd) / n_pos + (p_fa > RHO) * p_fa * (1 - p_fa) / n_neg / RHO**2
    return float(np.sqrt(variance))


def compared(name, X, y):
    """Return losses, on all rows, of the choices of both searches, with the standard error, and CPU seconds."""
    fixed, search = SEARCHES[name]
    description = installed().solver("scorer" if "estimator" in fixed else name.removesuffix("_linear"))
    in_rungs, error_of = resolve(description.selection), lambda found: Measured.errors[found.loss]
    search = {key: grid_values(grid) for key, grid in (search or description.search).items()}
    make = partial(resolve(description.estimator), **fixed)
    known = {"rho": RHO, "random_state": 0}
    make = partial(make, **{key: value for key, value in known.items() if key in make().get_params()})
    if name == "two_nu_svm":  # its rungs are of bandwidths
        in_rungs, error_of = _by_bandwidth, lambda found: error(*rates_of(found), y)
        make, search = partial(make, nu_pos=search["nu_pos"], nu_neg=search["nu_neg"]), {"gamma": search["gamma"]}
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    found, seconds = [], []
    for select in (in_rungs.__wrapped__, in_rungs.with_limit(0)):
        start = time.process_time()
        found.append(select(make, X, y, folds, Measured(RHO), search))
        seconds.append(time.process_time() - start)
    every, halved = found
    chosen, best = (combinations(search).index({key: one.params[key] for key in search}) for one in (halved, every))
    loss = every.losses[chosen]
    return {
        "whole": every.losses[best],
        "halved": loss,
        "error": error_of(every),
        "seconds": seconds[0],
        "halved_seconds": seconds[1],
    }


def rates_of(found):
    """Return P_nd and P_fa of the candidate that a search over nu chose."""
    (one,) = {(one.p_nd, one.p_fa) for one in found.trace if all(getattr(one, k) == v for k, v in found.params.items())}
    return one


def samples(name, most_rows):
    """Return at most so many standardised samples of a data set, or of a table: words are indicators, gaps medians."""
    if "/" in name:
        import test_other_tables

        test_other_tables.MOST_ROWS = most_rows
        (line,) = (line for line in test_other_tables.TABLES.split("\n") if line.startswith(f"{name},"))
        frame, y = test_other_tables.samples(line)
        words = [column.name for column in frame if column.dtype == pl.String]
        few = [word for word in words if frame[word].n_unique() <= 30]
        plain = frame.drop(words).cast(pl.Float64).with_columns(pl.all().fill_null(pl.all().median()))
        X, y = pl.concat([plain, frame.select(few).to_dummies()], how="horizontal").to_numpy(), np.where(y > 0, 1, -1)
    else:
        data = npbench.load_dataset(name)
        X, y = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X), data.y
        rows = np.random.default_rng(0).permutation(len(y))[:most_rows]
        X, y = np.asarray(X, float)[rows], np.asarray(y)[rows]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_stored_choices_are_within_noise():
    """Of all differences, on the same folds, few exceed the standard error of a loss."""
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    assert {row["solver"] for row in rows} == set(SEARCHES)
    assert all(row["halved"] >= row["whole"] for row in rows)
    assert np.mean([row["halved"] - row["whole"] > row["error"] for row in rows]) <= 0.1


if __name__ == "__main__":
    from store import here

    warnings.simplefilter("ignore")
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    for solver in SEARCHES:
        most_rows = ROWS.get(solver, OTHERS)
        halving.LEAST_ROWS, halving.LEAST_OF_CLASS = min(3000, most_rows // 4), min(300, most_rows // 40)
        for data in OF_SUITES if solver in ROWS else (*REAL, *TABLES):
            if not any((row["solver"], row["data"]) == (solver, data) for row in rows):
                X, y = samples(data, most_rows)
                row = {"solver": solver, "data": data, "n": len(y), "features": X.shape[1]}
                rows.append({**row, **compared(solver, X, y), **here()})
                print(rows[-1], flush=True)
                STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
