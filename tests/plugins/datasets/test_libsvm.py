"""Data sets in the format of LIBSVM: those of Narasimhan and Agarwal (2016), table 3."""

import bz2
import functools

import numpy as np
import pytest
from scipy import sparse

from npbench import load_dataset
from npbench.data import sources
from npbench_datasets.libsvm import read

loaded = functools.cache(load_dataset)
TABLE_3 = {"a9a": (48842, 123), "ijcnn1": (141691, 22), "letter": (20000, 16), "covertype_pine": (581012, 54)}
RARE = {"a9a": 11687, "ijcnn1": 4853 + 8712}  # rows of the rare class, which is positive


# 141,691 compressed rows take seconds; a9a is in the same format, and other dense data sets are read beside it.
IJCNN1 = pytest.param("ijcnn1", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [IJCNN1, *sorted(TABLE_3.keys() - {"ijcnn1"})])
def test_counts_are_those_of_table_3(name, raw_dataset):
    data = loaded(raw_dataset(name).name)
    assert (data.n_samples, data.n_features) == TABLE_3[name]
    assert data.n_positive == RARE.get(name, data.n_positive)


def parsed(path):
    """Return labels, pairs in each line, numbers and values, read without a library for the format."""
    text = bz2.decompress(path.read_bytes()) if path.suffix == ".bz2" else path.read_bytes()
    lines = text.splitlines()
    labels = [float(line.partition(b" ")[0]) for line in lines]
    pairs = np.array(b" ".join(line.partition(b" ")[2] for line in lines).replace(b":", b" ").split(), dtype=float)
    return labels, [line.count(b":") for line in lines], pairs[::2].astype(int), pairs[1::2]


@pytest.mark.parametrize("name", ["a9a", IJCNN1])
def test_both_parts_are_read_number_by_number(name, raw_dataset):
    dataset = raw_dataset(name)
    parts = [parsed(sources.find(file)) for file in dataset.files]
    labels, lengths, number, value = (np.concatenate(whole) for whole in zip(*parts, strict=True))
    data = loaded(name)
    assert isinstance(data.X, sparse.csr_array if name == "a9a" else np.ndarray)
    assert np.array_equal(data.y, labels)
    expected = sparse.csr_array((value, (np.repeat(np.arange(len(labels)), lengths), number - 1)), shape=data.X.shape)
    assert abs(expected - sparse.csr_array(data.X)).max() == 0
    assert dataset.test_rows == (len(parts[0][0]), len(labels))


def test_duplicates_and_the_last_feature_of_a9a_are_as_described(raw_dataset):
    dataset = raw_dataset("a9a")
    data = loaded("a9a")
    X = data.X.toarray().astype(np.int8)
    first, end = dataset.test_rows
    assert not X[first:end, 122].any()
    assert X[:first, 122].any()
    train = {row.tobytes() for row in X[: dataset.test_rows[0]]}
    again = sum(row.tobytes() in train for row in X[dataset.test_rows[0] :])
    distinct = {row.tobytes() for row in np.column_stack([X, data.y])}
    assert (data.n_samples - len(distinct), again) == (11868, 5528)
    assert "11868 duplicate rows; 5528" in dataset.source


def test_absent_features_have_columns_and_numbers_beyond_the_last_are_refused(tmp_path):
    path = tmp_path / "rows"
    path.write_text("+1 1:0.5\n-1 2:1\n")
    X, y = read(path, path, n_features=4)
    assert X.toarray().tolist() == [[0.5, 0, 0, 0], [0, 1, 0, 0]] * 2
    assert y.tolist() == [1, -1, 1, -1]
    path.write_text("+1 1:0.5\n-1 1000000:1\n")
    with pytest.raises(ValueError, match="n_features"):
        read(path, n_features=8)
