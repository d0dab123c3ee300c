"""Block descent of proximal steps for the partial AUC as a scikit-learn classifier."""

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from npbench.estimators.constraints import COUNT, POSITIVE
from npbench.estimators.fpr_range import FprRangeClassifier, Step
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import FeatureMapClassifier
from npbench.numerics.centring import offsets, without_offsets
from npbench.numerics.pauc_surrogates import HingeRisk
from npbench_pauc_sbcd.descent import Descent

LENGTHS = np.geomspace(0.1, 100.0, 16)  # deviations of the scores within the classes, at the start
N_EVALUATED = 20  # outer steps whose objective on all samples is computed, spread evenly; the last one is among them


@keyword_parameters
class PAUCSBCD(FprRangeClassifier, FeatureMapClassifier):
    """Minibatch descent for the hinge surrogate of the partial AUC over any range (AGD-SBCD).

    Seeks a small objective of :class:`PAUCDC`: with ``s = Xw``, m positives and n negatives by descending score,

        1/2 ||w||^2 + C R,   R = 1/(m k) sum_i sum_{first<j<=last} max(0, 1 - s_i + s_(j))

    with ``first = ceil(n lo)``, ``last = floor(n hi)`` and k = last - first, for ``fpr_range = (lo, hi)``. R is a
    difference of convex functions; its gradient is replaced by that of the difference of their Moreau envelopes.

    Parameters
    ----------
    C : float
        Weight of R; positive.
    batch_size : int
        Largest number of samples of each class in a minibatch; more negatives if fewer than 20 would be in the range.
    tol : float
        Imbalance below which the fit counts as converged; positive.
    max_iter : int
        Number of outer steps, each of 50 minibatches. All are taken, since mu shrinks over them.

    Attributes
    ----------
    n_iter_ : int
        Number of outer steps.
    objective_ : float
        Objective at w, the lowest of ``trace_`` and of the start, Fisher's discriminant.
    imbalance_ : float
        Gradient of the difference of the envelopes in the last outer step, relative to the largest of its parts: the
        gradients of both, and w.
    converged_ : bool
        Whether the imbalance met ``tol``, with weights better than w = 0. A critical point is not always a minimum.
    status_ : {"converged", "collapsed", "max_iter"}
        How the fit ended; "collapsed" if nothing better than w = 0 was found. The weights then still rank.
    trace_ : list of Step
        Seconds and objective of about 20 of the outer steps.

    References
    ----------
    Y. Yao, Q. Lin, T. Yang (2022), Large-scale optimization of partial AUC in a range of false positive rates, NeurIPS,
    arXiv:2203.01505. M. Ivgi, O. Hinder, Y. Carmon (2023), DoG is SGD's best friend: a parameter-free dynamic step size
    schedule, ICML, arXiv:2302.12022, for the steps.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> PAUCSBCD(fpr_range=(0.02, 0.05), C=10.0, random_state=0).fit(X, y).status_
    'converged'
    """

    fpr_range: tuple[float, float] = (0.0, 0.2)
    C: float = parameter(POSITIVE, default=1.0)
    batch_size: int = parameter(COUNT, default=500)
    tol: float = parameter(POSITIVE, default=0.2)
    max_iter: int = parameter(COUNT, default=100)

    _explanations: ClassVar[dict[str, str]] = {
        "collapsed": "no weights were found that are better than w = 0, which ranks nothing in fpr_range. The weights "
        "returned are the best of those tried. Use a wider fpr_range, other features, n_components or a larger C.",
        "max_iter": "the imbalance exceeds tol after max_iter outer steps. Increase max_iter, batch_size or tol.",
    }

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        started, features = time.perf_counter(), self._fit_map(X)
        Z = without_offsets(features, offsets(features))
        ranks, rng = self._ranks(signs), check_random_state(self.random_state)
        risk, descent = HingeRisk(signs, *ranks), Descent(Z, signs, ranks, self.C, self.batch_size, rng)

        def objective(w: np.ndarray) -> float:
            return 0.5 * float(w @ w) + self.C * risk(np.asarray(Z @ w))

        value, length = min((objective(t * descent.start), t) for t in LENGTHS)
        best, self.trace_ = length * descent.start, []
        every = -(-self.max_iter // N_EVALUATED)
        for number, (w, self.imbalance_) in enumerate(descent.iterates(length, self.max_iter), start=1):  # noqa: B020
            if number % every and number < self.max_iter:
                continue
            reached = objective(w)
            self.trace_.append(Step(number, time.perf_counter() - started, reached))
            if reached < value:
                value, best = reached, w
        scores = np.asarray(features @ best)
        self.coef_, self.intercept_ = best[None, :], np.array([-self._threshold(signs, scores)])
        self.n_iter_, self.objective_ = self.max_iter, value
        # w = 0 has the objective C
        self.status_ = "collapsed" if value >= self.C else "max_iter" if self.imbalance_ > self.tol else "converged"
        self.converged_ = self.status_ == "converged"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        risk = HingeRisk(signs, *self._ranks(signs))(scores - self.intercept_)
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + self.C * risk}
