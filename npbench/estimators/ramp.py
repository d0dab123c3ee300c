"""Kernel machines with the ramp loss under a bound on their surrogate rates (Gasso et al. 2011)."""

import time
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from npbench.estimators.binary import WeightedClassifier
from npbench.estimators.constraints import COUNT, POSITIVE, StrOptions
from npbench.estimators.nystroem import NystroemClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics import linear_svm, losses, ramp_path
from npbench.numerics.devices import rows_of
from npbench.numerics.gram import Gram
from npbench.numerics.multiplier_search import EXPLANATIONS, SearchResult, anneal
from npbench.numerics.multipliers import MULTIPLIERS, REACHED, RateBound, Update
from npbench.numerics.ramp_svm import RampSVM

START_PER_FEATURE, START_SHARE = 8, 0.05  # samples of the part on which a search among many begins
LEAST_OF_CLASS = 500  # in that part
PART_TOL_FACTOR = 30.0  # tolerance on that part, in units of tol
PART_UNSETTLED, UNSETTLED = 1e-2, 2e-3  # share of the samples that the last step of a search may make flat, or not flat


def _drawn(rng: Any, members: np.ndarray, share: float) -> np.ndarray:
    size = min(max(int(share * len(members)), LEAST_OF_CLASS), len(members))
    return rng.choice(members, size, replace=False)


