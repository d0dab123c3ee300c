"""What identifies a job: everything that can change its answer, in any spelling, and nothing else."""

from __future__ import annotations

import dataclasses
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sample_jobs
from npbench import registry
from npbench.contracts import Metric, Solver
from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.evaluation.job import DataIdentity, Job, Request
from npbench.evaluation.protocols import CrossValidation, Holdout, Nested, Permutations
from npbench.planning.plan import Jobs, check_splits, first_job
from npbench.problem import NeymanPearson, PartialAUC
from npbench.records.fields import ASKED, SCHEMA
from npbench.values import canonical
from sample_jobs import changed

P_FA = Metric(name="p_fa", compute="npbench_metrics:p_fa", direction="lower")
P_ND = Metric(name="p_nd", compute="npbench_metrics:p_nd", direction="lower")
JOB = changed(
    sample_jobs.JOB,
    params={"C": 1, "kernel": "rbf"},
    dataset="toy",
    dataset_params={"seed": 1},
    metrics=(P_FA, P_ND),
    versions={"numpy": "2.3.1"},
)
REQUEST = dataclasses.replace(
    JOB.request,
    solver=registry.installed().solver("np_svm"),
    params={},
    search={"gamma": (1.0, 2.0), "C": [1]},
    protocol=CrossValidation(folds=4),
    features={"preprocess": "none", "missing": "refuse", "categories": "one_hot"},
    metrics=(P_FA,),
    seed=3,
    repeats=2,
)

scalars = (
    st.none() | st.booleans() | st.text(max_size=5) | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
)  # infinite, subnormal and huge numbers included
values = st.recursive(scalars, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3))


