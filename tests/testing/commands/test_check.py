"""``npbench check`` as it is typed, and the checks of all that npbench ships."""

import contextlib
import os
import re
import signal
import sys
import time
from functools import partial

import pytest

from grids import diagonal
from npbench import registry, testing
from npbench.contracts import resolve
from npbench.testing import check_dataset, check_metric, check_solver
from npbench.testing.check import Check, Skipped, require

# Read through a library that would download it, and stand-ins of several 100 MB that tests of their own draw.
LEFT_OUT = {"rcv1", "rcv1_like", "covertype_like", "kddcup08_like", "ppi_like"}


def test_each_check_has_a_line(npbench):
    code, out, err = npbench("check", "metric", "auc", "n_support")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "metric auc"
    assert re.match(r"  ok      row_order +\d+\.\d s", lines[5])
    assert "skipped figure" in out
    assert lines[-1] == "11 ok, 0 failed, 1 skipped"


@pytest.mark.slow  # runs all checks of a solver
def test_failed_check_has_a_traceback_on_request(npbench, stranger):
    code, out, err = npbench("check", "solver", "centroid", "--traceback")
    assert (code, err) == (1, "")
    assert re.search(r"^  failed  any_two_labels .*\n {10}\w+", out, re.MULTILINE)
    assert "Traceback" in out
    assert "npbench_stranger_code.py" in out


def test_a_fault_is_reported_once(npbench, monkeypatch):
    fail = partial(require, False, "the signature of fit is wrong")
    checks = [Check(name, "holds", fail) for name in ("one", "two", "three")]
    monkeypatch.setattr(testing, "check_metric", lambda name: checks)
    _, out, _ = npbench("check", "metric", "auc")
    assert out.count("signature of fit") == 1
    assert "Traceback" not in out
    assert out.count("as in one") == 2


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (partial(os._exit, 0), "exit code 0"),
        (partial(os.kill, 0, signal.SIGTERM), "SIGTERM"),
        (partial(time.sleep, 60), "--time-limit"),
        (partial(sys.exit, "enough"), "enough"),
        (partial(os.write, 1, b"x" * 10**6), None),
    ],
)
def test_a_check_that_ends_hangs_or_prints_is_a_line(npbench, monkeypatch, body, word):
    checks = [Check("odd", "holds", body), Check("next", "holds", partial(require, True, ""))]
    monkeypatch.setattr(testing, "check_metric", lambda name: checks)
    code, out, err = npbench("check", "metric", "auc", "--time-limit", "1")
    assert (code, err) == (0 if word is None else 1, "")
    assert word is None or word in out
    assert "x" * 100 not in out
    assert re.search("^  ok +next", out, re.MULTILINE)


@pytest.mark.slow  # checks a whole plugin, as .ci/run does with those of strangers
def test_plugin_is_checked_with_all_it_provides(npbench, stranger):
    code, out, _ = npbench("check", "plugin", "npbench-stranger", "npbench_stranger")
    assert code == 1
    first, *lines = out.splitlines()
    assert "npbench_broken" in first
    assert "is unavailable: ModuleNotFoundError: No module named 'no_such_library'" in first
    assert sorted(line for line in lines if not line.startswith(" "))[1:] == ["dataset blobs", "solver centroid"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["solvers", "np_svm"], "Unknown kind to check 'solvers': did you mean 'solver'?"),
        (["metric", "auc", "aux"], "Unknown metric 'aux': did you mean 'auc'"),
        (["plugin", "npbench-strange"], "Unknown plugin 'npbench-strange': did you mean 'npbench-stranger'"),
    ],
)
def test_unknown_names_are_one_line(npbench, stranger, arguments, expected):
    code, out, err = npbench("check", *arguments)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert expected in line


@pytest.mark.parametrize("name", sorted(registry.installed().metrics))
def test_shipped_metrics_pass(name):
    for check in check_metric(name):
        if check.name != "light":
            passes(check)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(registry.installed().datasets) - LEFT_OUT))
def test_shipped_data_sets_pass(name):
    dataset = registry.installed().dataset(name)
    for check in check_dataset(name):
        if not dataset.files or check.name in ("description", "settings"):
            passes(check)


# Defaults of these take seconds for each check that fits.
QUICKER = {
    "deep_top_push": {"hidden": 8, "max_iter": 20},
    "pauc_boost": {"max_iter": 10},
    "pauc_gbdt": {"max_iter": 20},
    "pauc_sbcd": {"max_iter": 1},
    "sopa_s": {"hidden": 8, "max_iter": 20},
    "svm_path": {"n_asymmetries": 9},
}
# These take all of their iterations where features are extreme: tests/conformance follows them to their end.
LONG_ENDS = {"asvm", "auc_svm", "pat_mat_np", "pauc_dc", "pauc_struct", "svm_perf"}
OF_SOLVERS = [
    [
        pytest.param(name, check, id=f"{name}-{check}")
        for check in check_solver(name)
        if check.name != "scikit_learn"  # tests/conformance goes through it with several settings
    ]
    for name in sorted(registry.installed().solvers)
]


@pytest.mark.parametrize(("name", "check"), [*diagonal(OF_SOLVERS, every=16)])
def test_shipped_solvers_pass(name, check, monkeypatch):
    quicker = QUICKER.get(name)
    if check.name == "extreme_features" and name in LONG_ENDS:
        quicker = {"max_iter": 100}
    if quicker and not check.name.startswith(("description", "light", "parameters", "settings", "job")):
        estimator = registry.installed().solver(name).estimator
        monkeypatch.setattr(estimator.replace(":", "."), partial(resolve(estimator), **quicker))
    passes(check)


def passes(check):
    with contextlib.suppress(Skipped):
        check()
