"""Searches in rungs: which rows and candidates they take, and that they find what the whole search finds."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from npbench.contracts import Selection, resolve
from npbench.estimators import halving
from npbench.estimators.halving import Candidates, halved
from npbench.evaluation.grids import combinations
from npbench.evaluation.selection import least_loss
from npbench.numerics.rates import np_score
from npbench.problem import NeymanPearson
from npbench.registry import installed
from npbench_ac_svm.estimator import ACSVM
from npbench_ac_svm.selection import PAIRS
from npbench_scorer.estimator import Scorer
from npbench_scorer.selection import _limit

N = 20_000
Y = np.where(np.arange(N) % 5 == 0, 1, -1)
PARTS = np.arange(N) % 4
FOLDS = [tuple(np.flatnonzero(side) for side in (k != PARTS, k == PARTS)) for k in range(3)]
GRID = {"C": list(range(10)), "gamma": list(range(10))}
CHOICE = {"C": 7, "gamma": 3}


def loss_of(candidate):
    return abs(candidate["C"] - 7) + abs(candidate["gamma"] - 3) / 10


def searched(limit, y=Y, folds=FOLDS, last=halving.LAST):
    """Return the result of a search with known losses, and the candidates and folds of each of its calls."""
    calls = []

    @halved(limit, last)
    def search(make, X, y, folds, problem, search, n_threads):
        candidates = combinations(search)
        calls.append((candidates, folds))
        return least_loss(candidates, [loss_of(one) for one in candidates], 1)

    return search(lambda **_: None, np.zeros((len(y), 1)), y, folds, None, GRID), calls


@pytest.mark.parametrize("last", [halving.LAST, 5])
def test_the_last_candidates_have_all_rows_and_the_others_have_fewer_of_the_same(last):
    found, calls = searched(N, last=last)
    sizes, counts = [], []
    for candidates, folds in calls:
        counts.append(len(candidates))
        sizes.append(len(np.unique(np.concatenate(folds[0]))))
        for (fit, validate), (all_fit, all_validated) in zip(folds, FOLDS, strict=True):
            assert np.isin(fit, all_fit).all()
            assert np.isin(validate, all_validated).all()
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1], sizes[-1]) == (100, last, N)
    assert sizes == sorted(sizes)
    assert sizes[0] == pytest.approx(halving.LEAST_ROWS, rel=0.01)
    for (_, few), (_, more) in pairwise(calls):
        assert all(
            np.isin(a, b).all() for one, other in zip(few, more, strict=True) for a, b in zip(one, other, strict=True)
        )
    for _, folds in calls:  # each class has the share of the rung
        assert np.mean(Y[folds[0][0]] > 0) == pytest.approx(np.mean(Y[FOLDS[0][0]] > 0), abs=0.02)
    assert (found.params, found.loss, found.n_candidates, found.n_unconverged) == (CHOICE, 0.0, 100, len(calls))
    assert np.isfinite(found.losses).sum() == last
    assert found.losses[73] == 0.0


def test_the_best_candidates_go_on_whatever_their_place_in_the_grid():
    _, calls = searched(N)
    for (_, _), (kept, _) in pairwise(calls):
        worst = max(map(loss_of, kept))
        left_out = [one for one in calls[0][0] if one not in kept]
        assert all(loss_of(one) >= worst for one in left_out)


def test_small_searches_and_few_samples_of_a_class_take_all_rows():
    whole, calls = searched(100 * N)
    assert len(calls) == 1
    assert len(whole.losses) == 100
    assert np.isfinite(whole.losses).all()
    rare = np.where(np.arange(N) < halving.LEAST_OF_CLASS, 1, -1)
    _, calls = searched(N, rare)
    assert [len(candidates) for candidates, _ in calls] == [100]


def test_candidates_stand_for_a_grid():
    chosen = [{"C": 1, "params": {"a": 1}}, {"C": 2, "params": {"a": 1}}, {"C": 1, "params": {"a": 2}}]
    some = Candidates(chosen)
    assert dict(some) == {"C": [1, 2], "params": [{"a": 1}, {"a": 2}]}
    assert combinations(some) == chosen


def test_costs_that_meet_the_bound_on_all_rows_are_found_from_few():
    """False-alarm rates fall with the sum of the negatives' costs; other parameters decide how good scores are."""
    costs, gammas, rho, sums = np.geomspace(0.01, 100, 9).tolist(), [0.1, 1.0, 10.0], 0.05, []

    def whole(make, X, y, folds, problem, search, n_threads):
        candidates = combinations(search)
        share = sum(len(validate) for _, validate in folds) / sum(len(validate) for _, validate in FOLDS)
        models = [make(**one) for one in candidates]
        costs_of = [share * np.array([model.C_pos, model.C_neg]) for model in models]
        sums.append({tuple(one.values()): costs for one, costs in zip(candidates, costs_of, strict=True)})
        cut = 2.0 + np.log([C_neg for _, C_neg in costs_of])
        area = 4.0 - np.abs(
            np.log10([one["gamma"] * C_pos for one, (C_pos, _) in zip(candidates, costs_of, strict=True)])
        )
        p_fa, p_nd = 1 / (1 + np.exp(cut)), 1 / (1 + np.exp(area - cut))
        losses = [np_score(*rates, rho) for rates in zip(p_nd, p_fa, strict=True)]
        return least_loss(candidates, losses, 0, list(zip(p_nd, p_fa, strict=True)))

    problem, search = NeymanPearson(rho), {"C_pos": costs, "C_neg": costs, "gamma": gammas}
    arguments = (ACSVM, np.zeros((N, 1)), Y, FOLDS, problem, search, 1)
    best = whole(*arguments)
    sums.clear()
    found = halved(0, 3, ("C_pos", "C_neg"))(whole)(*arguments)
    assert (found.params, found.loss) == (best.params, best.loss)
    assert found.rates == ()
    assert len(sums[0]) == 243
    assert len(sums[-1]) == np.isfinite(found.losses).sum() == 9  # three pairs of gamma and C_pos, three costs of each
    for few in sums[:-1]:  # the sum over samples of a candidate is the same in each rung
        assert all(few[one] == pytest.approx(costs, rel=0.01) for one, costs in sums[-1].items())
    # without it, the best candidates are above the bound on few rows, and stop
    assert halved(0, 3)(whole)(*arguments).loss > best.loss + 0.05