def respelt(value, draw):
    """The same value, written in another of the ways that Python, NumPy and YAML allow."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) <= 2**53:
        return draw(st.sampled_from([value, float(value), np.int64(value), np.float64(value)]))
    if isinstance(value, float):
        return draw(st.sampled_from([value, np.float64(value), int(value) if value.is_integer() else value]))
    if isinstance(value, dict):
        shuffled = draw(st.permutations(list(value.items())))
        return {name: respelt(part, draw) for name, part in shuffled}
    if isinstance(value, list):
        return draw(st.sampled_from([list, tuple]))(respelt(part, draw) for part in value)
    return value


@given(st.dictionaries(st.text(), values), st.data())
def test_equal_parameters_have_equal_keys(params, data):
    again = respelt(params, data.draw)
    first, second = (changed(JOB, params=spelling) for spelling in (params, again))
    assert first.key == second.key


@given(values, values)
def test_different_values_have_different_texts(a, b):
    # Python's own equality, except that True == 1 there: they are different settings.
    same = repr(json.loads(canonical([a]))) == repr(json.loads(canonical([b])))
    assert (canonical(a) == canonical(b)) == same
    if a != b:
        assert canonical(a) != canonical(b)


def test_numpy_arrays_are_lists_and_other_objects_are_refused():
    assert canonical(np.array([1.0, 2.5])) == "[1,2.5]"
    assert canonical(True) != canonical(1)
    with pytest.raises(TypeError, match="object object"):
        canonical({"kernel": object()})


@pytest.mark.parametrize(
    "change",
    [
        {"solver": Solver(name="gen2", estimator="gen:Gen", solves=("np",))},
        *({"data_sha256": "e" * 64}, {"distribution": "gen2"}, {"versions": {"numpy": "2.4"}}),
        *({"code": {"npbench": "a", "gen": "c"}}, {"code": {"npbench": "b", "gen": "a"}}),
        *({"params": {"C": C, "kernel": "rbf"}} for C in (2, "1")),
        *({"search": {"gamma": grid}} for grid in ([0.1], [1.0, 0.1])),
        *({"problem": problem} for problem in (NeymanPearson(0.2), PartialAUC())),
        *({"protocol": one} for one in (CrossValidation(folds=3), Holdout(), Permutations(10), Permutations(10, 4))),
        *({"preprocess": "none"}, {"missing": "impute"}, {"categories": "codes"}),
        *({"metrics": (P_FA,)}, {"seed": 1}, {"repeat": 1}),
    ],
)
def test_what_can_change_the_answer_changes_the_key(change):
    assert changed(JOB, **change).key != JOB.key


def test_nothing_else_changes_the_key():
    others = {"dataset": "other", "dataset_params": {}, "metrics": (P_ND, P_FA), "validate": True, "method": "b"}
    assert changed(JOB, **others).key == JOB.key
    # Every field is here or above.
    changing = "solver distribution code versions params search problem protocol features metrics seed repeat"
    naming = "repeats validate method dataset dataset_params data_sha256 n_samples n_features n_positive"
    fields = {f.name for kind in (Job, Request, DataIdentity) for f in dataclasses.fields(kind)} - {"request", "data"}
    assert fields == set(f"{changing} {naming}".split())


def test_the_key_is_the_same_in_every_process():
    script = (
        "import dataclasses, pickle, sys; job = dataclasses.replace(pickle.load(sys.stdin.buffer)); "
        "print(job.key, job.columns['code_sha256'])"
    )
    expected = f"{JOB.key} {JOB.columns['code_sha256']}"
    printed = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(JOB), capture_output=True, check=True)
    assert printed.stdout.decode().strip() == expected


def test_columns_are_those_of_the_schema_and_the_numbers_of_the_problem():
    assert set(JOB.setting) == set(ASKED)
    assert set(JOB.columns) - {"rho"} <= set(SCHEMA)
    assert JOB.columns["rho"] == 0.1
    assert json.loads(JOB.columns["problem_params"]) == {"rho": 0.1}
    pauc = changed(JOB, problem=PartialAUC((0, 0.1))).columns
    assert json.loads(pauc["problem_params"]) == {"fpr_range": [0, 0.1]}
    assert all(value is None or isinstance(value, (str, int, float)) for value in pauc.values())


def toy(n_negative: int = 20) -> BinaryData:
    y = np.repeat(np.array([-1, 1], dtype=np.int8), [n_negative, 20])
    return BinaryData(np.arange(len(y), dtype=float)[:, None], y, "toy")


def test_a_request_makes_one_job_for_each_repeat():
    jobs = list(Jobs.of([first_job(REQUEST, toy())]))
    assert pickle.loads(pickle.dumps(jobs)) == jobs
    assert len(pickle.dumps(jobs[0])) < 10_000  # small enough to send
    assert [(job.request.seed, job.repeat) for job in jobs] == [(3, 0), (3, 1)]
    assert len({job.key for job in jobs}) == 2
    assert jobs[0].distribution == "npbench"
    assert set(jobs[0].code) == {"npbench", "npbench_np_svm", "npbench_metrics"}
    assert {"npbench", "numpy", "scipy", "numba", "scikit-learn"} <= set(jobs[0].versions)
    assert jobs[0].data == DataIdentity.of(toy())


def test_the_order_of_grids_does_not_matter():
    swapped = dataclasses.replace(REQUEST, search=dict(reversed(REQUEST.search.items())))
    one, other = (first_job(request, toy()) for request in (REQUEST, swapped))
    assert one.key == other.key
    assert list(one.request.search.items()) == list(other.request.search.items())


def test_a_metric_named_like_a_column_is_refused():
    request = dataclasses.replace(REQUEST, metrics=(dataclasses.replace(P_FA, name="seconds"), P_ND))
    with pytest.raises(RequestError, match="seconds"):
        first_job(request, toy())


def check_split(*request_and_data):
    check_splits([request_and_data])


def test_parts_with_too_few_samples_or_without_a_loss_are_refused():
    check_split(REQUEST, toy())
    with pytest.raises(RequestError, match=r"toy.*negative"):
        check_split(REQUEST, toy(n_negative=4))
    request = dataclasses.replace(REQUEST, problem=PartialAUC((0.02, 0.05)), search={"C": [1.0, 10.0]})
    check_split(request, toy(n_negative=800))
    refused = r"toy.*fpr_range=\(0.02, 0.05\).*{}"
    with pytest.raises(RequestError, match=refused.format("the test part.* 9 negatives")):
        check_split(request, toy(n_negative=36))
    with pytest.raises(RequestError, match=refused.format("a validation part")):
        check_split(request, toy(n_negative=200))
    check_split(dataclasses.replace(request, search={"C": [1.0]}), toy(n_negative=200))


def test_later_repeats_without_a_loss_are_refused():
    changes = {"problem": PartialAUC((0.0, 0.05)), "protocol": Nested(outer=10, folds=2), "search": {"C": [1.0]}}
    request = dataclasses.replace(REQUEST, **changes)
    check_split(dataclasses.replace(request, repeats=9), toy(n_negative=199))
    with pytest.raises(RequestError, match=r"the test part, which has 2 positives and 19 negatives"):
        check_split(dataclasses.replace(request, repeats=10), toy(n_negative=199))


def test_one_split_is_enough_when_parts_are_large(monkeypatch):
    divided = []
    split = CrossValidation.split
    monkeypatch.setattr(CrossValidation, "split", lambda *args: divided.append(args[3]) or split(*args))
    request = dataclasses.replace(REQUEST, problem=PartialAUC((0.0, 0.05)), repeats=3, search={"C": [1.0]})
    check_split(request, toy(n_negative=88))
    assert divided == [0]
    divided.clear()
    check_split(request, toy(n_negative=80))
    assert divided == [0, 1, 2]


def test_requests_on_the_same_splits_share_them(monkeypatch):
    divided = []
    split = CrossValidation.split
    monkeypatch.setattr(CrossValidation, "split", lambda *args: divided.append(args[3]) or split(*args))
    data = BinaryData.checked(np.zeros((40, 1)), np.resize([-1, 1], 40), "toy", groups=np.repeat(range(20), 2))
    problems = (NeymanPearson(0.1), NeymanPearson(0.01), PartialAUC((0.0, 0.5)))
    same = [dataclasses.replace(REQUEST, problem=one, repeats=2) for one in problems]
    check_splits([(request, data) for request in (*same, dataclasses.replace(same[0], search={}))])
    assert divided == [0, 1]
    narrow = [dataclasses.replace(REQUEST, problem=PartialAUC((0.0, end)), repeats=2) for end in (0.001, 0.002)]
    with pytest.raises(RequestError) as refusal:
        check_splits([(request, data) for request in narrow])
    assert [str(end) in fault for end, fault in zip((0.001, 0.002), refusal.value.faults, strict=True)] == [True] * 2


def test_more_repeats_than_published_splits_are_refused():
    plain = toy()
    data = BinaryData(plain.X, plain.y, "toy", np.array([np.arange(0, 40, 2), np.arange(1, 40, 2)]))
    request = dataclasses.replace(REQUEST, protocol=Permutations(20, 4), repeats=2)
    check_split(request, data)
    with pytest.raises(RequestError, match=r"toy.*repeats=2"):
        check_split(dataclasses.replace(request, repeats=3), data)


def divides(protocol, data, seed, repeat):
    try:
        protocol.split(data, seed, repeat)
    except RequestError:
        return False
    return True


def test_groups_that_a_later_repeat_cannot_split_are_refused():
    groups = [7, 7, 7, 1, 0, 3, 2, 7, 6, 3, 4, 4, 7, 0, 3, 5]
    y = [-1, -1, -1, -1, 1, -1, 1, -1, 1, -1, 1, 1, 1, -1, 1, 1]
    data = BinaryData.checked(np.zeros((16, 1)), y, "toy", groups=groups)
    protocol = CrossValidation(test_size=0.5, folds=2)
    assert [divides(protocol, data, 0, repeat) for repeat in range(3)] == [True, False, True]
    request = dataclasses.replace(REQUEST, protocol=protocol, seed=0)
    check_split(dataclasses.replace(request, repeats=1), data)
    with pytest.raises(RequestError, match=r"toy.*groups"):
        check_split(dataclasses.replace(request, repeats=3), data)


@given(
    st.integers(2, 30),
    st.integers(2, 30),
    st.builds(CrossValidation, folds=st.integers(2, 6))
    | st.builds(Permutations, st.integers(4, 40), st.none() | st.integers(2, 4)),
    st.integers(0, 3),
    st.integers(0, 5),
)
def test_a_checked_request_can_be_split_in_every_repeat(n_negative, n_positive, protocol, seed, repeat):
    y = np.repeat(np.array([-1, 1], dtype=np.int8), [n_negative, n_positive])
    request = dataclasses.replace(REQUEST, protocol=protocol, seed=seed, repeats=6)
    data = BinaryData(y[:, None].astype(float), y, "toy")
    try:
        check_split(request, data)
    except RequestError:
        assert not all(divides(protocol, data, seed, any_repeat) for any_repeat in range(6))
    else:
        assert divides(protocol, data, seed, repeat)
