"""Names of methods are short, distinct, and independent of the other methods."""

import json

import pytest

from npbench_benchmark.names import method_names
from sample_records import frame, record

FOREST = {"delta": 0.05, "estimator": "sklearn.ensemble.RandomForestClassifier", "n_splits": 1, "threshold": "umbrella"}
METHODS = {
    "random forest + umbrella": {"solver": "scorer", "params": json.dumps(FOREST)},
    "random forest + empirical": {"solver": "scorer", "params": json.dumps({**FOREST, "threshold": "empirical"})},
    "sgd + umbrella": {"solver": "scorer", "params": json.dumps({**FOREST, "estimator": "sgd"})},
    "random forest + umbrella, 4 folds": {"solver": "scorer", "params": json.dumps({**FOREST, "cv": 4})},
    "np_svm": {"params": '{"kernel":"rbf"}', "solver": "np_svm"},
    "np_svm linear": {"params": '{"gamma":"scale","kernel":"linear"}', "solver": "np_svm"},
    "splitting": {"params": '{"max_norm":null}', "solver": "splitting"},
    "splitting ball": {"params": "{}", "search": '{"max_norm":[1,2]}', "solver": "splitting"},
}


@pytest.mark.parametrize("name", METHODS)
def test_a_name_is_the_same_alone_and_among_others(name):
    assert method_names(frame([record(**METHODS[name])])) == [name]
    assert method_names(frame(record(**method) for method in METHODS.values())) == list(METHODS)


def test_methods_with_one_name_get_the_parameters_that_differ():
    params = [{**FOREST, "delta": delta} for delta in (0.05, 0.1)]
    records = frame(record(solver="scorer", params=json.dumps(one)) for one in params)
    assert method_names(records) == ["random forest + umbrella delta=0.05", "random forest + umbrella delta=0.1"]
