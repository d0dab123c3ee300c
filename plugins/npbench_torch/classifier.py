"""Networks trained with PyTorch, as scikit-learn classifiers; scores need only NumPy."""

import importlib
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from npbench.estimators.binary import DenseClassifier
from npbench.estimators.constraints import COUNT, NOT_NEGATIVE, POSITIVE, PROPER_SHARE, ZERO_OR_MORE, StrOptions
from npbench.estimators.fpr_range import Step
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.pauc_metrics import strict
from npbench.numerics.thresholds import SAME_RATE


@keyword_parameters
class TorchNetworkClassifier(DenseClassifier):
    """A network of rectified linear units, trained in minibatches of as many positives as negatives.

    Parameters
    ----------
    hidden : int
        Number of units in each hidden layer; 0 for scores linear in the features.
    n_layers : int
        Number of hidden layers; at least 1.
    max_iter : int
        Largest number of epochs.
    patience : int
        Training stops after so many epochs without a larger held-out partial AUC, or an equal one with a smaller loss.
    validation_fraction : float
        Share of each class to hold out, in [0, 1[. With 0, or one sample of a class, the training sample is used.
    batch_size : int, optional
        Number of samples in a minibatch, half of them positives; None for all samples.
    optimizer : {"adam", "sgd"}
        Adam, or gradient steps.
    learning_rate : float
        Step size of the optimizer; positive.
    weight_decay : float
        Weight of the penalty ``1/2 sum w^2`` of all weights without intercepts; not negative.
    device : {"cpu", "cuda"}
        Where to train.
    random_state : int, RandomState or None, default=None
        Seed of the first weights, the held-out samples and the minibatches.

    Attributes
    ----------
    scaler_ : sklearn.preprocessing.StandardScaler
        Means and standard deviations of the features.
    coefs_ : list of array
        Weights of each layer, of shapes (n_features, hidden), ..., (hidden, 1), after the best epoch.
    intercepts_ : list of array
        Intercepts of each layer; the last one is minus the threshold.
    n_iter_ : int
        Number of epochs.
    converged_ : bool
        Whether training ended by ``patience``, with scores that differ.
    status_ : {"converged", "max_iter", "constant", "diverged"}
        How training ended.
    trace_ : list of Step
        Held-out partial AUC after each epoch.

    Raises
    ------
    ValueError
        In ``fit``: if PyTorch is not installed, or has no GPU for ``device="cuda"``.

    Notes
    -----
    Training is in single precision. The same seed gives the same classifier on one machine.
    """

    _explanations: ClassVar[dict[str, str]] = {
        "max_iter": "the held-out partial AUC still grew at max_iter, or too recently: try more epochs.",
        "constant": "all scores are equal: use features that vary, or a smaller weight_decay.",
        "diverged": "the weights left the range of single precision: use a smaller learning_rate.",
    }

    hidden: int = parameter(ZERO_OR_MORE, default=64)
    n_layers: int = parameter(COUNT, default=2)
    max_iter: int = parameter(COUNT, default=200)
    patience: int = parameter(COUNT, default=20)
    validation_fraction: float = parameter(PROPER_SHARE, default=0.2)
    batch_size: int | None = parameter(None, COUNT, default=512)
    optimizer: Literal["adam", "sgd"] = parameter(StrOptions({"adam", "sgd"}), default="adam")
    learning_rate: float = parameter(POSITIVE, default=1e-3)
    weight_decay: float = parameter(NOT_NEGATIVE, default=1e-3)
    device: Literal["cpu", "cuda"] = parameter(StrOptions({"cpu", "cuda"}), default="cpu")
    random_state: Any = parameter("random_state", default=None)

    @abstractmethod
    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        """Return the threshold for held-out samples."""

    def _train(self, X: np.ndarray, signs: np.ndarray, last_rate: float, module: str, **options: Any) -> None:
        """Fit with the objective of a module here, judged by the partial AUC up to a false-positive rate."""
        try:
            import torch  # noqa: F401
        except ImportError as error:
            raise ValueError(f"{type(self).__name__} needs PyTorch: pip install 'npbench[torch]'.") from error
        training, losses = (importlib.import_module(f"npbench_torch.{name}") for name in ("training", module))
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.scaler_ = StandardScaler().fit(X)
        Z, held_out = self.scaler_.transform(X), self._held_out(signs, random)
        fitted = ~held_out
        judged = held_out if held_out.any() else fitted
        positives, negatives = (Z[fitted & (signs == sign)] for sign in (1, -1))
        sizes = X.shape[1], *[self.hidden] * self.n_layers * (self.hidden > 0), 1
        # weights that keep the variance of the units (He et al. 2015)
        layers = [(random.normal(scale=math.sqrt(2 / n), size=(n, m)), np.zeros(m)) for n, m in pairwise(sizes)]
        objective = losses.Objective((len(positives), len(negatives)), **options)
        networks = training.epochs(self, layers, positives, negatives, objective, random)
        start, best, best_epoch = time.perf_counter(), (-math.inf, -math.inf), 0
        self.trace_, self.status_ = [], "max_iter"
        for epoch, network in enumerate(islice(networks, self.max_iter), 1):
            area, loss = _judged(signs[judged], outputs(network, Z[judged]), last_rate)
            self.trace_.append(Step(epoch, time.perf_counter() - start, area))
            if math.isnan(area):
                self.status_ = "diverged"
                break
            if (area, -loss) > best:
                layers, best, best_epoch = network, (area, -loss), epoch
            elif epoch - best_epoch >= self.patience:
                self.status_ = "converged"
                break
        self.n_iter_ = len(self.trace_)
        scores = outputs(layers, Z[judged])
        layers[-1][1][:] -= self._threshold(signs[judged], scores)
        if np.ptp(scores) == 0:
            self.status_ = "constant"
        self.coefs_, self.intercepts_ = ([*each] for each in zip(*layers, strict=True))
        self.converged_ = self.status_ == "converged"

    def _held_out(self, signs: np.ndarray, random: np.random.Generator) -> np.ndarray:
        held_out = np.zeros(len(signs), dtype=bool)
        classes = [random.permutation(np.flatnonzero(signs == sign)) for sign in (1, -1)]
        if self.validation_fraction and min(map(len, classes)) > 1:
            for rows in classes:
                n = round(self.validation_fraction * len(rows))
                held_out[rows[: min(max(n, 1), len(rows) - 1)]] = True
        return held_out

    def _scores(self, X: np.ndarray) -> np.ndarray:
        layers = list(zip(self.coefs_, self.intercepts_, strict=True))
        return np.asarray(outputs(layers, self.scaler_.transform(X)))


def _judged(signs: np.ndarray, scores: np.ndarray, last_rate: float) -> tuple[float, float]:
    """Return the partial AUC, NaN for scores that are not finite, and the loss of tau-FPL."""
    positive, negative = scores[signs > 0], scores[signs < 0]
    if not np.isfinite(scores).all():
        return math.nan, math.nan
    n = len(negative)
    k = max(1, math.floor(n * last_rate + SAME_RATE))
    top = np.mean(np.partition(negative, n - k)[n - k :])
    return strict(positive, negative, 0, k), float(np.mean(np.maximum(1 + top - positive, 0) ** 2))


def outputs(layers: Sequence[Any], Z: Any, relu: Callable[[Any], Any] = lambda z: np.maximum(z, 0)) -> Any:
    """Return the scores of samples by a network of rectified linear units, of NumPy or of torch."""
    *hidden, (w, b) = layers
    for W, c in hidden:
        Z = relu(Z @ W + c)
    return (Z @ w + b)[:, 0]
