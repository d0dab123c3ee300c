"""The experiments of the papers: every file composes into checked jobs."""

from pathlib import Path

import pytest

import npbench_papers
from npbench.config.command_line import parse, requested

SHIPPED = sorted(path.stem for path in (Path(npbench_papers.__file__).parent / "conf" / "experiment").glob("*.yaml"))
JOBS = {"gasso_table2": 160, "gasso_table3": 160, "gasso_figure3": 100}


# Hundreds of combinations each, which take seconds; a smaller experiment of the same paper is composed beside them.
LARGE = {"gasso_figure4", "gasso_figure4_full", "gasso_figure5", "gasso_figure5_full", "narasimhan_figure4_like"}
LARGE |= {"narasimhan_figure7", "narasimhan_figures8_9", "narasimhan_table4", "narasimhan_table4_full"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in SHIPPED])
def test_experiment_composes(name):
    found = requested(parse([f"+experiment={name}"]))
    assert found.experiment.title
    assert found.experiment.paper
    jobs = sum(request.repeats for request in found.requests)
    assert jobs == JOBS.get(name, jobs) > 0


def test_all_experiments_are_found():
    assert len(SHIPPED) == 34
