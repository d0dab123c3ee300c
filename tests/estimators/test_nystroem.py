"""Approximated kernels: against the exact classifiers, and in selections."""

import inspect
import pickle
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from grids import slow
from npbench import registry
from npbench.contracts import resolve
from npbench.estimators import nystroem, ramp_selection
from npbench.estimators.nystroem import Landmarks
from npbench.evaluation.selection import grid_search
from npbench.numerics.gram import Kernel
from npbench.numerics.shared_fits import Notes, sharing
from npbench.problem import NeymanPearson
from solver_variants import solver

METHODS = {
    "ac_svm": {"tol": 1e-7},
    "gen": {"rho": 0.1},
    "np_svm": {"rho": 0.1, "tol": 1e-7},
    "q_svm": {"q": 0.1, "tol": 1e-7},
    "uzawa": {"rho": 0.1, "tol": 1e-7},
}


def sample(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * (X[:, 0] ** 2 - 1 + X[:, 1]))), 1, -1)
    return np.vstack([X, X[:20]]), np.append(y, y[:20])


X, Y = sample()
PROBLEM = NeymanPearson(0.1)


def made(name, **params):
    return solver(name, **{**METHODS[name], "gamma": 0.5, "random_state": 0, **params})


@pytest.mark.parametrize("name", METHODS)
def test_all_samples_as_landmarks_give_the_exact_classifier(name):
    exact, approximated = made(name).fit(X, Y), made(name, n_components=len(X) + 5).fit(X, Y)
    np.testing.assert_allclose(approximated.decision_function(X), exact.decision_function(X), atol=1e-5)
    new = np.random.default_rng(1).normal(size=(30, 3))
    np.testing.assert_allclose(approximated.decision_function(new), exact.decision_function(new), atol=1e-4)
    assert approximated.nystroem_error_ < 1e-9
    assert not hasattr(exact, "nystroem_error_")


@pytest.mark.parametrize("name", METHODS)
def test_few_landmarks_give_the_classifier_of_their_matrix(name):
    """The same fit on the dense matrix ``Phi Phi'``, precomputed."""
    model = made(name, n_components=25).fit(X, Y)
    Phi = model._landmarks.features(X)
    dense = made(name, kernel="precomputed").fit(Phi @ Phi.T, Y)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(Phi @ Phi.T), atol=1e-4)
    K = rbf_kernel(X, gamma=0.5)
    assert model.nystroem_error_ == pytest.approx(np.trace(K - Phi @ Phi.T) / np.trace(K), abs=1e-9)
    assert model.recompute(X, Y)["objective_"] == pytest.approx(model.objective_, rel=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_offsets_and_storage_do_not_matter(name):
    plain, moved, sparse = (made(name, n_components=25).fit(Z, Y) for Z in (X, X + 1e5, sp.csr_array(X)))
    scores = plain.decision_function(X)
    np.testing.assert_allclose(moved.decision_function(X + 1e5), scores, atol=1e-3)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), scores, atol=1e-4)


@pytest.mark.parametrize("name", METHODS)
def test_a_given_matrix_has_no_landmarks(name):
    with pytest.raises(ValueError, match="n_components"):
        made(name, kernel="precomputed", n_components=5).fit(X @ X.T, Y)


@pytest.mark.filterwarnings("ignore:.*(vacuous|at its cap)")
@pytest.mark.parametrize("name", METHODS)
def test_the_linear_kernel_needs_no_landmarks(name):
    exact, same = (made(name, kernel="linear", n_components=n).fit(X, Y) for n in (None, 5))
    np.testing.assert_array_equal(same.decision_function(X), exact.decision_function(X))


FOLDS = [(np.arange(0, 100), np.arange(100, 170)), (np.arange(70, 170), np.arange(0, 70))]


@pytest.mark.parametrize("name", ["ac_svm", "np_svm", "q_svm", "uzawa"])
def test_selections_take_landmarks_of_all_rows(name):
    """The losses are those of fits to the dense matrix ``Phi Phi'``, of which a search may be approximate."""
    cost, problem = "C_pos" if name == "ac_svm" else "C", NeymanPearson(0.1)
    search = {"gamma": [0.1, 1.0], cost: [0.1, 1.0]}
    select = resolve(registry.installed().solver(name).selection)
    found = select(lambda **params: made(name, n_components=20).set_params(**params), X, Y, FOLDS, problem, search)
    losses = []
    for gamma in search["gamma"]:
        Phi = made(name, n_components=20).set_params(gamma=gamma).landmarks(X).features(X)
        K = Phi @ Phi.T
        for value in search[cost]:
            model = made(name, kernel="precomputed").set_params(**{cost: value})
            scored = []
            for fit, validate in FOLDS:
                model.fit(K[np.ix_(fit, fit)], Y[fit])
                scored.append((Y[validate], model.decision_function(K[np.ix_(validate, fit)])))
            losses.append(problem.loss(scored))
    assert sorted(found.losses) == pytest.approx(sorted(losses), abs=0.02)


