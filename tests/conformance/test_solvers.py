"""Checks of solvers: a sound one passes all, and each check finds the fault it is there for."""

import dataclasses
import unittest

import pytest

from npbench import registry
from npbench.contracts import Solver
from npbench.errors import RequestError
from npbench.testing import Check, check_solver
from sample_files import put

SOUND = Solver(
    name="made_up",
    estimator="npbench_faulty:Sound",
    solves=("np",),
    search={"shrinkage": [0.0, 0.5]},
    title="Made up",
    tags=frozenset({"linear", "sparse", "convex"}),
)


# Faults that scikit-learn finds, and npbench only names, as it does those of other checks in every run.
BESIDE = pytest.mark.slow


def faulty(name="Sound", **changes):
    return dataclasses.replace(SOUND, estimator=f"npbench_faulty:{name}", **changes)


def test_a_sound_solver_passes(checks_of, install):
    install("npbench-made-up", npbench_made_up="")
    found = checks_of(SOUND)
    assert len(found) == len({check.claim for check in found.values()}) == 20
    for check in found.values():
        check()


@pytest.mark.parametrize(
    ("check", "solver", "sentence"),
    [
        ("description", faulty("NotThere"), "has no attribute 'NotThere'"),
        ("description", faulty(title=""), "no title"),
        ("description", faulty(solves=()), "solves no problem"),
        ("description", faulty(solves=("np", "nq")), "Unknown problem: nq"),
        ("description", faulty(tags=frozenset({"sparse_"})), "Unknown tag: sparse_"),
        ("description", faulty(search={"shrinkag": [0.0]}), "Unknown parameter in search: shrinkag"),
        ("description", faulty(imports=("kernel",)), "Unknown parameter in imports: kernel"),
        ("description", faulty(select="npbench_faulty:not_there"), "not_there"),
        ("description", faulty("Rounding", tags=frozenset({"stochastic"})), "no parameter random_state"),
        ("parameters", faulty("Positional"), "rho, shrinkage can be given by position"),
        ("parameters", faulty("Required"), "rho have no default"),
        ("settings", faulty(search={"shrinkage": ["geomspace", 0, 1]}), "shrinkage"),
        ("any_two_labels", faulty("OtherLabels"), "the scores differ"),
        ("few_samples", faulty("Indexing"), "Unexpected IndexError"),
        ("few_samples", faulty("Terse"), "message of ValueError"),
        ("few_samples", faulty("FewGiveNaN"), "With 2 samples it returns NaN"),
        ("extreme_features", faulty("Dividing"), "With all features constant it returns NaN"),
        ("sparse_equals_dense", faulty("SparseDiffers"), "differ from"),
        ("sparse_equals_dense", faulty("Dense"), "Unexpected TypeError"),
        ("sparse_forms", faulty("CountsEntries"), "repeated"),
        ("unchanged_inputs", faulty("SortsInPlace"), "CSR"),
        ("unchanged_inputs", faulty("CentresInPlace"), "changes X"),
        ("sparse_is_refused", faulty(tags=frozenset()), "add the tag"),
        ("direction", faulty("Reversed"), "larger must mean more positive"),
        ("same_seed", faulty("Unseeded"), "Two fits to the same sample differ"),
        ("honest_flags", faulty("Boasting"), "With max_iter=1, fit warned .* and converged_ is True"),
        ("honest_flags", faulty("Silent"), "With max_iter=1, fit did not warn and converged_ is False"),
        ("honest_flags", faulty("WarningOnly"), "converged_ is absent"),
        ("honest_flags", faulty("Overcounting"), "n_iter_ is 11 and max_iter 10"),
        ("row_order", faulty("OrderMinded"), "With the rows in another order, scores differ"),
        ("one_optimum", faulty("OrderMinded"), "with the rows in another order"),
        ("one_optimum", faulty("GapBelowZero"), "duality_gap_ is -1"),
        ("linear_scores", faulty("Bent"), "off the mean"),
        ("scikit_learn", faulty("Rounding"), "checks of scikit-learn fail: .*check_"),
        ("scikit_learn", faulty("NoClasses"), "check_classifiers_classes"),
        pytest.param("scikit_learn", faulty("WrongPredict"), "check_classifiers_train", marks=BESIDE),
        pytest.param("scikit_learn", faulty("OneClassUnnamed"), "check_classifiers_one_label", marks=BESIDE),
        pytest.param("scikit_learn", faulty("TakesNaN"), "check_estimators_nan_inf", marks=BESIDE),
        pytest.param("scikit_learn", faulty("ScoresNaN"), "check_estimators_nan_inf", marks=BESIDE),
        ("scikit_learn", faulty("Forgetful"), "check_estimators_pickle"),
        ("job_np", faulty("Columns"), "status failed: ValueError: decision_function returned"),
        ("job_np", faulty(select="npbench_faulty:no_search"), "ArithmeticError: no search today"),
    ],
)
def test_each_fault_is_found(checks_of, check, solver, sentence):
    with pytest.raises(AssertionError, match=sentence) as failed:
        checks_of(solver)[check]()
    assert len(str(failed.value).split()) > 5


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import numpy", "imports numpy, which every command would then load"),
        ("import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass", "takes 0.6"),
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    ],
)
def test_heavy_import_is_found(checks_of, install, source, sentence):
    install("npbench-made-up", npbench_made_up=source)
    with pytest.raises(AssertionError, match=sentence):
        checks_of(SOUND)["light"]()


