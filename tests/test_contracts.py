import dataclasses
import pickle

import pytest

from npbench.contracts import Dataset, Estimate, Metric, Selection, Solver, resolve

DESCRIPTIONS = [
    Solver(name="s", estimator="a:B", solves=("np",), search={"C": [1.0]}),
    Dataset(name="d", load="a:b"),
    Metric(name="m", compute="a:b", direction="lower"),
    Estimate(0.5, 0.4, 0.6),
    Selection({"C": 1.0}, 0.5),
]


@pytest.mark.parametrize("description", DESCRIPTIONS, ids=lambda d: type(d).__name__)
def test_descriptions_are_frozen_and_pickle(description):
    assert pickle.loads(pickle.dumps(description)) == description
    name = dataclasses.fields(description)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(description, name, None)


def test_defaults_are_not_shared():
    first, second = (Solver(name=name, estimator="a:B", solves=()) for name in "ab")
    assert first.search is not second.search


@pytest.mark.parametrize(
    ("target", "error"), [("no_such_module:f", ModuleNotFoundError), ("math:no_such_name", AttributeError)]
)
def test_resolve_names_what_is_missing(target, error):
    with pytest.raises(error, match="no_such"):
        resolve(target)
