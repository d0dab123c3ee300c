"""The experiments of the papers: every file composes into checked jobs."""

from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

import npbench_papers
from npbench.config import search_path
from npbench.config.compose import as_plain
from npbench.config.experiment import compose_experiment
from npbench.config.fill import check_all

SHIPPED = sorted(path.stem for path in (Path(npbench_papers.__file__).parent / "conf" / "experiment").glob("*.yaml"))
JOBS = {"gasso_table2": 160, "gasso_table3": 160, "gasso_figure3": 100}


@pytest.mark.parametrize("name", SHIPPED)
def test_experiment_composes(name):
    search_path.register()
    with initialize_config_dir(str(search_path.config_dir()), version_base="1.3"):
        found, experiment, faults = compose_experiment(GlobalHydra.instance().config_loader(), name, [])
    assert faults == []
    assert experiment.title
    assert experiment.paper
    requests, _ = check_all([as_plain(config) for config in found])
    jobs = sum(request.repeats for request in requests)
    assert jobs == JOBS.get(name, jobs) > 0


def test_all_experiments_are_found():
    assert len(SHIPPED) == 34
