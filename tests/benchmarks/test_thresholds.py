"""Thresholds that bound the false-alarm rate against MAPIE: time and miss rate.

Scores are N(0, 1) for negatives and N(2, 1) for positives; the experiment ``guarantee`` prints the rates measured here.
MAPIE gets the posterior probability, and equal numbers of positives and negatives to choose its threshold.
"""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from npbench.numerics.thresholds import umbrella

mapie = pytest.importorskip("mapie.risk_control")

RHO = DELTA = 0.05
SAMPLES = 200
SEQUENCE = {"fwer_method": "fixed_sequence", "list_predict_params": np.linspace(0.999, 0, 1000)}
SETTINGS = {"as it comes": {}, "sequence": SEQUENCE}


def posterior(X):
    positive = expit(2 * X[:, 0] - 2)
    return np.column_stack([1 - positive, positive])


def theirs(negatives, positives, **options):
    controller = mapie.BinaryClassificationController(posterior, "fpr", RHO, confidence_level=1 - DELTA, **options)
    y = np.repeat([0, 1], [len(negatives), len(positives)])
    controller.calibrate(np.concatenate([negatives, positives])[:, None], y)
    found = controller.best_predict_param
    return None if found is None else (logit(found) + 2) / 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n", [59, 100, 200, 500, 1000])
def test_mapie(side_by_side, n, setting):
    rng, options = np.random.default_rng(0), SETTINGS[setting]
    samples = [(rng.normal(size=n), rng.normal(2, size=n)) for _ in range(SAMPLES)]
    ours = [umbrella(negatives, RHO, DELTA) for negatives, _ in samples]
    found = [theirs(*sample, **options) for sample in samples]
    finite = [threshold for threshold in found if threshold is not None]
    negatives, positives = samples[0]
    what, size, peer = "threshold with a guarantee", f"n={n}", f"MAPIE, {setting}"
    quality = ("P_nd", np.mean(norm.cdf(ours, loc=2)), np.mean(norm.cdf(finite, loc=2)) if finite else np.nan)
    by_umbrella, by_mapie = partial(umbrella, negatives, RHO, DELTA), partial(theirs, negatives, positives, **options)
    side_by_side(by_umbrella, by_mapie, what, size, peer, quality)
