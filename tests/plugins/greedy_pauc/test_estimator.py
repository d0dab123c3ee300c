"""The greedy combination: against a search written out with all pairs, exact cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.pauc_metrics import rank_range
from npbench_greedy_pauc.estimator import GreedyPAUC


def sample(n=150, share=0.3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < round(share * n), 1, -1))
    return rng.normal(size=(n, d)) + 0.7 * (y > 0)[:, None] * np.linspace(1, -1, d), y


X, Y = sample()
RANGE = (0.02, 0.3)


def area(scores, y=Y, fpr_range=RANGE):
    """Return the share of ordered pairs in the range, one by one."""
    first, last = rank_range(int(np.sum(y < 0)), *fpr_range)
    return np.mean(scores[y > 0][:, None] > np.sort(scores[y < 0])[::-1][None, first:last])


def by_definition(X, y, fpr_range, n_intervals):
    """Return the areas after each feature, in exact order of the features alone, by trying all weights."""
    Z = X / np.std(X, axis=0)
    alone = [max((area(sign * z, y, fpr_range), sign) for sign in (1.0, -1.0)) for z in Z.T]
    order = sorted(range(Z.shape[1]), key=lambda j: -alone[j][0])
    score = alone[order[0]][1] * Z[:, order[0]]
    areas = [area(score, y, fpr_range)]
    for j in order[1:]:
        score = score / np.std(score)
        weights = sorted((2 * k / n_intervals - 1 for k in range(n_intervals + 1)), key=abs)
        scores = [(1 - abs(t)) * score + t * Z[:, j] for t in weights]
        best = max(range(len(scores)), key=lambda k: area(scores[k], y, fpr_range))
        score = scores[best]
        areas.append(area(score, y, fpr_range))
    return areas


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of constant features
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.3), (0.0, 1.0)])
@given(st.integers(0, 10**6), st.integers(20, 150), st.integers(1, 6), st.sampled_from([2, 10, 20]), st.booleans())
def test_equals_the_search_by_definition(fpr_range, seed, n, d, n_intervals, coarse):
    Z, y = sample(n, d=d, seed=seed)
    Z = np.round(Z) if coarse else Z
    model = GreedyPAUC(fpr_range=fpr_range, n_intervals=n_intervals).fit(Z, y)
    areas = [step.objective for step in model.trace_]
    np.testing.assert_allclose(areas, by_definition(Z, y, fpr_range, n_intervals))
    assert areas == sorted(areas)
    assert model.objective_ == area(model.decision_function(Z), y, fpr_range)
    assert model.objective_ == pytest.approx(areas[-1], abs=1e-12)
    assert sorted(model.order_.tolist()) == list(range(d))


def test_units_and_reversals_of_features_do_not_matter():
    units = np.array([1e-150, -1.0, 1e3, -1e150])
    one, other = GreedyPAUC(fpr_range=RANGE).fit(X, Y), GreedyPAUC(fpr_range=RANGE).fit(X * units, Y)
    np.testing.assert_allclose(other.coef_ * units, one.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.decision_function(X * units), one.decision_function(X), atol=1e-9)
