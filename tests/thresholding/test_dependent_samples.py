"""Groups and copies of samples: they stay on one side of a split, and the promise holds for them."""

import numpy as np
import pytest
import sklearn
from scipy.stats import binomtest, norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from class_samples import Reader, gaussians
from npbench import NPMulticlassClassifier, NPThresholdClassifier, Threshold

X, SIGNS = gaussians(600, shift=1.5)
ORDER = np.random.default_rng(0).permutation(600)
X, Y = X[ORDER], (SIGNS[ORDER] > 0).astype(int)
GROUPS = np.char.add("c", (np.arange(600) // 4).astype(str))


class Recorder(LogisticRegression):
    """Keeps what it was fitted to, of every fit."""

    seen = []  # noqa: RUF012 - shared by clones

    def fit(self, X, y, sample_weight=None):
        self.seen.append({tuple(row) for row in X})
        return super().fit(X, y, sample_weight)


def of_group(X, groups):
    return {tuple(row): name for row, name in zip(X, groups, strict=True)}


@pytest.mark.parametrize(
    "cv", [None, 3, GroupKFold(3), StratifiedGroupKFold(3), GroupShuffleSplit(2, random_state=0), LeaveOneGroupOut()]
)
def test_groups_are_on_one_side_and_count_once(cv):
    groups = GROUPS if not isinstance(cv, LeaveOneGroupOut) else np.arange(600) // 120
    Recorder.seen.clear()
    rule = "umbrella" if len(set(groups)) > 50 else "empirical"
    model = NPThresholdClassifier(Recorder(), rho=0.1, cv=cv, threshold=rule, random_state=0)
    model.fit(X, Y, groups=groups)
    group = of_group(X, groups)
    for fitted in Recorder.seen[: 1 if cv is None else -1]:
        names = {group[row] for row in fitted}
        assert len(names) < len(set(groups))
        assert not names & {name for row, name in group.items() if row not in fitted}
    assert 0 < model.result_.n_negatives <= len(set(groups[Y == 0]))
    assert model.result_.grouped
    assert "group" in model.result_.promise
    assert Threshold.from_json(model.result_.to_json()) == model.result_
    assert model.result_.guaranteed == (cv is None)


MASK = np.arange(600) < 400


@pytest.mark.parametrize(
    ("split", "n_shared"), [((np.arange(600),) * 2, 600), ((MASK, MASK), 400), ((ORDER[:450], ORDER[449:]), 1)]
)
def test_rows_on_both_sides_of_a_split_are_refused(split, n_shared):
    for model in (
        NPThresholdClassifier(Reader(), rho=0.1, cv=[split]),
        NPMulticlassClassifier(LogisticRegression(), bounds={0: 0.2}, promise="measured", cv=[split]),
    ):
        with pytest.raises(ValueError, match=f"{n_shared} rows on both sides"):
            model.fit(X, Y)


@pytest.mark.filterwarnings("ignore:The groups parameter")
def test_groups_on_both_sides_are_refused():
    for cv in (StratifiedKFold(3), "oob"):
        with pytest.raises(ValueError, match="groups have samples"):
            NPThresholdClassifier(RandomForestClassifier(), cv=cv).fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="groups"):
        NPThresholdClassifier(Reader(), cv=GroupKFold(3)).fit(X, Y)
    with pytest.raises(ValueError, match="one class only"):
        NPThresholdClassifier(Reader(), cv=LeaveOneGroupOut()).fit(X, Y, groups=Y)
    with pytest.raises(ValueError, match="precision"):
        NPThresholdClassifier(Reader(), cv=3, precision=0.5).fit(X, Y, groups=GROUPS)
    model = NPThresholdClassifier(RandomForestClassifier(50, random_state=0), rho=0.1, cv="oob")
    assert model.fit(X, Y, groups=np.arange(600)).result_.n_negatives == 360


def test_groups_of_several_pooled_values_of_by_are_refused():
    by, customers = np.resize(["a", "b", "c"], 600), np.arange(600) // 3
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, small="pool", random_state=0)
    for cv in (None, 3):
        with pytest.raises(ValueError, match="groups more than once"):
            model.set_params(cv=cv).fit(X, Y, by=by, groups=customers)
    alone = model.set_params(cv=None).fit(X, Y, by=by[customers], groups=customers)
    assert "group" in alone.result_.promise
    with pytest.raises(ValueError, match="groups more than once"):
        alone.refit_threshold(X[Y == 0], by=by[Y == 0], groups=customers[Y == 0])
    assert set(model.set_params(small="refuse", threshold="average").fit(X, Y, by=by, groups=customers).threshold_) == {
        *by.tolist()
    }


def test_pooled_values_of_by_are_refused_for_another_threshold_too():
    by, customers = np.resize(["a", "b", "c"], 600), np.arange(600) // 3
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, threshold="average", random_state=0)
    model.fit(X, Y, by=by, groups=customers)
    with pytest.raises(ValueError, match="groups more than once"):
        model.with_threshold(small="pool")
    alone = model.fit(X, Y, by=by[customers], groups=customers)
    assert alone.with_threshold(small="pool").result_ is not None
    assert model.fit(X, Y, by=by).with_threshold(small="pool").result_ is not None


def test_a_row_that_a_split_names_several_times_counts_once():
    train, test = ORDER[:300], ORDER[300:]
    once, thrice = (
        NPThresholdClassifier(Reader(), rho=0.1, cv=[(train, rows)], random_state=0).fit(X, Y).result_
        for rows in (test, np.repeat(test, 3))
    )
    assert (once.n_negatives, once.value) == (thrice.n_negatives, thrice.value)


