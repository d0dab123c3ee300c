import signal
import time

import pytest
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from npbench import registry
from npbench.config import search_path
from npbench.config.search_path import RegistrySource

SOURCE = RegistrySource(provider="npbench", path="npbench://registry")


@pytest.fixture(autouse=True)
def _installed(stranger):
    pass


def node(path):
    return OmegaConf.to_container(SOURCE.load_config(path).config)


def test_solver_without_yaml():
    assert node("solver/centroid.yaml") == {
        "name": "centroid",
        "shrinkage": None,  # has a grid, so it is searched
        "mode": "ok",
        "weights": [1.0, 2.0],
        "search": {"shrinkage": [0.0, 0.5]},
    }  # neither rho nor the seed, which the run fills in, nor a function, for which YAML has no word


def test_other_nodes_have_settings_but_no_file_paths():
    assert node("dataset/blobs") == {"name": "blobs", "n": 120, "spread": 1.0}
    assert node("problem/pauc") == {"name": "pauc", "fpr_range": [0.0, 0.1], "tpr_range": [0.0, 1.0]}
    assert set(node("dataset/pima")) == {"name"}


def test_source_lists_registered_names():
    assert SOURCE.list("", None) == ["dataset", "execution", "problem", "solver"]
    assert {"centroid", "np_svm"} <= set(SOURCE.list("solver", None))
    assert SOURCE.is_config("solver/centroid")
    assert not SOURCE.is_config("solver/absent")
    assert not SOURCE.is_config("protocol/cv")


def test_code_that_cannot_be_imported(monkeypatch, tmp_path):
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path))

    def broken(target, n_positional=0):
        raise ImportError("no such library")

    monkeypatch.setattr(search_path, "signature", broken)
    with pytest.raises(search_path.ConfigCompositionException, match=r"'centroid' .* ImportError: no such"):
        SOURCE.load_config("solver/centroid")


PLUGIN = """
from npbench import hookimpl
from npbench.contracts import Solver

@hookimpl
def npbench_solvers():
    return [Solver(name="hanging", estimator="module_that_hangs:Any", solves=("np",))]
"""
# A library may catch what ends its first attempt.
HANGS = "import time\ntry:\n    time.sleep(100)\nexcept Exception:\n    time.sleep(100)\n"


def test_code_that_hangs_on_import_ends_in_time(install, npbench, monkeypatch):
    install("npbench-hanging", npbench_hanging=PLUGIN, module_that_hangs=HANGS)
    monkeypatch.setattr("npbench.signature.IMPORT_LIMIT", 0.3)
    start = time.monotonic()
    code, _, errors = npbench("solver=hanging", "dataset=blobs")
    assert time.monotonic() - start < 60
    assert code == 2
    assert "solver=hanging" in errors
    assert "import of module_that_hangs" in errors
    assert len(errors.splitlines()) == 1
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_plugin_configuration_is_found_as_folders(tmp_path, monkeypatch):
    (tmp_path / "with_yaml" / "conf" / "protocol").mkdir(parents=True)
    (tmp_path / "with_yaml" / "conf" / "protocol" / "theirs.yaml").write_text("name: cv\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry.installed(), "config_packages", ["with_yaml.conf", "with_yaml.absent", "absent.conf"])
    search_path.register()
    with search_path.initialized() as hydra:
        assert "theirs" in hydra.config_loader.get_group_options("protocol")


def test_initialized_within_another_hydra():
    search_path.register()
    with search_path.initialized() as outer:
        with search_path.initialized() as inner:
            assert inner is not outer
        assert GlobalHydra.instance().hydra is outer
    assert not GlobalHydra.instance().is_initialized()
