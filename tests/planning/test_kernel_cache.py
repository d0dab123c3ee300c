import hashlib
import sys

import pytest

from npbench.planning import kernel_cache
from sample_jobs import JOB, changed


@pytest.fixture
def job(tmp_path, monkeypatch):
    package = tmp_path / "npbench_toykernel"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text("from numba import njit\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    solver = JOB.request.solver.__class__(name="toy", estimator="npbench_toykernel:Toy", solves=("np",))
    yield changed(JOB, solver=solver, metrics=())
    sys.modules.pop("npbench_toykernel", None)


def test_solver_without_cached_kernels_is_named(job, tmp_path):
    assert kernel_cache.not_compiled([job, job]) == [job]
    package = tmp_path / "npbench_toykernel"
    folder = tmp_path / "numba" / f"npbench_toykernel_{hashlib.sha1(str(package).encode()).hexdigest()}"
    folder.mkdir(parents=True)
    index = folder / "kernels.step-12.py311.nbi"
    index.write_bytes(b"")
    assert kernel_cache.not_compiled([job]) == []
    index.unlink()
    (package / "kernels.py").write_text("import math\n")  # without kernels there is nothing to wait for
    assert kernel_cache.not_compiled([job]) == []


def test_kinds_of_jobs_that_compile_nothing_are_remembered(job, tmp_path, monkeypatch):
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    other = changed(job, params={"kernel": "linear"})
    assert kernel_cache.not_compiled([job, other]) == [other]
    kernel_cache.compiles_nothing(other, known=True)
    assert kernel_cache.not_compiled([job, other]) == [job]
    assert kernel_cache.not_compiled([changed(other, code={"npbench_toykernel": "edited"})])
