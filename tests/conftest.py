"""Fixtures of all tests: fresh kernels, folders of their own, raw data where they are."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import pytest
from hydra.core.global_hydra import GlobalHydra
from threadpoolctl import threadpool_limits

from grids import leave_most
from kernel_cache import kernel_cache
from npbench import cli, registry
from npbench.contracts import Dataset

if TYPE_CHECKING:
    from hydra._internal.hydra import Hydra

ROOT = Path(__file__).parents[1]


# Hundreds of processes import npbench; without bytecode, each would compile all of its modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Arrays are small here, and threads of BLAS that wait for work take the cores from other processes.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
threadpool_limits(1)  # of what NumPy has loaded already

# Kernels compile within the first example, and other work may run beside: times say nothing here. A change is judged by
# the same few examples each time; the scheduled workflow draws more and new ones with --hypothesis-profile=explore.
hypothesis.settings.register_profile("npbench", deadline=None, derandomize=True, max_examples=5)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=100)
hypothesis.settings.load_profile("npbench")

# Numba reads it once, when it is first imported: by a test module, after this file. Subprocesses inherit it, workers of
# pytest-xdist too.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())

collect_ignore = ["typed_use.py"]  # mypy checks it, and its wrong lines fail

gc.disable()  # until tests are collected: nothing of theirs is garbage


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most cases of large grids to the slow tests, and part those that compile the same kernels from others."""
    leave_most(items)
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    """Return where a test comes: two workers begin at either end, and each kernel compiles in one of them."""
    if item.path.relative_to(ROOT).parts[1] not in ("conformance", "estimators", "numerics", "plugins", "testing"):
        return 1
    return 0 if re.search("two_?nu|svm_?path", item.nodeid, re.IGNORECASE) else 2  # half of all seconds of compiling


def pytest_collection_finish() -> None:
    """Spare the garbage collector the million objects that live until the end."""
    gc.freeze()
    gc.enable()


# PyTorch is large, and most test environments do without it.
WITHOUT_TORCH = importlib.util.find_spec("torch") is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Skip tests that fail for want of PyTorch only."""
    report = yield
    if WITHOUT_TORCH and report.failed and "npbench[torch]" in report.longreprtext:
        report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1], "Skipped: needs PyTorch")
    return report


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache out of the tests and the tests out of the user's cache.

    Workers of pytest-xdist share one, so that each data set is read from its source once.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPBENCH_CACHE", str(shared / "cache"))
        yield


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a folder of its own, since results are written below the current one."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """Let estimators without a seed of their own draw the same numbers each time: luck must not fail a change."""
    np.random.seed(int(os.environ.get("NPBSEED", "0")))  # noqa: NPY002 - the generator that random_state=None means


@pytest.fixture(scope="session")
def raw_dataset() -> Callable[[str], Dataset]:
    """Return a function from the name of a data set to its description that skips the test where a file is absent.

    Nothing is downloaded: ``npbench.load_dataset(raw_dataset("pima").name)`` then reads a copy that is there.
    """

    def describe(name: str) -> Dataset:
        from npbench.data import sources

        dataset = registry.installed().dataset(name)
        for file in dataset.files:
            if sources.find(file) is None:
                pytest.skip(f"{file.path} is in no data folder; NPBENCH_DATA can name one")
        return dataset

    return describe


@pytest.fixture
def stranger(stranger_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a third party's plugin, and one that cannot be imported, for the length of a test.

    They provide ``solver=centroid`` and ``dataset=blobs`` without YAML, to this process and to those it starts.
    """
    with _stranger_installed(stranger_site, monkeypatch):
        yield


@pytest.fixture(scope="module")
def stranger_of_module(stranger_site: Path) -> Iterator[None]:
    """Install the same plugins for all tests of a module, which can then share what they read."""
    with pytest.MonkeyPatch.context() as patch, _stranger_installed(stranger_site, patch):
        yield


def _install(patch: pytest.MonkeyPatch, distribution: str, version: str, plugins: str, *folders: Path) -> None:
    """Write metadata into the first of some folders, and let Python find them, here and in processes started here."""
    metadata = folders[0] / f"{distribution.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text(f"[npbench]\n{plugins}\n")
    for folder in folders:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


@pytest.fixture(scope="session")
def stranger_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the third party's packages, which stay as they are."""
    site = tmp_path_factory.mktemp("stranger")
    (site / "npbench_broken.py").write_text("import no_such_library\n")
    return site


