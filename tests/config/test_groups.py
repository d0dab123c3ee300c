import copy
from itertools import product

import pytest
from hydra import compose as hydra_compose
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from npbench.config import search_path
from npbench.config.compose import compose
from npbench.config.experiment import load


def assert_as_hydra(loader, words, multirun=False, most=1000):
    """Compare combinations with Hydra's, also the order of keys, which orders grids."""
    found = compose(loader, words, multirun=multirun)
    assert found.faults == []
    pairs = list(zip(found.configs, found.combinations, strict=True))
    for config, combination in pairs[:: max(1, len(pairs) // most)]:
        # Hydra adds keys to mappings and to an automatic protocol only where it is forced to.
        words = [f"++{word}" if word.partition("=")[0] in found.added else word for word in combination]
        composed = hydra_compose("config", overrides=words)
        assert repr(config) == repr(OmegaConf.to_container(composed))


@pytest.fixture
def written(tmp_path, stranger):
    """Return a function that writes files of a user's own folder and returns a loader that sees them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_path.PluginConfigs, "folder", None)

        def write(**files):
            for path, text in files.items():
                place = (tmp_path / path.replace("__", "/")).with_suffix(".yaml")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            search_path.register(str(tmp_path))
            return initialized.__enter__().config_loader

        initialized = search_path.initialized()
        try:
            yield write
        finally:
            initialized.__exit__(None, None, None)


CHOICES = {
    "solver": ["np_svm", "gen", "ac_svm_umbrella", "random_forest_empirical", "scorer", "centroid", "svm_path"],
    "dataset": ["breast", "heart", "spambase", "letter", "adult_sample", "keel_ecoli3", "blobs", "qvalue_mixture"],
    "problem": ["np", "pauc", "cost"],
    "protocol": ["cv", "holdout", "permutations"],
}
VALUES = st.sampled_from(
    [
        "seed=3",
        "repeats=07",
        "preprocess='none'",
        "metrics=[p_fa,p_nd]",
        "metrics=null",
        "solver.search={}",
        "problem.name=np",
        "++seed=4",
        "~repeats",
        "+extra=5",
        "++extra.more={a:[1,{b:2}]}",
        "results='a${seed}'",
        "results=???",
        "execution.n_jobs=2",
        "dataset.name=1e3",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.fixed_dictionaries({}, optional={group: st.sampled_from(names) for group, names in CHOICES.items()}),
    st.lists(VALUES, max_size=3, unique_by=lambda word: word.lstrip("+~").partition("=")[0]),
    st.randoms(),
)
def test_any_combination_is_that_of_hydra(loader, choices, values, random):
    words = [*(f"{group}={name}" for group, name in choices.items()), *values]
    random.shuffle(words)
    assert_as_hydra(loader, words)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "settings",
    [
        ["solver=np_svm_linear", "problem.rho=0.1"],
        ["solver.search.C=[0.1,1]", "solver.search.gamma=null", "solver.kernel=linear"],
        ["dataset=spambase", "+solver.extra={a:1}", "++seed=3", "~repeats"],
        ["dataset=spambase", "protocol=cv", "protocol.folds=7", "solver.C='1'"],
        ["solver=centroid", "dataset=blobs", "dataset.n=50"],
    ],
)
def test_settings_are_those_of_hydra(loader, settings):
    assert_as_hydra(loader, settings)


def test_sweep_order_is_that_of_hydra(loader):
    settings = {"solver": ["np_svm", "centroid"], "problem.rho": ["0.01", "0.1"], "seed": ["3", "1"]}
    words = [f"{key}={','.join(values)}" for key, values in settings.items()]
    expected = [[f"{key}={one}" for key, one in zip(settings, v, strict=True)] for v in product(*settings.values())]
    assert compose(loader, words, multirun=True).combinations == expected
    assert_as_hydra(loader, words, multirun=True, most=3)


@pytest.mark.slow  # Hydra takes 0.1 s a combination
def test_every_experiment_is_that_of_hydra(loader):
    for name in loader.get_group_options("experiment"):
        for line in load(loader, name).command_lines():
            assert_as_hydra(loader, line, multirun=True, most=4)


def test_a_sweep_is_composed_once(stranger, monkeypatch):
    search_path.register()
    with search_path.initialized() as hydra:
        loader = hydra.config_loader
        compositions = []
        load_configuration = ConfigLoaderImpl.load_configuration

        def counted(self, name, words, **keywords):
            compositions.append(words)
            return load_configuration(self, name, words, **keywords)

        monkeypatch.setattr(ConfigLoaderImpl, "load_configuration", counted)
        words = ["solver=np_svm,ac_svm_umbrella,gen", "dataset=pima,vehicle,breast", "protocol=cv,holdout", "seed=1,2"]
        assert len(compose(loader, words, multirun=True).configs) == 36
        assert all(words == [] for words in compositions)


@pytest.mark.slow  # Hydra composes each; unusual files are read above
def test_files_that_override_the_same_group(written):
    loader = written(
        execution__first="defaults: [local, {override /protocol@_global_.protocol: holdout}, _self_]",
        execution__second="defaults: [local, {override /protocol@_global_.protocol: nested}, _self_]",
        dataset__global="# @package _global_\ndefaults: [{override /protocol: permutations}, _self_]\nseed: 5\n"
        "dataset: {name: breast}\nproblem: {rho: 0.25}",
        dataset__leaf="name: breast",
    )
    words = ["execution=first,second,local", "dataset=global,leaf", "problem.rho=0.1"]
    assert_as_hydra(loader, words, multirun=True)


@pytest.mark.slow  # Hydra composes each; unusual files are read above
def test_name_of_a_choice_that_chooses_a_further_file(written):
    loader = written(
        mine="defaults: [{solver: gen}, {problem: np}, {dataset: a}, {protocol: '${dataset}_split'}, _self_]\nseed: 1",
        dataset__a="name: a",
        dataset__b="name: b",
        protocol__a_split="name: cv\nfolds: 3",
        protocol__b_split="name: cv\nfolds: 7",
    )
    found = compose(loader, ["solver=gen,sgd", "dataset=a,b"], multirun=True, config_name="mine")
    assert [config["protocol"]["folds"] for config in found.configs] == [3, 7, 3, 7]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("files", "words"),
    [
        # the name of the file is part of the package
        (
            {"dataset__a": "# @package dataset._name_\nx: 1", "dataset__b": "# @package dataset._name_\nx: 2"},
            ["dataset=a,b"],
        ),
        # a choice that is the base of another
        (
            {"solver__base": "defaults: [gen]\na: 1", "solver__child": "defaults: [base]\nb: 2"},
            ["solver=base,child,gen"],
        ),
        # files in folders of a group
        (
            {"solver__in__a": "defaults: [b]\nx: 1", "solver__in__b": "name: b", "solver__a": "defaults: [in/a]\ny: 2"},
            ["solver=gen,a"],
        ),
        ({"dataset__a": "name: a\nx: ${seed}\ny: '???'"}, ["dataset=a,breast", "seed=1,2"]),
        ({"dataset__a": "# @package _global_\nhydra: {job: {name: x}}\ndataset: {name: a}"}, ["dataset=a"]),
        ({"dataset__a": "name: a\nx: null", "dataset__b": "name: b\nx: {y: 1}"}, ["dataset=a,b", "dataset.x=3"]),
    ],
)
def test_unusual_files(written, files, words):
    assert_as_hydra(written(**files), words, multirun=True)


def test_configurations_do_not_share_what_is_changed(loader):
    found = compose(loader, ["solver=gen,np_svm", "problem.rho=0.1,0.2", "metrics=[p_fa]"], multirun=True)
    before = copy.deepcopy(found.configs)
    assert [config["problem"]["rho"] for config in found.configs] == [0.1, 0.2, 0.1, 0.2]
    compose(loader, ["solver=gen", "problem.rho=0.3"], multirun=False)
    assert found.configs == before