def test_a_generative_selection_fits_each_candidate_on_landmarks_of_its_own_fold():
    def make(**params):
        return made("gen", n_components=20).set_params(**params)

    select = resolve(registry.installed().solver("gen").selection)
    arguments = (make, X, Y, FOLDS, NeymanPearson(0.1), {"gamma": [0.1, 1.0]})
    assert select(*arguments).losses == grid_search(*arguments).losses


MANY = 6000


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(MANY, 4))
    y = np.where(rng.random(MANY) < 0.3, 1, -1)
    return samples * np.where(y > 0, 0.6, 1.0)[:, None], y


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["np_svm", "q_svm"])
def test_features_in_single_precision_give_a_classifier_as_good(name, many, monkeypatch):
    """The same landmarks in double precision: another local minimum, with the same rates."""
    samples, y = many
    settings = {"q": 0.2} if name == "q_svm" else {"rho": 0.1}
    model, other = (solver(name, **settings, gamma=0.1, n_components=40, random_state=0) for _ in range(2))
    model.fit(samples, y)
    monkeypatch.setattr(type(other), "_has_newton_steps", False)
    other.fit(samples, y)
    assert model.converged_
    assert model._landmarks.features(samples).dtype == np.float32
    assert other._landmarks.features(samples).dtype == np.float64
    assert model.surrogate_rates_ == pytest.approx(other.surrogate_rates_, abs=0.03)
    assert model.recompute(samples, y)["objective_"] == pytest.approx(model.objective_, rel=1e-4)
    assert model.objective_ <= 1.05 * other.objective_


@pytest.fixture(params=["torch", "array_api_strict"])
def library(request, monkeypatch):
    """Let device="cpu" mean arrays of a library; CI installs PyTorch weekly only."""
    found = pytest.importorskip(request.param, reason="the library is optional")
    if request.param != "torch":
        monkeypatch.setattr(nystroem, "on_device", lambda values, name: found.asarray(values) if name else values)


BOUNDED = {"rho": 0.1, "C": 0.1}
OF_LIBRARIES = {"ac_svm": {}, "np_svm": BOUNDED, "q_svm": {"q": 0.2, "C": 0.1}, "uzawa": BOUNDED}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["ac_svm", "np_svm", slow(("q_svm",)), slow(("uzawa",))])
def test_arrays_of_other_libraries_give_the_same_rates(name, many):
    samples, y = many
    settings = {"gamma": 0.1, "n_components": 40, "random_state": 0, **OF_LIBRARIES[name]}
    model, other = (solver(name, **settings, device=device).fit(samples, y) for device in (None, "cpu"))
    for label in (-1, 1):
        rates = [np.mean(one.decision_function(samples)[y == label] >= 0) for one in (model, other)]
        assert rates[0] == pytest.approx(rates[1], abs=1e-4)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-4)
    assert pickle.loads(pickle.dumps(other)).predict(samples[:9]).tolist() == model.predict(samples[:9]).tolist()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("name", "settings", "costs"), [("ac_svm", {}, "C_pos"), ("np_svm", {"rho": 0.1}, "C")])
def test_arrays_of_other_libraries_give_the_same_losses_in_a_search(name, settings, costs, many):
    samples, y = many
    select = resolve(registry.installed().solver(name).selection)
    folds = [(np.arange(900, MANY), np.arange(900))]

    def losses(**device):
        make = partial(solver, name, **settings, gamma=0.1, n_components=20, cache_size=100, random_state=0, **device)
        return select(make, samples, y, folds, NeymanPearson(0.1), {costs: [0.1, 0.2]}).losses

    assert losses(device="cpu") == pytest.approx(losses(), abs=0.01)


def test_a_device_that_pytorch_lacks_is_refused(many):
    pytest.importorskip("torch", reason="PyTorch is optional")
    with pytest.raises(ValueError, match="device='nowhere'"):
        solver("np_svm", n_components=40, device="nowhere").fit(*many)


def test_a_device_needs_pytorch(many, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="device='cuda'"):
        solver("np_svm", n_components=40, device="cuda").fit(*many)


@pytest.mark.parametrize("settings", [{}, {"n_components": 40}, {"kernel": "linear"}])
def test_a_device_without_effect_causes_a_warning(settings):
    """PyTorch or not: few samples, or an exact kernel."""
    with pytest.warns(UserWarning, match="device='cuda' has no effect") as caught:
        made("np_svm", **settings, device="cuda").fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_device_is_refused_by_a_method_that_has_no_use_for_it():
    with pytest.raises(ValueError, match="device='cuda': GenerativeNP"):
        made("gen", device="cuda").fit(X, Y)


