import pytest

from npbench import registry
from npbench.config.solver_settings import solver_settings
from npbench.contracts import Solver
from npbench.errors import RequestError

NEEDY = Solver(name="needy", estimator="shutil:which", solves=())  # which(cmd, mode=1, path=None)
OPEN = Solver(name="open", estimator="logging:basicConfig", solves=())  # basicConfig(**kwargs)
ABSENT = Solver(name="absent", estimator="no_such_module:Estimator", solves=())


def faults_of(solver, **section):
    with pytest.raises(RequestError) as refusal:
        solver_settings(solver, section)
    return list(refusal.value.faults)


def test_fixed_and_searched():
    section = {"name": "needy", "cmd": "ls", "mode": None, "path": None, "search": {"mode": [1, 2], "path": None}}
    params, search = solver_settings(NEEDY, section)
    assert params == {"cmd": "ls", "path": None}
    assert search == {"mode": [1, 2]}
    assert solver_settings(OPEN, {"anything": 1}) == ({"anything": 1}, {})


def test_required_parameter():
    (fault,) = faults_of(NEEDY, cmd=None)
    assert fault.startswith("solver.cmd has no value")
    assert solver_settings(NEEDY, {"search": {"cmd": ["ls", "cp"]}}) == ({}, {"cmd": ["ls", "cp"]})


@pytest.mark.parametrize(
    ("value", "grid", "fixed", "searched"),
    [
        (None, {"C": [1, 2]}, None, [{"C": 1}, {"C": 2}]),
        ({}, {"C": [1, 2]}, None, [{"C": 1}, {"C": 2}]),
        ({"C": None, "depth": 3}, {"C": [1, 2]}, None, [{"C": 1, "depth": 3}, {"C": 2, "depth": 3}]),
        ({"C": 5, "depth": 3}, {"C": [1, 2]}, {"C": 5, "depth": 3}, None),
        ({"C": 5}, {"C": [1, 2], "depth": [3, 4]}, None, [{"C": 5, "depth": 3}, {"C": 5, "depth": 4}]),
        ({"C": None, "depth": 3}, [{"C": 1}, {"C": 2, "depth": 9}], None, [{"C": 1, "depth": 3}, {"C": 2, "depth": 3}]),
        ({"C": None}, {}, {"C": None}, None),
        ({"C": None}, None, {"C": None}, None),
        ({"C": None}, {"C": [7]}, None, [{"C": 7}]),
        ({"C": None, "depth": 3}, {"C": None}, {"C": None, "depth": 3}, None),
        ({"C": None, "depth": None}, {"C": None, "depth": [1, 2]}, None, [{"C": None, "depth": d} for d in (1, 2)]),
    ],
)
def test_names_in_a_mapping(value, grid, fixed, searched):
    params, search = solver_settings(OPEN, {"params": value, "search": {"params": grid}})
    assert params == ({} if searched else {"params": fixed})
    assert search == ({"params": searched} if searched else {})


def test_problem_parameters_are_checked():
    section = {"nu": None, "epsilon": None}
    np_svm = registry.installed().solver("np_svm")
    assert solver_settings(np_svm, section, {"rho": 0.1, "unheard_of": 1}) == (section, {})
    with pytest.raises(RequestError, match="'rho' parameter"):
        solver_settings(np_svm, section, {"rho": 2.0})


def test_import_error_and_grid_fault():
    faults = faults_of(ABSENT, search={"C": []})
    assert len(faults) == 2
    assert "No module named 'no_such_module'" in faults[1]
