import itertools

import pytest
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from npbench.config import search_path as configs
from npbench.config.compose import compose


@pytest.fixture
def loader(stranger):
    configs.register()
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        yield GlobalHydra.instance().config_loader()


def composed(loader, *settings, multirun=False):
    found, faults = compose(loader, settings, multirun=multirun)
    assert faults == []
    return found


def faults_of(loader, *settings, multirun=False):
    return compose(loader, settings, multirun=multirun)[1]


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
def test_one_configuration_is_the_one_hydra_composes(loader, settings):
    (config,) = composed(loader, *settings)
    assert OmegaConf.to_container(config) == OmegaConf.to_container(hydra_compose("config", overrides=settings))


def test_a_sweep_is_every_combination_in_hydras_order(loader):
    settings = {"solver": ["np_svm", "centroid"], "problem.rho": ["0.01", "0.1"], "seed": ["3", "1", "2"]}
    found = composed(loader, *(f"{key}={','.join(values)}" for key, values in settings.items()), multirun=True)
    expected = [
        hydra_compose("config", overrides=[f"{key}={value}" for key, value in zip(settings, values, strict=True)])
        for values in itertools.product(*settings.values())
    ]
    assert [OmegaConf.to_container(c) for c in found] == [OmegaConf.to_container(c) for c in expected]


def test_ranges_and_globs_are_swept(loader):
    assert [c.seed for c in composed(loader, "seed=range(3)", multirun=True)] == [0, 1, 2]
    assert [c.problem.name for c in composed(loader, "problem=glob([cost,q*])", multirun=True)] == ["cost", "qvalue"]


def test_a_grid_in_brackets_is_no_sweep(loader):
    (config,) = composed(loader, "solver.search.C=[0.1,1]", multirun=True)
    assert config.solver.search.C == [0.1, 1]


def test_names_in_a_mapping_of_the_solver_may_be_any(loader):
    mapping = "+solver.params={a:1}"
    (config,) = composed(loader, mapping, "solver.params.b=2", "solver.params.a=[3]", "solver.search.params.c=[1,2]")
    assert config.solver.params == {"a": [3], "b": 2}
    assert config.solver.search.params == {"c": [1, 2]}
    swept = composed(loader, mapping, "solver.params.b=2,3", "solver.params={c:5}", multirun=True)
    assert [c.solver.params for c in swept] == [{"a": 1, "b": 2, "c": 5}, {"a": 1, "b": 3, "c": 5}]


@pytest.mark.parametrize("value", ["[{a: 1}, {a: 2}]", "null", "4"])
def test_what_is_no_mapping_replaces_one(loader, value):
    (config,) = composed(loader, "+solver.search.params={a:[1,2]}", f"solver.search.params={value}")
    assert config.solver.search.params == OmegaConf.create(f"x: {value}").x


def test_a_mapping_replaces_what_is_none(loader):
    (config,) = composed(loader, "+solver.params=null", "solver.params={a: 1}")
    assert config.solver.params == {"a": 1}


def test_all_faults_of_a_command_line_are_told_at_once(loader):
    faults = faults_of(loader, "solver=np_swm", "dataset=bresat", "solver.gama=1", "problm.rho=1", "repeats", "a=[1")
    assert len(faults) == 6
    for expected in ("'np_svm'", "'breast'", "'solver.gamma'", "'problem.rho'", "'repeats'", "'a=[1'"):
        assert sum(expected in fault for fault in faults) >= 1


def test_unavailable_plugins_are_named_where_a_name_is_unknown(loader):
    (fault,) = faults_of(loader, "solver=nothing_like_it")
    assert "no_such_library" in fault
    assert "centroid" in fault


def test_parameters_of_a_solver_that_is_not_there_are_no_faults_of_their_own(loader):
    (fault,) = faults_of(loader, "solver=nothing_like_it", "solver.whatever=1")
    assert fault.startswith("Unknown solver")


def test_each_value_of_a_sweep_is_looked_at(loader):
    faults = faults_of(loader, "solver=np_svm,centroit,zzzz", "solver.shrinkage=0.1", multirun=True)
    assert [fault.split(":")[0] for fault in faults] == [
        "Unknown solver 'centroit'",
        "Unknown solver 'zzzz'",
        "There is no setting 'solver.shrinkage' of solver=np_svm",
    ]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("rho=0.1", "did you mean 'problem.rho'?"),
        ("C=1", "did you mean 'solver.C'?"),
        ("execution.n_job=1", "did you mean 'execution.n_jobs'?"),
        ("problem.zzzzzzzzz=1", "under 'problem' there are problem.rho."),
        ("seed.x=1", "There is no setting 'seed.x'"),
        ("solver.zz=1", "There is no setting 'solver.zz' of solver=np_svm: under 'solver' there are solver.C,"),
        ("zzzzzz=1", "there are solver, problem"),
        ("solver=[np_svm,centroid]", "name one of"),
        ("dataset=breast,pima", "add -m"),
        ("seed=interval(1,2)", "no finite set"),
        ("seed=2]", "Cannot read the setting 'seed=2]': extraneous input ']' expecting <EOF>. Lists are"),
        ("solver.C=", None),
    ],
)
def test_the_sentence_says_what_to_do(loader, setting, expected):
    faults = faults_of(loader, setting)
    assert any(expected in fault for fault in faults) if expected else faults == []


def test_a_configuration_that_cannot_be_composed_is_one_fault(loader, tmp_path):
    assert "zzz" in "".join(faults_of(loader, "+zzz@solver=1"))
    (fault,) = faults_of(loader, "~dataset=pima")
    assert "\n" not in fault


def test_nothing_but_what_is_named_is_imported(loader, monkeypatch):
    monkeypatch.setattr("npbench.signature.resolve", lambda target: pytest.fail(f"{target} was imported"))
    assert "centroid" in loader.get_group_options("solver")
    composed(loader, "solver=np_svm", "dataset=breast")


def test_the_linear_variant_of_np_svm_searches_the_cost_only(loader):
    (config,) = composed(loader, "solver=np_svm_linear")
    assert (config.solver.name, config.solver.kernel) == ("np_svm", "linear")
    assert {name for name, grid in config.solver.search.items() if grid is not None} == {"C"}
