"""The asv suite: every benchmark at its smallest size, with repeatable quality."""

import importlib
import inspect
import itertools
import os
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "asv"
HOT = {"smo", "pauc", "sgd", "path", "splitting", "thresholds", "reduced_hulls", "np_svm", "top"}


def suite():
    """Import the suite under a name other than asv, as asv does in its own processes, with the tests' kernels."""
    spec = spec_from_file_location("npbench_asv", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
    package = sys.modules["npbench_asv"] = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernel_cache.kernel_cache", lambda: os.environ["NUMBA_CACHE_DIR"])
        spec.loader.exec_module(package)
    return {name: importlib.import_module(f"npbench_asv.{name}") for name in sorted(HOT)}


MODULES = suite()
CLASSES = [(module, found) for module in MODULES.values() for _, found in inspect.getmembers(module, inspect.isclass)]
BENCHMARKS = [found for module, found in CLASSES if found.__module__ == module.__name__]


def sizes(task):
    return task.params if len(task.param_names) == 1 else task.params[0]


def smallest(task):
    others = itertools.product(*task.params[1:]) if len(task.param_names) > 1 else [()]
    return [(sizes(task)[0], *rest) for rest in others]


def test_every_file_compiles_its_benchmarks_first_and_changed_tasks_have_another_version():
    assert {path.stem for path in FOLDER.glob("*.py")} == HOT | {"__init__", "benchmark", "history", "problems"}
    for name, module in MODULES.items():
        assert module.setup_cache.__module__ == f"npbench_asv.{name}"
        listed = inspect.getsource(module.setup_cache)
        assert all(found.__name__ in listed for found in BENCHMARKS if found.__module__ == module.__name__)
    smo = MODULES["smo"]
    assert len({found.version for found in BENCHMARKS}) == len(BENCHMARKS)
    assert smo.HighCost.version != smo.Ordinary.version


@pytest.mark.parametrize("task", BENCHMARKS, ids=lambda found: found.__name__)
def test_benchmarks_have_several_sizes_and_name_their_bound(task):
    ratios = np.divide(sizes(task)[1:], sizes(task)[:-1])
    assert len(ratios) >= 2
    assert np.all((ratios >= 3) & (ratios <= 10))
    assert task.__doc__ is not None
    assert any(word in task.__doc__.lower() for word in ("bound", "annealed"))
    assert task.unit


def check_quality(task, params, times):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = set()
        for _ in range(times):
            run = task()
            run.setup(*params)
            run.time_task(*params)
            found.add(run.track_quality(*params))
    (quality,) = found
    assert 0 <= quality < np.inf


@pytest.mark.parametrize("name", ["RBFGram", "Umbrella"])
def test_quality_of_some_benchmarks_is_repeatable_and_nonnegative(name):
    (task,) = (found for found in BENCHMARKS if found.__name__ == name)
    check_quality(task, smallest(task)[0], times=2)


@pytest.mark.slow  # fits every method, which compiles all kernels
@pytest.mark.parametrize("task", BENCHMARKS, ids=lambda found: found.__name__)
def test_quality_is_repeatable_and_nonnegative(task):
    first, *others = smallest(task)
    check_quality(task, first, times=2)
    for params in others:
        check_quality(task, params, times=1)
