"""Loading a cached data set, with the check of its hash, against parsing it; drawing rows against other libraries."""

import hashlib
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from npbench.contracts import DataFile, Dataset
from npbench.data.loading import load
from npbench_datasets.scalable import load_scalable

N = 200_000  # drawn rows

LOADER = """
import numpy as np
import polars as pl

def read(path):
    table = pl.read_csv(path, has_header=False).to_numpy()
    return table[:, :-1], np.where(table[:, -1] > 0, 1, -1)
"""


def written(folder, n, d):
    """Write n rows of d features and a label as CSV, and describe them."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(n, d)).round(6), rng.integers(0, 2, n)])
    path = folder / "table.csv"
    pl.DataFrame(table).write_csv(path, include_header=False)
    content = path.read_bytes()
    file = DataFile(path=path.name, sha256=hashlib.sha256(content).hexdigest(), size=len(content), url="http://none")
    (folder / "table_loader.py").write_text(LOADER)
    return Dataset(name="table", load="table_loader:read", files=(file,))


@pytest.mark.parametrize(("n", "d"), [(20_000, 16), (200_000, 40)])
def test_cache(n, d, tmp_path, monkeypatch, side_by_side):
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    dataset = written(tmp_path, n, d)
    monkeypatch.syspath_prepend(tmp_path)
    what, size, peer, quality = "data read before, hash checked", f"{n} x {d}", "polars.read_csv", "the same numbers"
    theirs = partial(pl.read_csv, tmp_path / "table.csv", has_header=False)
    side_by_side(partial(load, dataset), theirs, what, size, peer, quality, rounds=7)


def dense(n_features, density):
    return make_classification(N, n_features, n_informative=10, n_redundant=0, random_state=0)


def csr(n_features, density):
    random = np.random.default_rng(0)
    drawn = {"rng": random, "data_sampler": random.standard_normal}
    return sparse.random_array((N, n_features), density=density, format="csr", **drawn)


@pytest.mark.parametrize(
    ("kind", "n_features", "density"), [("dense", 50, 1.0), ("sparse", 50, 0.1), ("sparse", 1000, 0.01)]
)
def test_rows_against_those_of_a_library(side_by_side, kind, n_features, density):
    ours = partial(load_scalable, N, n_features, density)
    theirs = partial(dense if kind == "dense" else csr, n_features, density)
    what, size = f"drawn rows, {kind}", f"{N} x {n_features}" + (f", density {density}" if kind == "sparse" else "")
    peer, quality = "make_classification" if kind == "dense" else "scipy.sparse.random_array", "equal number of values"
    side_by_side(ours, theirs, what, size, peer, quality)
