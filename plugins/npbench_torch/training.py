"""Train a network by minibatches of as many positives as negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

LEAST_STEPS = 10  # of an epoch, or small samples would need thousands of epochs

Array = np.ndarray
Layers = list[tuple[Array, Array]]  # weights and intercepts
Scores = Callable[[Tensor], Tensor]  # of the samples of one class with some numbers
Objective = Callable[[Scores, Scores, Tensor, Tensor], Tensor]  # loss of the minibatch of positives i and negatives j


def epochs(
    settings: Any, start: Layers, positives: Array, negatives: Array, objective: Objective, random: np.random.Generator
) -> Iterator[Layers]:
    """Yield the layers after each epoch, without end; ``settings`` has the attributes of a classifier here."""
    device = settings.device
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device is 'cuda', but PyTorch finds no GPU: use device='cpu', or PyTorch built for CUDA.")

    def on_device(array: Array) -> Tensor:
        return torch.tensor(array, dtype=torch.float32, device=device)

    layers = [(on_device(W).requires_grad_(), on_device(b).requires_grad_()) for W, b in start]
    samples = on_device(positives), on_device(negatives)
    positive, negative = (lambda rows, X=X: scores(layers, X[rows.to(device)]) for X in samples)
    weights, intercepts = zip(*layers, strict=True)
    # no loss depends on the intercept of the scores
    groups: list[dict[str, Any]] = [{"params": weights, "weight_decay": settings.weight_decay}]
    groups += [{"params": intercepts[:-1]}]
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    steps = kind(groups, lr=settings.learning_rate)
    largest = max(len(positives), len(negatives))
    half = largest if settings.batch_size is None else max(1, settings.batch_size // 2)
    minibatches = zip(*(_minibatches(len(X), half, random) for X in samples), strict=True)
    while True:
        for i, j in islice(minibatches, max(LEAST_STEPS, largest // half)):
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
    size = min(n, size)
    while True:
        order = torch.from_numpy(random.permutation(n))
        yield from order[: n // size * size].split(size)
