"""Checks of data sets and metrics: sound ones pass all, and each check finds the fault it is there for."""

import dataclasses
import unittest

import numpy as np
import pytest

from npbench.contracts import DataFile, Dataset, Metric

DATA = Dataset(
    name="made_up",
    load="npbench_faulty_data:blobs",
    title="Made up",
    positive="the others",
    source="drawn",
    licence="none",
    citation="none",
    n_features=2,
    test_rows=(40, 60),
    n_train=30,
)
FILE = DataFile(path="made_up/a.csv", sha256="0" * 64, size=1, url="https://example.org/a.csv")
TAGS = frozenset({"decisions"})
METRIC = Metric(name="made_up", compute="npbench_faulty:accuracy", direction="higher", title="Made up", tags=TAGS)


# The same check finds the order of a set in every run; each takes a process of its own.
BESIDE = pytest.mark.slow


def data(load="blobs", **changes):
    return dataclasses.replace(DATA, load=f"npbench_faulty_data:{load}", **changes)


def metric(compute="accuracy", **changes):
    return dataclasses.replace(METRIC, compute=f"npbench_faulty:{compute}", **changes)


@pytest.mark.parametrize("described", [DATA, METRIC, metric("auc", tags=frozenset({"ranks"}))])
def test_sound_plugins_pass(checks_of, install, described):
    install("npbench-made-up", npbench_made_up="")
    found = checks_of(described)
    assert len(found) == len({check.claim for check in found.values()}) >= 6
    for check in found.values():
        check()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("described", [DATA, METRIC])
def test_heavy_import_is_found(checks_of, install, described):
    install("npbench-made-up", npbench_made_up="import scipy")
    with pytest.raises(AssertionError, match=r"imports .*scipy"):
        checks_of(described)["light"]()


@pytest.mark.parametrize(
    ("check", "described", "sentence"),
    [
        ("description", data("not_there"), "has no attribute 'not_there'"),
        ("description", data(licence=""), "licence"),
        ("description", data(files=(dataclasses.replace(FILE, sha256="12"),)), "64 hexadecimal"),
        ("description", data(files=(dataclasses.replace(FILE, url="a.csv"),)), "expected http"),
        ("description", data(files=(dataclasses.replace(FILE, size=0),)), "length in bytes"),
        ("settings", data("not_there"), "not_there"),
        ("content", data(n_samples=61), "n_samples is 60.* 61"),
        ("content", data(n_positive=1), "n_positive is 30.* 1"),
        ("content", data("zero_one"), r"labels other than -1 and \+1"),
        ("content", data("infinite"), "infinite feature"),
        pytest.param("same_again", data("unseeded"), "draw random numbers from a seed", marks=BESIDE),
        ("same_again", data("in_the_order_of_a_set"), "the order of a set"),
        ("divided", data("one_positive"), "too few|positive"),
        ("divided", data(test_rows=(40, 61)), "RequestError|61"),
        ("divided", data(n_train=60), "60"),
    ],
)
def test_each_fault_of_data_is_found(checks_of, check, described, sentence):
    with pytest.raises(AssertionError, match=sentence):
        checks_of(described)[check]()


def test_absent_files_or_settings_skip_with_a_reason(checks_of):
    with pytest.raises(unittest.SkipTest, match="npbench data fetch made_up"):
        checks_of(data("needs_path", files=(FILE,)))["content"]()
    for check in ("same_again", "settings"):
        with pytest.raises(unittest.SkipTest, match=r"It needs dataset\.path"):
            checks_of(data("needs_path"))[check]()
    for check in ("content", "same_again", "divided"):
        with pytest.raises(unittest.SkipTest, match=r"There is no table\.csv: bring it\."):
            checks_of(data("to_be_brought"))[check]()


@pytest.mark.parametrize(
    ("check", "described", "sentence"),
    [
        ("description", metric("not_there"), "has no attribute 'not_there'"),
        ("description", metric(title=""), "no title"),
        ("description", metric(direction="up"), "up"),
        ("description", metric(problems=("nq",)), "Unknown problem: nq"),
        ("description", metric(tags=frozenset({"rank"})), "Unknown tag: rank"),
        ("description", metric(name="status"), "status is a column of every record"),
        ("figure", metric("infinite_figure"), "expected a finite number"),
        ("figure", metric("text"), "Estimate"),
        ("figure", metric("outside"), "low <= value <= high"),
        ("degenerate_scores", metric("ratio"), "scores all 0 it gives nan"),
        ("degenerate_scores", metric("outside_at_ties"), "scores all 0 it gives Estimate"),
        ("row_order", metric("first"), "in another order"),
        ("direction", metric(direction="lower"), "correct direction"),
        ("ranks_alone", metric(tags=frozenset({"ranks"})), "shifted by 3"),
        ("decisions_alone", metric("auc"), "of the same signs"),
        ("ranks_alone", metric("margin", tags=frozenset({"ranks"})), "remove the tag ranks"),
    ],
)
def test_each_fault_of_a_metric_is_found(checks_of, check, described, sentence):
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=sentence):
        checks_of(described)[check]()


def test_metric_of_a_model_needs_no_figures(checks_of):
    found = checks_of(metric("nothing", tags=frozenset()))
    for name in ("figure", "direction"):
        with pytest.raises(unittest.SkipTest, match="NaN"):
            found[name]()
    found["degenerate_scores"]()
