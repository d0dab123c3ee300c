"""The recommended classifier: a vote of several kinds of models, with a threshold that bounds its false alarms."""

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import wraps
from importlib import import_module
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, Literal, Self, TypeVar

import numpy as np
from rich.progress import track
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.ensemble._base import _set_random_states
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_n_features, check_is_fitted
from threadpoolctl import threadpool_limits

from npbench.console import STDERR
from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.constraints import COUNT, FRACTION, StrOptions
from npbench.estimators.frame_encoder import UNKNOWN_WORD, FrameEncoder, learned
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.samples import canonical
from npbench.numerics.threads import one_blas_thread
from npbench.thresholding.classifier import NPThresholdClassifier

T = TypeVar("T")

N_TREES = 150
MAX_TREE_SAMPLES = 50_000  # drawn for each tree of a forest
ONE_THREAD_SAMPLES = 10_000  # up to here, threads within a fit gain nothing, and cost much on a busy machine
MAX_SVM_SAMPLES = 2500  # the time of an SVM grows with their square
MAX_SPLINE_VALUES = 5_000_000  # seven columns take the place of one
MAX_CODES = 250  # words of a column: boosting takes 255 categories
MAX_ONE_HOT = 40
N_FOLDS = 5
FEWEST_KNOWN = 20  # values of a column with gaps: boosting fails where a part of the samples has none
FEWEST_TO_FOLD = 10  # samples of the rarer class; with fewer, only forests vote
# Of many samples, a part chooses the members: its least size and number of the rarer class, and its largest share.
PART_SAMPLES, PART_OF_CLASS, LARGEST_PART = 10_000, 200, 0.5
PULL_TO_MEAN = 10.0  # strength with which weights are kept near each other, in samples
SMALLEST_WEIGHT = 0.02

# classes of packages that join by name, and what keeps them quiet
PACKAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "lightgbm": ("LGBMClassifier", {"verbose": -1}),
    "xgboost": ("XGBClassifier", {}),
    "catboost": ("CatBoostClassifier", {"verbose": False, "allow_writing_files": False}),
    "tabpfn": ("TabPFNClassifier", {}),
    "tabicl": ("TabICLClassifier", {}),
}

# rule for the threshold of each promise, and how samples are scored for it
THRESHOLDS = {"guaranteed": ("umbrella", None), "on average": ("average", None), "measured": ("umbrella", "oob")}


