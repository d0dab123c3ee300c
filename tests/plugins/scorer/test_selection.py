"""The search of the solver inside a scorer against one fit of the scorer after another, and which samples it uses."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.neighbors import KNeighborsClassifier

from grids import diagonal
from npbench import registry
from npbench.contracts import resolve
from npbench.evaluation.selection import grid_search
from npbench.numerics import thresholds
from npbench.numerics.rates import np_score
from npbench.problem import NeymanPearson, PartialAUC, QValue
from npbench_scorer import selection
from npbench_scorer.estimator import Scorer
from npbench_scorer.selection import select
from selection_checks import CV, HOLDOUT, PROBLEM, X, Y, forbid_fallback

COSTS, GAMMAS = [0.1, 1.0, 10.0], [0.3, 3.0]  # scores vary by more than the tolerance, so that ranks are certain
AC = {"estimator": "ac_svm"}
AC_GRID = [{"C_neg": a, "C_pos": b, "gamma": g, "tol": 1e-6} for a in COSTS for b in COSTS for g in GAMMAS]
NU_GRID = [{"nu_pos": a, "nu_neg": b, "gamma": g} for a in (0.3, 0.6, 0.9) for b in (0.3, 0.6, 0.9) for g in GAMMAS]
RAMP_GRID = [{"C": C, "gamma": g, "update": "gradient", "tol": 1e-6} for C in COSTS for g in GAMMAS]
scorer = partial(Scorer, rho=0.1, threshold="empirical", random_state=0)


REQUESTS = {
    "ac_svm": (AC, {"params": AC_GRID}),
    "two": (AC, {"params": AC_GRID[::-1], "calibration_size": [0.3, 0.6]}),
    "umbrella": (AC | {"threshold": "umbrella", "delta": 0.5}, {"params": AC_GRID}),
    "zero": (AC | {"threshold": "zero"}, {"params": AC_GRID}),
    "cv": (AC, {"params": AC_GRID[:6], "cv": [None, 2, 3]}),
    "not full": (AC, {"params": [AC_GRID[0], AC_GRID[3], AC_GRID[8]]}),
    "np_svm, cv": ({"estimator": "np_svm", "cv": 3, "threshold": "umbrella", "delta": 0.5}, {"params": RAMP_GRID}),
    "np_svm": ({"estimator": "np_svm"}, {"params": RAMP_GRID}),
    "two_nu_svm": ({"estimator": "two_nu_svm"}, {"params": NU_GRID}),
    "q": (AC | {"q": 0.3}, {"params": AC_GRID}),
    "two solvers": (
        {},
        {"estimator": ["ac_svm", "np_svm"], "params": [{"gamma": gamma, "tol": 1e-6} for gamma in GAMMAS]},
    ),
}
SELECTIONS = [
    [pytest.param(*request, folds, id=f"{name}-{kind}") for name, request in REQUESTS.items()]
    for kind, folds in {"folds": CV, "holdout": HOLDOUT}.items()
]


@pytest.mark.filterwarnings("ignore:The negative scores of the 3 folds")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("fixed", "search", "folds"), [*diagonal(SELECTIONS, every=6)])
def test_losses_are_those_of_independent_fits(fixed, search, folds):
    make, problem = partial(scorer, **fixed), QValue(fixed["q"]) if "q" in fixed else PROBLEM
    quick, slow = (method(make, X, Y, folds, problem, search) for method in (select, grid_search))
    np.testing.assert_allclose(quick.losses, slow.losses, rtol=1e-12, atol=1e-12)
    assert (quick.params, quick.loss, quick.n_candidates) == (slow.params, slow.loss, slow.n_candidates)


FOLDS = [{}, {"cv": 3}, {"calibration_size": "aligned"}, {"threshold": "empirical"}, {"contamination": (0.9, 0.0)}]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("fixed", FOLDS, ids=repr)
@pytest.mark.parametrize(
    ("inside", "kind", "params"),
    [
        ("sklearn.neighbors.KNeighborsClassifier", KNeighborsClassifier, [{"n_neighbors": n} for n in (30, 3)]),
        ("ac_svm", resolve(registry.installed().solver("ac_svm").estimator), AC_GRID[:6]),
    ],
    ids=["neighbours", "ac_svm"],
)
def test_search_by_ranking_is_that_of_partial_areas_whatever_the_threshold(inside, kind, params, fixed):
    make = partial(Scorer, estimator=inside, **fixed, rho=0.1, search_by="ranking", random_state=0)
    found = select(make, X, Y, CV, PROBLEM, {"params": params})
    losses = []
    for one in params:
        fitted = [(kind(**one).fit(X[fit], Y[fit]), rows) for fit, rows in CV]
        losses.append(1 - np.mean([area(Y[rows], scores_of(model, X[rows]), 0.1) for model, rows in fitted]))
    np.testing.assert_allclose(found.losses, losses, atol=1e-4)
    assert len({*losses}) > 1
    assert found.params["params"] == params[int(np.argmin(losses))]


def scores_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]


def area(y, scores, rho):
    """Return the mean height up to rho of the curve through scikit-learn's points."""
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    grid = np.linspace(0, rho, 100_001)
    return np.mean(np.interp(grid, fpr, tpr))


