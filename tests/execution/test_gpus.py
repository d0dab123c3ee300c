"""Workers share out GPUs, and records name the one that a solver used; PyTorch and its GPU are stand-ins."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.linalg import solve

from npbench.execution.run import Limits
from npbench.records.store import RecordStore

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "torch_ridge.py"
PLUGIN = """
from npbench import hookimpl
from npbench.contracts import Solver

@hookimpl
def npbench_solvers():
    return [Solver(name="on_gpu", estimator="npbench_on_gpu_estimator:OnGPU", solves=("np",))]
"""
ESTIMATOR = """
import os
from npbench.estimators.binary import LinearClassifier

class OnGPU(LinearClassifier):
    def __init__(self, *, use=True):
        self.use = use

    def _fit(self, X, signs):
        import torch
        torch.cuda.opened = self.use
        self.coef_, self.intercept_ = [X[signs > 0].mean(axis=0)], [0.0]
        self.status_ = str(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""
TORCH = """
class Tensor:
    pass

class cuda:
    opened = False
    is_initialized = staticmethod(lambda: cuda.opened)
    get_device_name = staticmethod(lambda: "Stand-in 9000")
    max_memory_allocated = staticmethod(lambda: 123_000_000)
"""


@pytest.fixture
def run(install, npbench, monkeypatch):
    """Return a function that runs four jobs of a solver on a stand-in of a GPU, and returns their records."""
    install("npbench-on-gpu", npbench_on_gpu=PLUGIN, npbench_on_gpu_estimator=ESTIMATOR, torch=TORCH)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def records(*words):
        code, _, errors = npbench("solver=on_gpu", "dataset=breast", "repeats=4", *words)
        assert code == 0, errors
        return RecordStore("results/records").frame()

    return records


def test_each_worker_sees_one_gpu_and_records_name_it(run):
    found = run("execution.gpus=2", "execution.n_jobs=2")
    assert set(found["solver_status"]) == {"0", "1"}
    assert set(found["gpu"]) == {"Stand-in 9000"}
    assert set(found["peak_gpu_memory_mb"]) == {123.0}
    (description,) = Path("results/runs").iterdir()
    assert json.loads(description.read_text())["configs"][0]["execution"]["gpus"] == 2


def test_without_gpus_no_worker_is_pinned_and_unused_ones_are_not_named(run):
    found = run("solver.use=false")
    assert set(found["solver_status"]) == {"None"}
    assert found["gpu"].null_count() == found["peak_gpu_memory_mb"].null_count() == 4


@pytest.mark.parametrize(
    ("visible", "gpus", "expected"),
    [
        (None, None, [None, None, None]),
        (None, 2, ["0", "1", "0"]),
        ("4,GPU-8a", 2, ["4", "GPU-8a", "4"]),
        ("4,5", 1, ["4", "4", "4"]),
        ("4,5", None, [None, None, None]),
    ],
)
def test_gpus_go_round(visible, gpus, expected, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert Limits(gpus=gpus).gpu_of_each(3) == expected


def test_gpus_bound_the_workers_unless_their_number_is_given():
    assert Limits(gpus=3).workers(10) == 3
    assert Limits(gpus=3).workers(2) == 2
    assert Limits(gpus=1, n_jobs=4).workers(10) == 4


@pytest.mark.one_in(4)
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "all"])
def test_an_impossible_number_of_gpus_is_named(value, npbench):
    code, _, errors = npbench("solver=gen", f"execution.gpus={value}")
    assert code == 2
    assert "execution.gpus" in errors
    assert value in errors


def test_records_of_before_have_no_gpu(tmp_path):
    old = {"schema_version": [7], "key": ["k"], "status": ["ok"], "stored_at": ["2026-01-01T00:00:00"]}
    pl.DataFrame(old).write_parquet(tmp_path / "a.parquet")
    assert RecordStore(tmp_path).frame().select("key", "gpu", "peak_gpu_memory_mb").rows() == [("k", None, None)]


def test_example_of_the_page_solves_ridge_regression_on_the_cpu():
    pytest.importorskip("torch", reason="needs PyTorch")
    spec = importlib.util.spec_from_file_location("torch_ridge", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [30, 50])
    X = rng.normal(size=(80, 3)) + (y > 0)[:, np.newaxis]
    model = example.TorchRidge(rho=0.1, alpha=2.0, device="cpu").fit(X, y)
    Z = np.column_stack([X, np.ones(80)])
    np.testing.assert_allclose(model.coef_, solve(Z.T @ Z + 2 * np.eye(4), Z.T @ y)[:3], rtol=1e-9)
    assert np.sum(model.decision_function(X)[y < 0] > 0) == 4  # of 50; the sample at the quantile scores 0
