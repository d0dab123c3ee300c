"""Losses of torch against pairs, sorted losses and finite differences; the temperature against its definition."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

torch = pytest.importorskip("torch", reason="needs PyTorch")

from npbench_torch import partial_auc, top_push  # noqa: E402 - imports torch


def scores(seed, m=7, n=40):
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, size=m), rng.normal(size=n)


def tensors(*arrays):
    return [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]


def pairs(positive, negative):
    return np.array([[max(0.0, 1 + s_j - s_i) ** 2 for s_j in negative] for s_i in positive])


@pytest.mark.parametrize("temperature", [0.05, 1.0, 30.0])
def test_soft_loss_is_the_one_of_all_pairs(temperature):
    positive, negative = scores(0)
    L = pairs(positive, negative)
    expected = temperature * np.mean(logsumexp(L / temperature, axis=1) - math.log(len(negative)))
    loss = partial_auc.PartialAUCLoss(len(positive), temperature, averaging=1.0)
    assert loss(*tensors(positive, negative), torch.arange(7)).item() == pytest.approx(expected, rel=1e-9)


def test_gradients_are_those_of_the_losses():
    ends = tensors(*scores(1))
    soft = partial_auc.PartialAUCLoss(7, 0.5, averaging=1.0).double()
    assert torch.autograd.gradcheck(lambda p, n: soft(p, n, torch.arange(7)), ends)
    assert torch.autograd.gradcheck(top_push.top_push, ends)


def test_averages_weigh_pairs_as_the_paper_does():
    """Positive 1 comes twice, with other negatives: its pairs weigh by exp(L / lambda) / u with the average u."""
    lam, share = 0.7, 0.3
    (positive, first), (_, second) = scores(2), scores(3)
    loss = partial_auc.PartialAUCLoss(7, lam, share).double()
    loss(*tensors(positive[:2], first), torch.tensor([0, 1]))
    some, others = tensors(positive[1:3], second)
    loss(some, others, torch.tensor([1, 2])).backward()
    before, now = (np.exp(pairs(positive[1:3], negative) / lam) for negative in (first, second))
    u = np.array([(1 - share) * before[0].mean() + share * now[0].mean(), now[1].mean()])
    slope = 2 * np.maximum(0, 1 + second - positive[1:3, np.newaxis])
    expected = now / u[:, np.newaxis] * slope / len(second) / 2
    np.testing.assert_allclose(others.grad, expected.sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(some.grad, -expected.sum(axis=1), rtol=1e-6)


def test_another_temperature_keeps_what_each_positive_has_lost():
    loss = partial_auc.PartialAUCLoss(7, 2.0)
    loss(*tensors(*scores(4)), torch.arange(7))
    before = loss.temperature * loss.log_averages
    loss.set_temperature(0.5)
    torch.testing.assert_close(loss.temperature * loss.log_averages, before)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_temperature_minimises_the_bound_of_the_largest_losses(share):
    L = pairs(*scores(5, m=9, n=400))

    def bound(log_lambda):
        lam = math.exp(log_lambda)
        return lam * np.mean(logsumexp(L / lam, axis=1) - math.log(400) + math.log(1 / share))

    best = minimize_scalar(bound, bounds=(-6, 6), method="bounded", options={"xatol": 1e-9})
    found = partial_auc.temperature_for(torch.tensor(L), share)
    assert bound(math.log(found)) == pytest.approx(best.fun, rel=1e-6)
    assert found == pytest.approx(math.exp(best.x), rel=1e-3)
    top = np.sort(L, axis=1)[:, -round(share * 400) :].mean()
    assert top <= best.fun
    # bounds of other temperatures hold, too
    assert all(bound(x) >= top for x in np.linspace(-6, 6, 25))


@pytest.mark.parametrize(("L", "share"), [(np.zeros((3, 20)), 0.1), (np.ones((3, 20)), 0.1), (np.eye(3, 20), 1.0)])
def test_temperature_is_finite_where_no_weights_have_the_divergence(L, share):
    found = partial_auc.temperature_for(torch.tensor(L), share)
    assert 0 < found < math.inf


def test_top_push_looks_at_the_largest_negative():
    positive, negative = scores(6)
    some, others = tensors(positive, negative)
    loss = top_push.top_push(some, others)
    loss.backward()
    assert loss.item() == pytest.approx(np.mean(np.maximum(0, 1 + negative.max() - positive) ** 2), rel=1e-12)
    assert np.flatnonzero(others.grad).tolist() == [negative.argmax()]


def test_minibatches_keep_the_largest_negative_of_the_one_before():
    values = torch.tensor([5.0, 1.0, 2.0])
    objective = top_push.Objective((1, 3))
    losses = [
        float(objective(lambda i: torch.zeros(1), lambda j: values[j], [0], torch.tensor(j))) for j in ([0], [1], [2])
    ]
    assert losses == [36.0] * 3