def test_search_by_ranking_leaves_out_a_classifier_without_scores():
    params = [{"strategy": "prior"}, {"strategy": "stratified", "random_state": 0}]  # all tied; by chance
    fixed = {"estimator": "sklearn.dummy.DummyClassifier", "search_by": "ranking", "rho": 0.1}
    for problem, more in ((PROBLEM, {}), (PartialAUC((0.0, 0.1)), {"threshold": "auto", "fpr_range": (0.0, 0.1)})):
        found = select(partial(scorer, **fixed, **more), X, Y, CV, problem, {"params": params})
        assert found.losses[0] == pytest.approx(1 - 0.05)  # below the diagonal


def test_search_by_ranking_takes_errors_where_a_part_lacks_a_class():
    folds = [(np.flatnonzero(np.arange(len(Y)) != row), np.array([row])) for row in range(4)]
    make, search = partial(scorer, search_by="ranking"), {"params": [{"C": 0.01}, {"C": 10.0}]}
    assert select(make, X, Y, folds, PROBLEM, search).losses == grid_search(make, X, Y, folds, PROBLEM, search).losses


@pytest.mark.usefixtures("shared")
def test_approximate_path_of_the_np_svm_is_its_own():
    grid = {"C": COSTS, "gamma": GAMMAS}
    alone = registry.installed().solver("np_svm")
    own = resolve(alone.selection)(partial(resolve(alone.estimator), rho=0.1), X, Y, CV, PROBLEM, grid)
    params = [{"C": C, "gamma": gamma} for C in COSTS for gamma in GAMMAS]
    found = select(partial(scorer, estimator="np_svm", threshold="zero"), X, Y, CV, PROBLEM, {"params": params})
    assert found.losses == own.losses
    assert found.params["params"] == own.params


def test_samples_fitted_held_out_and_validated_are_distinct(monkeypatch):
    """The loss is that of a threshold from negatives that neither the fit nor the validation saw."""
    seen = []

    def search(make, X, y, folds, problem, grid, n_threads):
        scores = np.random.default_rng(0).normal(size=len(y))  # of a classifier that knows nothing
        scored = [(y[rows], scores[rows]) for _, rows in folds]
        seen.append((folds, scores, problem.loss(scored)))
        return grid_search(make, X, y, folds, problem, grid, n_threads)

    monkeypatch.setattr(selection, "resolve", lambda target: search)
    select(partial(scorer, estimator="ac_svm"), X, Y, CV, PROBLEM, {"params": AC_GRID[:2]})
    ((parts, scores, loss),) = seen
    wrong_pos, wrong_neg, all_validated = 0, 0, Y[np.concatenate([validate for _, validate in CV])]
    for (fit, judged), (given, validate) in zip(parts, CV, strict=True):
        held_out = np.setdiff1d(judged, validate)
        assert not np.intersect1d(fit, judged).size
        np.testing.assert_array_equal(np.union1d(fit, held_out), np.sort(given))
        assert len(held_out) == np.ceil(0.5 * np.sum(Y[given] < 0))
        assert np.all(Y[held_out] < 0)
        limit = np.sort(scores[held_out])[-1 - int(0.1 * len(held_out))]  # at most a tenth lie above it
        wrong_pos += np.sum(scores[validate][Y[validate] > 0] <= limit)
        wrong_neg += np.sum(scores[validate][Y[validate] < 0] > limit)
    n_pos, n_neg = np.sum(all_validated > 0), np.sum(all_validated < 0)
    assert loss == pytest.approx(np_score(wrong_pos / n_pos, wrong_neg / n_neg, 0.1))


def test_first_part_is_that_of_the_fit():
    ((kept, held_out),), rule = scorer(estimator="gen", threshold="umbrella").first_parts(Y)
    model = scorer(estimator="gen", threshold="umbrella").fit(X, Y)
    np.testing.assert_array_equal(np.sort(np.concatenate([kept, held_out])), np.arange(len(Y)))
    alone = model.without_threshold().fit(X[kept], Y[kept])
    assert rule(Y[held_out], alone.decision_function(X[held_out])) == pytest.approx(model.thresholds_[0], rel=1e-9)