@pytest.mark.slow  # simulates 300 draws
def test_one_negative_of_each_group_keeps_the_promise_and_all_break_it():
    """Exact for a negative of a new group; scores are N(0, 1), and alike within a group."""
    rng, kept, broken = np.random.default_rng(0), 0, 0
    groups, y = np.repeat(np.arange(140), 10), np.repeat([1, 0], [200, 1200])
    for _ in range(300):
        scores = 0.95 * rng.normal(size=140)[groups] + np.sqrt(1 - 0.95**2) * rng.normal(size=1400)
        model = NPThresholdClassifier(Reader().fit(y[:, None], y), cv="prefit", random_state=int(rng.integers(1 << 30)))
        kept += norm.sf(model.fit(scores[:, None], y, groups=groups).threshold_) > 0.05
        broken += norm.sf(model.fit(scores[:, None], y).threshold_) > 0.05
    assert binomtest(kept, 300, 0.05, alternative="greater").pvalue > 0.001
    assert kept > 0
    assert broken > 40


def test_new_negatives_have_groups_too():
    model = NPThresholdClassifier(Reader(), rho=0.1, random_state=0).fit(X, Y, groups=GROUPS)
    new = np.random.default_rng(0).normal(size=(200, 3))
    assert model.refit_threshold(new, groups=np.arange(200) // 5).result_.n_negatives == 40
    by = np.arange(200) % 2
    found = model.refit_threshold(new, by=by, groups=np.arange(200) // 5).result_.groups
    assert [one.n_negatives for one in found.values()] == [40, 40]


def test_groups_are_routed_as_metadata():
    with sklearn.config_context(enable_metadata_routing=True):
        model = NPThresholdClassifier(LogisticRegression(), rho=0.1, cv=GroupKFold(3), random_state=0)
        assert model.fit(X, Y, groups=GROUPS).result_.grouped
        search = GridSearchCV(model.set_fit_request(groups=True), {"rho": [0.2]}, cv=GroupKFold(2), scoring="accuracy")
        assert search.fit(X, Y, groups=GROUPS).best_estimator_.result_.grouped
        with pytest.raises(ValueError, match="groups"):
            make_pipeline(NPThresholdClassifier(Reader())).fit(X, Y, groups=GROUPS)


@pytest.mark.parametrize("routing", [True, False])
def test_a_search_inside_receives_the_groups_of_its_rows(routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=GroupKFold(2))
        model = NPThresholdClassifier(search, rho=0.1, random_state=0).fit(X, Y, groups=GROUPS)
    assert model.estimator_.best_params_ == {"C": 1.0}


def copied(rng, n, times):
    """Return n negatives, each several times, and 100 positives, in an order of chance."""
    y = np.repeat([0, 1], [n, 100])
    drawn = rng.normal(size=(n + 100, 2)) + y[:, None]
    rows = rng.permutation(np.r_[np.repeat(np.arange(n), times), n : n + 100])
    return drawn[rows], y[rows]


@pytest.mark.slow  # simulates 120 draws, twice
@pytest.mark.filterwarnings("ignore:.*have a copy", "ignore:.*folds differ", "ignore:.*share the largest score")
@pytest.mark.parametrize("cv", [5, None])
def test_copies_break_the_promise_unless_they_stay_together(cv):
    """Classifiers that know a row by heart score its copy too low; n copies say as much as one."""
    rng, draws = np.random.default_rng(0), 120
    together, apart = 0, 0
    for seed in range(draws):
        X, y = copied(rng, 90, 3)
        new = rng.normal(size=(2000, 2))
        inner = KNeighborsClassifier(20, weights="distance")
        model = NPThresholdClassifier(inner, rho=0.1, cv=cv, random_state=seed).fit(X, y)
        assert model.result_.n_negatives == (90 if cv else 29)
        together += np.mean(model.predict(new)) > 0.1
        splits = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
        model = NPThresholdClassifier(inner, rho=0.1, cv=splits if cv else splits[:1]).fit(X, y)
        apart += np.mean(model.predict(new)) > 0.1
    assert binomtest(together, draws, 0.05, alternative="greater").pvalue > 0.001
    assert apart > draws / 2


def test_copies_on_both_sides_are_counted_in_a_warning():
    rows = np.r_[:600, np.flatnonzero(Y == 0)[:40]]
    forest, folds = RandomForestClassifier(50, random_state=0), StratifiedKFold(3, shuffle=True, random_state=0)
    for inner, cv, words in ((LogisticRegression(), folds, "of 400"), (forest, "oob", "80 of 400")):
        with pytest.warns(UserWarning, match=words):
            NPThresholdClassifier(inner, rho=0.1, cv=cv).fit(X[rows], Y[rows])
    model = NPThresholdClassifier(LogisticRegression(), rho=0.1, cv=3, random_state=0).fit(X[rows], Y[rows])
    assert model.result_.n_negatives == 360


@pytest.mark.parametrize("times", [2, 3, 5])
def test_rows_that_are_all_repeated_count_once(times):
    rows = np.tile(np.arange(600), times)
    for cv in (None, 3):
        model = NPThresholdClassifier(Reader(), rho=0.1, cv=cv, random_state=0)
        assert model.fit(X[rows], Y[rows]).result_.n_negatives == model.fit(X, Y).result_.n_negatives
    with pytest.warns(UserWarning, match="held-out negatives have a copy"):
        model.set_params(cv=StratifiedKFold(3)).fit(X[rows], Y[rows])
