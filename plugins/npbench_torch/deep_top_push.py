"""DeepTopPush as a scikit-learn classifier."""

import numpy as np

from npbench.estimators.constraints import FRACTION
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.thresholds import RULES
from npbench_torch.classifier import TorchNetworkClassifier


@keyword_parameters
class DeepTopPush(TorchNetworkClassifier):
    """Network with positives above the negative of largest score (DeepTopPush).

    With scores s of m positives i and of negatives j, descends on

        1/m sum_i max(0, 1 + max_j s_j - s_i)^2 + weight_decay / 2 sum w^2

    in minibatches. Each has, besides its own negatives, the one that was the largest in the minibatch before: the
    largest of a minibatch alone is too small. The bound rho enters the threshold and the stopping only.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate, in ]0, 1[; the problem fills it in.

    Attributes
    ----------
    intercepts_ : list of array
        Intercepts of each layer; the last is minus the smallest threshold with at most rho of held-out negatives above.

    Notes
    -----
    A step takes O(batch_size times the number of weights). The threshold promises nothing: put the classifier into
    :class:`npbench.NPThresholdClassifier` for a bound.

    References
    ----------
    V. Mácha, L. Adam, V. Šmídl (2020), DeepTopPush: Simple and scalable method for accuracy at the top,
    arXiv:2006.12293.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> DeepTopPush(rho=0.05, random_state=0).fit(X, y).status_  # doctest: +SKIP
    'converged'
    """

    rho: float = parameter(FRACTION, default=0.05)

    def _fit(self, X: np.ndarray, signs: np.ndarray) -> None:
        self._train(X, signs, self.rho, "top_push")

    def _threshold(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return RULES["empirical"].threshold(scores[signs < 0], self.rho, 0.0)
