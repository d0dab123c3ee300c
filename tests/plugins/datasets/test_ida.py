"""The sets of the IDA repository, from their sources and from a file laid out like benchmarks.mat."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

from npbench import registry
from npbench.data import sources
from npbench.data.cache import share
from npbench.data.loading import load
from npbench.errors import RequestError
from npbench.evaluation.protocols import Permutations
from npbench_datasets.ida import published
from sample_files import put, sha256

# Davenport et al. (2006), section 4: features and training rows. All samples and positives as in the IDA repository.
SIZES = {"banana": (2, 400, 5300, 2376), "heart": (13, 170, 270, 120)}
SIZES |= {"thyroid": (5, 140, 215, 65), "breast_cancer": (9, 200, 277, 81)}


@pytest.fixture
def from_source(raw_dataset):
    """Return a function that loads a set from its own files, whether or not benchmarks.mat is there."""
    return lambda name: load(dataclasses.replace(raw_dataset(name), original=None))


def paths(name):
    return [sources.find(file) for file in registry.installed().dataset(name).files]


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_paper_and_of_the_repository(name, from_source):
    data, dataset = from_source(name), registry.installed().dataset(name)
    assert (data.n_features, dataset.n_train, data.n_samples, data.n_positive) == SIZES[name]
    assert data.published is None
    assert data.n_positive < data.n_negative


def test_banana_is_read_number_by_number(from_source):
    data = from_source("banana")
    train, train_labels, test, test_labels = (path.read_text().split() for path in paths("banana"))
    assert data.X.ravel().tolist() == [float(word) for word in train + test]
    assert data.y.tolist() == [float(word) for word in train_labels + test_labels]


LAYOUT = [("heart", None, slice(13), 13, {"2"}), ("thyroid", ",", slice(1, 6), 0, {"2", "3"})]


@pytest.mark.parametrize(("name", "separator", "features", "label", "positive"), LAYOUT)
def test_files_are_read_number_by_number(from_source, name, separator, features, label, positive):
    data = from_source(name)
    rows = [line.split(separator) for line in paths(name)[0].read_text().split("\n") if line.strip()]
    assert data.X.tolist() == [[float(word) for word in row[features]] for row in rows]
    assert [sign > 0 for sign in data.y] == [row[label] in positive for row in rows]


def test_breast_cancer_is_coded_as_documented(from_source):
    data = from_source("breast_cancer")
    rows = [line.split(",") for line in paths("breast_cancer")[0].read_text().splitlines()]
    complete = [row for row in rows if "?" not in row]
    assert (len(rows), len(complete)) == (286, 277)
    assert [label > 0 for label in data.y] == [row[0] == "recurrence-events" for row in complete]
    for feature in range(9):
        # One number stands for one word, and where words begin with numbers, the order is theirs.
        pairs = {(row[feature + 1], number) for row, number in zip(complete, data.X[:, feature], strict=True)}
        words, numbers = ({pair[i] for pair in pairs} for i in (0, 1))
        assert len(pairs) == len(words) == len(numbers)
        if all(word[0].isdigit() for word in words):
            ordered = sorted(pairs, key=lambda pair: int(pair[0].partition("-")[0]))
            assert [number for _, number in ordered] == sorted(numbers)
    first = dict(zip(("age", "menopause", "size", "nodes", "caps", "degree", "side", "place"), data.X[0], strict=False))
    assert complete[0][1:9] == ["30-39", "premeno", "30-34", "0-2", "no", "3", "left", "left_low"]
    assert list(first.values()) == [3, 2, 6, 0, 0, 3, 0, 1]
    # Hence the 263 samples of which 77 are positive, 29.3 %, in files that hold each sample once.
    data = from_source("breast_cancer")
    distinct = np.unique(np.column_stack([data.X, data.y]), axis=0)
    assert (len(distinct), np.sum(distinct[:, -1] > 0)) == (263, 77)


def mat_file(path, name, X, y, divisions, n_train):
    """Write divisions of rows, which may be equal, as benchmarks.mat has them: by the numbers of distinct samples."""
    samples, number = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    numbered = (number.reshape(-1)[divisions] + 1).astype(np.uint16)
    structure = {"x": samples[:, :-1], "t": samples[:, -1:]}
    structure |= {"train": numbered[:, :n_train], "test": numbered[:, n_train:]}
    savemat(path, {name: structure, "other": {"x": np.ones((3, 1))}})


def rows_of(X, y):
    return Counter(map(tuple, np.column_stack([X, y]).tolist()))


@given(st.integers(0, 2**32), st.integers(4, 25), st.integers(1, 3), st.integers(1, 5))
def test_divisions_of_samples_become_divisions_of_rows(tmp_path_factory, seed, n_samples, n_values, n_divisions):
    random = np.random.default_rng(seed)
    X, y = random.integers(0, n_values + 1, (n_samples, 2)).astype(float), random.choice([-1.0, 1.0], n_samples)
    divisions = np.array([random.permutation(n_samples) for _ in range(n_divisions)])
    n_train = int(random.integers(1, n_samples))
    path = tmp_path_factory.mktemp("ida") / "benchmarks.mat"
    mat_file(path, "toy", X, y, divisions, n_train)
    read_X, read_y, more = published(path, name="toy")
    train = more["published"]
    assert rows_of(read_X, read_y) == rows_of(X, y)
    assert train.shape == (n_divisions, n_train)
    for division, rows in zip(divisions, train, strict=True):
        assert len(set(rows.tolist())) == n_train
        rest = np.delete(np.arange(n_samples), rows)
        assert rows_of(read_X[rows], read_y[rows]) == rows_of(X[division[:n_train]], y[division[:n_train]])
        assert rows_of(read_X[rest], read_y[rest]) == rows_of(X[division[n_train:]], y[division[n_train:]])


def test_divisions_of_different_samples_are_refused(tmp_path):
    mat_file(tmp_path / "a.mat", "toy", np.eye(4), [1, 1, -1, -1], np.array([[0, 1, 2, 3], [0, 1, 2, 2]]), 2)
    with pytest.raises(RequestError, match=r"The divisions of toy in .*a.mat do not contain the same samples"):
        published(tmp_path / "a.mat", name="toy")


@pytest.fixture
def with_benchmarks(tmp_path, monkeypatch, from_source):
    """Return a function from a name to the description of the set and the samples of a benchmarks.mat laid for it.

    The description is as shipped except for the size and the hash of that file.
    """

    def describe(name):
        source, dataset = from_source(name), registry.installed().dataset(name)
        random = np.random.default_rng(0)
        divisions = np.array([random.permutation(source.n_samples) for _ in range(100)])
        path = put(tmp_path / "ida" / "benchmarks.mat", "")
        mat_file(path, name, source.X * 2 + 1, source.y, divisions, dataset.n_train)
        monkeypatch.setenv("NPBENCH_DATA", str(tmp_path))
        (file,) = dataset.original.files
        file = dataclasses.replace(file, sha256=sha256(path.read_bytes()), size=path.stat().st_size)
        original = dataclasses.replace(dataset.original, files=(file,))
        return dataclasses.replace(dataset, original=original), source, divisions

    return describe


@pytest.mark.parametrize("name", SIZES)
def test_divisions_of_benchmarks_mat_reach_the_workers(name, with_benchmarks, tmp_path):
    dataset, source, divisions = with_benchmarks(name)
    data = load(dataset)
    assert rows_of(data.X, data.y) == rows_of(source.X * 2 + 1, source.y)
    assert data.published.shape == (100, dataset.n_train)
    assert data.sha256 != dataclasses.replace(data, published=None).sha256
    opened = share(data, tmp_path / "arrays").open()
    protocol = Permutations(dataset.n_train, folds=4)
    for repeat in (0, 57, 99):
        split = protocol.split(opened, 3, repeat)
        rows = divisions[repeat][: dataset.n_train]
        assert split.test_part == "published"
        assert rows_of(data.X[split.train], data.y[split.train]) == rows_of(source.X[rows] * 2 + 1, source.y[rows])
        assert len(split.train) + len(split.test) == data.n_samples
    with pytest.raises(RequestError, match="repeats=100"):
        protocol.split(opened, 3, 100)


def test_another_file_called_benchmarks_mat_is_refused(with_benchmarks):
    shipped = registry.installed().dataset("thyroid")
    with_benchmarks("thyroid")
    with pytest.raises(RequestError, match=r"benchmarks.mat is not the file .* expected 8912086 bytes"):
        load(shipped)


@pytest.mark.parametrize("name", SIZES)
def test_the_real_benchmarks_mat(name):
    dataset = registry.installed().dataset(name)
    if sources.find(dataset.original.files[0]) is None:
        pytest.skip("ida/benchmarks.mat is in no data folder; NPBENCH_DATA can name one")
    data = load(dataset)
    assert (data.n_features, data.published.shape[1], data.n_samples, data.n_positive) == SIZES[name]
    assert len(data.published) == 100
