"""The experiments of the papers: every file composes into checked jobs."""

from pathlib import Path

import pytest

import npbench_papers
from npbench.config.command_line import parse, requested

SHIPPED = sorted(path.stem for path in (Path(npbench_papers.__file__).parent / "conf" / "experiment").glob("*.yaml"))
JOBS = {"gasso_table2": 160, "gasso_table3": 160, "gasso_figure3": 100}


@pytest.mark.parametrize("name", SHIPPED)
def test_experiment_composes(name):
    found = requested(parse([f"+experiment={name}"]))
    assert found.experiment.title
    assert found.experiment.paper
    jobs = sum(request.repeats for request in found.requests)
    assert jobs == JOBS.get(name, jobs) > 0


def test_all_experiments_are_found():
    assert len(SHIPPED) == 34
