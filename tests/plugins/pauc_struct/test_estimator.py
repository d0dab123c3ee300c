"""SVMs for the partial and the full AUC as estimators: certificates, collapse, and a search along C."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem

from class_samples import shuffled
from npbench.numerics.bundle import minimise
from npbench.numerics.pauc_metrics import pairwise
from npbench.numerics.pauc_surrogates import StructuralRisk
from npbench_auc_svm.estimator import AUCSVM
from npbench_pauc_struct.estimator import PAUCStruct

X, Y = shuffled()
BOTH = [PAUCStruct, AUCSVM]


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_attributes_match_their_definition(C):
    for model in (PAUCStruct(fpr_range=(0.0, 0.2), C=C), AUCSVM(C=C)):
        model.fit(X, Y)
        s = X @ model.coef_[0]
        last = 32 if isinstance(model, PAUCStruct) else 160
        best = np.sort(s[Y < 0])[::-1][:last]
        risk = np.maximum(1 - s[Y > 0][:, None] + best[None], 0).mean()
        assert model.objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + C * risk, rel=1e-9)
        assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_
        assert (model.converged_, model.status_, model.n_iter_) == (True, "converged", len(model.trace_))
        np.testing.assert_allclose(model.decision_function(X), s + model.intercept_[0])
        assert not np.any(model.decision_function(X) == 0)


def test_training_for_a_range_pays_there():
    """One direction is best near the top of the ranking, another one for the whole."""
    rng = np.random.default_rng(4)
    y = np.repeat([1, -1], [500, 4500])
    Z = rng.normal(scale=0.7, size=(5000, 2)) + np.where((y > 0)[:, None], [3.0, 0.0], [0.0, 2.0])
    Z[rng.choice(np.flatnonzero(y < 0), 225, replace=False)] += np.array([3.5, -4.5])
    part = PAUCStruct(fpr_range=(0.0, 0.1), C=100.0).fit(Z, y)
    full = AUCSVM(C=100.0).fit(Z, y)
    areas = [pairwise(y, model.decision_function(Z), 0.0, 0.1).value for model in (part, full)]
    assert areas[0] > areas[1] + 0.03
    assert PAUCStruct(fpr_range=(0.0, 1.0), C=100.0).fit(Z, y).objective_ == full.objective_


def test_kernel_map_is_nystroem_and_beats_linear_scores():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 2))
    y = np.where(np.sum(Z**2, axis=1) < 0.7, 1, -1)
    settings = {"n_components": 60, "gamma": 0.5, "random_state": 3}
    curved, straight = AUCSVM(C=100.0, **settings).fit(Z, y), AUCSVM(C=100.0, tol=1e-4).fit(Z, y)
    assert np.mean(curved.predict(Z) == y) > 0.95
    assert np.mean(straight.predict(Z) == y) < 0.8
    features = Nystroem(**settings).fit(Z)
    scores = features.transform(Z) @ curved.coef_[0] + curved.intercept_[0]
    np.testing.assert_allclose(curved.decision_function(Z), scores, atol=1e-9)
    again = AUCSVM(C=100.0, **settings).fit(Z, y)
    np.testing.assert_array_equal(again.decision_function(Z), curved.decision_function(Z))
    sparse = AUCSVM(C=100.0, **settings).fit(sp.csr_array(Z), y)
    np.testing.assert_allclose(sparse.decision_function(Z), scores, atol=0.05 * np.abs(scores).max())


def test_surrogates_and_methods_differ():
    narrow = {"fpr_range": (0.05, 0.2), "C": 100.0}
    tight, naive = (PAUCStruct(**narrow, surrogate=name, tol=1e-5).fit(X, Y) for name in ("tight", "naive"))
    assert abs(tight.objective_ - naive.objective_) > 0.01 * tight.objective_
    plain = PAUCStruct(**narrow, method="plain").fit(X, Y)
    assert plain.converged_
    assert plain.objective_ == pytest.approx(tight.objective_, rel=2e-3)
    assert plain.n_iter_ > PAUCStruct(**narrow).fit(X, Y).n_iter_


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_collapse_warns_and_ranks_as_well_as_for_the_full_auc(C):
    Z, y = shuffled(300, 3000, shift=1.0, d=10)
    with pytest.warns(ConvergenceWarning, match="PAUCStruct: w = 0 is optimal.*pauc_dc"):
        model = PAUCStruct(fpr_range=(0.02, 0.05), C=C).fit(Z, y)
    assert (model.status_, model.converged_) == ("collapsed", False)
    assert model.objective_ == C
    assert model.trace_[-1].bound >= C * (1 - 1e-3)
    areas = [pairwise(y, one.decision_function(Z), 0.02, 0.05).value for one in (model, AUCSVM(C=C).fit(Z, y))]
    assert areas[0] >= areas[1] > 0.15
    np.testing.assert_allclose(np.linalg.norm(model.coef_), np.linalg.norm(AUCSVM(C=C).fit(Z, y).coef_))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.any_processor
def test_collapse_returns_the_best_ranking_for_any_start():
    span, ranks = (0.02, 0.05), (12, 30)
    gains = []
    for seed in (0, 1, 7, 8):
        Z, y = shuffled(60, 600, shift=1.0, seed=seed)
        met = [AUCSVM(C=100.0).fit(Z, y).coef_[0]]
        minimise(Z, StructuralRisk(y, *ranks), 100.0, tol=1e-3, watch=lambda w, _, met=met: met.append(w))
        start = PAUCStruct(fpr_range=span, C=1.0).fit_from(Z, y)
        cold = PAUCStruct(fpr_range=span, C=100.0).fit(Z, y)
        warm = PAUCStruct(fpr_range=span, C=100.0)
        warm.fit_from(Z, y, start)
        assert cold.status_ == warm.status_ == "collapsed"
        np.testing.assert_array_equal(cold.coef_, warm.coef_)
        areas = [pairwise(y, Z @ w, *span).value for w in met]
        assert pairwise(y, cold.decision_function(Z), *span).value == pytest.approx(max(areas), abs=1e-12)
        gains.append(max(areas) - areas[0])
    assert max(gains) > 0.0  # rankings that the search passes are not all worse than those of the full AUC


def test_constant_scores_do_not_count_as_a_ranking():
    """The best negatives are at either end: the planes cancel, and w = 0 would have the partial AUC of ties, 1/2."""
    Z = np.concatenate([np.full(50, 1.0), np.full(10, 10.0), np.full(10, -10.0), np.zeros(80)])[:, None]
    y = np.repeat([1, -1], [50, 100])
    with pytest.warns(ConvergenceWarning, match="w = 0 is optimal"):
        model = PAUCStruct(fpr_range=(0.0, 0.1)).fit(Z, y)
    assert model.coef_[0, 0] > 0
    assert model.status_ == "collapsed"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0]))
def test_collapse_is_certified_by_the_optimum(seed, shift):
    Z, y = shuffled(30, 300, shift=shift, d=3, seed=seed)
    model = PAUCStruct(fpr_range=(0.02, 0.05), C=10.0, tol=1e-6).fit(Z, y)
    risk = StructuralRisk(y, 6, 15)  # compared with all orderings in tests/numerics
    if model.status_ == "collapsed":
        for w in [model.coef_[0], *np.random.default_rng(seed).normal(size=(30, 3))]:
            for v in np.outer((1e-3, 0.1, 1.0, 10.0), w / np.linalg.norm(w)):
                assert 0.5 * v @ v + 10.0 * risk(Z @ v)[0] >= 10.0 * (1 - 2e-6)
    else:
        v = model.coef_[0]
        assert 0.5 * v @ v + 10.0 * risk(Z @ v)[0] < 10.0


@pytest.mark.parametrize("random_state", [None, 0])
def test_planes_of_another_kernel_map_are_not_reused(random_state):
    make = partial(PAUCStruct, fpr_range=(0.0, 0.2), n_components=20, gamma=0.5, random_state=random_state)
    small, large = make(C=10.0), make(C=100.0)
    large.fit_from(X, Y, small.fit_from(X, Y))
    w, Z = large.coef_[0], large.feature_map_.transform(X)
    best = np.sort(Z[Y < 0] @ w)[::-1][:32]
    reached = 0.5 * w @ w + 100.0 * np.maximum(1 - (Z[Y > 0] @ w)[:, None] + best[None], 0).mean()
    assert large.objective_ == pytest.approx(reached, rel=1e-9)
    cold = minimise(Z, StructuralRisk(Y, 0, 32), 100.0, tol=1e-6)
    assert large.objective_ - large.duality_gap_ <= cold.objective * (1 + 1e-9)


@pytest.mark.parametrize(("fpr_range", "C"), [((0.0, 1.0), 1.0), ((0.05, 0.3), 10.0)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_many_samples_start_from_a_sample_and_are_certified_all_the_same(fpr_range, C, offset):
    n, rng = 30_000, np.random.default_rng(0)
    y = rng.permutation(np.where(np.arange(n) < n // 4, 1, -1))
    many = rng.normal(size=(n, 4)) + 1.5 * (y > 0)[:, None] + offset
    many[:1000] = many[1000:2000]  # duplicates, of either class
    model = PAUCStruct(fpr_range=fpr_range, C=C, tol=1e-4).fit(many, y)
    risk = StructuralRisk(y, *(round(end * np.sum(y < 0)) for end in fpr_range))
    cold = minimise(many, risk, C, tol=1e-4)
    assert model.converged_
    assert model.trace_[0].objective < cold.trace[0].objective
    assert cold.bound * (1 - 1e-9) <= model.objective_ <= cold.objective * (1 + 1e-4)
    assert model.duality_gap_ <= 1e-4 * model.objective_


def test_many_samples_that_collapse_rank_as_if_started_from_zero(monkeypatch):
    n, rng = 30_000, np.random.default_rng(1)
    y = np.where(np.arange(n) < n // 4, 1, -1)
    weak = rng.normal(size=(n, 4)) + 0.05 * (y > 0)[:, None]
    fits = []
    for least in (2000, n):  # a start from a sample, and none
        monkeypatch.setattr("npbench.estimators.pauc_linear.MIN_SUBSAMPLE", least)
        with pytest.warns(ConvergenceWarning, match="w = 0"):
            fits.append(PAUCStruct(fpr_range=(0.0, 0.1), C=10.0).fit(weak, y))
    assert fits[0].status_ == "collapsed"
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_)
