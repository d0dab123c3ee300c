"""The support vector machine with a cost for each class, solved by scikit-learn."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import Interval

from npbench.estimators.kernel import KernelClassifier, KernelName

MOST_STEPS = 1_000_000  # of LIBSVM: seconds, for some thousand samples
MOST_PASSES = 1_000  # of LIBLINEAR


class ACSVM(KernelClassifier):
    """Support vector machine with asymmetric costs: scikit-learn's SVC, or LinearSVC for the linear kernel.

    Minimises over f = f_0 + b

        1/2 ||f_0||^2 + C_pos sum_{positives} max(0, 1 - f(x_i)) + C_neg sum_{negatives} max(0, 1 + f(x_i)).

    The costs are the only way to a bound on the false-alarm rate: the threshold is not moved after training. They are
    selected by the validation loss, which knows the bound.

    Parameters
    ----------
    C_pos, C_neg : float, default=1.0
        Cost of each positive and of each negative on the wrong side of its margin; positive.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        ``exp(-gamma ||x - x'||^2)``; the paper's bandwidth is ``sigma = (2 gamma)^(-1/2)``. As in scikit-learn,
        "scale" is ``1 / (n_features X.var())`` and "auto" is ``1 / n_features``. Also scales the polynomial kernel.
    degree : float, default=3
        Of the polynomial kernel ``(gamma x'x' + coef0)^degree``; positive.
    coef0 : float, default=0.0
        Of the polynomial kernel.
    tol : float, default=1e-3
        Violation of the optimality conditions at which LIBSVM or LIBLINEAR stops; positive.
    max_iter : int, optional
        Most pairs that LIBSVM updates, default 1,000,000, or most passes of LIBLINEAR over the samples, default 1,000.
    cache_size : float, default=1000
        Megabytes that kernel values may take; where they suffice LIBSVM is handed the Gram matrix, which is several
        times faster than having it compute the same values.
    random_state : int, RandomState instance or None, default=None
        For LIBLINEAR, which passes over the samples in random order.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    support_ : int array of shape (n_support,)
        Indices of the support vectors, for kernels other than the linear one; so are the next three.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those samples; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their signed multipliers.
    n_support_ : int array of shape (2,)
        Support vectors per class.
    coef_ : array of shape (1, n_features)
        Weights, for the linear kernel.
    intercept_ : array of shape (1,)
        The b of ``f = f_0 + b``. LIBLINEAR adds ``b^2 / 2`` to what is minimised.
    n_iter_ : int
        Pairs updated, or passes.
    converged_ : bool
        Whether the tolerance was met within ``max_iter``.
    status_ : {"converged", "max_iter"}
        The same as a word.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` ended the fit, as it does for features of very different scales at high costs.

    Notes
    -----
    LIBSVM: O(n) for each pair updated, between n and millions of them. LIBLINEAR: O(n d) for a pass, O(nnz) for CSR.

    References
    ----------
    M. Davenport, R. Baraniuk, C. Scott (2010), Tuning support vector machines for minimax and Neyman-Pearson
    classification, IEEE Transactions on Pattern Analysis and Machine Intelligence 32(10). G. Gasso et al. (2011),
    sections 5.4 and 5.5. C.-C. Chang, C.-J. Lin (2011), LIBSVM, ACM Transactions on Intelligent Systems and Technology
    2(3). R.-E. Fan et al. (2008), LIBLINEAR, Journal of Machine Learning Research 9.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ACSVM(C_pos=1, C_neg=30).fit(scale(X), y)
    >>> int((model.decision_function(scale(X))[y == 0] >= 0).sum())
    0
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        "C_pos": [Interval(Real, 0, None, closed="neither")],
        "C_neg": [Interval(Real, 0, None, closed="neither")],
        **KernelClassifier._parameter_constraints,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C_pos: float = 1.0,
        C_neg: float = 1.0,
        kernel: KernelName = "rbf",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
        cache_size: float = 1000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C_pos = C_pos
        self.C_neg = C_neg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ACSVM:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel the Gram matrix, of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        ACSVM
            The fitted classifier.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below, with what to do
            if self.kernel == "linear":
                self._fit_liblinear(X, signs)
            else:
                self._fit_libsvm(X, signs)
        self.status_ = "converged" if self.converged_ else "max_iter"
        if not self.converged_:
            warnings.warn(self._explanation(), ConvergenceWarning, stacklevel=2)
        return self

    def _fit_liblinear(self, X: Any, signs: np.ndarray) -> None:
        most = self.max_iter or MOST_PASSES
        model = LinearSVC(
            loss="hinge",
            dual=True,
            C=1.0,
            class_weight={-1: self.C_neg, 1: self.C_pos},
            tol=self.tol,
            max_iter=most,
            random_state=self.random_state,
        ).fit(X, signs)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, int(model.n_iter_)
        self.converged_ = self.n_iter_ < most

    def _fit_libsvm(self, X: Any, signs: np.ndarray) -> None:
        gram = self._gram(X)
        if gram.whole is None:
            svc = self.svc(kernel=self.kernel, gamma=self._kernel.gamma, degree=self.degree, coef0=self.coef0)
            svc.fit(X, signs)
        else:
            svc = self.svc(kernel="precomputed").fit(gram.whole, signs)
        x = np.zeros(len(signs))
        x[svc.support_] = svc.dual_coef_.toarray()[0] if hasattr(svc.dual_coef_, "toarray") else svc.dual_coef_[0]
        self._keep_expansion(X, signs, x, float(svc.intercept_[0]))
        self.n_iter_, self.converged_ = int(svc.n_iter_[0]), svc.fit_status_ == 0

    def svc(self, **kernel: Any) -> SVC:
        """Return scikit-learn's classifier of labels in {-1, +1} with these costs, tolerance and limits."""
        return SVC(
            C=1.0,
            class_weight={-1: self.C_neg, 1: self.C_pos},
            tol=self.tol,
            max_iter=self.max_iter or MOST_STEPS,
            cache_size=self.cache_size,
            **kernel,
        )

    def _explanation(self) -> str:
        solver, unit = ("LIBLINEAR", "passes") if self.kernel == "linear" else ("LIBSVM", "steps")
        return (
            f"ACSVM: {solver} stopped after max_iter={self.n_iter_} {unit} without meeting tol={self.tol:g}, at "
            f"C_pos={self.C_pos:g} and C_neg={self.C_neg:g}. Scale the features, lower the costs, or raise max_iter."
        )
