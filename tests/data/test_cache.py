"""Arrays written once: shared with workers, opened from the cache while nothing has changed, removed on request."""

import concurrent.futures
import contextlib
import dataclasses
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from npbench.contracts import Dataset, Original
from npbench.data import BinaryData, cache
from npbench.data.binary import OPTIONAL
from npbench.data.cache import arrays_folder, share
from npbench.data.loading import load
from npbench.data.sources import cache_folder
from npbench.errors import RequestError
from sample_files import data_file, private_umask, put

MODULE = """
from pathlib import Path
import numpy as np
from scipy import sparse

def read(path, scale=1.0, as_csr=False):
    with Path("calls").open("a") as calls:
        calls.write("x")
    X = np.loadtxt(path, delimiter=",") * scale
    more = {"columns": ["first", "second"], "groups": [1, 1, 2], "categorical": {} if as_csr else {1: ["p", "q"]}}
    return (sparse.csr_array(X) if as_csr else X), [1, -1, -1], more

def made(scale=1.0):
    with Path("calls").open("a") as calls:
        calls.write("x")
    return np.eye(2) * scale, [1, -1]

def fails(path):
    raise ValueError("no such thing")
"""
TEXT = "1,2\n3,0\n5,6\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A loader, a data folder with its file, and a cache of the test's own; calls are counted in a file."""
    (tmp_path / "counted_loaders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "counted_loaders", raising=False)
    (tmp_path / "data" / "toy").mkdir(parents=True)
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def toy(text=TEXT, loader="read", **changes):
    put(Path(os.environ["NPBENCH_DATA"]) / "toy" / "toy.csv", text)
    files = (data_file("toy/toy.csv", text),)
    return Dataset(**{"name": "toy", "load": f"counted_loaders:{loader}", "files": files, **changes})


def dense(n_samples=50, n_features=3):
    random = np.random.default_rng(0)
    return BinaryData.checked(random.normal(size=(n_samples, n_features)), np.resize([1, -1, -1], n_samples), "toy")


def with_options():
    X, y = dense().X.copy(), dense().y
    X[3, 1] = np.nan
    options = {"published": np.arange(40).reshape(2, 20), "categorical": [2], "groups": np.arange(50) // 3}
    return BinaryData.checked(X, y, "toy", columns=list("abc"), **options)


def csr(density=0.2):
    X = sparse.random_array((50, 30), density=density, rng=np.random.default_rng(0))
    return BinaryData.checked(X, np.resize([1, -1], 50), "toy")


def calls():
    return len(Path("calls").read_text()) if Path("calls").exists() else 0


@pytest.mark.parametrize("as_csr", [False, True])
def test_a_second_load_is_equal_and_calls_no_loader(as_csr):
    first, second = (load(toy(), as_csr=as_csr) for _ in range(2))
    assert calls() == 1
    assert sparse.issparse(second.X) == as_csr
    assert (first.X != second.X).sum() == 0
    assert np.array_equal(first.y, second.y)
    assert (second.name, second.columns, second.groups.tolist()) == ("toy", ("first", "second"), [0, 0, 1])
    assert second.words == ({} if as_csr else {1: ("p", "q")})
    assert first.sha256 == second.sha256 == dataclasses.replace(second).sha256


def test_changed_parameters_files_and_loaders_are_read_again(place):
    load(toy())
    load(toy(), scale=2.0)
    assert calls() == 2
    assert load(toy("1,2\n3,0\n5,7\n")).X[2, 1] == 7.0
    assert calls() == 3
    (place / "counted_loaders.py").write_text(MODULE + "\n# changed\n")
    dataset = toy()
    load(dataset)
    assert calls() == 4
    (place / "data" / "toy" / "toy.csv").write_text("1,2\n")  # although its content is cached
    with pytest.raises(RequestError, match="is not the file"):
        load(dataset)


def test_an_original_has_its_own_entry(place):
    dataset = toy()
    load(dataset)
    put(place / "data" / "toy" / "original.csv", "9,9\n9,9\n9,9\n")
    file = data_file("toy/original.csv", "9,9\n9,9\n9,9\n")
    both = toy(original=Original(load="counted_loaders:read", files=(file,)))
    assert [load(both).X[0, 0] for _ in range(2)] == [9.0, 9.0]
    assert calls() == 2


def test_generators_and_failed_loads_are_not_kept():
    generator = Dataset(name="made", load="counted_loaders:made")
    assert [load(generator).n_samples for _ in range(2)] == [2, 2]
    assert calls() == 2
    for changes in ({"loader": "fails"}, {"n_samples": 4}):
        for _ in range(2):
            with pytest.raises(RequestError, match=r"no such thing|n_samples = 3"):
                load(toy(**changes))
    assert not cache_folder().exists()


def test_another_name_shares_the_entry_and_another_description_is_checked():
    load(toy())
    assert load(toy(name="other")).name == "other"
    with pytest.raises(RequestError, match="n_samples = 3"):
        load(toy(n_samples=4))
    assert calls() == 1


def test_a_cache_that_cannot_be_written_is_ignored(place, monkeypatch):
    (place / "afile").touch()
    monkeypatch.setenv("NPBENCH_CACHE", str(place / "afile"))
    assert [load(toy()).n_samples for _ in range(2)] == [3, 3]
    assert calls() == 2


@pytest.mark.parametrize(
    ("pattern", "harm"),
    [
        ("remembered/loaded/*", lambda entry: entry.write_text('{"sha256": 1')),
        ("arrays/*/X.npy", lambda array: array.write_bytes(array.read_bytes()[:-8])),
        ("arrays/*/X.npy", lambda array: aged(put(array, array.read_bytes()[:-8] + bytes(8)), 60)),
        ("arrays/*/y.npy", Path.unlink),
        ("arrays", shutil.rmtree),
    ],
)
def test_a_damaged_cache_is_rebuilt(place, pattern, harm):
    X = np.array(load(toy()).X)
    shared = share(load(toy()))
    (path,) = (place / "cache").glob(pattern)
    harm(path)
    if pattern != "remembered/loaded/*":
        with pytest.raises(RequestError, match="rebuild"):
            shared.open()
    for _ in range(2):
        assert np.array_equal(load(toy()).X, X)
    assert calls() == 2
    assert np.array_equal(shared.open().X, X)
    assert [path.name for path in arrays_folder().iterdir()] == [shared.sha256]


def test_another_user_can_read_the_cache(monkeypatch):
    def refuse(path):
        raise PermissionError(1, "Operation not permitted", path)

    umask = os.umask(0o022)
    try:
        shared = share(load(toy()))
    finally:
        os.umask(umask)
    assert Path(shared.folder).stat().st_mode & 0o777 == 0o755
    monkeypatch.setattr(os, "utime", refuse)
    assert shared.open().X.sum() == 17.0


def mode_of(path):
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize(
    ("cache_mode", "to_all", "to_readers"), [(0o755, 0o700, 0), (0o770, 0o770, 0o040), (0o1777, 0o1777, 0o044)]
)
def test_those_who_may_write_to_the_cache_may_use_what_is_in_it(place, cache_mode, to_all, to_readers):
    (place / "cache").mkdir()
    (place / "cache").chmod(cache_mode)
    with private_umask():
        load(toy())
    assert {mode_of(place / "cache" / name) for name in ("arrays", "remembered/loaded")} == {to_all}
    (folder,) = arrays_folder().iterdir()
    assert mode_of(folder) == 0o700 | to_readers | to_readers >> 2
    (entry,) = (place / "cache" / "remembered" / "loaded").iterdir()
    assert {mode_of(path) for path in (entry, *folder.iterdir())} == {0o600 | to_readers}


@contextlib.contextmanager
def user(number):
    """Act as another user, who lets nobody read new files."""
    with private_umask():
        os.setegid(number)
        os.seteuid(number)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)


@pytest.fixture
def shared_cache(monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("only root can act as two users")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        monkeypatch.setenv("NPBENCH_CACHE", folder)
        yield Path(folder)


def test_two_users_share_a_cache(shared_cache):
    shared_cache.chmod(0o1777)
    one, other = dense(), csr()
    with user(65533):
        cache.keep("k", one)
        shared = share(one)
    with user(65534):
        assert np.array_equal(cache.recall("k", "toy").X, one.X)
        assert share(one) == shared
        with pytest.raises(PermissionError):
            (Path(shared.folder) / "X.npy").write_bytes(b"")
        cache.keep("l", other)
        assert cache.clean(0)[0] == 1
        shared.open()


def test_a_folder_of_another_user_that_cannot_be_read_is_replaced(shared_cache):
    data = dense()
    with user(65533):
        folder = Path(share(data).folder)
        folder.chmod(0o700)
    with user(65534):
        assert cache.recall("k", "toy") is None
        assert np.array_equal(share(data).open().X, data.X)


def aged(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def test_cleaning_removes_arrays_unused_for_long(place):
    old = [load(toy()) for _ in range(2)][1]
    load(toy(), scale=3.0)
    folder = aged(arrays_folder() / old.sha256, 3600)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert cache.clean(7200) == (0, 0)
    share(old).open()  # counts as use
    assert cache.clean(1800) == (0, 0)
    aged(folder, 3600)
    assert cache.clean(1800) == (1, size)
    assert not folder.exists()
    assert old.X.sum() == 17.0  # opened before
    load(toy(), scale=3.0)
    assert calls() == 2
    load(toy())
    assert calls() == 3


def test_cleaning_removes_interrupted_downloads_and_files_of_killed_processes(place):
    assert cache.clean(0) == (0, 0)
    put(arrays_folder() / ".unfinished-abc" / "X.npy", b"123")
    assert cache.clean(0) == (1, 3)
    assert list(arrays_folder().iterdir()) == []
    folder = place / "cache" / "raw" / "toy"
    put(folder / "running.csv.unfinished", b"12345")
    assert cache.clean(0) == (0, 0)
    for name, age in (("toy.csv", 3600), ("old.csv.unfinished", 3600), ("young.csv.unfinished", 100)):
        aged(put(folder / name, b"12345"), age)
    assert cache.clean(1800) == (1, 5)
    kept = ["running.csv.unfinished", "toy.csv", "young.csv.unfinished"]
    assert sorted(path.name for path in folder.iterdir()) == kept


@pytest.fixture
def elsewhere(tmp_path):
    return tmp_path / "elsewhere"


@pytest.mark.parametrize(
    "data",
    [dense(), with_options(), csr(), csr(density=0.0)],
    ids=["dense", "with all options and a missing value", "csr", "csr without entries"],
)
def test_opened_data_equal_shared_data(data, elsewhere):
    shared = pickle.loads(pickle.dumps(share(data, elsewhere)))
    opened = shared.open()
    assert (opened.name, opened.sha256, opened.X.shape, opened.y.dtype) == ("toy", data.sha256, data.X.shape, np.int8)
    assert np.array_equal(opened.y, data.y)
    if sparse.issparse(data.X):
        assert (opened.X != data.X).nnz == 0
        assert opened.X.indices.dtype == data.X.indices.dtype
    else:
        assert np.array_equal(opened.X, data.X, equal_nan=True)
    for name in OPTIONAL:
        one, other = getattr(opened, name), getattr(data, name)
        assert other is None if one is None else np.array_equal(one, other) and one.dtype == other.dtype
    assert dataclasses.replace(opened).sha256 == data.sha256, "the hash of what was opened"


def test_opened_arrays_are_read_only_maps_and_rows_are_copies(elsewhere):
    load(toy())
    for opened in (load(toy()), share(dense(), elsewhere).open()):
        assert type(opened.X) is np.ndarray
        assert isinstance(opened.X.base, np.memmap)
        assert opened.X[[2, 1]].flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            opened.X[0, 0] = 7.0


def test_concurrent_writers_leave_one_copy(elsewhere):
    data = dense(20_000, 5)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        (shared,) = set(pool.map(lambda folder: share(data, folder), [elsewhere] * 16))
    assert [path.name for path in elsewhere.iterdir()] == [data.sha256]
    assert np.array_equal(shared.open().X, data.X)
    before = {path: path.stat().st_mtime_ns for path in Path(shared.folder).iterdir()}
    assert share(data, elsewhere) == shared
    assert {path: path.stat().st_mtime_ns for path in Path(shared.folder).iterdir()} == before  # written once


def test_a_failed_write_leaves_nothing_behind(elsewhere, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(RequestError, match=r"'toy' cannot be written to .*: No space .*NPBENCH_CACHE"):
        share(dense(), elsewhere)
    assert list(elsewhere.iterdir()) == []