@pytest.fixture(scope="session", autouse=True)
def _plugins_read_once(stranger_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Read the same plugins once, which takes a tenth of a second; those that a test writes may change."""
    written, load = tmp_path_factory.getbasetemp(), registry.load
    read: dict[frozenset[EntryPoint], registry.Registry] = {}

    def stays(point: EntryPoint) -> bool:
        folder = point.dist and Path(str(point.dist.locate_file("")))
        return bool(folder) and (folder == stranger_site or not folder.is_relative_to(written))

    def load_once(points: Iterable[EntryPoint]) -> registry.Registry:
        found = frozenset(points)
        if not all(map(stays, found)):
            return load(found)
        if found not in read:
            read[found] = load(found)
        return read[found]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", load_once)
        yield


@contextlib.contextmanager
def _stranger_installed(site: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    plugins = "stranger = npbench_stranger\nbroken = npbench_broken"
    _install(patch, "npbench-stranger", "1.2", plugins, site, ROOT / "tests" / "stranger")
    registry.installed.cache_clear()
    yield
    registry.installed.cache_clear()


@pytest.fixture
def install(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Return a function that installs a distribution for the length of a test, here and in processes started here.

    ``install("npbench-x", npbench_x=source)`` takes its modules by name, the plugin first, and returns their folder.
    """
    found = registry.installed  # a test may put another in its place

    def installed(distribution: str, **modules: str) -> Path:
        site = tmp_path_factory.mktemp("site")
        _install(monkeypatch, distribution, "1.0", f"plugin = {next(iter(modules))}", site)
        for name, source in modules.items():
            (site / f"{name}.py").write_text(source)
            monkeypatch.delitem(sys.modules, name, raising=False)
        found.cache_clear()
        return site

    yield installed
    found.cache_clear()


@pytest.fixture
def npbench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs a command line in this process: its exit code, output and errors."""
    monkeypatch.setenv("COLUMNS", "150")

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing in reports, which saves seconds."""
    monkeypatch.setattr("npbench.report.files.figures", lambda *_: {})


@functools.cache  # as large as the number of combinations of plugins in the tests, where npbench keeps one
def _groups(*asked: Any) -> object:
    from npbench.config.groups import Groups

    return Groups(*asked)


@pytest.fixture(scope="session")
def read_once() -> Callable[..., contextlib.AbstractContextManager[Hydra]]:
    """Return a stand-in for ``search_path.initialized`` that reads the configuration once for the same plugins."""
    from npbench.config import files, search_path

    initialized = search_path.initialized
    read: list[tuple[object, Hydra]] = []

    @contextlib.contextmanager
    def shared(folder: str | None = None) -> Iterator[Hydra]:
        own = folder in (None, str(files.config_dir())) and not search_path.PluginConfigs.folder
        if not own or not all(path.is_relative_to(ROOT) for path in files.config_folders()):
            with initialized(folder) as hydra:  # whose files may change
                yield hydra
            return
        found = registry.installed()
        described = [dict(table) for table in (found.solvers, found.datasets, found.executors, found.launchers)]
        known = described, [*found.config_packages]
        hydra = next((hydra for key, hydra in read if key == known), None)
        if hydra is None:
            with initialized() as hydra:
                read.append((known, hydra))
        outer, GlobalHydra.instance().hydra = GlobalHydra.instance().hydra, hydra
        try:
            yield hydra
        finally:
            GlobalHydra.instance().hydra = outer

    return shared


@pytest.fixture(autouse=True)
def _shared_configuration(read_once: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands share what Hydra reads of npbench's own configuration, which takes most of their time."""
    monkeypatch.setattr("npbench.config.search_path.initialized", read_once)
    monkeypatch.setattr("npbench.config.compose._groups", _groups)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 8 MB, and return its folder."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def fill(small_disk: Path) -> Callable[[], Path]:
    """Return a function that occupies all that is left of the small file system, with a file that it returns."""

    def filled() -> Path:
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as stream:
            for size in (2**16, 2**12):
                with contextlib.suppress(OSError):
                    while stream.write(bytes(size)) == size:
                        pass
        return filler

    return filled


@pytest.fixture(scope="session")
def qp_maximum() -> Callable[..., float]:
    """Return a function of (K, p, lower, upper): the largest ``p'x - x'Kx/2`` in the box with ``sum(x) = 0``.

    An interior point method for cones, on a box tightened by what the sum implies and scaled to unit width.
    """

    def maximum(K: np.ndarray, p: np.ndarray, lower: np.ndarray, upper: np.ndarray, tol: float = 1e-12) -> float:
        import cvxpy

        lower, upper = np.maximum(lower, -upper.sum()), np.minimum(upper, -lower.sum())
        eigenvalues, vectors = np.linalg.eigh(K)
        root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        width, share = upper - lower, cvxpy.Variable(len(p), bounds=[0, 1])
        x = lower + cvxpy.multiply(width, share)
        scale = np.abs(p) @ width
        objective = cvxpy.Maximize((p @ x - 0.5 * cvxpy.sum_squares(root.T @ x)) / scale)
        problem = cvxpy.Problem(objective, [cvxpy.sum(x) / width.max() == 0])
        problem.solve(solver="CLARABEL", tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=500)
        return float(problem.value) * scale

    return maximum
