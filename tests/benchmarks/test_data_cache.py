"""Loading a cached data set, including the check of its file's hash, against parsing it again."""

import hashlib
from functools import partial

import numpy as np
import polars as pl
import pytest

from npbench.contracts import DataFile, Dataset
from npbench.data.loading import load

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
