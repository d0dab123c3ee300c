"""The SVM path over cost asymmetry as a scikit-learn classifier."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.constraints import COUNT, FRACTION, NUMBER, POSITIVE, SHARE, StrOptions
from npbench.estimators.kernel import KernelClassifier, KernelName
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.evaluation.splits import Fold
from npbench.numerics.centring import offsets
from npbench.numerics.threads import blas_threads
from npbench_svm_path.choice import CLASSIFIER_KINDS, Search, Stage, StagesName
from npbench_svm_path.search import Sample, TiedTotal, best_total, costs_of, validate

MAX_RELATIVE_GAP = 1e-6
CHECKED_BREAKPOINTS = 8  # on each line
LEAST_COST_SHARE = 1e-3  # breakpoints with a smaller share of one class are not checked: the objective vanishes
MAX_GRAM_ASYMMETRY = 1e-8  # relative to the largest value


@keyword_parameters
class SVMPath(KernelClassifier):
    """Support vector machine with the asymmetry of its costs, and its intercept, chosen along an exact path.

    On a line ``C_pos + C_neg = total`` the minimisers over f = f_0 + b of

        1/2 ||f_0||^2 + C_pos sum_{positives} max(0, 1 - f(x_i)) + C_neg sum_{negatives} max(0, 1 + f(x_i))

    are piecewise affine, and the path follows them all. Errors on held-out samples decide which one is best for an
    asymmetry of the true costs, or at a bound on false alarms. It need not be the one trained with that asymmetry.

    Parameters
    ----------
    asymmetry : float, default=0.5
        Share of a miss in the true cost, in ]0, 1[: a false alarm costs 1 - asymmetry.
    rho : float, optional
        Bound on the false-alarm rate, in ]0, 1[. With it, the fewest misses decide instead of the cost.
    classifier : {"one", "int", "all"}, default="all"
        Kind of classifier. For a cost, ``one`` is trained with the asymmetry of the true costs; ``int`` shifts its
        intercept; ``all`` has any training asymmetry and intercept. The last two are used if their costs on the folds
        are smaller than those of ``one`` at significance ``level``, and ``one`` otherwise. At a bound, ``one`` is
        any training asymmetry, ``int`` any intercept of the one trained with ``asymmetry``, and ``all`` both.
    level : float, default=0.05
        Level of the signed-rank test by which ``int`` and ``all`` replace ``one``, in ]0, 1]; at 1 they always do.
    total : float, optional
        C_pos + C_neg per sample, positive. By default the best on held-out samples along C_pos n_pos = C_neg n_neg.
    tied_total : {"middle", "smallest"}, default="middle"
        Which of equally good totals to take. The smallest often suffices there, but leaves other lines one class.
    ratios : array of shape (n_ratios,), default=(10, 0.1, 100, 0.01)
        Multiples of an explored ``total`` that compete for ``all``; positive. May be empty.
    max_rows : int, default=50000
        Most samples among which a fit chooses with a linear kernel: time grows with their square, and 50,000 take about
        half an hour. ``cache_size`` bounds those of other kernels.
    n_asymmetries : int, default=1000
        Number of training asymmetries to compare, evenly between 0 and 1, in addition to ``asymmetry``.
    train_asymmetry : float, optional
        C_pos / (C_pos + C_neg), in ]0, 1[: with it and ``total`` a fit is one path, and at most ``shift`` is chosen.
    shift : float, optional, default=0.0
        Constant added to the intercept of that classifier. None: chosen on the folds for ``asymmetry`` or ``rho``,
        where ``one`` is the classifier as trained; ``level=1`` takes the least cost.
    cv : int, cross-validation generator or iterable, default=10
        Folds. A number means stratified ones, drawn with ``random_state``, at most the samples of the rarer class;
        fewer than 5 cannot show significance, and ``one`` is used.
    stages : {"asked", "asymmetries", "roc"}, default="asked"
        Content of ``trace_`` and ``staged_decision_function``. "asked": the classifier of each kind for ``asymmetry``
        or ``rho``. "asymmetries": for each of ``n_asymmetries``. "roc": ROC points by asymmetry, intercept and both.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    path_ : Line
        Line of the classifier: ``path_.at(C_pos, C_neg)`` is any other classifier on it.
    total_, train_asymmetry_, shift_ : float
        Values chosen, or given. A fit with these gives the same classifier.
    C_pos_, C_neg_ : float
        Costs per sample.
    intercept_ : array of shape (1,)
        Intercept b of f, with the shift.
    objective_ : float
        The minimum, before the shift.
    duality_gap_ : float
        Upper bound on objective_ minus the optimum.
    n_iter_ : int
        Breakpoints of the line.
    converged_ : bool
        Whether the gap is at most 1e-6 of the objective, here and at 8 breakpoints of each line of ``trace_``, for
        costs of up to 1000 to 1.
    status_ : {"converged", "imprecise"}
        "imprecise" if the gap is larger.
    trace_ : list of Stage
        Asymmetry, kind (0 one, 1 int, 2 all), total, train_asymmetry, shift, and kept: False if ``one`` replaces it.

    Raises
    ------
    ValueError
        In ``fit``: if parameters contradict each other, the Gram matrix exceeds ``cache_size``, or a classifier must be
        chosen and a class has only one sample, or there are more than ``max_rows`` samples.
    ArithmeticError
        In ``fit``: if rounding errors keep a line from being followed to its end.

    References
    ----------
    F. R. Bach, D. Heckerman, E. Horvitz (2006), Considering cost asymmetry in learning classifiers, Journal of Machine
    Learning Research 7, sections 3 and 4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVMPath(total=0.02, asymmetry=0.1, random_state=0).fit(scale(X), y)
    >>> wrong = model.predict(scale(X)) != y
    >>> bool(wrong[y == 0].mean() < 0.03)
    True
    """

    asymmetry: float = parameter(FRACTION, default=0.5)
    rho: float | None = parameter(None, FRACTION, default=None)
    classifier: Literal["one", "int", "all"] = parameter(StrOptions(set(CLASSIFIER_KINDS)), default="all")
    level: float = parameter(SHARE, default=0.05)
    total: float | None = parameter(None, POSITIVE, default=None)
    tied_total: TiedTotal = parameter(StrOptions({"middle", "smallest"}), default="middle")
    ratios: Sequence[float] = parameter("array-like", default=(10, 0.1, 100, 0.01))
    max_rows: int = parameter(COUNT, default=50_000)
    n_asymmetries: int = parameter(COUNT, default=1000)
    train_asymmetry: float | None = parameter(None, FRACTION, default=None)
    shift: float | None = parameter(None, NUMBER, default=0.0)
    cv: Any = parameter("cv_object", default=10)
    stages: StagesName = parameter(StrOptions({"asked", "asymmetries", "roc"}), default="asked")
    kernel: KernelName = "linear"
    random_state: Any = parameter("random_state", default=None)

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        self._sample = self._sampled(X, signs, blas_threads())
        if self.searches:
            search = self._searched(self._sample, self.folds(X, signs))
            chosen, self.trace_ = search.chosen, search.stages
        else:
            assert self.total is not None
            assert self.shift is not None
            trained = self.asymmetry if self.train_asymmetry is None else self.train_asymmetry
            kind = CLASSIFIER_KINDS.index(self.classifier)
            chosen = Stage(self.asymmetry, kind, self.total, trained, self.shift, True)
            self.trace_ = [chosen]
        totals = sorted({chosen.total, *(stage.total for stage in self.trace_)})
        self._lines = dict(zip(totals, self._sample.path().lines(totals), strict=True))
        self._set_chosen(chosen, X)

    def _explanation(self) -> str:
        C_pos, C_neg, gap, objective = self._worst
        found = f"a duality gap of {gap:.2g} at an objective of {objective:.2g}"
        return f"at C_pos={C_pos:.4g}, C_neg={C_neg:.4g} it has {found}. Standardize the features, or lower total."

    @property
    def searches(self) -> bool:
        """True if a fit chooses a classifier."""
        trains = self.train_asymmetry is None and not (self.classifier == "one" and not self.rho)
        return trains or self.total is None or self.shift is None

    def choose(self, X: Any, y: np.ndarray, folds: Sequence[Fold], n_threads: int = 1) -> Search:
        """Choose a classifier on folds of (fit rows, validation rows); y in {-1, +1}."""
        return self._searched(self._sampled(X, y, n_threads), folds)

    def folds(self, X: Any, y: np.ndarray) -> list[Fold]:
        """Return the folds that ``cv`` defines for these samples."""
        if not isinstance(self.cv, Integral):
            given = list(check_cv(self.cv, y, classifier=True).split(X, y))
            if any(len(np.unique(y[fit])) < 2 for fit, _ in given):
                raise ValueError("A fold of cv leaves only one class to fit on: use stratified folds, or their number.")
            return given
        fewest = int(min(np.sum(y > 0), np.sum(y < 0)))
        if fewest < 2:
            raise ValueError("A class has only one sample, so none can be held out: set total and train_asymmetry.")
        shuffled = StratifiedKFold(min(self.cv, fewest), shuffle=True, random_state=self.random_state)
        return list(shuffled.split(X, y))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of each stage, in the order of ``trace_``."""
        check_is_fitted(self)
        # one product with the samples serves all stages of a line
        values = self._sample.values(self._samples(X))
        scores: dict[tuple[float, float], np.ndarray] = {}
        for total, line in self._lines.items():
            trained = np.unique([stage.train_asymmetry for stage in self.trace_ if stage.total == total])
            if len(trained):
                rows = line.scores(values, costs_of(total, trained))
                scores |= {(total, float(asymmetry)): row for asymmetry, row in zip(trained, rows, strict=True)}
        for stage in self.trace_:
            yield scores[stage.total, stage.train_asymmetry] + stage.shift

    def _searched(self, sample: Sample, folds: Sequence[Fold]) -> Search:
        self._require_consistent()
        if self.total is None:
            main = best_total(sample, folds, self.asymmetry, self.rho, self.tied_total)
            totals = [main, *(float(ratio) * main for ratio in self.ratios)]
        else:
            totals = [self.total]
        grid = np.arange(1, self.n_asymmetries + 1) / (self.n_asymmetries + 1)
        trained = np.union1d(grid, self.asymmetry) if self.train_asymmetry is None else np.array([self.train_asymmetry])
        validated = validate(sample, folds, totals, trained)
        return Search(self.asymmetry, self.rho, self.level, self.classifier, self.stages, totals, validated)

    def _require_consistent(self) -> None:
        """Raise a ValueError if parameters contradict each other when a classifier has to be chosen."""
        if self.train_asymmetry is not None and self.total is None:
            raise ValueError("train_asymmetry is set without total: set both, or neither.")
        if self.shift:
            raise ValueError(f"shift={self.shift:g} would be chosen: set total and train_asymmetry too, or no shift.")
        if self.stages == "asymmetries" and (self.rho is not None or self.train_asymmetry is not None):
            raise ValueError("stages='asymmetries' compares costs of all asymmetries: omit rho and train_asymmetry.")
        ratios = np.asarray(self.ratios)
        if ratios.ndim != 1 or not all(isinstance(one, int | float) and 0 < one < np.inf for one in ratios.tolist()):
            raise ValueError(f"ratios is {self.ratios!r}: expected a list of positive numbers, which may be empty.")

    def require_rows(self, n_rows: int) -> None:
        """Raise a ValueError if a path of so many samples needs too large a Gram matrix, or a choice too much time."""
        if self.kernel not in ("linear", "precomputed"):
            self._require_memory(n_rows, "ac_svm, which approximates the kernel")
        elif self.is_linear and self.searches and n_rows > self.max_rows:
            raise ValueError(
                f"A choice among {n_rows} samples, more than max_rows={self.max_rows}, follows paths whose time grows "
                "with the square of the samples: use linear_svm_ranked or np_svm_linear, set total and "
                "train_asymmetry, or raise max_rows."
            )

    def _sampled(self, X: Any, y: np.ndarray, n_threads: int) -> Sample:
        self._require_square(X)
        self.require_rows(X.shape[0])
        self._kernel, self._offsets = self.resolved_kernel(X), offsets(X)
        sample = Sample.of(X, y, self._kernel, n_threads)
        if self.kernel == "precomputed" and not _may_be_gram(sample.rows):
            raise ValueError("kernel='precomputed': expected a positive semi-definite, hence symmetric, Gram matrix.")
        return sample

    def _set_chosen(self, chosen: Stage, X: Any) -> None:
        """Set the classifier that was chosen, and the certificate of its optimality."""
        self.path_ = self._lines[chosen.total]
        self.total_, self.train_asymmetry_, self.shift_ = chosen.total, chosen.train_asymmetry, chosen.shift
        self.C_pos_, self.C_neg_ = costs_of(chosen.total, np.array([chosen.train_asymmetry]))[0].tolist()
        signs, (alpha, b, *_) = self._sample.y, self.path_.at(self.C_pos_, self.C_neg_)
        self._set_expansion(X, signs, signs * alpha, b)
        self.intercept_ = np.array([b + chosen.shift])
        self.n_iter_ = len(self.path_.costs)
        self._certify()

    def _certify(self) -> None:
        """Measure the gap of the classifier, and of breakpoints all along the lines, which serve other classifiers."""
        own = np.array([[self.C_pos_, self.C_neg_]])
        found = [(own, *self.path_.primal_and_gap(own))]
        for line in self._lines.values():
            inner = line.costs[line.costs.min(axis=1) >= LEAST_COST_SHARE * line.total]
            # at equal distances, with the first and the last
            places = np.linspace(0, len(inner) - 1, min(CHECKED_BREAKPOINTS, len(inner)))
            some = inner[np.unique(places.astype(int))]
            found.append((some, *line.primal_and_gap(some)))
        costs, objectives, gaps = (np.concatenate(parts) for parts in zip(*found, strict=True))
        self.objective_, self.duality_gap_ = float(objectives[0]), float(gaps[0])
        worst = int(np.argmax(gaps - MAX_RELATIVE_GAP * objectives))
        self._worst = (*costs[worst].tolist(), float(gaps[worst]), float(objectives[worst]))
        self.converged_ = bool(gaps[worst] <= MAX_RELATIVE_GAP * objectives[worst])
        self.status_ = "converged" if self.converged_ else "imprecise"

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        hinge = np.maximum(0.0, 1.0 - signs * (scores - self.shift_))
        costs = np.where(signs > 0, self.C_pos_, self.C_neg_)
        return {"objective_": 0.5 * self._squared_norm(scores) + float(costs @ hinge)}


def _may_be_gram(K: np.ndarray) -> bool:
    return bool(K.diagonal().min() >= 0 and np.abs(K - K.T).max() <= MAX_GRAM_ASYMMETRY * np.abs(K).max())
