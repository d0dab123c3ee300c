"""Data sets in files that users bring, on small files made here in the same formats."""

import dataclasses
import gzip

import numpy as np
import polars as pl
import pytest

import npbench_datasets
from npbench.data.loading import load
from npbench.errors import RequestError

DATASETS = {dataset.name: dataset for dataset in npbench_datasets.npbench_datasets()}
# Narasimhan and Agarwal (2016), tables 1 and 3 and text: rows, features, positives.
PAPER = {"chemo": (2142, 1021, 50), "cod_rna": (488565, 8, None), "kddcup06": (4429, 116, 500)}
PAPER |= {"kddcup08": (102294, 117, 623), "ppi": (240249, None, 2865)}
BROUGHT = {"chemo": "chemo.svm", "cod_rna": "cod-rna cod-rna.t cod-rna.r", "tcga": "counts.tsv"}
BROUGHT |= {"kddcup06": "KDDPETrain.txt KDDPETest.txt", "kddcup08": "Features.txt Info.txt"}
BROUGHT["ppi"] = "dipsPosPair.feature dipsRandpairSub23w.feature"


def small(name, n_samples, n_features=None, n_positive=None):
    """Return the description of a data set, for a small file."""
    return dataclasses.replace(DATASETS[name], n_samples=n_samples, n_features=n_features, n_positive=n_positive)


def columns(table, gap="  "):
    return "".join(gap.join(f"{number:.17g}" for number in row) + "\n" for row in table)


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_descriptions_give_the_counts_of_the_paper():
    described = {name: DATASETS[name] for name in PAPER}
    assert {name: (one.n_samples, one.n_features, one.n_positive) for name, one in described.items()} == PAPER


@pytest.mark.parametrize("name", BROUGHT)
def test_the_error_names_absent_files_and_their_origin(name, tmp_path, monkeypatch):
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path))
    with pytest.raises(RequestError) as caught:
        load(DATASETS[name])
    (fault,) = caught.value.faults
    for expected in (f"dataset={name} ", str(tmp_path / "raw" / name), "Get them from ", "dataset.path"):
        assert expected in fault


@pytest.fixture
def kddcup08(tmp_path, random):
    """Write files of eight regions of three patients."""
    X, labels, patients = random.normal(size=(8, 117)), np.resize([1, -1, -1], 8), np.repeat([51, 52, 53], [3, 3, 2])
    info = np.column_stack([labels, np.zeros((8, 3)), patients, random.integers(0, 3000, (8, 6))])
    (tmp_path / "Features.txt").write_text(columns(X))
    (tmp_path / "Info.txt").write_text(columns(info, "\t"))
    return tmp_path, X, labels


def test_kddcup08_has_features_labels_and_patients(kddcup08):
    folder, X, labels = kddcup08
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    data = load(small("kddcup08", 8, 117, 3), path=str(folder))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before  # nothing is written to it
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, labels)
    assert data.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    folder, X, _ = kddcup08
    (folder / "Features.txt").write_text(columns(X[:-1]))  # of another length
    with pytest.raises(RequestError, match=r"Features.txt has 7 rows and .*Info.txt 8"):
        load(DATASETS["kddcup08"], path=str(folder))
    (folder / "Info.txt").unlink()
    with pytest.raises(RequestError, match=f"Features.txt, Info.txt. They are not in {folder}"):
        load(DATASETS["kddcup08"], path=str(folder))


@pytest.mark.parametrize("below", ["raw/kddcup08", "kddcup08"])
def test_files_in_a_data_folder_are_found(below, kddcup08, tmp_path_factory, monkeypatch):
    folder, X, _ = kddcup08
    place = tmp_path_factory.mktemp("data")
    (place / below).parent.mkdir(exist_ok=True)
    folder.rename(place / below)
    monkeypatch.setenv("NPBENCH_DATA", str(place))
    assert np.array_equal(load(small("kddcup08", 8)).X, X)


def kddcup06(folder, random, test_labels):
    X = random.normal(size=(6, 116))
    patients, labels = [3103, 3103, 3104, 3111, 3111, 3120], [0, 4, 0, *test_labels]
    table = np.column_stack([patients, labels, X])
    (folder / "KDDPETrain.txt").write_text(columns(table[:3], "\t"))
    (folder / "KDDPETest.txt").write_text(columns(table[3:]))
    return X


def test_kddcup06_joins_parts_and_patients_and_needs_test_labels(tmp_path, random):
    X = kddcup06(tmp_path, random, [2, 0, 0])
    data = load(small("kddcup06", 6, 116, 2), path=str(tmp_path))
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [-1, 1, -1, 1, -1, -1]
    assert data.groups.tolist() == [0, 0, 1, 0, 0, 2]
    kddcup06(tmp_path, random, [-1, -1, -1])
    with pytest.raises(RequestError, match=r"3 rows of .* have the label -1, unknown: write the labels"):
        load(small("kddcup06", 6), path=str(tmp_path))


