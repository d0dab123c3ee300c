"""SOPA-s: a loss for any training loop of torch, and its use here. Pairs with negatives of large score weigh more."""

import math

import torch
from torch import Tensor

from npbench_torch.training import Scores

N_POSITIVE, N_NEGATIVE = 64, 4096  # samples that set the temperature
N_STEPS = 30  # between two settings of it
N_HALVINGS, SPAN = 25, 1e4  # of the search for it, around the largest loss of a pair


def pair_losses(positive: Tensor, negative: Tensor) -> Tensor:
    """Return ``L_ij = max(0, 1 + s_j - s_i)^2`` of scores s, of shape (n_positive, n_negative)."""
    return torch.relu(1 + negative - positive[:, None]) ** 2


def temperature_for(losses: Tensor, share: float) -> float:
    """Return the temperature at which exponential weights have a divergence of ``log(1 / share)`` from equal ones."""
    # of Kullback and Leibler, in the mean over rows
    scale, low, high = float(losses.max()) or 1.0, -math.log(SPAN), math.log(SPAN)
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        log_weights = torch.log_softmax(losses / (scale * math.exp(middle)), dim=1)
        entropy = -float((log_weights.exp() * log_weights).sum(dim=1).mean())
        is_too_sharp = entropy < math.log(share * losses.shape[1])
        low, high = (middle, high) if is_too_sharp else (low, middle)
    return scale * math.exp(high)


class PartialAUCLoss(torch.nn.Module):
    """Loss ``lambda mean_i log mean_j exp(L_ij / lambda)`` of a minibatch, with the gradient of SOPA-s.

    The gradient weighs pair (i, j) by ``exp(L_ij / lambda) / u_i``, where ``u_i`` is a moving average of ``mean_j
    exp(L_ij / lambda)`` over the minibatches with positive i.

    Parameters
    ----------
    n_positive : int
        Number of positives in the training sample.
    temperature : float
        The parameter lambda; positive. The smaller it is, the more weight the negatives of largest score have.
    averaging : float
        Weight of the present minibatch in the averages, in ]0, 1]. With 1 the gradient is that of the loss.

    Examples
    --------
    >>> loss = PartialAUCLoss(n_positive=2, averaging=1.0)
    >>> loss(torch.tensor([0.0, 2.0]), torch.tensor([0.0, -1.0]), index=torch.tensor([0, 1]))
    tensor(0.3101)
    """

    log_averages: Tensor  # log u_i; NaN before the first minibatch with i

    def __init__(self, n_positive: int, temperature: float = 1.0, averaging: float = 0.9) -> None:
        super().__init__()
        self.temperature, self.averaging = temperature, averaging
        self.register_buffer("log_averages", torch.full((n_positive,), torch.nan))

    def set_temperature(self, temperature: float) -> None:
        """Change the temperature; ``lambda log u_i``, each positive's part of the loss, stays as it is."""
        self.log_averages *= self.temperature / temperature
        self.temperature = temperature

    def forward(self, positive: Tensor, negative: Tensor, index: Tensor) -> Tensor:
        """Return the loss of scores; ``index`` has the number of each positive in the training sample, none twice."""
        losses = pair_losses(positive, negative) / self.temperature
        own = torch.logsumexp(losses, dim=1) - math.log(len(negative))
        with torch.no_grad():
            before = self.log_averages[index].to(own.dtype)
            share = torch.tensor(self.averaging).to(own)
            averages = torch.where(before.isnan(), own, torch.logaddexp(own + share.log(), before + (1 - share).log()))
            self.log_averages[index] = averages.to(self.log_averages.dtype)
            weights = (own - averages).exp()
        return self.temperature * (weights * own).mean()


class Objective:
    """The partial AUC up to a false-positive rate; the temperature is given, or follows from that rate now and then."""

    def __init__(self, sizes: tuple[int, int], fpr: float, temperature: float | None, averaging: float) -> None:
        ends = zip(sizes, (N_POSITIVE, N_NEGATIVE), strict=True)
        self._some = [torch.arange(0, n, math.ceil(n / most)) for n, most in ends]
        self._fpr, self._follows, self._step = fpr, temperature is None, 0
        self._loss = PartialAUCLoss(sizes[0], temperature or 1.0, averaging)

    def __call__(self, positive: Scores, negative: Scores, i: Tensor, j: Tensor) -> Tensor:
        """Return the loss of a minibatch."""
        if self._follows and self._step % N_STEPS == 0:
            with torch.no_grad():
                losses = pair_losses(positive(self._some[0]), negative(self._some[1]))
            self._loss.set_temperature(temperature_for(losses, self._fpr))
        self._step += 1
        loss: Tensor = self._loss.to(i.device)(positive(i), negative(j), i)
        return loss
