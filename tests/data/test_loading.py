import importlib

import numpy as np
import pytest

from npbench import load_dataset
from npbench.contracts import Dataset, Original
from npbench.data import BinaryData, sources
from npbench.data.loading import load, parameter_faults
from npbench.errors import AbsentDataError, RequestError
from sample_files import data_file, put

MODULE = """
import numpy as np
from npbench.errors import RequestError

def read(one, two, scale=1.0):
    X = np.vstack([np.loadtxt(path, delimiter=",", ndmin=2) for path in (one, two)])
    return X[:, :-1] * scale, X[:, -1]

def draw(n=4, *, name="here", dataset=0):
    if n < 2:
        raise RequestError(f"dataset.n is {n}: it must be 2 or more.")
    return np.ones((n, 2)), np.resize([1, -1], n)

def anything(**params):
    return np.full((2, 1), params["height"]), [1, -1]

KEPT = np.array([[-0.0, np.nan], [1.0, 2.0]])

def keeps():
    return KEPT, [1, -1]

def no_pair():
    return np.ones((2, 2))[:1]

def too_many():
    return np.ones((2, 2)), [1, -1], {}, None

def original(path, scale=1.0):
    return np.loadtxt(path, delimiter=",") * scale, [1, -1, -1], {"published": [[2, 0], [1, 2]], "columns": ["a", "b"]}
"""
FILES = {"toy/one.csv": "1,2,1\n", "toy/two.csv": "3,4,-1\n5,6,-1\n"}
ORIGINAL = "7,8\n9,10\n11,12\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "toy_loaders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    for path, text in FILES.items():
        put(tmp_path / "data" / "raw" / path, text)
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "raw"


def toy(**changes):
    files = tuple(data_file(path, text) for path, text in FILES.items())
    described = {"name": "toy", "load": "toy_loaders:read", "files": files, "n_samples": 3, "n_features": 2}
    return Dataset(**{**described, "n_positive": 1, **changes})


def generator(function="draw"):
    return Dataset(name="gen", load=f"toy_loaders:{function}")


def test_loaders_get_files_in_order_then_parameters():
    data = load(toy(), scale=10.0)
    assert isinstance(data, BinaryData)
    assert data.name == "toy"
    assert data.X.tolist() == [[10, 20], [30, 40], [50, 60]]
    assert data.y.tolist() == [1, -1, -1]


def with_original():
    return toy(original=Original(load="toy_loaders:original", files=(data_file("all/toy.csv", ORIGINAL),)))


def test_an_original_in_a_data_folder_is_read_and_never_downloaded(folder, monkeypatch):
    monkeypatch.setattr(sources, "_download", lambda file: pytest.fail(f"{file.path} was asked for"))
    assert load(with_original()).published is None
    put(folder / "all" / "toy.csv", ORIGINAL)
    (folder / "toy" / "one.csv").unlink()
    data = load(with_original(), scale=2.0)
    assert data.X.tolist() == [[14, 16], [18, 20], [22, 24]]
    assert data.published.tolist() == [[0, 2], [1, 2]]
    assert data.columns == ("a", "b")


def test_an_incomplete_original_is_not_read_and_an_altered_one_is_an_error(folder):
    half = (data_file("all/toy.csv", ORIGINAL), data_file("all/rest.csv", "1"))
    put(folder / "all" / "toy.csv", ORIGINAL)
    data = load(toy(original=Original(load="toy_loaders:original", files=half)))
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    put(folder / "all" / "toy.csv", "7,8\n")
    with pytest.raises(RequestError, match=r"toy\.csv is not the file.*http://127\.0\.0\.1:9"):
        load(with_original())


def test_unknown_parameters_and_faults_of_files_are_reported_together(folder, monkeypatch):
    def faults():
        with pytest.raises(RequestError) as caught:
            load(toy(), scal=2.0, one=3)
        return caught.value.faults

    (folder / "toy" / "one.csv").unlink()
    expected = ["did you mean 'scale'", "'one'", "toy/one.csv is in none"]
    assert all(words in fault for fault, words in zip(faults(), expected, strict=True))
    # Nothing is downloaded before altered copies are dealt with.
    monkeypatch.setattr(sources, "_download", lambda file: pytest.fail(f"{file.path} was asked for"))
    (folder / "toy" / "two.csv").write_text("altered")
    expected[-1] = f"{folder / 'toy' / 'two.csv'} is not"
    assert all(words in fault for fault, words in zip(faults(), expected, strict=True))
    monkeypatch.setenv("NPBENCH_DATA", "/no/such/folder")  # a fault that all files share
    with pytest.raises(RequestError) as caught:
        load(toy())
    assert len(caught.value.faults) == 1


def test_files_that_no_address_answers_for_are_absent(folder, monkeypatch):
    monkeypatch.setattr(sources, "RETRIES", 0)
    (folder / "toy" / "one.csv").unlink()
    with pytest.raises(AbsentDataError, match=r"toy/one\.csv is in none"):
        load(toy())


def test_parameters_are_checked_without_reading(folder):
    (folder / "toy" / "one.csv").unlink()
    assert parameter_faults(toy(), {"scale": 1.0}) == []
    assert len(parameter_faults(toy(), {"shift": 1.0, "two": 2})) == 2
    assert parameter_faults(generator("anything"), {"height": 1}) == []


def test_generators_have_any_parameters_and_errors_of_their_own():
    assert load(generator(), n=6, name="x", dataset=1).n_samples == 6
    with pytest.raises(RequestError, match=r"^dataset.n is 1: "):
        load(generator(), n=1)


def test_a_failing_loader_is_reported_with_its_files(folder):
    (folder / "toy" / "one.csv").write_text("x")
    files = (data_file("toy/one.csv", "x"), toy().files[1])
    with pytest.raises(RequestError, match=r"'toy' could not be read from .*one.csv, .*two.csv: .* failed with"):
        load(toy(files=files))


@pytest.mark.parametrize(
    ("dataset", "params", "words"),
    [
        (generator("no_pair"), {}, "'toy_loaders:no_pair' failed with ValueError"),
        (generator("too_many"), {}, "failed with ValueError: too many values"),
        (generator("anything"), {}, "failed with KeyError: 'height'"),
        (generator("anything"), {"height": np.inf}, "2 infinite feature values"),
        (generator("nothing"), {}, "cannot be imported: AttributeError"),
        (Dataset(name="gen", load="no_such_module:f"), {}, "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_faults_of_loaders(dataset, params, words):
    with pytest.raises(RequestError, match=r"ata set 'gen'") as caught:
        load(dataset, **params)
    assert words in str(caught.value)


def test_each_number_that_contradicts_the_description():
    with pytest.raises(RequestError) as caught:
        load(toy(n_samples=4, n_features=3, n_positive=0))
    found = [f"Data set 'toy' has {found}" for found in ("n_samples = 3", "n_features = 2", "n_positive = 1")]
    assert [fault.split(",")[0] for fault in caught.value.faults] == found


def test_a_loader_may_return_the_same_arrays_again():
    first, second = (load(generator("keeps")) for _ in range(2))
    assert np.shares_memory(first.X, importlib.import_module("toy_loaders").KEPT)
    assert first.sha256 == second.sha256


def test_load_dataset_takes_a_name():
    assert load_dataset("synthetic", n_pos=3, n_neg=2).n_samples == 5
    with pytest.raises(RequestError, match="did you mean 'synthetic'"):
        load_dataset("sinthetic")
