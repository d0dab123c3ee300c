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


def imported_by(*words):
    """Return the modules of a process that ran a command, and what it printed."""
    process = [sys.executable, "-c", COMMAND, *words]
    done = subprocess.run(process, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()), done.stdout


# Of data, all commands except info, which reads the parameters of a loader.
@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", ["list", "data list", "data path", "data verify pima", "check", "--version"])
def test_lists_import_no_numerics(words):
    modules, text = imported_by(*words.split())
    assert text
    assert not modules.intersection([*HEAVY, "numpy", "scipy", "polars", "pyarrow", "hydra", "requests"])


def test_run_with_nothing_left_to_do_imports_no_solver(npbench, tmp_path):
    run = ["solver=gen", "dataset=breast", "repeats=1", "execution.n_jobs=1", f"results={tmp_path}"]
    run.append("solver.search.gamma=[0.1]")
    assert npbench(*run)[0] == 0
    modules, text = imported_by(*run)
    assert "1 of them from before" in text
    assert not modules.intersection([*HEAVY, "scipy", "npbench_gen.estimator"])


@pytest.mark.slow  # two processes; tests above and below see one half each
def test_plan_imports_a_solver_to_check_new_settings_only(tmp_path, monkeypatch):
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))  # other tests may have had the settings checked
    plan = ["plan", "solver=gen", "dataset=breast", "repeats=1", f"results={tmp_path}"]
    modules, text = imported_by(*plan)
    assert "1 of 1 jobs would run" in text
    assert "sklearn" in modules
    modules, _ = imported_by(*plan)
    assert not modules.intersection(HEAVY)


def test_faults_are_reported_whatever_was_remembered(npbench, tmp_path):
    plan = ["plan", "solver=gen", "dataset=breast", f"results={tmp_path}"]
    assert npbench(*plan)[0] == 0
    for _ in range(2):
        assert npbench(*plan, "+solver.nothing=1", "solver.ridge=-1")[0] == 2