@pytest.mark.parametrize(
    ("yaml", "sentence"),
    [
        ("name: other", "The YAML says name: other, expected made_up"),
        ("name: made_up\nshrinkage: 0.5\nmax_iter: 10\nsearch: {}", r"shrinkage: 0.5 \(0.0\)"),
        ("name: made_up\nshrinkge: 0.0\nmax_iter: 10", "did you mean 'solver.shrinkage'"),
    ],
)
def test_inconsistent_yaml_is_found(checks_of, monkeypatch, tmp_path, yaml, sentence):
    put(tmp_path / "made_up_conf" / "solver" / "made_up.yaml", yaml)
    monkeypatch.syspath_prepend(tmp_path)
    check = checks_of(SOUND)["settings"]
    check()  # generated from the signature
    found = dataclasses.replace(registry.installed(), config_packages=["made_up_conf"])
    monkeypatch.setattr(registry, "installed", lambda: found)
    with pytest.raises(AssertionError, match=sentence):
        check()


def test_tags_choose_the_checks(checks_of):
    plain = checks_of(faulty(tags=frozenset()))
    assert {"row_order", "sparse_is_refused"} <= set(plain)
    assert set(plain).isdisjoint({"one_optimum", "linear_scores", "sparse_equals_dense"})
    drawn = checks_of(faulty(tags=frozenset({"stochastic", "convex", "sparse"}), solves=("np", "cost")))
    assert {"sparse_equals_dense", "job_np", "job_cost"} <= set(drawn)
    assert set(drawn).isdisjoint({"row_order", "one_optimum"})
    assert "linear_scores" not in checks_of(faulty(tags=frozenset({"linear", "kernel"})))


def test_expected_failure_is_skipped_and_must_fail(checks_of):
    reason = {"direction": "the paper has it so"}
    with pytest.raises(unittest.SkipTest, match="the paper has it so"):
        checks_of(faulty("Reversed", expected_failures=reason))["direction"]()
    with pytest.raises(AssertionError, match="remove it from expected_failures"):
        checks_of(faulty(expected_failures=reason))["direction"]()
    with pytest.raises(AssertionError, match="check_estimators_pickle are expected to fail"):
        checks_of(faulty(expected_failures={"check_estimators_pickle": "no"}))["scikit_learn"]()


def test_check_prints_its_name_and_the_error_of_a_plugin_and_unknown_solvers_are_refused(checks_of):
    check = checks_of(SOUND)["direction"]
    assert str(check) == check.name == "direction"
    assert check.claim.endswith(".")
    with pytest.raises(AssertionError, match=r"KeyError.* 'x'"):
        Check("c", "Claim.", lambda: {}["x"])()
    with pytest.raises(RequestError, match="did you mean 'np_svm'"):
        check_solver("np_swm")
