"""The annealed q-value SVM as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

from sklearn.utils._param_validation import Interval

from npbench.estimators.kernel import KernelName
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.annealing import Found, QValueBound, Update, anneal
from npbench.numerics.ramp_svm import RampSVM


class QSVM(RampClassifier):
    """Support vector machine that accepts as many positives as it can at a bounded q-value.

    Searches a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + (C n_pos + lambda q) P_nd(f) + lambda (P_fa(f) - q),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= q (1 - P_nd)``. A convex step of the DC algorithm alternates with an update of
    lambda.

    Parameters
    ----------
    q : float, default=0.01
        Bound on the q-value ``P_fa / (1 - P_nd)``, in ]0, 1[.
    C : float, default=1.0
        Cost of a missed positive against the margin; positive. It is per sample, as in :class:`sklearn.svm.SVC`: the
        paper's C_+, which its grids are over, and its C / n_pos, since it weighs the mean loss of the positives.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        ``exp(-gamma ||x - x'||^2)``; the paper's bandwidth is ``sigma = (2 gamma)^(-1/2)``. As in scikit-learn,
        "scale" is ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``. Also scales the polynomial kernel.
    degree : float, default=3
        Of the polynomial kernel ``(gamma x'x' + coef0)^degree``; positive.
    coef0 : float, default=0.0
        Of the polynomial kernel.
    eta : float, default=1.0
        Half-width of the ramp; positive. (C, eta) and (C / eta^2, 1) give the same classifier up to the factor eta.
    nu : float, optional
        Gain of the update of lambda; positive. Default: 1 / q.
    epsilon : float, optional
        Tolerance on the surrogate q-value, ``|P_fa / (1 - P_nd) - q| <= epsilon``; positive. Default: q / 20.
    tol : float, default=1e-3
        Tolerance of every convex step on its optimality conditions, in units of the margin; positive.
    max_iter : int, default=200
        Most convex steps.
    update : {"secant", "gradient"}, default="secant"
        How lambda moves: "gradient" as printed, ``lambda <- lambda (1 + nu (P_fa - q (1 - P_nd)))``; "secant" by
        ``lambda (1 + nu (P_fa / (1 - P_nd) - q))`` until lambda is bracketed, then by secants of that ratio.
    cache_size : float, default=1000
        Megabytes the Gram matrix may take; beyond, rows are computed as they are needed.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    support_ : int array of shape (n_support,)
        Indices of the training samples with nonzero multipliers.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their signed multipliers: ``f_0 = sum_i dual_coef_i k(support_i, .)``.
    intercept_ : array of shape (1,)
        The b of ``f = f_0 + b``.
    coef_ : array of shape (1, n_features)
        Weights, for the linear kernel.
    n_support_ : int array of shape (2,)
        Support vectors per class.
    n_iter_ : int
        Convex steps taken.
    converged_ : bool
        Whether the constraint was met within epsilon (or is inactive) and the last convex step within ``tol``.
    status_ : {"converged", "inactive", "imprecise", "flat", "jump", "capped", "max_iter"}
        How the search ended; "imprecise" if its last convex step missed ``tol``.
    multiplier_ : float
        The lambda of the classifier.
    surrogate_rates_ : (float, float)
        (P_nd, P_fa) of the ramp loss on the training sample.
    objective_ : float
        ``1/2 ||f_0||^2 + C n_pos P_nd``.
    duality_gap_ : float
        Of the convex step that gave the classifier.
    trace_ : list of Trace
        Seconds, objective, p_fa, p_nd and multiplier of each iteration.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the constraint could not be met within epsilon; the best point seen is kept, and the text says why.

    Notes
    -----
    The constraint binds the *surrogate* rates on the *training* sample; what counts is how many positives of a new
    sample have a q-value of at most q. Rejecting everything meets the constraint too (status "flat"). Memory is
    O(n_samples^2), bounded by ``cache_size``; a convex step takes
    O(n_samples) for each of some hundred pair updates.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3), section 4 and equation
    (13).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), QSVM(q=0.02)).fit(X, y)
    >>> f = model.decision_function(X)
    >>> bool((f[y == 0] >= 0).mean() <= 0.03 * (f[y == 1] > 0).mean())
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        **RampClassifier._parameter_constraints,
        "q": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        q: float = 0.01,
        C: float = 1.0,
        kernel: KernelName = "rbf",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        eta: float = 1.0,
        nu: float | None = None,
        epsilon: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 200,
        update: Update = "secant",
        cache_size: float = 1000,
    ) -> None:
        self.q = q
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eta = eta
        self.nu = nu
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.update = update
        self.cache_size = cache_size

    def constraint(self) -> QValueBound:
        """Return ``P_fa / (1 - P_nd) <= q``."""
        return QValueBound(self.q)

    def search(self, svm: RampSVM) -> Found:
        """Anneal: one convex step for each update of the multiplier."""
        return anneal(svm, **self.search_settings(svm))
