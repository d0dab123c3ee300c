import concurrent.futures
import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from npbench.data import BinaryData, share
from npbench.data.binary import OPTIONAL
from npbench.data.sources import cache_folder
from npbench.errors import RequestError


def dense(n_samples=50, n_features=3):
    random = np.random.default_rng(0)
    return BinaryData.checked(random.normal(size=(n_samples, n_features)), np.resize([1, -1, -1], n_samples), "toy")


def divided():
    plain = dense()
    return BinaryData.checked(plain.X, plain.y, "toy", published=np.arange(40).reshape(2, 20))


def with_all_there_is():
    plain = dense()
    X = plain.X.copy()
    X[3, 1] = np.nan
    return BinaryData.checked(X, plain.y, "toy", categorical=[2], groups=np.arange(50) // 3, columns=list("abc"))


def csr(density=0.2):
    X = sparse.random_array((50, 30), density=density, rng=np.random.default_rng(0))
    return BinaryData.checked(X, np.resize([1, -1], 50), "toy")


@pytest.mark.parametrize(
    "data",
    [dense(), divided(), with_all_there_is(), csr(), csr(density=0.0)],
    ids=["dense", "with divisions", "with categories, groups and a missing value", "csr", "csr without entries"],
)
def test_what_is_opened_is_what_was_shared(data, tmp_path):
    shared = pickle.loads(pickle.dumps(share(data, tmp_path)))
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
    fresh = dataclasses.replace(opened, name="hashed anew")
    assert fresh.sha256 == data.sha256


def test_opened_arrays_are_plain_read_only_maps_of_the_file(tmp_path):
    opened = share(dense(), tmp_path).open()
    assert type(opened.X) is np.ndarray
    assert isinstance(opened.X.base, np.memmap)
    assert not opened.X.flags.writeable
    assert opened.X[[3, 1]].flags.writeable


@pytest.mark.parametrize("data", [dense(), csr()], ids=["dense", "csr"])
def test_rows_and_products_of_opened_data(data, tmp_path):
    opened = share(data, tmp_path).open()
    rows = np.array([7, 3, 3, 49])
    weights = np.arange(data.n_features, dtype=float)
    assert np.array_equal(opened.X[rows] @ weights, data.X[rows] @ weights)


def test_a_small_message_reaches_the_worker(tmp_path):
    assert len(pickle.dumps(share(dense(10_000), tmp_path))) < 1000


def test_arrays_are_written_once(tmp_path):
    first = share(dense(), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in Path(first.folder).iterdir()}
    assert share(dense(), tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in Path(first.folder).iterdir()} == before


def test_the_default_place_is_the_cache():
    data = dense(17)
    assert Path(share(data).folder) == cache_folder() / "arrays" / data.sha256


def _share(folder):
    return share(dense(20_000, 5), folder)


def test_several_may_write_the_same_data_at_once(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        shared = list(pool.map(_share, [tmp_path] * 16))
    assert len(set(shared)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [dense(20_000, 5).sha256]
    assert np.array_equal(shared[0].open().X, dense(20_000, 5).X)


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(RequestError, match=r"'toy' cannot be written to .*: No space left on device"):
        share(dense(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_no_folder_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match=r"cannot be written to .*NPBENCH_CACHE"):
        share(dense(), tmp_path / "file")
