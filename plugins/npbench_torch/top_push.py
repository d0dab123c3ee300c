"""DeepTopPush: a loss for any training loop of torch, and its use here. Positives go above the largest negative."""

import torch
from torch import Tensor

from npbench_torch.training import Scores


def top_push(positive: Tensor, negative: Tensor) -> Tensor:
    """Return ``mean_i max(0, 1 + max_j s_j - s_i)^2`` of scores s; the gradient reaches one negative.

    The largest negative of a minibatch is smaller than that of the sample: let ``negative`` also have the score of the
    one that was the largest in the minibatch before.

    Examples
    --------
    >>> top_push(torch.tensor([0.0, 2.0]), torch.tensor([0.5, -1.0]))
    tensor(1.1250)
    """
    return (torch.relu(1 + negative[negative.argmax()] - positive) ** 2).mean()


class Objective:
    """The loss of minibatches, each with the largest negative of the one before."""

    def __init__(self, sizes: tuple[int, int]) -> None:
        self._largest: Tensor | None = None  # its number

    def __call__(self, positive: Scores, negative: Scores, i: Tensor, j: Tensor) -> Tensor:
        """Return the loss of a minibatch."""
        j = j if self._largest is None else torch.cat([j, self._largest])
        scores = negative(j)
        self._largest = j[scores.argmax()][None]
        return top_push(positive(i), scores)