def test_too_few_negatives_are_refused_and_auto_warns_once_a_fold():
    make = partial(Scorer, estimator="ac_svm", rho=0.01, random_state=0)
    with pytest.raises(ValueError, match=r"held-out negatives.* 299"):
        select(partial(make, threshold="umbrella"), X, Y, CV, NeymanPearson(rho=0.01), {"params": AC_GRID})
    with pytest.warns(UserWarning, match=r"held-out negatives.* 299") as caught:
        select(make, X, Y, CV, NeymanPearson(rho=0.01), {"params": AC_GRID})
    assert len(caught) == len(CV)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("fixed", "params"),
    [
        ({"estimator": "sgd"}, [{"lambda_c": 0.1}, {"lambda_c": 1.0}]),
        ({"estimator": LogisticRegression()}, [{"C": 0.1}, {"C": 1.0}]),
        ({"estimator": "sklearn.linear_model.LogisticRegression"}, [{"C": 0.1}, {"C": 1.0}]),
        (AC | {"n_splits": 3}, AC_GRID[:2]),
        (AC, [{"C_pos": 1.0}, {"gamma": 0.1}]),
        (AC, AC_GRID[:1]),
    ],
    ids=["solver without", "classifier", "import path", "splits", "other names", "one candidate"],
)
def test_fallback_fits_every_candidate(fixed, params, monkeypatch):
    calls = []
    monkeypatch.setattr(selection, "grid_search", lambda *given: (calls.append(1), grid_search(*given))[1])
    make, search = partial(scorer, **fixed), {"params": params}
    quick, slow = select(make, X, Y, CV, PROBLEM, search), grid_search(make, X, Y, CV, PROBLEM, search)
    assert calls == [1]
    assert (quick.params, quick.losses) == (slow.params, slow.losses)


WITH_GRIDS = {name for name, solver in registry.installed().solvers.items() if solver.grid_search} - {"scorer"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(WITH_GRIDS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_grid_searches_keep_the_order_of_validation_rows(name):
    """The held-out samples come first in a validation part, and a threshold needs their scores."""
    solver = registry.installed().solver(name)
    random = np.random.default_rng(0)
    folds = [(fit, random.permutation(np.concatenate([validate, fit[:40]]))) for fit, validate in CV]
    seen = []

    class Order:
        name, ranks = "np", True

        @staticmethod
        def loss(scored):
            seen.append([y for y, _ in scored])
            return sum(float(scores @ np.arange(len(scores))) for _, scores in scored)

    grid = {parameter: values[:2] for parameter, values in GRIDS[name].items()}
    make = resolve(solver.estimator)
    found = resolve(solver.grid_search)(make, X, Y, folds, Order(), grid)
    assert all(np.array_equal(y, Y[rows]) for parts in seen for y, (_, rows) in zip(parts, folds, strict=True))
    assert len(found.losses) == found.n_candidates == len(seen)


TWO = [0.1, 1.0]
GRIDS = {
    "ac_svm": {"C_pos": TWO, "gamma": TWO},
    "auc_svm": {"C": TWO},
    "gen": {"gamma": TWO},
    "np_svm": {"C": TWO, "gamma": TWO},
    "pat_mat_np": {"C": TWO, "beta": TWO},
    "pauc_dc": {"C": TWO},
    "pauc_struct": {"C": TWO},
    "q_svm": {"C": TWO, "gamma": TWO},
    "splitting": {"tau": TWO},
    "svm_perf": {"C": TWO},
    "tau_fpl": {"C": TWO},
    "two_nu_svm": {"nu_pos": TWO, "nu_neg": TWO, "gamma": TWO},
    "uzawa": {"C": TWO, "gamma": TWO},
}


@pytest.fixture
def shared(monkeypatch):
    forbid_fallback(monkeypatch, selection)


def test_umbrella_of_a_search_is_the_rank_of_the_held_out_scores():
    """Scores in single precision keep the threshold's rank: exactly as many held-out negatives lie above it."""
    _, rule = scorer(threshold="umbrella", rho=0.05, calibration_size=0.7).first_parts(Y)
    held_out = np.float32(1) + np.arange(60, dtype=np.float32) * np.finfo(np.float32).eps
    accepted = 60 - thresholds.RULES["umbrella"].rank(60, 0.05, 0.05)
    counting = SimpleNamespace(loss=lambda scored: sum(int(np.sum(scores > 0)) for _, scores in scored))
    judged = selection._Thresholded(counting, [(1, 60, rule)])
    assert judged.loss([(np.r_[-np.ones(60), np.ones(60)], np.r_[held_out, held_out])]) == accepted