def test_kernel_values_of_features_in_single_precision_are_exact(many):
    """Far from the origin, and for a sample that squares to infinity."""
    samples, _ = many
    samples = np.vstack([samples + 1e5, np.full(4, 1e200)])
    chosen = Landmarks(samples[:30], Kernel("rbf", 0.1), np.float32)
    Phi, near = chosen.features(samples), rbf_kernel(samples[:30] - 1e5, gamma=0.1)
    np.testing.assert_allclose(Phi[:30] @ Phi[:30].T, near, atol=1e-5)
    np.testing.assert_allclose(Phi[-1], 0.0, atol=1e-30)


@pytest.mark.slow  # 8 fits to many samples; other selections have few
@pytest.mark.parametrize(
    ("name", "settings", "search"),
    [
        ("np_svm", {"rho": 0.1}, {"C": [0.1, 1.0, 10.0]}),
        slow(("ac_svm", {}, {"C_pos": [0.1, 1.0], "C_neg": [0.3, 1.0, 3.0]})),  # half a minute
    ],
)
def test_many_samples_share_their_features_in_a_selection(name, settings, search, many, monkeypatch):
    """Warm starts lead to losses near those of independent fits with their tolerance."""
    monkeypatch.setattr(ramp_selection, "LOOSE", 1.0)
    samples, y = many
    order = np.random.default_rng(0).permutation(MANY)
    folds = [(np.sort(order[1000:]), np.sort(order[:1000]))]

    def make(**params):
        return solver(name, **settings, gamma=0.1, n_components=40, random_state=0, cache_size=100, **params)

    arguments = (make, samples, y, folds, NeymanPearson(0.1), search)
    select = resolve(registry.installed().solver(name).selection)
    assert select(*arguments).losses == pytest.approx(grid_search(*arguments).losses, abs=0.02)


COSTS = [0.01, 0.1, 1.0, 10.0]


@pytest.mark.parametrize(
    ("name", "settings", "search"),
    [
        ("np_svm", {"rho": 0.1}, {"C": COSTS, "gamma": [0.1, 1.0]}),  # which the linear kernel does not have
        slow(("q_svm", {"q": 0.1}, {"C": COSTS})),
        slow(("uzawa", {"rho": 0.1}, {"C": COSTS})),
        ("ac_svm", {}, {"C_pos": COSTS[1:], "C_neg": COSTS[1:]}),
    ],
)
def test_linear_searches_share_their_fits_where_no_gram_matrix_of_theirs_is_stored(name, settings, search, monkeypatch):
    monkeypatch.setattr(ramp_selection, "LOOSE", 1.0)
    monkeypatch.setattr(ramp_selection, "UNSETTLED", 0.0)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.4, 1, -1)
    samples = rng.normal(size=(900, 3)) + y[:, None] * [0.8, 0.4, 0.0]
    samples += 0.0 if name == "ac_svm" else 5.0  # LIBLINEAR counts the intercept among the weights
    folds = [(np.flatnonzero(np.arange(900) % 3 != k), np.flatnonzero(np.arange(900) % 3 == k)) for k in range(3)]

    def make(**params):
        return solver(name, kernel="linear", cache_size=1, **settings, **params)

    arguments = (make, samples, y, folds, NeymanPearson(0.9 if name == "ac_svm" else 0.1), search)
    one_by_one, select = grid_search(*arguments), resolve(registry.installed().solver(name).selection)
    monkeypatch.setattr(inspect.getmodule(select.__wrapped__), "grid_search", None)
    found = select(*arguments)
    assert found.losses == pytest.approx(one_by_one.losses, abs=0.06)  # of several local minima
    assert found.loss <= one_by_one.loss + 0.02
    assert found.n_unconverged <= one_by_one.n_unconverged
    if "gamma" in search:
        assert found.losses[::2] == found.losses[1::2]


@pytest.fixture
def few_exact(monkeypatch):
    """Let "auto" approximate more than 100 samples by 20 landmarks."""
    monkeypatch.setattr(nystroem, "MAX_EXACT", 100)
    monkeypatch.setattr(nystroem, "AUTO_LANDMARKS", 20)


@pytest.mark.usefixtures("few_exact")
@pytest.mark.parametrize("name", METHODS)
def test_many_samples_are_approximated_by_default_with_a_warning(name):
    with pytest.warns(UserWarning, match="20 landmarks") as caught:
        model = made(name).fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    same, exact = made(name, n_components=20).fit(X, Y), made(name, n_components=None).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    assert not np.allclose(exact.decision_function(X), same.decision_function(X), atol=1e-3)
    assert not hasattr(same, "objective_change_")
    few = made(name).fit(X[:100], Y[:100])
    assert not hasattr(few, "nystroem_error_")


