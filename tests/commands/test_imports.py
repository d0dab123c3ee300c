"""Modules that a command imports: what only plans or lists must not wait for numerics."""

import subprocess
import sys

import pytest

HEAVY = ("sklearn", "scipy.stats", "numba", "matplotlib")
COMMAND = """
import sys
from npbench.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print(*sorted(sys.modules), file=sys.stderr)
    raise
"""


def imported_by(*words, code=0):
    """Return the modules of a process that ran a command, and what it printed."""
    process = [sys.executable, "-c", COMMAND, *words]
    done = subprocess.run(process, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return set(done.stderr.splitlines()[-1].split()), done.stdout


@pytest.mark.parametrize("words", [["list"], ["data", "list"], ["--version"]])
def test_lists_import_no_numerics(words):
    modules, _ = imported_by(*words)
    assert not modules.intersection([*HEAVY, "numpy", "polars", "hydra"])


def test_run_with_nothing_left_to_do_imports_no_solver(tmp_path):
    run = ["solver=gen", "dataset=breast", "repeats=1", "execution.n_jobs=1", f"results={tmp_path}"]
    imported_by(*run, "solver.search.gamma=[0.1]")
    modules, text = imported_by(*run, "solver.search.gamma=[0.1]")
    assert "1 of them from before" in text
    assert not modules.intersection([*HEAVY, "scipy", "npbench_gen.estimator"])
    modules, text = imported_by("plan", *run, "solver.search.gamma=[0.1]", "problem.rho=0.2")
    assert "1 of 1 jobs would run" in text
    assert "sklearn" in modules  # other settings are checked once
    modules, _ = imported_by("plan", *run, "solver.search.gamma=[0.1]", "problem.rho=0.2")
    assert not modules.intersection(HEAVY)


def test_faults_are_reported_whatever_was_remembered(tmp_path):
    run = ["plan", "solver=gen", "dataset=breast", f"results={tmp_path}"]
    imported_by(*run)
    for _ in range(2):
        imported_by(*run, "+solver.nothing=1", "solver.ridge=-1", code=2)