def test_values_that_are_lists_belong_together_too():
    candidates = [{"C_pos": 1.0, "C_neg": C, "layers": layers} for layers in ([3], [3, 2]) for C in (2.0, 1.0)]
    assert halving._ByCurve(candidates, ("C_pos", "C_neg"), 0.1).groups == [[1, 0], [3, 2]]


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    return rng.normal(size=(n, 3)) * np.where(y > 0, 0.5, 1.0)[:, None], y


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["np_svm", "ac_svm"])
def test_rungs_find_a_candidate_as_good_as_the_whole_search(name, monkeypatch):
    monkeypatch.setattr(halving, "LEAST_ROWS", 200)
    monkeypatch.setattr(halving, "LEAST_OF_CLASS", 50)
    X, y = sample(800)
    folds = [(np.flatnonzero(PARTS[:800] != k), np.flatnonzero(PARTS[:800] == k)) for k in range(4)]
    costs = (
        {"C": [0.01, 0.1, 1.0, 10.0]} if name == "np_svm" else {"C_pos": [0.1, 1.0, 3.0], "C_neg": [0.1, 1.0, 3.0, 9.0]}
    )
    search = {**costs, "gamma": [0.001, 0.1, 1.0, 100.0]}
    description = installed().solver(name)
    select, make = resolve(description.selection), partial(resolve(description.estimator), random_state=0)
    arguments = (make, X, y, folds, NeymanPearson(0.2), search)
    every, found = select.__wrapped__(*arguments), select.with_limit(0)(*arguments)
    last = {place: loss for place, loss in enumerate(found.losses) if np.isfinite(loss)}
    assert len(last) == (halving.LAST if name == "np_svm" else 3 * PAIRS)
    assert found.loss == min(last.values())
    noise = 2 * np.sqrt(0.25 / np.sum(y > 0))  # of a difference of two miss rates, at most
    assert every.losses[min(last, key=last.get)] <= every.loss + noise