@pytest.mark.usefixtures("few_exact")
@pytest.mark.parametrize(("landmarks", "named"), [(5, True), (20, False)])
def test_the_warning_says_where_the_cache_holds_few_landmarks(landmarks, named):
    with pytest.warns(UserWarning, match=f": {landmarks} landmarks") as caught:
        made("np_svm", cache_size=(landmarks + 0.5) * 4 * len(X) / 2**20).fit(X, Y)
    assert ("cache_size=" in str(caught[0].message)) == named


@pytest.mark.usefixtures("few_exact")
@pytest.mark.parametrize("name", ["ac_svm", "gen", "np_svm"])
def test_change_of_the_objective_is_that_from_half_of_the_landmarks(name):
    """The same fit to the dense matrix of every second landmark."""
    with pytest.warns(UserWarning, match="20 landmarks"):
        model = made(name).fit(X, Y)
    some = model._landmarks._samples[::2]
    values = rbf_kernel(X, some, gamma=0.5)
    half = made(name, kernel="precomputed").fit(values @ np.linalg.solve(rbf_kernel(some, gamma=0.5), values.T), Y)
    change = abs(half.objective_ - model.objective_) / abs(model.objective_)
    assert change > 0.01
    assert model.objective_change_ == pytest.approx(change, rel=0.02)


@pytest.mark.usefixtures("few_exact")
def test_given_and_linear_kernels_are_never_approximated():
    for settings, samples in (({"kernel": "precomputed"}, X @ X.T), ({"kernel": "linear"}, X)):
        model = made("np_svm", **settings).fit(samples, Y)
        assert not hasattr(model, "nystroem_error_")


def test_landmarks_have_features_within_the_cache():
    model = solver("np_svm", cache_size=1)
    assert [model.n_landmarks(n) for n in (20_001, 100_000)] == [(1 << 20) // (4 * 20_001), (1 << 20) // 400_000]
    assert solver("gen", cache_size=8 * 1000**2 / 2**20).n_landmarks(1001) == 999


@pytest.mark.parametrize("name", METHODS)
def test_kernels_are_exact_where_the_gram_matrix_fits_the_cache(name):
    small, large = (solver(name, cache_size=8 * n**2 / 2**20) for n in (1000, 30_000))
    assert small.n_landmarks(1000) is None
    assert small.n_landmarks(1001) is not None
    assert large.n_landmarks(20_000) is None
    assert large.n_landmarks(20_001) is not None


@pytest.mark.usefixtures("few_exact")
@pytest.mark.parametrize("name", ["ac_svm", "gen", "np_svm"])
def test_folds_have_the_landmarks_of_all_samples(name, recwarn):
    """Each fold has no more samples than have an exact kernel."""
    search = {"gamma": [0.1, 1.0], **({} if name == "gen" else {"C_pos" if name == "ac_svm" else "C": [0.1, 1.0]})}
    select = resolve(registry.installed().solver(name).selection)
    auto, given = (
        select(lambda n=n, **params: made(name, n_components=n).set_params(**params), X, Y, FOLDS, PROBLEM, search)
        for n in ("auto", 20)
    )
    assert auto.losses == given.losses
    assert not [one for one in recwarn if "landmarks" in str(one.message)]


def test_some_of_many_samples_take_fewer_landmarks():
    counts = [
        nystroem.with_landmarks(partial(solver, "np_svm", n_components=number), n_all, n_rows)().n_components
        for number, n_all, n_rows in (
            ("auto", 40_000, 10_000),
            ("auto", 11_000, 10_000),
            (40, 40_000, 10),
            (None, 10**6, 10),
        )
    ]
    assert counts == [500, None, 40, None]


def test_searches_for_several_bounds_share_their_fits(monkeypatch):
    select = resolve(registry.installed().solver("ac_svm").selection)
    search = {"C_pos": [0.1, 1.0], "C_neg": [0.1, 1.0], "gamma": [0.5]}

    def losses(rho):
        return select(partial(made, "ac_svm"), X, Y, FOLDS, NeymanPearson(rho), search).losses

    alone = [losses(rho) for rho in (0.1, 0.3)]
    first = Notes({}, lambda _: None)
    with sharing(first):
        assert losses(0.1) == alone[0]
    monkeypatch.setattr("npbench_ac_svm.selection.kernel_sample.search_by_kernel", None)
    with sharing(Notes(first.new, lambda _: None)):
        assert losses(0.3) == alone[1]
        assert alone[0] != alone[1]
        with pytest.raises(TypeError):  # other samples
            select(partial(made, "ac_svm"), X + 1, Y, FOLDS, NeymanPearson(0.3), search)
