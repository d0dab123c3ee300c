"""Choices along a path: every classifier and threshold tried by hand, costs of folds by definition, scipy's test."""

import numpy as np
import pytest
from scipy import stats

from npbench.numerics.rates import rates
from npbench_svm_path.choice import ALL, INT, ONE, Validated, by_bound, by_cost, curves

GAMMAS = np.array([1e-6, 0.05, 0.3, 0.5, 0.8, 0.999])


def validated(seed=0, n=90, n_folds=10, lines=2, decimals=None, trained=None, drift=4.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    trained = np.linspace(0.1, 0.9, 9) if trained is None else trained
    k = lines * len(trained)
    scores = rng.normal(size=n) + rng.normal(size=(k, n)) * 0.7 + np.linspace(0.2, 1.2, k)[:, None] * y
    scores += np.resize(drift * (trained - 0.5), k)[:, None]
    scores = scores if decimals is None else np.round(scores, decimals)
    return Validated(y, np.arange(n_folds) * n // n_folds, trained, scores)


def thresholds(scores):
    levels = np.unique(scores)
    return np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])


def cost(y, scores, gamma):
    return np.mean(~(y * scores > 0) * np.where(y > 0, gamma, 1 - gamma))


def fold_costs(v, row, threshold, gamma):
    parts = zip(np.split(v.y, v.starts[1:]), np.split(v.scores[row] - threshold, v.starts[1:]), strict=True)
    return np.array([cost(y, scores, gamma) for y, scores in parts])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("seed", range(3))
def test_no_classifier_and_no_threshold_costs_less(seed, decimals):
    v = validated(seed, decimals=decimals)
    chosen = by_cost(v, GAMMAS, level=1)
    for i, gamma in enumerate(GAMMAS):
        own = int(np.argmin(np.abs(v.trained - gamma)))
        table = [[cost(v.y, row - t, gamma) for t in thresholds(row)] for row in v.scores]
        expected = {ONE: cost(v.y, v.scores[own], gamma), INT: min(table[own]), ALL: min(map(min, table))}
        for kind, least in expected.items():
            found = cost(v.y, v.scores[chosen[kind].classifier[i]] - chosen[kind].threshold[i], gamma)
            assert found == pytest.approx(least, abs=1e-12)
        assert chosen[ONE].classifier[i] == chosen[INT].classifier[i] == own
        assert chosen[ONE].threshold[i] == 0


def test_only_what_is_significantly_better_on_the_folds_is_kept():
    gammas = np.array([0.1, 0.5, 0.82])
    v = validated(1, n=200, drift=1.0, lines=1)
    kept = by_cost(v, gammas)
    best = by_cost(v, gammas, level=1)
    for kind in (INT, ALL):
        assert 0 < np.sum(kept[kind].kept) < len(gammas)
        for i, gamma in enumerate(gammas):
            one = best[ONE].classifier[i]
            row, threshold = best[kind].classifier[i], best[kind].threshold[i]
            differences = np.round(fold_costs(v, one, 0, gamma) - fold_costs(v, row, threshold, gamma), 12)
            nonzero = differences[differences != 0]
            p = stats.wilcoxon(nonzero, alternative="greater").pvalue if len(nonzero) else 1.0
            assert kept[kind].kept[i] == (p <= 0.05)
            expected = (row, threshold) if p <= 0.05 else (one, 0.0)
            assert (kept[kind].classifier[i], kept[kind].threshold[i]) == expected


def test_four_folds_can_show_nothing_and_five_can():
    y = np.tile([1, 1, -1, -1], 10)
    trained = np.array([0.25, 0.5, 0.75])
    scores = np.stack([y - 1.5, y + 1.5, y + 1.5]).astype(float)  # nothing but the intercept is wrong
    for n_folds, kept in ((4, False), (5, True)):
        v = Validated(y, np.arange(n_folds) * 40 // n_folds, trained, scores)
        assert by_cost(v, np.array([0.5]))[INT].kept.tolist() == [kept]


def test_ties_go_to_the_nearest_classifier_and_threshold():
    v = validated(2)
    same = Validated(v.y, v.starts, v.trained, np.tile(np.array([3.0, 1.0])[(v.y < 0).astype(int)], (18, 1)))
    one, shifted, every = by_cost(same, np.array([0.11, 0.52, 0.89]), level=1)
    assert every.classifier.tolist() == one.classifier.tolist() == [0, 4, 8]
    assert shifted.threshold.tolist() == every.threshold.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.4])
def test_the_fewest_misses_at_a_bound(rho, decimals):
    v = validated(4, decimals=decimals)
    own = int(np.argmin(np.abs(v.trained - 0.7)))
    rows = {ONE: range(len(v.trained)), INT: [own], ALL: range(len(v.scores))}
    for kind, chosen in enumerate(by_bound(v, 0.7, rho)):
        cuts = (lambda _: [0]) if kind == ONE else thresholds
        tried = [rates(v.y, v.scores[row] - t) for row in rows[kind] for t in cuts(v.scores[row])]
        kept = [p_nd for p_nd, p_fa in tried if p_fa <= rho + 1e-9]
        p_nd, p_fa = rates(v.y, v.scores[chosen.classifier[0]] - chosen.threshold[0])
        if kept:
            assert p_fa <= rho + 1e-9
            assert p_nd == min(kept)
        else:
            assert (p_fa, p_nd) == min((p_fa, p_nd) for p_nd, p_fa in tried)


def test_curves_by_both_are_below_the_others():
    v = validated(5)
    asymmetry, intercept, both = (curve.hull() for curve in curves(v, 0.5))
    for curve in (asymmetry, intercept):
        for p_fa, p_nd in zip(curve.p_fa, curve.p_nd, strict=True):
            assert np.interp(p_fa, both.p_fa, both.p_nd) <= p_nd + 1e-12
    assert np.all(intercept.classifier == 4)


def test_one_training_asymmetry_is_enough():
    v = validated(6, trained=np.array([0.5]), lines=1)
    assert [chosen.classifier.tolist() for chosen in by_cost(v, np.array([0.1, 0.9]))] == [[0, 0]] * 3