@keyword_parameters
class RampClassifier(WeightedClassifier, NystroemClassifier):
    """Minimise ``1/2 ||f_0||^2 + C n_pos P_nd`` under a :class:`RateBound`; a subclass searches for the multiplier.

    P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss.

    Parameters
    ----------
    C : float
        Cost of a missed positive against the margin; positive. It is per sample, as in :class:`sklearn.svm.SVC`: the
        C_+ of the paper's grids, which is the paper's C / n_pos.
    eta : float
        Half-width of the ramp; positive. (C, eta) and (C / eta^2, 1) give the same classifier up to the factor eta.
    nu : float, optional
        Gain of the update ``lambda <- lambda (1 + nu (rate - bound))``; positive. Default: 1 / bound.
    epsilon : float, optional
        Tolerance on the surrogate constraint, ``|rate - bound| <= epsilon``; positive. Default: bound / 20.
    tol : float
        Tolerance of each convex step on its optimality conditions, in units of the margin; positive.
    max_iter : int
        Largest number of convex steps, over all multipliers.
    update : {"secant", "gradient"}
        Update of lambda: "gradient" is the paper's step with gain ``nu``; "secant" takes that step until lambda is
        bracketed, then secant steps.
    cache_size : float
        Memory for the Gram matrix, in megabytes; positive. If it does not fit, a linear kernel takes Newton steps in
        the weights of the features, without kernel values; for others, rows are computed when needed.

    Attributes
    ----------
    n_iter_ : int
        Number of convex steps.
    converged_ : bool
        Whether the constraint is met within epsilon (or is inactive) and the last convex step within ``tol``.
    status_ : {"converged", "inactive", "imprecise", "flat", "jump", "capped", "max_iter"}
        How the search ended; "imprecise" if rounding prevents ``tol``. Unless it converged, the classifier is the
        best one seen.
    multiplier_ : float
        Multiplier lambda of the classifier.
    surrogate_rates_ : (float, float)
        (P_nd, P_fa) of the ramp loss on the training sample.
    objective_ : float
        ``1/2 ||f_0||^2 + C n_pos P_nd``.
    duality_gap_ : float
        Duality gap of the convex step that gave the classifier.
    gram_seconds_ : float
        Seconds for the Gram matrix, a part of the fit; near 0 if its rows are computed when needed.
    trace_ : list of Trace
        Seconds, objective, p_fa, p_nd and multiplier of each iteration.

    Notes
    -----
    The constraint binds the *surrogate* rates on the *training* sample. A guarantee on the false-alarm rate itself
    needs a threshold set on held-out negatives. Memory is O(n_samples^2), bounded by ``cache_size``.

    With ``n_components`` and 5000 samples or more, the search begins where one on a part of the samples ends. It ends
    when the last convex step changes .2 % of all samples or fewer to or from flat, instead of none.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3).
    """

    C: float = parameter(POSITIVE, default=1.0)
    eta: float = parameter(POSITIVE, default=1.0)
    nu: float | None = parameter(None, POSITIVE, default=None)
    epsilon: float | None = parameter(None, POSITIVE, default=None)
    tol: float = parameter(POSITIVE, default=1e-3)
    max_iter: int = parameter(COUNT, default=200)
    update: Update = parameter(StrOptions(set(MULTIPLIERS)), default="secant")

    _has_newton_steps = True
    _missed_bound = frozenset({"jump", "capped"})

    @abstractmethod
    def constraint(self) -> RateBound:
        """Return the bound of the problem on the surrogate rates."""

    def search(self, svm: RampSVM, **start: Any) -> SearchResult:
        """Search for the multiplier on a training sample: alternate one convex step with one update."""
        return anneal(svm, **self.search_settings(svm), **start)

    @property
    def has_path(self) -> bool:
        """True if :meth:`path` may replace searches one by one: the search is the default one, and not too exact."""
        return self.update == "secant" and self.tol >= ramp_path.LEAST_TOLERANCE * self.eta

    def path(self, K: np.ndarray, signs: np.ndarray, costs: np.ndarray) -> ramp_path.Path:
        """Search for multipliers at ascending C on a Gram matrix in single precision, approximately."""
        return ramp_path.solve(K, signs, costs, eta=self.eta, tol=self.tol, **self._settings)

    def search_settings(self, svm: RampSVM) -> dict[str, Any]:
        """Return the arguments common to all searches, with defaults filled in."""
        # searches have the paper's C, the weight of the mean loss
        return {"C": self.C * svm.class_weights[0], "update": self.update, **self._settings}

    @property
    def _settings(self) -> dict[str, Any]:
        constraint = self.constraint()
        return {
            "constraint": constraint,
            "nu": 1.0 / constraint.bound if self.nu is None else self.nu,
            "epsilon": constraint.bound / 20.0 if self.epsilon is None else self.epsilon,
            "max_iter": self.max_iter,
        }

    def _fit(self, X: Any, signs: np.ndarray, weight: np.ndarray | None = None) -> None:
        rows = np.arange(len(signs)) if weight is None else np.flatnonzero(weight)
        if weight is not None and len(rows) < len(signs):
            self._require_square(X)
            X, signs, weight = X[rows], signs[rows], weight[rows]
            X = X[:, rows] if self.kernel == "precomputed" else X
        start = time.perf_counter()
        gram = self._gram(X, weight)
        self.gram_seconds_ = time.perf_counter() - start
        # among many samples, a few of the flat ones may change in the last step
        unsettled = 0 if gram.features is None else int(UNSETTLED * len(signs))
        svm = RampSVM(gram, signs, self.eta, self.tol, unsettled, weight)
        found = self.search(svm, **self.start(svm))
        best = found.best
        self._set_expansion(X, signs, best.x, best.b)
        self.support_ = rows[self.support_]
        if self.is_linear and gram.features is None:
            # the Gram matrix and b belong to centred features
            self.coef_ = linear_svm.weights(gram.X, best.x)[None, :]
            self.intercept_ = best.b - self.coef_ @ self._offsets
        self.n_iter_, self.trace_, self.status_ = len(found.trace), found.trace, found.status
        self.converged_ = self.status_ in REACHED
        self.multiplier_, self.objective_, self.duality_gap_ = best.multiplier, best.objective, best.duality_gap
        self.surrogate_rates_ = (best.p_nd, best.p_fa)

    def start(self, svm: RampSVM) -> dict[str, Any]:
        """Move to where the search on a part of many samples ends; return its flat samples and multiplier."""
        gram, signs = svm.gram, svm.y
        n, d = len(signs), gram.X.shape[1]
        part_size = max(START_PER_FEATURE * d, int(n * START_SHARE))
        if gram.features is None or self.update != "secant" or 2 * part_size > n:
            return {}
        rng = check_random_state(self.random_state)
        rows = np.union1d(*(_drawn(rng, np.flatnonzero(svm.positive == side), part_size / n) for side in (0, 1)))
        few = Gram.of_features(rows_of(gram.X, rows), gram.features.n_threads)
        unsettled = int(PART_UNSETTLED * len(rows))
        part = RampSVM(few, signs[rows], svm.eta, PART_TOL_FACTOR * svm.tol, unsettled, svm.weight[rows])
        found = anneal(part, **self.search_settings(svm)).best
        x = np.zeros(n)
        x[rows] = found.x
        return {"flat": svm.start_from(x, found.b), "start": found.multiplier}

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        loss, positive = losses.ramp(signs * scores, self.eta), signs > 0
        p_nd, p_fa = float(loss[positive].mean()), float(loss[~positive].mean())
        objective = 0.5 * self._squared_norm(scores) + self.C * int(positive.sum()) * p_nd
        return {"surrogate_rates_": (p_nd, p_fa), "objective_": objective}

    def _explanation(self) -> str:
        reason, advice = EXPLANATIONS[self.status_], "Try a larger C, another gamma, or a larger epsilon or max_iter."
        if self.status_ == "imprecise":
            reason += f", tol={self.tol:g}, or their results from what they claim"
            advice = "Scale the features to unit variance, or increase tol."
        p_nd, p_fa = self.surrogate_rates_
        return (
            f"{reason}. The classifier has surrogate rates P_fa={p_fa:.4g} and P_nd={p_nd:.4g} (bound: "
            f"{self.constraint().bound:g}) at multiplier {self.multiplier_:.4g}. {advice}"
        )
