"""Weights of samples: equal to repeated samples, left out at 0, and in the rates that the bounds are about."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from class_samples import gaussians
from npbench.numerics.gram import Gram
from npbench.numerics.multiplier_search import anneal
from npbench.numerics.multipliers import FalseAlarmBound
from npbench.numerics.ramp_svm import RampSVM
from npbench_np_svm.estimator import NPSVM
from npbench_q_svm.estimator import QSVM
from npbench_sgd.estimator import StochasticNP
from npbench_splitting.estimator import SplittingNP
from npbench_splitting.genes import GeneScore
from npbench_uzawa.estimator import UzawaSVM

X, Y = gaussians(90)
COUNTS = np.random.default_rng(0).integers(0, 4, len(Y))
REPEATED = np.repeat(np.arange(len(Y)), COUNTS)

EXACT = {
    "np_svm": NPSVM(rho=0.2, tol=1e-9),
    "np_svm, linear": NPSVM(rho=0.2, kernel="linear", C=0.3, tol=1e-9),
    "np_svm, blocks": NPSVM(rho=0.2, gamma=0.5, cache_size=1e-3, n_components=None, tol=1e-8),
    "np_svm, Newton steps": NPSVM(rho=0.2, kernel="linear", cache_size=1e-3, tol=1e-8),
    "np_svm, all landmarks": NPSVM(rho=0.2, gamma=0.5, n_components=1000, tol=1e-9),
    "uzawa": UzawaSVM(rho=0.2, tol=1e-9),
    "q_svm": QSVM(q=0.2, tol=1e-9),
    "splitting": SplittingNP(rho=0.3, tol=1e-9),
    "splitting, groups": SplittingNP(rho=0.4, constraints=[{"feature": 0, "above": 0.2, "tau": 0.35}], tol=1e-9),
    "splitting, features": SplittingNP(rho=0.4, n_features_to_select=2, tol=1e-9),
    "splitting, momentum": SplittingNP(rho=0.4, accelerate="nesterov", inner=30, max_iter=5000, tol=1e-7),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", EXACT)
def test_a_weight_is_a_number_of_equal_samples(name, storage):
    weighted, repeated = (EXACT[name].__class__(**EXACT[name].get_params()) for _ in range(2))
    weighted.fit(storage(X), Y, sample_weight=COUNTS)
    repeated.fit(storage(X[REPEATED]), Y[REPEATED])
    assert weighted.status_ == repeated.status_ == "converged"
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)
    assert weighted.surrogate_rates_ == pytest.approx(repeated.surrogate_rates_, abs=1e-5)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=2e-4)


@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data]
)
@pytest.mark.parametrize(
    "model", [NPSVM(tol=1e-11), UzawaSVM(tol=1e-11), SplittingNP(max_norm=2.0, tol=1e-9)], ids=repr
)
def test_scikit_learn_finds_weights_equal_to_repetition(model, check):
    check(type(model).__name__, model)


def test_landmark_features_in_single_precision_take_weights():
    features, y = gaussians(100, d=6)
    features = features.astype(np.float32)
    counts = np.random.default_rng(2).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    weighted = RampSVM(Gram.of_features(features), y, 1.0, 1e-5, weight=counts.astype(float))
    repeated = RampSVM(Gram.of_features(features[rows]), y[rows], 1.0, 1e-5)
    settings = {"constraint": FalseAlarmBound(0.2), "nu": 5.0, "epsilon": 0.01, "max_iter": 200}
    one, other = (anneal(svm, C=0.1 * svm.class_weights[0], **settings) for svm in (weighted, repeated))
    assert one.status == other.status == "converged"
    assert one.best.objective == pytest.approx(other.best.objective, rel=1e-4)
    np.testing.assert_allclose(one.best.x @ features, other.best.x @ features[rows], atol=1e-3)


def test_samples_without_weight_are_left_out():
    kept, K = np.flatnonzero(COUNTS), rbf_kernel(X, gamma=0.5)
    weighted = NPSVM(rho=0.2, kernel="precomputed").fit(K, Y, sample_weight=COUNTS > 0)
    few = NPSVM(rho=0.2, kernel="precomputed").fit(K[np.ix_(kept, kept)], Y[kept])
    np.testing.assert_array_equal(weighted.support_, kept[few.support_])
    np.testing.assert_array_equal(weighted.decision_function(K), few.decision_function(K[:, kept]))
    with pytest.raises(ValueError, match="square Gram matrix"):
        NPSVM(kernel="precomputed").fit(K[:, :50], Y, sample_weight=COUNTS)


@pytest.mark.parametrize("factor", [0.3, 7.0])
def test_a_common_factor_is_one_of_the_cost(factor):
    weighted = NPSVM(rho=0.2, C=2.0, tol=1e-9).fit(X, Y, sample_weight=np.full(len(Y), factor))
    plain = NPSVM(rho=0.2, C=2.0 * factor, tol=1e-9).fit(X, Y)
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("model", [SplittingNP(rho=0.3), StochasticNP(rho=0.3, random_state=0, tol=1.0)], ids=repr)
def test_a_factor_of_each_class_changes_no_mean(model):
    factors = np.where(Y > 0, 8.0, 0.25)
    scores = [model.fit(X, Y, sample_weight=weight).decision_function(X) for weight in (COUNTS, factors * COUNTS)]
    np.testing.assert_allclose(*scores, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampling", ["shuffle", "balanced"])
def test_stochastic_descent_finds_the_saddle_point_of_weighted_means(sampling):
    """A quasi-Newton method finds nothing better at this multiplier, and the weighted rate meets the bound."""
    many, y = gaussians(2000, share=0.4, shift=1.7)
    weight = np.random.default_rng(1).uniform(0.5, 1.5, len(y)) * np.where(many[:, 0] > 0.3, 2.0, 0.5)
    model = StochasticNP(rho=0.1, lambda_c=1e-3, sampling=sampling, random_state=0)
    model.fit(many, y, sample_weight=weight)

    def lagrangian(wb, weight=weight):
        loss = expit(-y * (many @ wb[:-1] + wb[-1]))
        p_nd, p_fa = (np.average(loss[y == side], weights=weight[y == side]) for side in (1, -1))
        return 0.5e-3 * wb[:-1] @ wb[:-1] + p_nd + model.multiplier_ * p_fa

    start = np.append(model.coef_, model.intercept_)
    assert lagrangian(start) <= minimize(lagrangian, start).fun * 1.005
    false_alarms = expit(model.decision_function(many))[y < 0]
    p_fa = np.average(false_alarms, weights=weight[y < 0])
    assert model.surrogate_rates_[1] == pytest.approx(p_fa, abs=1e-12)
    assert p_fa == pytest.approx(0.1, rel=0.1)
    assert abs(false_alarms.mean() - 0.1) > 0.02  # without weights it is another problem


def test_batches_take_weights():
    weight = np.where(X[:, 0] > 0, 2.0, 0.0)
    once = StochasticNP(random_state=0).partial_fit(X, Y, classes=[-1, 1], sample_weight=weight)
    few = StochasticNP(random_state=0, gamma_0=once._gamma_0)
    few.partial_fit(X[weight > 0], Y[weight > 0], classes=[-1, 1])
    assert once.t_ == np.count_nonzero(weight)
    once.partial_fit(X[:5], Y[:5], sample_weight=[0, 0, 1, 0, 0])
    assert once.t_ == np.count_nonzero(weight) + 1
    with pytest.raises(ValueError, match="sample_weight has -1"):
        once.partial_fit(X, Y, sample_weight=np.full(len(Y), -1.0))


@pytest.mark.parametrize("model", [NPSVM(), StochasticNP(), SplittingNP()], ids=repr)
def test_unusable_weights_are_refused(model):
    with pytest.raises(ValueError, match=r"sample_weight has -2"):
        model.fit(X, Y, sample_weight=np.where(np.arange(len(Y)) == 3, -2.0, 1.0))
    with pytest.raises(ValueError, match=r"all of class .*-1"):
        model.fit(X, Y, sample_weight=(Y > 0).astype(float))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, Y, sample_weight=np.full(len(Y), np.nan))


def test_gene_scores_count_weights():
    for storage in (np.asarray, sp.csr_array):
        weighted = GeneScore().fit(storage(X), Y, sample_weight=COUNTS).scores_
        np.testing.assert_allclose(weighted, GeneScore().fit(storage(X[REPEATED]), Y[REPEATED]).scores_)


@config_context(enable_metadata_routing=True)
def test_weights_are_routed():
    model = SplittingNP(rho=0.4).set_fit_request(sample_weight=True)
    search = GridSearchCV(model.set_score_request(sample_weight=True), {"rho": [0.3, 0.4]}, cv=2)
    found = search.fit(X, Y, sample_weight=COUNTS + 0.1).best_estimator_
    direct = SplittingNP(rho=found.rho).fit(X, Y, sample_weight=COUNTS + 0.1)
    np.testing.assert_array_equal(found.coef_, direct.coef_)
