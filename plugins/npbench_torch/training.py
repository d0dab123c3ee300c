"""Train a network by minibatches of as many positives as negatives."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from npbench.numerics.devices import on_device
from npbench_torch.classifier import outputs

LEAST_STEPS = 10  # of an epoch, or small samples would need thousands of epochs

Array = np.ndarray
Layers = list[tuple[Array, Array]]  # weights and intercepts
Scores = Callable[[Tensor], Tensor]  # of the samples of one class with given numbers
Objective = Callable[[Scores, Scores, Tensor, Tensor], Tensor]  # loss of the minibatch of positives i and negatives j


def epochs(
    settings: Any, start: Layers, positives: Array, negatives: Array, objective: Objective, random: np.random.Generator
) -> Iterator[Layers]:
    """Yield the layers after each epoch, without end; ``settings`` has the attributes of a classifier here."""
    device = settings.device
    layers = [tuple(on_device(part.astype("f4"), device).requires_grad_() for part in layer) for layer in start]
    samples = [on_device(rows.astype("f4"), device) for rows in (positives, negatives)]
    positive, negative = (lambda rows, X=X: outputs(layers, X[rows.to(device)], torch.relu) for X in samples)
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


def _minibatches(n: int, size: int, random: np.random.Generator) -> Iterator[Tensor]:
    """Yield disjoint parts of one random order after the other; the rest of an order is dropped."""
    size = min(n, size)
    while True:
        order = torch.from_numpy(random.permutation(n))
        yield from order[: n // size * size].split(size)
