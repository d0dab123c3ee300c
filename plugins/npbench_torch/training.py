"""Train a network by minibatches of as many positives as negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

LEAST_STEPS = 10  # of an epoch, or small samples would need thousands of epochs

Layers = list[tuple[np.ndarray, np.ndarray]]  # weights and intercepts
Scores = Callable[[Tensor], Tensor]  # of the samples of one class with some numbers


class Objective(Protocol):
    """A loss, and what it keeps from one minibatch to the next."""

    def begin_epoch(self, positive: Scores, negative: Scores, sizes: tuple[int, int]) -> None:
        """Prepare an epoch; ``sizes`` are the numbers of positives and negatives."""

    def __call__(self, positive: Scores, negative: Scores, i: Tensor, j: Tensor) -> Tensor:
        """Return the loss of the minibatch of positives i and negatives j."""


def epochs(
    start: Layers,
    positives: np.ndarray,
    negatives: np.ndarray,
    objective: Objective,
    random: np.random.Generator,
    *,
    batch_size: int | None,
    learning_rate: float,
    weight_decay: float,
    optimizer: Literal["adam", "sgd"],
    device: str,
) -> Iterator[Layers]:
    """Yield the layers after each epoch, without end.

    An epoch has as many steps as minibatches cover the larger class, and LEAST_STEPS at least. Half of a minibatch are
    positives; all samples without ``batch_size``. The penalty is ``weight_decay / 2`` times the sum of the squared
    weights, without intercepts. In single precision.

    Raises
    ------
    ValueError
        If ``device`` is "cuda" and there is no GPU.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device is 'cuda', but PyTorch finds no GPU: use device='cpu', or PyTorch built for CUDA.")

    def on_device(array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=torch.float32, device=device)

    layers = [(on_device(W).requires_grad_(), on_device(b).requires_grad_()) for W, b in start]
    samples = on_device(positives), on_device(negatives)
    positive, negative = (lambda rows, X=X: scores(layers, X[rows.to(device)]) for X in samples)
    weights, intercepts = zip(*layers, strict=True)
    groups = [{"params": weights, "weight_decay": weight_decay}, {"params": intercepts, "weight_decay": 0.0}]
    kind = torch.optim.Adam if optimizer == "adam" else torch.optim.SGD
    steps = kind(groups, lr=learning_rate)
    sizes = len(positives), len(negatives)
    half = max(sizes) if batch_size is None else max(1, batch_size // 2)
    minibatches = zip(*(_minibatches(n, min(n, half), random) for n in sizes), strict=True)
    while True:
        objective.begin_epoch(positive, negative, sizes)
        for i, j in islice(minibatches, max(LEAST_STEPS, max(sizes) // half)):
            steps.zero_grad()
            objective(positive, negative, i.to(device), j.to(device)).backward()
            steps.step()
        yield [(W.detach().cpu().numpy().astype(float), b.detach().cpu().numpy().astype(float)) for W, b in layers]


def scores(layers: list[tuple[Tensor, Tensor]], X: Tensor) -> Tensor:
    """Return the scores of samples by a network of rectified linear units."""
    *hidden, (w, b) = layers
    for W, c in hidden:
        X = torch.relu(X @ W + c)
    return (X @ w + b)[:, 0]


def _minibatches(n: int, size: int, random: np.random.Generator) -> Iterator[Tensor]:
    """Yield disjoint parts of one random order after the other; what is left of an order is dropped."""
    while True:
        order = torch.from_numpy(random.permutation(n))
        yield from order[: n // size * size].split(size)