def test_ppi_leaves_out_features_with_gaps_and_fills_the_others(tmp_path):
    gap = -100.0
    interacting = [[0.5, 1, gap, 7.5], [gap, 0, gap, 7.5]]
    drawn = [[0.25, 1, 3, 7.5], [0.25, 1, gap, 7.5], [1.0, gap, 3, 7.5]]
    for name, table, label in (("dipsPosPair", interacting, 1), ("dipsRandpairSub23w", drawn, 0)):
        lines = [",".join(map(str, [*row, *[gap] * 158, label])) for row in table]
        (tmp_path / f"{name}.feature").write_text("\n".join(lines) + "\n")
    data = load(small("ppi", 5, 3, 2), path=str(tmp_path))
    assert data.y.tolist() == [1, 1, -1, -1, -1]
    assert data.X[:, 0].tolist() == [0.5, 0.5, 0.25, 0.25, 1.0]  # the mean
    assert data.X[:, 1].tolist() == [1, 0, 1, 1, 1]  # the mode
    assert data.X[:, 2].tolist() == [7.5] * 5


def test_chemo_has_a_column_for_each_bit(tmp_path):
    (tmp_path / "mine.svm").write_text("+1 3:1 1020:1\n-1 1:1\n-1 3:1\n")
    data = load(small("chemo", 3, 1021, 1), path=str(tmp_path / "mine.svm"))
    rows, bits = data.X.nonzero()
    assert data.y.tolist() == [1, -1, -1]
    assert list(zip(rows.tolist(), bits.tolist(), strict=True)) == [(0, 2), (0, 1019), (1, 0), (2, 2)]
    (tmp_path / "mine.svm").write_text("+1 1:1\n-1 1000000:1\n")
    with pytest.raises(RequestError, match=r"LIBSVM.* from 1 to 1021"):
        load(DATASETS["chemo"], path=str(tmp_path / "mine.svm"))


def test_cod_rna_is_its_three_files(tmp_path):
    for name, line in (("cod-rna", "-1 1:-766 8:0.5"), ("cod-rna.t", "1 2:128"), ("cod-rna.r", "-1 3:0.25")):
        (tmp_path / name).write_text(f"{line}\n")
    data = load(small("cod_rna", 3, 8), path=str(tmp_path))
    assert data.y.tolist() == [-1, 1, -1]
    assert data.X.tolist() == [[-766, 0, 0, 0, 0, 0, 0, 0.5], [0, 128, *[0] * 6], [0, 0, 0.25, *[0] * 5]]


COUNTS = {"gene": ["TP53", "EGFR", "__no_feature"]}
COUNTS |= {"TCGA-05-4244-01A": [10, 3, 99], "TCGA-05-4244-11A-01R": [0, 4, 98], "TCGA-44-6778-02A": [7, 1, 97]}
COUNTS |= {"TCGA-44-6778-20B": [5, 5, 96], "TCGA-55-6978-10A": [2, 8, 95]}


@pytest.mark.parametrize("kind", ["counts.tsv", "other.tsv.gz", "other.parquet"])
def test_tcga_takes_labels_and_patients_from_barcodes(kind, tmp_path):
    table, path = pl.DataFrame(COUNTS), tmp_path / kind
    if path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        text = table.write_csv(separator="\t").encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    place = str(tmp_path if kind == "counts.tsv" else path)
    data = load(DATASETS["tcga"], path=place, psi=None)
    assert data.X.tolist() == [[10, 3], [0, 4], [7, 1], [2, 8]]
    assert np.allclose(np.exp(load(DATASETS["tcga"], path=place).X), data.X + 3)
    assert data.y.tolist() == [1, -1, 1, -1]
    assert data.groups.tolist() == [0, 0, 1, 2]
    assert data.columns == ("TP53", "EGFR")


def test_tcga_refuses_negative_counts_and_headers_that_are_not_barcodes(tmp_path):
    table = pl.DataFrame({"gene": ["TP53"], "TCGA-05-4244-01A": [-4.0], "TCGA-05-4244-11A": [1.0]})
    table.write_csv(tmp_path / "counts.tsv", separator="\t")
    with pytest.raises(RequestError, match=r"counts.tsv has negative numbers"):
        load(DATASETS["tcga"], path=str(tmp_path))
    assert load(DATASETS["tcga"], path=str(tmp_path), psi=None).X.tolist() == [[-4], [1]]
    with pytest.raises(RequestError, match=r"dataset.psi is 0: .* between 0.1 and 1e\+06"):
        load(DATASETS["tcga"], path=str(tmp_path), psi=0)
    for heading in ("sample1", "TCGA-05-4244", "TCGA-05-4244-xx"):
        pl.DataFrame({"gene": ["TP53"], heading: [1]}).write_csv(tmp_path / "counts.tsv", separator="\t")
        with pytest.raises(RequestError, match=f"has a column '{heading}'"):
            load(DATASETS["tcga"], path=str(tmp_path))


@pytest.mark.parametrize("name", BROUGHT)
@pytest.mark.parametrize("text", ["<!DOCTYPE html>\n<html>404</html>\n", "1;2;3\n4;5;6\n", ""])
def test_the_error_names_the_expected_format(name, text, tmp_path):
    files = BROUGHT[name].split()
    for file in files:
        (tmp_path / file).write_text(text)
    with pytest.raises(RequestError) as caught:
        load(DATASETS[name], path=str(tmp_path))
    (fault,) = caught.value.faults
    assert str(tmp_path / files[0]) in fault
    assert "authors of its plugin" not in fault
