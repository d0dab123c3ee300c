import pytest
from omegaconf import OmegaConf

from npbench import registry
from npbench.config import search_path as configs
from npbench.config.search_path import RegistrySource
from npbench.signature import filled_in, signature

SOURCE = RegistrySource(provider="npbench", path="npbench://registry")


@pytest.fixture(autouse=True)
def _installed(stranger):
    pass


def node(path):
    return OmegaConf.to_container(SOURCE.load_config(path).config)


def test_a_solver_without_yaml_is_configured_from_its_signature():
    assert node("solver/centroid.yaml") == {
        "name": "centroid",
        "shrinkage": None,  # has a grid, so it is searched
        "mode": "ok",
        "weights": [1.0, 2.0],
        "search": {"shrinkage": [0.0, 0.5]},
    }  # neither rho nor the seed, which the run fills in, nor a function, for which YAML has no word


def test_a_data_set_without_yaml_is_configured_from_its_loader():
    assert node("dataset/blobs") == {"name": "blobs", "n": 120, "spread": 1.0}


def test_a_problem_is_configured_from_its_fields():
    assert node("problem/pauc") == {"name": "pauc", "fpr_range": [0.0, 0.1]}


def test_paths_of_files_are_not_settings():
    assert set(node("dataset/pima")) == {"name"}


def test_the_source_lists_what_is_registered():
    assert SOURCE.list("", None) == ["dataset", "problem", "solver"]
    assert {"centroid", "np_svm"} <= set(SOURCE.list("solver", None))
    assert SOURCE.is_config("solver/centroid")
    assert not SOURCE.is_config("solver/absent")
    assert not SOURCE.is_config("protocol/cv")


def test_code_that_cannot_be_imported_is_a_sentence(monkeypatch):
    def broken(target, n_positional=0):
        raise ImportError("no such library")

    monkeypatch.setattr(configs, "signature", broken)
    with pytest.raises(configs.ConfigCompositionException, match="'centroid' cannot be imported: ImportError: no such"):
        SOURCE.load_config("solver/centroid")


@pytest.mark.parametrize("file", ["np_svm", "np_svm_linear"])
def test_the_yaml_of_np_svm_names_the_parameters_of_its_estimator(file):
    pytest.importorskip("npbench_np_svm.estimator")
    folder = configs.config_dir().parent / "plugins" / "npbench_np_svm" / "conf" / "solver"
    if not folder.is_dir():
        pytest.skip("the YAML lies elsewhere in an installed wheel")
    yaml = OmegaConf.to_container(OmegaConf.load(folder / "np_svm.yaml"))
    variant = OmegaConf.to_container(OmegaConf.load(folder / f"{file}.yaml"))
    solver = registry.installed().solver("np_svm")
    settable = {name: d for name, d in signature(solver.estimator).defaults.items() if name not in filled_in(solver)}
    assert set(yaml) - {"name", "search"} == set(settable)
    assert set(variant) - {"name", "search", "defaults"} <= set(settable)
    assert set(yaml["search"]) <= set(settable)
    fixed = {name: value for name, value in yaml.items() if name in settable and name not in yaml["search"]}
    assert fixed == {name: settable[name] for name in fixed}


def test_configuration_of_plugins_is_found_as_folders_that_python_need_not_import(tmp_path, monkeypatch):
    (tmp_path / "with_yaml" / "conf").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    assert configs.addresses("with_yaml.conf") == [f"file://{tmp_path / 'with_yaml' / 'conf'}"]
    assert configs.addresses("with_yaml.absent") == ["pkg://with_yaml.absent"]
    assert configs.addresses("no_such_package.conf") == ["pkg://no_such_package.conf"]
