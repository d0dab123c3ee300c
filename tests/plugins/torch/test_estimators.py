"""Networks for the top of the ranking: optima of linear ones, seeds, samples of few negatives, flags, devices."""

import sys
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from npbench.numerics.pauc_metrics import pairwise
from npbench_tau_fpl.estimator import TauFPL
from npbench_torch.deep_top_push import DeepTopPush
from npbench_torch.sopa_s import SOPAS

UNCONVERGED = "ignore::sklearn.exceptions.ConvergenceWarning"
SMALL = {"hidden": 8, "n_layers": 1, "random_state": 0}
BOTH = [(SOPAS, {"fpr_range": (0.0, 0.2)}), (DeepTopPush, {"rho": 0.2})]


def sample(seed=0, n_pos=40, n_neg=80):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], [n_pos, n_neg])
    return rng.normal(size=(len(y), 3)) + 1.2 * (y > 0)[:, np.newaxis], y


def linear(X, y, objective, decay, steps, optimizer="sgd", learning_rate=0.02):
    """Return the weights of a linear network on all samples, averaged over the second half of the steps."""
    from npbench_torch.training import LEAST_STEPS, epochs

    start = [(np.full((X.shape[1], 1), 0.1), np.zeros(1))]
    rng = np.random.default_rng(0)
    settings = SOPAS(batch_size=None, learning_rate=learning_rate, optimizer=optimizer, weight_decay=decay)
    networks = epochs(settings, start, X[y > 0], X[y < 0], objective, rng)
    path = [network[0][0][:, 0] for network in islice(networks, steps // LEAST_STEPS)]
    return np.mean(path[len(path) // 2 :], axis=0)  # steps of a subgradient oscillate


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for estimator, params in BOTH:
        with pytest.raises(ValueError, match=r"pip install 'npbench\[torch\]'"):
            estimator(**params).fit(*sample())


def test_ranges_that_do_not_start_at_0_are_refused():
    with pytest.raises(ValueError, match=r"fpr_range is \(0.1, 0.2\)"):
        SOPAS(fpr_range=(0.1, 0.2)).fit(*sample())


class TestWithTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch", reason="needs PyTorch")

    @pytest.mark.parametrize("temperature", [0.3, 2.0])
    def test_linear_scores_of_all_samples_reach_the_convex_optimum(self, temperature):
        from npbench_torch.partial_auc import Objective

        (X, y), decay = sample(1), 1.0

        def value(w):
            s = X @ w
            slack = np.maximum(0, 1 + s[y < 0] - s[y > 0][:, np.newaxis])
            L = slack**2 / temperature
            loss = temperature * np.mean(logsumexp(L, axis=1) - np.log(L.shape[1]))
            weights = softmax(L, axis=1) * 2 * slack / len(L)
            return loss + decay / 2 * w @ w, weights.sum(axis=0) @ X[y < 0] - weights.sum(axis=1) @ X[y > 0] + decay * w

        best = minimize(value, np.zeros(3), jac=True, tol=1e-12)
        w = linear(X, y, Objective((40, 80), 0.2, temperature, 0.9), decay, 600)
        assert value(w)[0] == pytest.approx(best.fun, rel=1e-5)
        np.testing.assert_allclose(w, best.x, atol=0.01)

    def test_linear_scores_above_the_largest_negative_are_those_of_top_push(self):
        from npbench_torch.top_push import Objective

        (X, y), C = sample(2), 1.0
        X += 1.3 * (y > 0)[:, np.newaxis]  # w = 0 has 3.3 times the least objective
        convex = TauFPL(n_top=1, C=C, tol=1e-8).fit(X, y)
        w = linear(X, y, Objective((40, 80)), 1 / C, 600, learning_rate=0.002)
        s = X @ w
        found = 0.5 * w @ w + C * np.mean(np.maximum(0, 1 + s[y < 0].max() - s[y > 0]) ** 2)
        assert convex.objective_ <= found <= 1.005 * convex.objective_

    @pytest.mark.filterwarnings(UNCONVERGED)
    @pytest.mark.parametrize(("estimator", "params"), BOTH)
    def test_scores_are_those_of_the_trained_network_and_need_no_torch(self, estimator, params, torch, monkeypatch):
        from npbench_torch import training

        X, y = sample(3)
        kept, epochs = [], training.epochs
        monkeypatch.setattr(training, "epochs", lambda *args: (kept.append(net) or net for net in epochs(*args)))
        model = estimator(**params, **SMALL, max_iter=3).fit(X, y)
        Z = torch.tensor((X - X.mean(axis=0)) / X.std(axis=0), dtype=torch.float32)
        epoch = next(e for e, net in enumerate(kept) if np.array_equal(net[0][0], model.coefs_[0]))
        layers = [tuple(torch.tensor(part, dtype=torch.float32) for part in layer) for layer in kept[epoch]]
        monkeypatch.setitem(sys.modules, "torch", None)
        f = model.decision_function(X)
        np.testing.assert_allclose(f, training.outputs(layers, Z, torch.relu).numpy(), atol=1e-4)

    @pytest.mark.filterwarnings(UNCONVERGED)
    @pytest.mark.parametrize(("estimator", "params"), BOTH)
    def test_scale_and_offset_of_features_do_not_matter(self, estimator, params):
        X, y = sample(4)
        near, far = X, X * [1e-6, 1e6, 1.0] + [1.0, -1e8, 1e5]
        one, other = (estimator(**params, **SMALL, max_iter=10).fit(Z, y).decision_function(Z) for Z in (near, far))
        np.testing.assert_allclose(one, other, atol=1e-3 * np.ptp(one))

    @pytest.mark.filterwarnings(UNCONVERGED)
    @pytest.mark.parametrize(("estimator", "params"), BOTH)
    def test_a_thousand_negatives_for_each_positive_and_few_negatives(self, estimator, params):
        tiny = {"fpr_range": (0.0, 0.001)} if estimator is SOPAS else {"rho": 0.001}
        for n_pos, n_neg, how in ((8, 8000, tiny), (30, 20, params), (2, 3, params | {"fpr_range": (0.0, 0.5)})):
            X, y = sample(5, n_pos, n_neg)
            known = {name: value for name, value in how.items() if name in estimator().get_params()}
            f = estimator(**known, **SMALL, max_iter=3).fit(X, y).decision_function(X)
            assert np.isfinite(f).all()
            assert np.ptp(f) > 0

    @pytest.mark.parametrize(("estimator", "params"), BOTH)
    def test_flags_say_how_training_ended(self, estimator, params):
        X, y = sample(6)
        stopped = estimator(**params, **SMALL, patience=3).fit(X, y)
        assert (stopped.status_, stopped.converged_) == ("converged", True)
        areas = [step.objective for step in stopped.trace_]
        assert stopped.n_iter_ == len(areas) > 3
        assert max(areas[-3:]) <= max(areas[:-3])
        for settings, status in (({"max_iter": 2}, "max_iter"), ({"learning_rate": 1e30}, "diverged")):
            with pytest.warns(ConvergenceWarning, match=status if status == "max_iter" else "learning_rate"):
                model = estimator(**params, **SMALL | settings).fit(X, y)
            assert (model.status_, model.converged_) == (status, False)
            assert np.isfinite(model.decision_function(X)).all()
        with pytest.warns(ConvergenceWarning, match="equal"):
            assert estimator(**params, **SMALL).fit(np.ones_like(X), y).status_ == "constant"

    def test_threshold_keeps_rho_of_the_held_out_negatives(self):
        X, y = sample(7, 100, 400)
        model = DeepTopPush(rho=0.1, **SMALL)
        model.fit(X, y)
        held_out = model._held_out(y, np.random.default_rng(np.random.RandomState(0).randint(2**31)))
        f = model.decision_function(X)[held_out]
        assert np.sum(f[y[held_out] < 0] > 0) == 8  # of 80
        assert np.sum(held_out & (y > 0)) == 20

    @pytest.mark.filterwarnings(UNCONVERGED)
    def test_training_for_the_range_pays_there(self):
        """One feature ranks best near the top, another one the whole."""
        rng = np.random.default_rng(4)
        y = np.repeat([1, -1], [600, 6000])
        X = rng.normal(scale=0.7, size=(6600, 2)) + np.where((y > 0)[:, None], [3.0, 0.0], [0.0, 2.0])
        X[rng.choice(np.flatnonzero(y < 0), 300, replace=False)] += np.array([3.5, -4.5])
        options = {"hidden": 0, "random_state": 0, "max_iter": 30, "learning_rate": 0.02}
        top, full = (SOPAS(fpr_range=(0, hi), **options).fit(X, y).decision_function(X) for hi in (0.03, 1.0))
        areas = [pairwise(y, f, 0.0, 0.03).value for f in (top, full)]
        assert areas[0] > areas[1] + 0.02

    def test_a_device_that_is_absent_is_named(self, torch):
        if torch.cuda.is_available():
            pytest.skip("there is a GPU")
        with pytest.raises(ValueError, match=r"device='cuda' cannot be used"):
            SOPAS(device="cuda").fit(*sample())

    @pytest.mark.parametrize(("estimator", "params"), BOTH)
    def test_a_gpu_gives_nearly_the_scores_of_the_cpu(self, estimator, params, torch):
        if not torch.cuda.is_available():
            pytest.skip("needs a GPU")
        X, y = sample(8)
        one, other = (
            estimator(**params, **SMALL, device=name).fit(X, y).decision_function(X) for name in ("cpu", "cuda")
        )
        assert np.corrcoef(one, other)[0, 1] > 0.99
