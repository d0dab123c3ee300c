import pytest
from omegaconf import OmegaConf

from npbench.config.compose import _groups, compose


def composed(loader, *settings, multirun=False):
    found = compose(loader, settings, multirun=multirun)
    assert found.faults == []
    assert len(found.combinations) == len(found.configs)
    return [OmegaConf.create(config) for config in found.configs]


def faults_of(loader, *settings, multirun=False):
    return compose(loader, settings, multirun=multirun).faults


@pytest.mark.parametrize(
    ("setting", "key", "values"),
    [
        ("seed=range(3)", "seed", [0, 1, 2]),
        ("problem=glob([cost,q*])", "problem.name", ["cost", "qvalue"]),
        ("solver.search.C=[0.1,1]", "solver.search.C", [[0.1, 1]]),
        ("problem.rho=range(0.01,0.1,0.03)", "problem.rho", [0.01, 0.04, 0.07]),
        ("problem.rho=range(0.3,0,-0.1)", "problem.rho", [0.3, 0.2, 0.1]),
    ],
)
def test_values_of_a_sweep(loader, setting, key, values):
    assert [OmegaConf.select(config, key) for config in composed(loader, setting, multirun=True)] == values


def test_mapping_of_the_solver_takes_any_name(loader):
    mapping = "+solver.params={a:1}"
    (config,) = composed(loader, mapping, "solver.params.b=2", "solver.params.a=[3]", "solver.search.params.c=[1,2]")
    assert config.solver.params == {"a": [3], "b": 2}
    assert config.solver.search.params == {"c": [1, 2]}
    swept = composed(loader, mapping, "solver.params.b=2,3", "solver.params={c:5}", multirun=True)
    assert [c.solver.params for c in swept] == [{"a": 1, "b": 2, "c": 5}, {"a": 1, "b": 3, "c": 5}]


@pytest.mark.parametrize(
    ("before", "value"),
    [("{a:[1,2]}", "[{a: 1}, {a: 2}]"), ("{a:[1,2]}", "null"), ("{a:[1,2]}", "4"), ("null", "{a: 1}")],
)
def test_other_values_replace_a_mapping(loader, before, value):
    (config,) = composed(loader, f"+solver.search.params={before}", f"solver.search.params={value}")
    assert config.solver.search.params == OmegaConf.create(f"x: {value}").x


def test_unknown_choice_leaves_its_section_empty(loader):
    found = compose(loader, ["solver=nothing_like_it", "solver.C=1", "seed=3"], multirun=False)
    (fault,) = found.faults
    for expected in ("Unknown solver", "no_such_library", "npbench list solvers"):
        assert expected in fault
    assert (found.configs[0]["solver"], found.configs[0]["seed"]) == (None, 3)


def test_names_outside_the_yaml_are_reported(loader):
    found = compose(loader, ["solver=logistic_regression", "solver.params.C=1", "solver.params.tol=1"], multirun=False)
    assert "solver.params.tol" in found.added


def test_a_wrong_setting_of_a_sweep_is_one_fault(loader):
    swept = ("solver=np_svm,gen,random_forest,logistic_regression", "dataset=breast,pima", "seed=1,2")
    (fault,) = faults_of(loader, *swept, "solver.zzzz=1", multirun=True)
    assert "solver=np_svm,gen,random_forest,logistic_regression" in fault
    (fault,) = faults_of(loader, *swept, "dataset.path=x", multirun=True)
    assert "dataset=breast,pima" in fault
    assert "did you mean" not in fault  # a setting of a solver


def test_a_parameter_that_the_file_of_a_variant_does_not_state_needs_no_plus(loader):
    found = compose(loader, ["solver=logistic_regression", "solver.cv=4"], multirun=False)
    assert (found.faults, found.added, found.configs[0]["solver"]["cv"]) == ([], {"solver.cv"}, 4)
    assert "problem.rho" in faults_of(loader, "solver=logistic_regression", "solver.rho=0.1")[0]


def test_each_swept_value_is_checked(loader):
    faults = faults_of(loader, "solver=np_svm,centroit,zzzz", "solver.shrinkage=0.1", multirun=True)
    assert [fault.split(":")[0] for fault in faults] == [
        "Unknown solver 'centroit'",
        "Unknown solver 'zzzz'",
        "There is no setting 'solver.shrinkage' of solver=np_svm",
    ]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("C=1", "did you mean 'solver.C'?"),
        ("execution.n_job=1", "did you mean 'execution.n_jobs'?"),
        ("problem.zzzzzzzzz=1", "under 'problem' there are problem.rho."),
        ("solver.zz=1", "solver=np_svm: under 'solver' there are solver."),
        ("zzzzzz=1", "there are solver, problem"),
        ("solver=[np_svm,centroid]", "[np_svm,centroid]"),
        ("dataset=breast,pima", "add -m"),
        ("seed=interval(1,2)", "finite"),
        ("seed=2]", "'seed=2]'"),
        ("solver.C=", None),
    ],
)
def test_fault_has_a_hint(loader, setting, expected):
    faults = faults_of(loader, setting)
    assert any(expected in fault for fault in faults) if expected else faults == []


def test_composition_error_is_one_line(loader):
    assert "zzz" in "".join(faults_of(loader, "+zzz@solver=1"))
    (fault,) = faults_of(loader, "~dataset=pima")
    assert "\n" not in fault


def test_listing_imports_no_solver(loader, monkeypatch):
    composed(loader, "solver=uzawa", "dataset=breast")  # remembers what the estimator takes
    takes = "npbench.config.search_path.filled_in"  # asked only where an estimator is imported
    monkeypatch.setattr(takes, lambda solver: pytest.fail(f"{solver.name} was imported"))
    assert "centroid" in loader.get_group_options("solver")
    _groups.cache_clear()
    composed(loader, "solver=uzawa", "dataset=breast")


def test_linear_np_svm_searches_cost_only(loader):
    (config,) = composed(loader, "solver=np_svm_linear")
    assert (config.solver.name, config.solver.kernel) == ("np_svm", "linear")
    assert {name for name, grid in config.solver.search.items() if grid is not None} == {"C"}
