"""How often thresholds from scores out of bag and out of fold exceed the bound, by true rates on real data.

Write the table of the docs again with `python tests/benchmarks/test_measured.py`: half an hour.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import npbench
from npbench import NPThresholdClassifier
from npbench.thresholding.ensemble import SoftVote

STORED = Path(__file__).parents[2] / "results" / "published" / "measured.json"
DATA, SIZES, RHOS, DRAWS = ("keel_phoneme", "keel_satimage", "magic", "keel_spambase"), (150, 400), (0.1, 0.05), 60
MODELS = {  # classifier, cv and share of the draws
    "random forest": (lambda seed: RandomForestClassifier(random_state=seed), "oob", 1.0),
    "extra trees": (lambda seed: ExtraTreesClassifier(bootstrap=True, random_state=seed), "oob", 1.0),
    "boosting": (lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed), 5, 0.5),
    "SVM": (lambda seed: make_pipeline(StandardScaler(), SVC()), 5, 1.0),
    "random forest, half held out": (lambda seed: RandomForestClassifier(random_state=seed), None, 1.0),
    "NPEnsemble": (lambda seed: SoftVote(random_state=seed), "oob", 1.0),
}


def drawn(data, n, seed):
    """Return a training part with n negatives, and the other samples."""
    random = np.random.default_rng(seed)
    negatives, positives = (random.permutation(np.flatnonzero(data.y == sign)) for sign in (-1, 1))
    n_pos = round(n * len(positives) / len(negatives))
    train, rest = (
        np.concatenate(part) for part in ((negatives[:n], positives[:n_pos]), (negatives[n:], positives[n_pos:]))
    )
    return data.X[train], data.y[train], data.X[rest], data.y[rest]


def counted(name, n, model, draws):
    """Return for each bound how many draws have a true rate above it, and the mean misses."""
    data, (make, cv, _) = npbench.load_dataset(name), MODELS[model]
    rates = np.empty((draws, len(RHOS), 2))
    for seed in range(draws):
        X, y, others, of_others = drawn(data, n, seed)
        fitted = NPThresholdClassifier(make(seed), rho=RHOS[0], cv=cv, random_state=seed, pos_label=1).fit(X, y)
        scores = fitted.scores(others)
        for place, rho in enumerate(RHOS):
            alarms = scores > fitted.with_threshold(rho=rho).threshold_
            rates[seed, place] = alarms[of_others < 0].mean(), 1 - alarms[of_others > 0].mean()
    case = {"data": name, "n": n, "model": model, "draws": draws}
    return [
        {**case, "rho": rho, "above": int(np.sum(p_fa > rho)), "misses": round(float(np.mean(p_nd)), 3)}
        for rho, (p_fa, p_nd) in zip(RHOS, rates.transpose(1, 2, 0), strict=True)
    ]


@pytest.mark.slow  # a hundred fits
def test_stored_counts_are_those_of_the_thresholds():
    stored = json.loads(STORED.read_text(encoding="utf-8"))["cells"]
    case = {"data": "keel_phoneme", "n": 150, "model": "SVM"}
    found = counted(*case.values(), draws=DRAWS)
    assert found == [row for row in stored if case.items() <= row.items()]


def summed(rows):
    """Return the counts by model, bound and size over data sets."""
    for model in MODELS:
        for rho in RHOS:
            for n in SIZES:
                same = [row for row in rows if (row["model"], row["rho"], row["n"]) == (model, rho, n)]
                if same:
                    above, draws = (sum(row[name] for row in same) for name in ("above", "draws"))
                    yield {"model": model, "rho": rho, "n": n, "above": above, "draws": draws}


if __name__ == "__main__":
    done = json.loads(STORED.read_text(encoding="utf-8"))["cells"] if STORED.exists() else []
    for name in DATA:
        for n in SIZES:
            for model, (*_, share) in MODELS.items():
                if not any((row["data"], row["n"], row["model"]) == (name, n, model) for row in done):
                    done += counted(name, n, model, round(share * DRAWS))
                    content = {"rows": list(summed(done)), "cells": done}
                    STORED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
                    print(done[-1], file=sys.stderr)
