"""Kernels of anyone's plugin, where files cannot be written, and where they are damaged."""

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from npbench.contracts import resolve
from npbench.estimators.binary import BinaryClassifier
from npbench.numerics import numba_cache

KERNEL = "from numba import njit\n\n\n@njit(cache=True)\ndef step(x):\n    return x + 1\n"


@pytest.fixture
def blocked(tmp_path, monkeypatch):
    """Return a folder below a file, which nobody can make, not even root."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(numba_cache, "IN_TREE", tmp_path / "file" / "tree")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "given"))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    return tmp_path


def prepare():
    numba_cache.prepare.__wrapped__()
    return Path(os.environ["NUMBA_CACHE_DIR"])


def test_kernels_go_to_a_temporary_folder_if_nothing_else_can_be_written(blocked):
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        folder = prepare()
    assert folder.parent == blocked
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    os.environ["NUMBA_CACHE_DIR"] = ""
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        assert prepare() != folder  # where others write, nothing is run


def test_a_folder_that_can_be_written_is_left_alone(blocked, monkeypatch, tmp_path):
    monkeypatch.setattr(numba_cache, "IN_TREE", tmp_path / "tree")
    assert prepare() == tmp_path / "tree"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own" / "new"))
    assert prepare() == tmp_path / "own" / "new"


@pytest.mark.one_in(5)
@pytest.mark.parametrize("damage", [b"", b"junk", "half", pickle.dumps(("other", 1)), pickle.dumps(None)])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_files_are_compiled_again(tmp_path, monkeypatch, ending, damage):
    (tmp_path / "damaged_kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        monkeypatch.delitem(sys.modules, "damaged_kernel", raising=False)
        importlib.invalidate_caches()
        assert resolve("damaged_kernel:step")(1) == 2
        for path in (tmp_path / "cache").rglob(f"*.{ending}"):
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2] if damage == "half" else damage)
    monkeypatch.delitem(sys.modules, "damaged_kernel")


def test_a_disk_that_is_full_costs_time_only(tmp_path, monkeypatch):
    from numba.core.caching import IndexDataCacheFile

    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "unsaved_kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    assert resolve("unsaved_kernel:step")(1) == 2


@pytest.mark.slow  # a process that imports and runs the compiler
@pytest.mark.parametrize("first", ["", "import numba; "])
def test_kernels_are_compiled_although_the_compiler_is_switched_off(tmp_path, first):
    (tmp_path / "kernel.py").write_text(KERNEL)
    code = f"{first}from npbench.contracts import resolve; print(type(resolve('kernel:step')).__name__)"
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
    }
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "Dispatcher" in ended.stdout
    assert "NUMBA_DISABLE_JIT" in ended.stderr


ANNOUNCED = """import logging, {module}
from npbench.contracts import resolve
from npbench.estimators.binary import BinaryClassifier
logging.getLogger("npbench").setLevel({level})
step = resolve("{module}:step")
step(1.0), step(1)
"""


@pytest.mark.slow  # each compiles in a process of its own
@pytest.mark.parametrize(
    ("module", "level", "times"),
    [("npbench_of_kernels", 0, 1), ("npbench_of_kernels", 40, 0), ("own", 0, 0)],
)
def test_the_first_compiled_kernel_of_a_process_is_logged(tmp_path, module, level, times):
    (tmp_path / f"{module}.py").write_text(KERNEL)
    code = ANNOUNCED.format(module=module, level=level)
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for expected in (times, 0):  # then the kernels are in the cache
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        assert done.stderr.count("compiling") == expected


def test_the_line_on_compilation_names_the_classifier(caplog):
    class Compiled(BinaryClassifier):
        def _fit(self, X, signs):
            numba_cache._announce.__wrapped__()
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        Compiled().fit([[0.0], [1.0]], [0, 1])
    numba_cache._announce.__wrapped__()
    assert [one.getMessage().count("of Compiled") for one in caplog.records] == [1, 0]


def test_folders_are_those_of_numba(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    source = tmp_path / "one_kernel.py"
    source.write_text(KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    assert numba_cache.is_cold([source])
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "numba"))
    import one_kernel

    assert one_kernel.step(1) == 2
    assert not numba_cache.is_cold([source])
