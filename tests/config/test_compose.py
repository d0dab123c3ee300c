import itertools

import pytest
from hydra import compose as hydra_compose
from omegaconf import OmegaConf

from npbench.config import search_path
from npbench.config.compose import _groups, compose


@pytest.fixture(scope="module")
def loader(stranger_of_module):
    """Loader for all tests."""
    search_path.register()
    with search_path.initialized() as hydra:
        yield hydra.config_loader


def composed(loader, *settings, multirun=False):
    found = compose(loader, settings, multirun=multirun)
    assert found.faults == []
    assert len(found.combinations) == len(found.configs)
    return [OmegaConf.create(config) for config in found.configs]


def faults_of(loader, *settings, multirun=False):
    return compose(loader, settings, multirun=multirun).faults


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["solver=np_svm_linear", "problem.rho=0.1"],
        ["solver.search.C=[0.1,1]", "solver.search.gamma=null", "solver.kernel=linear"],
        ["dataset=spambase", "+solver.extra={a:1}", "++seed=3", "~repeats"],
        ["dataset=spambase", "protocol=cv", "protocol.folds=7", "solver.C='1'"],
        ["solver=centroid", "dataset=blobs", "dataset.n=50"],
    ],
)
def test_configuration_equals_that_of_hydra(loader, settings):
    (config,) = composed(loader, *settings)
    assert OmegaConf.to_container(config) == OmegaConf.to_container(hydra_compose("config", overrides=settings))


def test_sweep_order_is_that_of_hydra(loader):
    settings = {"solver": ["np_svm", "centroid"], "problem.rho": ["0.01", "0.1"], "seed": ["3", "1"]}
    found = composed(loader, *(f"{key}={','.join(values)}" for key, values in settings.items()), multirun=True)
    expected = [
        hydra_compose("config", overrides=[f"{key}={value}" for key, value in zip(settings, values, strict=True)])
        for values in itertools.product(*settings.values())
    ]
    assert [OmegaConf.to_container(c) for c in found] == [OmegaConf.to_container(c) for c in expected]


def test_ranges_and_globs(loader):
    assert [c.seed for c in composed(loader, "seed=range(3)", multirun=True)] == [0, 1, 2]
    assert [c.problem.name for c in composed(loader, "problem=glob([cost,q*])", multirun=True)] == ["cost", "qvalue"]


def test_list_is_one_value(loader):
    (config,) = composed(loader, "solver.search.C=[0.1,1]", multirun=True)
    assert config.solver.search.C == [0.1, 1]


def test_mapping_of_the_solver_takes_any_name(loader):
    mapping = "+solver.params={a:1}"
    (config,) = composed(loader, mapping, "solver.params.b=2", "solver.params.a=[3]", "solver.search.params.c=[1,2]")
    assert config.solver.params == {"a": [3], "b": 2}
    assert config.solver.search.params == {"c": [1, 2]}
    swept = composed(loader, mapping, "solver.params.b=2,3", "solver.params={c:5}", multirun=True)
    assert [c.solver.params for c in swept] == [{"a": 1, "b": 2, "c": 5}, {"a": 1, "b": 3, "c": 5}]


@pytest.mark.parametrize("value", ["[{a: 1}, {a: 2}]", "null", "4"])
def test_other_values_replace_a_mapping(loader, value):
    (config,) = composed(loader, "+solver.search.params={a:[1,2]}", f"solver.search.params={value}")
    assert config.solver.search.params == OmegaConf.create(f"x: {value}").x


def test_mapping_replaces_null(loader):
    (config,) = composed(loader, "+solver.params=null", "solver.params={a: 1}")
    assert config.solver.params == {"a": 1}


def test_all_faults_in_one_go(loader):
    faults = faults_of(loader, "solver=np_swm", "dataset=bresat", "solver.gama=1", "problm.rho=1", "repeats", "a=[1")
    assert len(faults) == 5  # the settings of an unknown solver are not judged
    for expected in ("'np_svm'", "'breast'", "'problem.rho'", "'repeats'", "'a=[1'"):
        assert sum(expected in fault for fault in faults) >= 1


def test_unknown_choice_leaves_its_section_empty(loader):
    found = compose(loader, ["solver=np_swm", "solver.C=1", "seed=3"], multirun=False)
    assert len(found.faults) == 1
    assert (found.configs[0]["solver"], found.configs[0]["seed"]) == (None, 3)


def test_floats_of_ranges_are_rounded(loader):
    swept = composed(loader, "problem.rho=range(0.01,0.1,0.03)", multirun=True)
    assert [config.problem.rho for config in swept] == [0.01, 0.04, 0.07]
    swept = composed(loader, "problem.rho=range(0.3,0,-0.1)", multirun=True)
    assert [config.problem.rho for config in swept] == [0.3, 0.2, 0.1]


def test_adaptive_sweep_composes_each_value_once(loader):
    settings = ["solver.C=interval(0.1,2)", "solver=np_svm,uzawa", "seed=1,2,3"]
    found = compose(loader, settings, multirun=True, adaptive=True)
    assert found.faults == []
    assert [(c["solver"]["C"], c["solver"]["name"], c["seed"]) for c in found.configs] == [
        (0.1, "np_svm", 1),
        (2.0, "np_svm", 1),
        (0.1, "uzawa", 1),
        (0.1, "np_svm", 2),
        (0.1, "np_svm", 3),
    ]


def test_names_outside_the_yaml_are_reported(loader):
    found = compose(loader, ["solver=logistic_regression", "solver.params.C=1", "solver.params.tol=1"], multirun=False)
    assert "solver.params.tol" in found.added


def test_unknown_solver_is_the_only_fault(loader):
    (fault,) = faults_of(loader, "solver=nothing_like_it", "solver.whatever=1")
    for expected in ("Unknown solver", "no_such_library", "centroid"):
        assert expected in fault


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
        ("solver=[np_svm,centroid]", "name one of"),
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