@pytest.mark.parametrize(
    ("name", "instead", "settings", "n_gammas", "in_scorer"),
    [
        ("two_nu_svm", "ac_svm", {}, 200, False),  # in rungs
        ("two_nu_svm", "ac_svm", {}, 2, False),
        ("two_nu_svm", "ac_svm", {"nu_pos": 0.5, "nu_neg": 0.5}, 2, True),
        ("gen", "n_components", {"n_components": None}, 600, False),
        ("gen", "n_components", {"n_components": None}, 2, False),
        ("svm_path", "ac_svm", {"kernel": "rbf"}, 2, False),
    ],
)
def test_too_many_samples_are_refused_before_the_first_fit(name, instead, settings, n_gammas, in_scorer, monkeypatch):
    """Where each fold would pass."""
    monkeypatch.setattr(halving, "LEAST_ROWS", 100)
    monkeypatch.setattr(halving, "LEAST_OF_CLASS", 20)
    description, fits = installed().solver(name), []
    estimator = resolve(description.estimator)
    for method in ("_fit", "search", "_searched"):
        if hasattr(estimator, method):
            monkeypatch.setattr(estimator, method, lambda *_, **__: fits.append(1))
    X, y = sample(400)
    folds = [(np.flatnonzero(PARTS[:400] != k), np.flatnonzero(PARTS[:400] == k)) for k in range(4)]
    make = partial(estimator, **settings, cache_size=8 * 350**2 / 2**20)
    select = resolve(description.grid_search if in_scorer else description.selection)
    with pytest.raises(ValueError, match=f"order 400.*{instead}"):
        select(make, X, y, folds, NeymanPearson(0.1), {"gamma": np.geomspace(0.1, 1.0, n_gammas).tolist()})
    assert not fits


def test_a_scorer_takes_rungs_as_what_is_inside():
    limits = {
        name: _limit(partial(Scorer, estimator=name))
        for name in ("np_svm", "sklearn.ensemble.RandomForestClassifier", "sklearn.linear_model.LogisticRegression")
    }
    own = resolve(installed().solver("np_svm").selection).limit
    assert list(limits.values()) == [own, 300_000, np.inf]


def test_forests_are_searched_in_rungs(monkeypatch):
    sizes = []

    X, y = sample(N)
    folds = [(np.flatnonzero(PARTS != 0), np.flatnonzero(PARTS == 0))]

    def grid_search(make, X, y, folds, problem, search, n_threads):
        candidates = combinations(search)
        sizes.append((len(candidates), len(folds[0][0])))
        return Selection(candidates[0], 0.0, len(candidates), 0, [float(k) for k in range(len(candidates))])

    monkeypatch.setattr("npbench_scorer.selection.grid_search", grid_search)
    make = partial(Scorer, estimator="sklearn.ensemble.RandomForestClassifier", random_state=0)
    select = resolve(installed().solver("scorer").selection).with_limit(0)
    params = [{"min_samples_leaf": leaf} for leaf in (1, 5, 20, 50)]
    found = select(make, X, y, folds, NeymanPearson(0.1), {"params": params})
    assert sizes == [(4, pytest.approx(0.75 * halving.LEAST_ROWS, rel=0.01)), (2, 15_000)]
    assert found.params == {"params": params[0]}
