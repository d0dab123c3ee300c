"""Methods have the name that was typed; older records get it from the installed choices."""

from pathlib import Path

import polars as pl
import pytest

from npbench.records.fields import METHOD
from npbench.records.store import RecordStore
from npbench.report.select.filters import filtered
from npbench.report.select.labels import labels, method_labels
from npbench.report.select.methods import choices, inferred, named, own_settings
from npbench.values import canonical
from sample_records import frame
from sample_records import record as typed

FOREST = {"estimator": "sklearn.ensemble.RandomForestClassifier"}
FOREST |= {"params": {"max_features": "sqrt", "min_samples_leaf": 1, "n_estimators": 300}}
PUBLISHED = Path(__file__).parents[2] / "results" / "published"


def record(**columns):
    """Return a record from before there were methods."""
    return typed(**{"method": None, **columns})


def published(name):
    return RecordStore(PUBLISHED / name / "records").frame([*METHOD, "method"])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", choices())
def test_every_choice_is_found_again(name):
    choice = choices()[name]
    assert inferred(choice.solver, canonical(choice.params), canonical(choice.search)) == name
    assert own_settings(name, choice.solver, canonical(choice.params)) == {}


@pytest.mark.parametrize(
    ("solver", "params", "search", "label"),
    [
        ("np_svm", {"C": 1, "kernel": "rbf"}, {"gamma": [0.1, 1]}, "np_svm C=1"),
        ("np_svm", {"kernel": "linear", "gamma": "scale"}, {"C": [1, 2, 3]}, "np_svm_linear"),
        ("np_svm", {"kernel": "linear", "gamma": "scale", "C": 1}, {}, "np_svm_linear C=1"),
        ("splitting", {}, {"max_norm": [1, 2]}, "splitting_ball"),
        ("scorer", {**FOREST, "threshold": "umbrella"}, {}, "random_forest_umbrella"),
        ("scorer", {**FOREST, "delta": 0.1}, {}, "random_forest delta=0.1"),
        ("scorer", {"estimator": "mine.Forest"}, {}, "scorer estimator=mine.Forest"),
        ("not_installed", {"C": 1}, {}, "not_installed"),
    ],
)
def test_settings_that_differ_from_the_choice_follow_its_name(solver, params, search, label):
    records = frame([record(solver=solver, params=params, search=search)])
    assert labels(records).to_list() == method_labels(records).to_list() == [label]


def test_a_label_does_not_depend_on_other_methods_and_filters_find_both_names():
    rows = [record(solver="scorer", params={**FOREST, "delta": delta}) for delta in (0.05, 0.1)]
    rows += [record(solver="np_svm", dataset="breast")]
    assert method_labels(frame(rows)).to_list() == ["random_forest", "random_forest delta=0.1", "np_svm"]
    forest = record(solver="scorer", params={**FOREST, "threshold": "auto"})
    records = named(frame([record(solver="gen"), forest, record(solver="scorer")]))
    by_solver, by_method = {"random_forest": 1, "scorer": 2, "gen,random_forest": 2}, {"random_forest": 1, "scorer": 1}
    for name, counts in (("solver", by_solver), ("method", by_method)):
        assert {value: len(filtered(records, {name: value})) for value in counts} == counts


def test_a_typed_name_wins_and_holds_for_all_records_of_its_setting():
    linear = {"solver": "np_svm", "params": '{"gamma":"scale","kernel":"linear"}'}
    records = frame([record(**linear, method="np_svm"), record(**linear, repeat=1)])
    assert named(records)["method"].to_list() == ["np_svm"] * 2
    assert labels(records).to_list() == ["np_svm gamma=scale kernel=linear"] * 2
    again = pl.concat([records, frame([record(**linear, method="np_svm_linear")])], how="diagonal_relaxed")
    assert set(named(again)["method"]) == {"np_svm_linear"}


def test_published_records_have_the_names_that_were_typed():
    found = set(named(published("benchmark"))["method"])
    assert found <= choices().keys() - {"scorer"}
    assert len(found) == 38
    assert set(named(published("guarantee"))["method"]) == {"scorer"}