@keyword_parameters
class SoftVote(BinaryClassifier):
    """Vote of forests, boosting, logistic regression and an SVM, with weights learned from out-of-fold scores.

    The score is a weighted sum of log-odds,

        f(x) = sum_j w_j (a_j s_j(x) + b_j),    w_j >= 0,    sum_j w_j = 1.

    Each member scores the training samples that it was not fitted to: forests out of bag, others out of five folds. On
    these scores, a logistic regression for each member gives ``a_j`` and ``b_j``, and a joint one the weights.

    Parameters
    ----------
    members : list of str, or mapping of str to classifier, optional
        Further members: installed packages, from "lightgbm", "xgboost", "catboost", "tabpfn" and "tabicl", or your own
        classifiers by name. They see a matrix with words as codes and NaN for missing values.
    n_estimators : int, default=150
        Number of trees of each forest.
    oob_score : bool, default=True
        Whether to keep ``oob_decision_function_``.
    n_jobs : int, optional
        Number of processes that fit members, -1 for one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the members and the folds.
    verbose : bool, default=False
        Whether to show the progress of ``fit``, on a terminal.

    Attributes
    ----------
    weights_ : dict of str to float
        Share of each member in the vote, largest first.
    oob_decision_function_ : array of shape (n_samples, 2)
        Probabilities of the training samples, by models that were not fitted to them.
    resolution_ : float
        Smallest such probability that says something about new samples; unlike a single forest, a vote has no floor.

    Notes
    -----
    The members are forests and extra trees with leaves of 1 to 20 samples, boosting with early stopping, logistic
    regression of the features and of splines, and an SVM for up to 2500 samples. With fewer than 10 samples of a class,
    the forests vote alone. Sparse samples get no boosting and no splines. From 20,000 samples on, members are chosen by
    a vote fitted to 10,000, or to as many as have 200 of the rarer class, if that is at most half: only those with
    weight in it are fitted to all.

    Boosting takes the 250 most frequent words of a column as categories; other members see the 40 most frequent as
    indicators, standardized numbers, and medians for missing ones. Columns with gaps and fewer than 20 values stay out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> next(iter(SoftVote(random_state=0).fit(X, y).weights_))
    'SVM'
    """

    members: Sequence[str] | Mapping[str, Any] | None = parameter(dict, list, tuple, None, default=None)
    n_estimators: int = parameter(COUNT, default=N_TREES)
    oob_score: bool = parameter("boolean", default=True)
    n_jobs: int | None = parameter(Integral, None, default=None)
    random_state: Any = parameter("random_state", default=None)
    verbose: bool = parameter("boolean", default=False)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both labels, of shape (n_samples, 2)."""
        return _probabilities(self.decision_function(X))

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        y = (signs > 0).astype(int)
        random = check_random_state(self.random_state)
        n_known = np.full(X.shape[1], len(y)) if issparse(X) else np.sum(~np.isnan(X), axis=0)
        self._left_out = np.flatnonzero(n_known < min(FEWEST_KNOWN, len(y)))
        X = _without(self._left_out, X)
        # some members take encoded columns, boosting and further ones take codes
        words, coded = list(self._encoder.words or ()), {}
        encoded, fewest = _forests(X.shape[0], self.n_estimators), int(np.bincount(y).min())
        if fewest >= FEWEST_TO_FOLD:
            encoded |= _smooth_models(X)
            coded = {} if issparse(X) else {"boosting": _boosting(words)}
            coded |= _further(self.members or {})
        if (share := max(PART_SAMPLES / len(y), PART_OF_CLASS / fewest)) <= LARGEST_PART:
            kept = self._with_weight(X, y, share, random)
            encoded, coded = ({name: one for name, one in of.items() if name in kept} for of in (encoded, coded))
        members, self._columns = encoded | coded, _columns(words, X)
        for member in members.values():
            _set_random_states(member, random)
        with ExitStack() as limits:
            if len(y) <= ONE_THREAD_SAMPLES:
                limits.enter_context(one_blas_thread())
                limits.enter_context(threadpool_limits(1, user_api="openmp"))  # of boosting
            if "boosting" in members:
                members["boosting"] = _with_fixed_rounds(members["boosting"], X, y)
            models, scores = self._cross_fitted(members, len(encoded), X, y, random)
        # put all scores on one scale, then weight them
        slopes, offsets = np.array([_calibration(column, y) for column in scores.T]).T
        weights = _weights(slopes * scores + offsets, y)
        used = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        self.weights_ = {list(members)[place]: float(weights[place]) for place in used}
        self._models = [models[place] for place in used]
        self._is_encoded = used < len(encoded)
        self._slopes, self._offset = (weights * slopes)[used], float(weights @ offsets)
        self.resolution_ = float(np.finfo(np.float64).tiny)
        if self.oob_score:
            self.oob_decision_function_ = _probabilities(scores[:, used] @ self._slopes + self._offset)

    def _with_weight(self, X: Any, y: np.ndarray, share: float, random: Any) -> Collection[str]:
        """Return the members that have weight in a vote fitted to a share of the samples."""
        part, _ = train_test_split(np.arange(len(y)), train_size=share, stratify=y, random_state=random)
        vote = clone(self).set_params(random_state=random.randint(2**31 - 1), oob_score=False)
        vote._encoder = self._encoder
        vote._fit(X[part], y[part])
        return vote.weights_.keys()

    def _cross_fitted(
        self, members: dict[str, Any], n_encoded: int, X: Any, y: np.ndarray, random: Any
    ) -> tuple[list[Any], np.ndarray]:
        """Return the members fitted to all samples, and their scores of the samples by fits without them."""
        # the first n_encoded members take encoded columns of the samples, others the samples as they are
        every, is_encoded = list(members.values()), np.arange(len(members)) < n_encoded
        is_bagged = is_encoded & [hasattr(member, "oob_score") for member in every]
        folded = [member for member, bagged in zip(every, is_bagged, strict=True) if not bagged]
        of_folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=random)
        folds = list(of_folds.split(y, y)) if folded else []
        samples, places = (X, self._columns.fit_transform(X)), is_encoded.astype(int)
        jobs = [delayed(_fitted)(member, samples[place], y) for member, place in zip(every, places, strict=True)]
        jobs += [delayed(_fold_scores)(folded, is_encoded[~is_bagged], self._columns, X, y, *fold) for fold in folds]
        fits = Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs)
        hidden = not (self.verbose and STDERR.is_terminal)
        done = list(track(fits, "Fitting", len(jobs), console=STDERR, transient=True, disable=hidden))
        models, scores = done[: len(members)], np.empty((len(y), len(members)))
        for (_, test), of_fold in zip(folds, done[len(members) :], strict=True):
            scores[np.ix_(test, ~is_bagged)] = of_fold
        for place in np.flatnonzero(is_bagged):
            # a sample in the bag of every tree has no score of its own
            scores[:, place] = _log_odds(np.nan_to_num(models[place].oob_decision_function_[:, 1], nan=np.mean(y)))
        return models, scores

    def _scores(self, X: Any) -> np.ndarray:
        return self._member_scores(X) @ self._slopes + self._offset

    def _member_scores(self, X: Any) -> np.ndarray:
        X = _without(self._left_out, X)
        return _scores_of(self._models, self._is_encoded, (X, self._columns.transform(X)))

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, y = self._unchecked(X, y)
        self._encoder = FrameEncoder() if issparse(X) else learned(X, MAX_CODES)
        return self._samples(X), self._signs(y)

    def _samples(self, X: Any) -> Any:
        """Return a matrix with words as codes and NaN for missing values, or canonical CSR."""
        X = canonical(X) if issparse(X) else self._encoder.transform(X)
        X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
        _check_n_features(self, X, reset=False)
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = tags.input_tags
        given.sparse = given.allow_nan = given.string = given.categorical = True
        return tags


def _of_classifier(method: Callable[..., T]) -> Callable[..., T]:
    """Return a method that calls ``method`` of ``classifier_``."""

    @wraps(method)
    def call(self: Any, *args: Any, **options: Any) -> T:
        check_is_fitted(self)
        return method(self.classifier_, *args, **options)

    return call


@keyword_parameters
class NPEnsemble(ClassifierMixin, BaseEstimator):
    """The classifier to start with: several kinds of models, and a threshold that bounds the false-alarm rate.

    A frame goes in as it is, with words and missing values. :class:`npbench.SoftVote` combines the models, and
    :class:`npbench.NPThresholdClassifier` sets the threshold. ``NPThresholdClassifier(SoftVote(), ...)`` has all of its
    options, such as ``abstain`` and ``contamination``.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate, the share of negatives predicted positive, in ]0, 1[.
    delta : float, default=0.05
        Probability with which the rate may exceed rho, in ]0, 1[.
    promise : {"guaranteed", "on average", "measured"}, default="guaranteed"
        "guaranteed" keeps rho with probability 1 - delta, "on average" in the mean over samples; both hold out
        negatives. "measured" sets the umbrella's threshold on out-of-fold scores of all negatives and misses less; see
        Notes.
    pos_label, calibration_size, small
        Label of the positives, negatives to hold out, and what to do with small groups of ``by``, as in
        :class:`npbench.NPThresholdClassifier`.
    members, n_jobs, verbose
        Further members, as ``["lightgbm"]``, processes, and progress on a terminal, as in :class:`SoftVote`.
    random_state : int, RandomState or None, default=None
        Seed of everything that is random.

    Attributes
    ----------
    members_ : dict of str to float
        Share of each model in the vote, largest first.
    classifier_ : NPThresholdClassifier
        Fitted vote with its threshold.
    result_, threshold_, pos_label_, classes_
        Those of ``classifier_``: the threshold with its promise, its value, and the labels.

    Raises
    ------
    ValueError
        In ``fit``: if the positive class is unclear, or there are too few negatives for the promise.

    Notes
    -----
    Weights are chosen on the training samples only. With "guaranteed" and "on average", the negatives that set the
    threshold are not among them, so the promise is exact. With "measured" they are, and no proof covers scores of
    other fits; the page "The classifier to start with" says how often the bound was exceeded on other tables.

    ``groups`` that set the threshold are held out as a whole, so the promise is exact for them as well. Within the
    vote, members may score rows of a group that they know: this can cost misses.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NPEnsemble(rho=0.05, random_state=0).fit(X, y)
    >>> print(model.result_.promise)
    With probability 0.95 or more, the false-alarm rate of new samples from the same population is at most 0.05.
    """

    rho: float = parameter(FRACTION, default=0.05)
    delta: float = parameter(FRACTION, default=0.05)
    promise: Literal["guaranteed", "on average", "measured"] = parameter(
        StrOptions(set(THRESHOLDS)), default="guaranteed"
    )
    pos_label: Any = parameter(str, Real, "boolean", None, default=None)
    calibration_size: float | str = parameter(StrOptions({"aligned"}), FRACTION, COUNT, default="aligned")
    members: Sequence[str] | Mapping[str, Any] | None = parameter(dict, list, tuple, None, default=None)
    n_jobs: int | None = parameter(Integral, None, default=None)
    random_state: Any = parameter("random_state", default=None)
    verbose: bool = parameter("boolean", default=True)
    small: str = parameter(StrOptions({"refuse", "pool"}), default="refuse")

    def fit(self, X: Any, y: Any, *, by: Any = None, groups: Any = None, calibration_weight: Any = None) -> Self:
        """Fit the models, choose their weights and set the threshold.

        Parameters
        ----------
        X : array, sparse matrix or frame of length n_samples
            Samples; a frame may have words and missing values.
        y : array of shape (n_samples,)
            Labels of two classes.
        by, groups, calibration_weight : array of shape (n_samples,), optional
            Groups with a threshold each, names shared by samples that depend on each other, and probabilities of
            keeping a negative for the threshold, as in :class:`npbench.NPThresholdClassifier`. "measured" would divide
            groups, and refuses them.
        """
        self._validate_params()
        rule, cv = THRESHOLDS[self.promise]
        random = check_random_state(self.random_state)
        seed = random.randint(np.iinfo(np.int32).max)
        vote = SoftVote(members=self.members, n_jobs=self.n_jobs, random_state=seed, verbose=self.verbose)
        shared = {name: getattr(self, name) for name in ("rho", "delta", "pos_label", "calibration_size", "small")}
        model = NPThresholdClassifier(vote, cv=cv, threshold=rule, random_state=random, **shared)
        self.classifier_ = model.fit(X, y, by=by, groups=groups, calibration_weight=calibration_weight)
        return self

    def refit_threshold(self, X: Any, *, by: Any = None, groups: Any = None) -> Self:
        """Set the threshold again on new negatives, as :meth:`npbench.NPThresholdClassifier.refit_threshold` does."""
        check_is_fitted(self)
        self.classifier_.refit_threshold(X, by=by, groups=groups)
        return self

    def with_threshold(self, **params: Any) -> Self:
        """Return a copy with the same fitted vote and another threshold, set on the same scores.

        Parameters
        ----------
        **params
            ``rho``, ``delta``, ``small``, or ``promise``; "measured" takes different scores from the other promises.
        """
        check_is_fitted(self)
        if others := sorted(params.keys() - {"rho", "delta", "small", "promise"}):
            why = f"{others[0]} is not one of rho, delta, small and promise. Parameters of the models need another fit"
            raise ValueError(f"{why}; NPThresholdClassifier(SoftVote()) has further bounds, such as recall.")
        other = copy.copy(self).set_params(**params)
        other._validate_params()
        if "promise" in params:
            params["threshold"], cv = THRESHOLDS[params.pop("promise")]
            if cv != self.classifier_.cv:
                raise ValueError(f"promise={other.promise!r} needs another fit: it is set on other scores.")
        other.classifier_ = self.classifier_.with_threshold(**params)
        return other

    scores = _of_classifier(NPThresholdClassifier.scores)
    decision_function = _of_classifier(NPThresholdClassifier.decision_function)
    predict = _of_classifier(NPThresholdClassifier.predict)
    predict_proba = _of_classifier(NPThresholdClassifier.predict_proba)
    score = _of_classifier(NPThresholdClassifier.score)

    members_ = property(attrgetter("classifier_.estimator_.weights_"))
    result_ = property(attrgetter("classifier_.result_"))
    threshold_ = property(attrgetter("classifier_.threshold_"))
    pos_label_ = property(attrgetter("classifier_.pos_label_"))
    classes_ = property(attrgetter("classifier_.classes_"))
    n_features_in_ = property(attrgetter("classifier_.n_features_in_"))
    feature_names_in_ = property(attrgetter("classifier_.feature_names_in_"))

    def __sklearn_tags__(self) -> Tags:
        return SoftVote().__sklearn_tags__()


def _further(members: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of the user's members, or new ones from the packages that are named."""
    if isinstance(members, Mapping):
        return {name: clone(member) for name, member in members.items()}
    found = {}
    for name in members:
        if name not in PACKAGES:
            raise ValueError(f"members has {name!r}, expected {', '.join(PACKAGES)}, or a mapping of classifiers.")
        of_class, options = PACKAGES[name]
        try:
            found[name] = getattr(import_module(name), of_class)(**options)
        except ImportError as error:
            raise ValueError(f"members has {name!r}, which is not installed: pip install {name}.") from error
    return found


def _forests(n: int, n_trees: int) -> dict[str, Any]:
    drawn = MAX_TREE_SAMPLES if n > MAX_TREE_SAMPLES else None
    options = {"n_estimators": n_trees, "bootstrap": True, "oob_score": True, "max_samples": drawn}
    return {
        "random forest, leaves of 1": RandomForestClassifier(**options),
        "random forest, leaves of 5": RandomForestClassifier(min_samples_leaf=5, max_features=0.5, **options),
        "random forest, leaves of 20": RandomForestClassifier(min_samples_leaf=20, **options),
        "extra trees, leaves of 1": ExtraTreesClassifier(**options),
        "extra trees, leaves of 5": ExtraTreesClassifier(min_samples_leaf=5, **options),
    }


def _smooth_models(X: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"logistic regression": LogisticRegression(max_iter=1000)}
    if X.shape[0] <= MAX_SVM_SAMPLES:
        found["SVM"] = SVC()
    if not issparse(X) and X.size <= MAX_SPLINE_VALUES:
        splines = SplineTransformer(n_knots=5, knots="quantile")
        line = LogisticRegression(C=0.03, max_iter=1000)
        found["logistic regression of splines"] = make_pipeline(splines, StandardScaler(), line)
    return found


def _boosting(words: list[int]) -> Any:
    return HistGradientBoostingClassifier(
        learning_rate=0.08,
        max_iter=300,
        tol=2e-4,
        max_leaf_nodes=16,
        min_samples_leaf=30,
        l2_regularization=5.0,
        max_features=0.3,
        early_stopping=True,
        validation_fraction=0.2,
        categorical_features=words or None,
    )


def _with_fixed_rounds(boosting: Any, X: Any, y: np.ndarray) -> Any:
    """Return boosting that takes as many rounds as early stopping does now."""
    # if each fold stopped on its own, scores would spread with the rounds, and false alarms would exceed the bound
    return boosting.set_params(max_iter=clone(boosting).fit(X, y).n_iter_, early_stopping=False)


def _without(columns: np.ndarray, X: Any) -> Any:
    """Return samples with 0 in some columns."""
    if len(columns):
        X = X.copy()
        X[:, columns] = 0.0
    return X


def _columns(words: list[int], X: Any) -> Any:
    """Return the transformer of coded samples for models that take numbers only."""
    if issparse(X):
        return MaxAbsScaler()
    one_hot = OneHotEncoder(max_categories=MAX_ONE_HOT, handle_unknown="infrequent_if_exist", sparse_output=False)
    indicators = make_pipeline(SimpleImputer(strategy="constant", fill_value=UNKNOWN_WORD), one_hot)
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    rest = [place for place in range(X.shape[1]) if place not in words]
    return make_column_transformer((numbers, rest), (indicators, words))


def _fitted(member: Any, X: Any, y: np.ndarray) -> Any:
    try:
        return clone(member).fit(X, y)
    except ValueError as error:
        gaps = not issparse(X) and np.isnan(X).any()
        hint = " Members see NaN for missing values: begin with a SimpleImputer." if gaps else ""
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{type(member).__name__}, a member, cannot be fitted: {reason}{hint}") from error


def _fold_scores(
    members: list[Any], is_encoded: np.ndarray, columns: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Return the scores of one part of the samples by fits of the members to the other."""
    columns, places = clone(columns).fit(X[train]), is_encoded.astype(int)
    known, hidden = ((rows, columns.transform(rows)) for rows in (X[train], X[test]))
    models = [_fitted(member, known[place], y[train]) for member, place in zip(members, places, strict=True)]
    return _scores_of(models, is_encoded, hidden)


def _scores_of(models: list[Any], is_encoded: np.ndarray, samples: tuple[Any, Any]) -> np.ndarray:
    """Return a column of scores for each model; ``samples`` are the codes, and the encoded columns."""
    return np.column_stack([_raw(model, samples[int(place)]) for model, place in zip(models, is_encoded, strict=True)])


def _raw(model: Any, X: Any) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return _log_odds(model.predict_proba(X)[:, 1])


def _log_odds(probability: np.ndarray) -> np.ndarray:
    """Return log-odds that stay finite for a forest with unanimous trees, as if half a tree disagreed."""
    return np.log(N_TREES * probability + 0.5) - np.log(N_TREES * (1 - probability) + 0.5)


def _probabilities(log_odds: np.ndarray) -> np.ndarray:
    return expit(np.column_stack([-log_odds, log_odds]))


def _calibration(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the slope and offset that turn scores into log-odds; the slope is not negative."""
    line = LogisticRegression().fit(scores[:, np.newaxis], y)
    return max(0.0, float(line.coef_[0, 0])), float(line.intercept_[0])


def _weights(log_odds: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights of the columns: a logistic regression with non-negative coefficients near each other."""
    # minimise sum_i log(1 + exp(-y_i (w.z_i + b))) + c |w - 1/m|^2 over w >= 0; the weights are then scaled to sum to 1
    m, signs = log_odds.shape[1], 2 * y - 1

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        weights, offset = point[:-1], point[-1]
        margins = signs * (log_odds @ weights + offset)
        slopes, apart = -signs * expit(-margins), weights - 1 / m
        value = np.sum(np.logaddexp(0, -margins)) + PULL_TO_MEAN * apart @ apart
        return value, np.append(slopes @ log_odds + 2 * PULL_TO_MEAN * apart, np.sum(slopes))

    start, bounds = np.append(np.full(m, 1 / m), 0.0), [(0, None)] * m + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x[:-1]
    found[found < SMALLEST_WEIGHT * np.sum(found)] = 0.0
    return found / np.sum(found)
