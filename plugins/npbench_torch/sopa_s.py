"""SOPA-s as a scikit-learn classifier."""

import numpy as np

from npbench.estimators.constraints import POSITIVE, SHARE
from npbench.estimators.fpr_range import FprRangeClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench_torch.classifier import TorchNetworkClassifier


@keyword_parameters
class SOPAS(FprRangeClassifier, TorchNetworkClassifier):
    """Network trained for the partial AUC up to a false-positive rate, by pairs with soft weights (SOPA-s).

    With ``L_ij = max(0, 1 + s_j - s_i)^2`` for scores s of positives i and negatives j, descends on

        lambda mean_i log mean_j exp(L_ij / lambda) + weight_decay / 2 sum w^2

    in minibatches, with a moving average of ``mean_j exp(L_ij / lambda)`` for each positive. Exponential weights take
    the place of the largest losses, those in the range ``[0, beta]`` of false-positive rates.

    Parameters
    ----------
    fpr_range : (float, float)
        Range of false-positive rates, ``(0, beta)``, with a training negative ranked in it; the problem fills it in.
    temperature : float, optional
        The parameter lambda; positive. None sets it, every 30 steps, so that the weights have a mean Kullback-Leibler
        divergence of ``log(1 / beta)`` from equal ones, like equal weights on a share beta of the negatives.
    averaging : float
        Weight of the present minibatch in the moving averages, in ]0, 1].

    Notes
    -----
    For each lambda, ``lambda (log mean_j exp(L_ij / lambda) + log(1 / beta))`` is at least the mean of the share beta
    of largest losses ``L_ij`` (Donsker and Varadhan); None minimises this bound over lambda. A step takes O(batch_size
    (batch_size + number of weights)).

    References
    ----------
    D. Zhu, G. Li, B. Wang, X. Wu, T. Yang (2022), When AUC meets DRO: Optimizing partial AUC for deep learning with
    non-convex convergence guarantee, ICML, arXiv:2203.00176. The temperature by divergence is ours.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SOPAS(fpr_range=(0.0, 0.1), random_state=0).fit(X, y).status_  # doctest: +SKIP
    'converged'
    """

    temperature: float | None = parameter(None, POSITIVE, default=None)
    averaging: float = parameter(SHARE, default=0.9)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.fpr_range[0] > 0:
            raise ValueError(f"fpr_range is {self.fpr_range!r}: expected a range that starts at 0")

    def _fit(self, X: np.ndarray, signs: np.ndarray) -> None:
        self._ranks(signs)
        options = {"temperature": self.temperature, "averaging": self.averaging}
        self._train(X, signs, self.fpr_range[1], "partial_auc", fpr=self.fpr_range[1], **options)
