import csv
import dataclasses
import gzip
import re
import socket
import subprocess
import urllib.error
from collections import Counter

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import npbench_datasets
from npbench import load_dataset
from npbench.config import search_path
from npbench.config.compose import compose
from npbench.config.resolve import as_plain
from npbench.data import sources
from npbench.data.loading import load
from npbench.errors import RequestError
from npbench_datasets.library import RCV1_FILES
from sample_files import put, sha256

DATASETS = {dataset.name: dataset for dataset in npbench_datasets.npbench_datasets()}
# Gasso et al. (2011), table I: features, positives, negatives. scikit-learn's copy of RCV1 has 84 features more.
TABLE_I = {
    "synthetic": (2, 1250, 1250),
    "breast": (30, 357, 212),
    "pima": (8, 500, 268),
    "spambase": (57, 2788, 1813),
    "pageblocks": (10, 4913, 560),
    "magic": (10, 12332, 6688),
    "covertype": (54, 211840, 20510),
    "covertype_like": (54, 211840, 20510),
    "rcv1": (47152 + 84, 684494, 119920),
}
STAND_INS = {"chemo_like", "covertype_like", "kddcup06_like", "kddcup08_like", "ppi_like", "proteomics", "rcv1_like"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(TABLE_I.keys() - {"rcv1"}))
def test_data_have_the_counts_of_table_i(name, raw_dataset):
    data = load_dataset(raw_dataset(name).name)
    assert (data.n_features, data.n_positive, data.n_negative) == TABLE_I[name]
    if name == "breast":
        bunch = load_breast_cancer()
        assert np.array_equal(bunch.target_names[bunch.target] == "benign", data.y > 0)
        assert np.array_equal(bunch.data, data.X)


def test_rcv1_is_described_with_the_counts_of_table_i_and_the_files_of_scikit_learn():
    rcv1 = DATASETS["rcv1"]
    assert (rcv1.n_features, rcv1.n_positive, rcv1.n_samples - rcv1.n_positive) == TABLE_I["rcv1"]
    from sklearn.datasets import _rcv1

    asked = {file.filename: int(file.url.rpartition("/")[2]) for file in (*_rcv1.XY_METADATA, _rcv1.TOPICS_METADATA)}
    assert asked == RCV1_FILES


@pytest.mark.parametrize("name", DATASETS)
def test_descriptions_are_complete(name):
    dataset = DATASETS[name]
    for field in ("title", "positive", "source", "licence", "citation"):
        assert getattr(dataset, field), f"{name} says nothing of its {field}"
    assert ("STAND-IN" in dataset.title) == (name in STAND_INS)
    for file in dataset.all_files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert re.fullmatch(r"\w+/[\w.-]+", file.path)
        assert file.url.startswith("https://")


@pytest.fixture(scope="module")
def defaults():
    """The configurations of ``dataset=NAME`` by name; all names at once take little more than one."""
    names = sorted(DATASETS)
    search_path.register()
    with search_path.initialized() as hydra:
        found = compose(hydra.config_loader, [f"dataset={','.join(names)}"], multirun=True)
    assert found.faults == []
    return dict(zip(names, map(as_plain, found.configs), strict=True))


def test_pageblocks_are_read_number_by_number_with_gzip(raw_dataset, monkeypatch, tmp_path):
    (file,) = raw_dataset("pageblocks").files
    text = subprocess.run(["gzip", "-dc", sources.find(file)], capture_output=True, check=True).stdout
    assert sha256(text) == "52058b6e19ba797b5e80ae6454ebb3b7a25016787e668dd3203393c236d22c78"
    rows = [line.split() for line in text.decode().splitlines()]
    data = load_dataset("pageblocks")
    assert np.array_equal(data.X, [[float(number) for number in row[:-1]] for row in rows])
    assert np.array_equal(data.y > 0, [row[-1] == "1" for row in rows])
    dataset = raw_dataset("pageblocks")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path))  # where they have not been read before
    with pytest.raises(RequestError, match=r"page-blocks.data.Z needs the program gzip"):
        load(dataset)


@pytest.mark.slow  # parses a large table twice; the loader checks its size and positives whenever it is read
def test_proteomics_are_as_documented_and_read_number_by_number(raw_dataset):
    (file,) = raw_dataset("proteomics").files
    with sources.find(file).open(newline="") as stream:
        header, directions, *rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert directions[0] == "DefaultDirection"
    features = slice(header.index("lnrSp"), header.index("Peptide"))
    data = load_dataset("proteomics")
    assert np.array_equal(data.X, [[float(number) for number in row[features]] for row in rows])
    assert np.array_equal(data.y, [int(row[header.index("Label")]) for row in rows])
    (file,) = raw_dataset("proteomics").files
    _, _, *rows = (line.rstrip("\n").split("\t") for line in sources.find(file).read_text().splitlines())
    assert max(Counter((row[1], row[2]) for row in rows).values()) == 9
    targets = [row for row in rows if row[1] == "1"]
    random_only = sum(all(protein.startswith("mimic|") for protein in row[25:]) for row in targets)
    assert random_only == 7141
    assert random_only / len(targets) > 0.72
    assert np.ptp(load_dataset("proteomics").X, axis=0).tolist().count(0.0) == 1


