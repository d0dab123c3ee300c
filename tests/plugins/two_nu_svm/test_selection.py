"""Selection for the 2nu-SVM: as a slow search by LIBSVM chooses, on folds of any kind, and on the command line."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import NuSVC

from grids import SLOW
from npbench.estimators import halving
from npbench.evaluation.splits import leave_one_out
from npbench.problem import NeymanPearson
from npbench.records.store import RecordStore
from npbench_two_nu_svm import selection
from npbench_two_nu_svm.estimator import TwoNuSVM
from npbench_two_nu_svm.selection import select
from two_nu_reference import two_nu_svc

RHO = 0.2
SEARCH = {"gamma": [0.3, 1.0], "nu_neg": [0.25, 0.5, 0.75, 1.0], "nu_pos": [0.25, 0.5, 0.75, 1.0]}
rng = np.random.default_rng(3)
Y = np.where(np.arange(36) < 14, 1, -1)
X = rng.normal(size=(36, 2)) + 1.1 * (Y > 0)[:, None]
ROWS = np.arange(len(Y))
FOLDS = {
    "leave-one-out": leave_one_out(ROWS),
    "five folds": list(StratifiedKFold(5).split(X, Y)),
    "holdout": [(ROWS[::2], ROWS[1::2])],
}


def chosen(strategy, folds, n_threads=1, **changes):
    make = partial(TwoNuSVM, rho=RHO, strategy=strategy, tol=1e-9)
    return select(make, X, Y, folds, NeymanPearson(RHO), {**SEARCH, **changes}, n_threads=n_threads)


def counted(K, folds, classifier):
    """Errors of the validated rows, counted: (P_fa, P_nd), pooled over the folds."""
    wrong, of = np.zeros(2), np.zeros(2)
    for fit, validate in folds:
        f = classifier(K[np.ix_(fit, fit)], Y[fit]).decision_function(K[np.ix_(validate, fit)])
        assert np.abs(f).min() > 1e-6  # else the sign depends on the tolerance
        for c, label in enumerate((-1, 1)):
            wrong[c] += np.sum((Y[validate] == label) & (Y[validate] * f <= 0))
            of[c] += np.sum(Y[validate] == label)
    return wrong / of


def rates_of_libsvm(folds):
    """Rates of all candidates of SEARCH by LIBSVM."""
    table = {}
    for gamma in SEARCH["gamma"]:
        K = rbf_kernel(X, gamma=gamma)
        for nu_pos in SEARCH["nu_pos"]:
            for nu_neg in SEARCH["nu_neg"]:
                classifier = partial(two_nu_svc, nu_pos=nu_pos, nu_neg=nu_neg, tol=1e-6)
                table[gamma, nu_pos, nu_neg] = counted(K, folds, classifier)
    return table


@pytest.mark.parametrize("kind", [pytest.param("leave-one-out", marks=SLOW), "five folds", "holdout"])
def test_full_grid_chooses_as_libsvm(kind):
    found, expected = chosen("gs", FOLDS[kind]), rates_of_libsvm(FOLDS[kind])
    visited = {(one.gamma, one.nu_pos, one.nu_neg): (one.p_fa, one.p_nd) for one in found.trace}
    assert found.n_candidates == len(visited) == 32
    for point, rates in expected.items():
        np.testing.assert_allclose(visited[point], rates, atol=1e-12)

    def order(item):
        (gamma, nu_pos, nu_neg), (p_fa, p_nd) = item
        loss = (0, p_nd) if p_fa <= RHO else (1, p_nd + (p_fa - RHO) / RHO)
        return (*np.round(loss, 9), round(p_fa, 9), gamma, -nu_pos - nu_neg, -nu_pos)

    (gamma, nu_pos, nu_neg), (p_fa, p_nd) = min(expected.items(), key=order)
    assert found.params == {"gamma": gamma, "nu_pos": nu_pos, "nu_neg": nu_neg}
    assert found.loss == pytest.approx(p_nd + max(0, p_fa - RHO) / RHO)
    assert found.n_unconverged == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["five folds", "leave-one-out"])
def test_bias_shifting_chooses_the_nu_of_libsvm(kind):
    values = [0.2, 0.3, 0.5, 0.7, 0.9]  # LIBSVM takes seconds below 0.2
    found = chosen("bs", FOLDS[kind], nu_pos=values)
    table = {}
    for gamma in SEARCH["gamma"]:
        for nu in values[:4]:  # 0.9 is infeasible with 14 positives of 36
            nu_svm = NuSVC(nu=nu, kernel="precomputed", tol=1e-6)
            p_fa, p_nd = counted(rbf_kernel(X, gamma=gamma), FOLDS[kind], nu_svm.fit)
            table[gamma, nu] = (round(14 * p_nd + 22 * p_fa), p_fa, gamma, -nu)
    gamma, nu = min(table, key=table.get)
    assert found.params == pytest.approx({"gamma": gamma, "nu_pos": nu * 36 / 28, "nu_neg": nu * 36 / 44})
    assert found.n_candidates == 8


@pytest.mark.parametrize("strategy", ["bs", "bbs", "gs", "wgs", "cd", "wcd"])
def test_threads_and_unused_rows_change_nothing(strategy):
    one, two = (chosen(strategy, FOLDS["leave-one-out"], n_threads) for n_threads in (1, 2))
    assert two.params == one.params
    assert [v[1:] for v in two.trace] == [v[1:] for v in one.trace]
    more = np.vstack([np.full((3, 2), 1e3), X])
    y = np.append([1, -1, -1], Y)
    make = partial(TwoNuSVM, rho=RHO, strategy=strategy, tol=1e-9)
    shifted = [(fit + 3, validate + 3) for fit, validate in FOLDS["leave-one-out"]]
    assert select(make, more, y, shifted, NeymanPearson(RHO), SEARCH).params == one.params


def test_selection_equals_the_search_of_fit():
    for strategy in ("bs", "wbs", "wgs", "cd"):
        model = TwoNuSVM(rho=RHO, strategy=strategy, tol=1e-9, **SEARCH).fit(X, Y)
        params = chosen(strategy, FOLDS["leave-one-out"]).params
        assert params == {"gamma": model.gamma_, "nu_pos": model.nu_pos_, "nu_neg": model.nu_neg_}


def test_a_parameter_that_is_fixed_has_one_value():
    make = partial(TwoNuSVM, rho=RHO, nu_neg=0.3, gamma=0.7)
    found = select(make, X, Y, FOLDS["five folds"], NeymanPearson(RHO), {"nu_pos": SEARCH["nu_pos"]})
    assert {(one.gamma, one.nu_neg) for one in found.trace} == {(0.7, 0.3)}
    assert found.n_candidates == 4
    nothing = select(partial(make, nu_pos=0.5), X, Y, FOLDS["five folds"], NeymanPearson(RHO), {})
    assert nothing.params == {}
    assert np.isnan(nothing.loss)


def test_other_parameters_are_searched_one_after_the_other():
    found = chosen("cd", FOLDS["five folds"], kernel=["rbf", "linear"], gamma=[1.0])
    apart = [chosen("cd", FOLDS["five folds"], kernel=[kernel], gamma=[1.0]) for kernel in ("rbf", "linear")]
    best = min(apart, key=lambda one: one.loss)
    assert (found.params, found.loss) == (best.params, best.loss)
    assert found.n_candidates == sum(one.n_candidates for one in apart)


@pytest.mark.slow  # a run and its surfaces; the search itself is compared with LIBSVM in every run
def test_it_runs_from_the_command_line(raw_dataset, npbench):
    raw_dataset("thyroid")
    asked = "solver=two_nu_svm solver.strategy=wcd dataset=thyroid protocol=permutations problem.rho=0.1 repeats=1"
    grids = "solver.search.gamma=[0.2,1] solver.search.nu_pos=[0.25,0.5,0.75] solver.search.nu_neg=[0.25,0.5,0.75]"
    assert npbench(*asked.split(), *grids.split(), "execution.trace=true")[0] == 0
    (record,) = RecordStore("results/records").frame().rows(named=True)
    assert (record["status"], record["solver_status"]) == ("ok", "converged")
    assert 10 <= record["n_candidates"] <= 18
    from npbench_papers.davenport.surfaces import surfaces

    points = surfaces(RecordStore("results/records").frame())
    assert len(points) == record["n_candidates"]
    assert points["chosen_gamma"][0] in (0.2, 1)


def test_an_infeasible_nu_is_refused_before_any_work(npbench):
    code, _, errors = npbench("solver=two_nu_svm", "solver.nu_pos=1.5", "dataset=synthetic")
    assert code == 2
    assert "nu_pos=1.5 is infeasible" in errors


def test_bandwidths_of_large_samples_are_searched_in_rungs(monkeypatch):
    monkeypatch.setattr(halving, "LEAST_ROWS", 60)
    monkeypatch.setattr(halving, "LEAST_OF_CLASS", 20)
    random = np.random.default_rng(0)
    y = np.where(random.random(240) < 0.4, 1, -1)
    samples = random.normal(size=(240, 2)) * np.where(y > 0, 0.4, 1.0)[:, None]
    folds = list(StratifiedKFold(3).split(samples, y))
    search = {**SEARCH, "gamma": [0.001, 0.3, 1.0, 100.0, 300.0]}
    make = partial(TwoNuSVM, rho=RHO, strategy="gs")
    whole = select(make, samples, y, folds, NeymanPearson(RHO), search)
    monkeypatch.setattr(selection, "_by_bandwidth", selection._by_bandwidth.with_limit(0))
    found = select(make, samples, y, folds, NeymanPearson(RHO), search)
    assert len({one.gamma for one in found.trace}) == halving.LAST < len({one.gamma for one in whole.trace})
    assert found.n_candidates == len(found.trace)
    keeps = [one for one in found.trace if one.p_fa <= RHO]
    assert found.loss == pytest.approx(min(one.p_nd for one in keeps))
    assert found.loss <= whole.loss + 2 * np.sqrt(0.25 / np.sum(y > 0))