def test_covertype_is_spruce_and_fir_against_krummholz_and_pine_against_all_others(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    table = np.column_stack([random.integers(-200, 7000, (60, 54)), np.resize([1, 2, 7, 3, 7, 6], 60)])
    content = gzip.compress("".join(",".join(map(str, row)) + "\n" for row in table).encode())
    put(tmp_path / "covertype" / "covtype.data.gz", content)
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path))
    file = dataclasses.replace(DATASETS["covertype"].files[0], sha256=sha256(content), size=len(content))
    dataset = dataclasses.replace(DATASETS["covertype"], files=(file,), n_samples=30, n_positive=10)
    data = load(dataset)
    kept = table[(table[:, -1] == 1) | (table[:, -1] == 7)]
    assert np.array_equal(data.X, kept[:, :-1])
    assert np.array_equal(data.y, np.where(kept[:, -1] == 1, 1, -1))
    data = load(dataclasses.replace(DATASETS["covertype_pine"], files=dataset.files, n_samples=60, n_positive=10))
    assert np.array_equal(data.X, table[:, :-1])
    assert np.array_equal(data.y > 0, table[:, -1] == 2)


def fetched(sample_format):
    """Return what scikit-learn would, with 4 documents."""
    topics = sample_format(np.array([[0, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]], dtype=np.uint8))
    names = np.array(["CCAT", "ECAT", "GCAT"], dtype=object)
    return sklearn.utils.Bunch(data=sample_format(np.eye(4, 6)), target=topics, target_names=names)


@pytest.mark.parametrize("sample_format", [sparse.csr_matrix, sparse.csr_array])
def test_rcv1_is_ecat_against_all_others(sample_format, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", lambda **_: fetched(sample_format))
    small = dataclasses.replace(DATASETS["rcv1"], n_samples=4, n_features=6, n_positive=2)
    data = load(small)
    assert data.y.tolist() == [-1, 1, -1, 1]
    assert data.X.format == "csr"
    assert np.array_equal(data.X.toarray(), np.eye(4, 6))


def test_rcv1_without_copy_and_network(tmp_path, monkeypatch):
    def no_network(*_):
        assert socket.getdefaulttimeout() is not None, "a silent server would be waited for"
        raise urllib.error.URLError("no route to host")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._base.urlretrieve", no_network)
    with pytest.raises(RequestError) as caught:
        load_dataset("rcv1")
    (fault,) = caught.value.faults
    for word in (*RCV1_FILES, str(tmp_path / "RCV1"), "https://ndownloader.figshare.com/files/", "656 MB", "no route"):
        assert word in fault


@pytest.mark.slow
def test_rcv1_if_scikit_learn_has_it():
    try:
        sklearn.datasets.fetch_rcv1(download_if_missing=False)
    except OSError:
        pytest.skip("RCV1 is not in scikit-learn's data folder")
    data = load_dataset("rcv1")
    assert (data.n_features, data.n_positive, data.n_negative) == TABLE_I["rcv1"]


PROTOCOLS = {
    "cv": "breast pima synthetic vehicle adult_sample",
    "holdout": "spambase pageblocks magic covertype proteomics qvalue_mixture rcv1_like adult a9a ijcnn1 letter "
    "covertype_pine",
    "official": "rcv1",
    "permutations": "banana breast_cancer heart thyroid",
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_default_protocol_is_that_of_the_paper(protocol, defaults):
    names = PROTOCOLS[protocol].split()
    assert {name: defaults[name]["protocol"]["name"] for name in names} == dict.fromkeys(names, protocol)


def test_sparse_data_are_not_scaled_by_default_and_rcv1_like_has_the_test_size_of_rcv1(defaults):
    unscaled = {name for name, config in defaults.items() if config["preprocess"] != "standardize"}
    assert unscaled == {"rcv1", "rcv1_like", "a9a", "chemo", "chemo_like"}
    assert {defaults[name]["preprocess"] for name in unscaled} == {"none"}
    first, end = DATASETS["rcv1"].test_rows
    assert np.ceil(defaults["rcv1_like"]["protocol"]["test_size"] * 804414) == end - first
