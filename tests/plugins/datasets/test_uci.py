"""Data sets of UCI: those of Bach, Heckerman and Horvitz (2006), adult and letter."""

import numpy as np
import pytest

from npbench import load_dataset
from npbench.data import sources
from npbench.data.loading import load
from npbench.errors import RequestError
from npbench_datasets.uci import ADULT_COLUMNS as COLUMNS
from npbench_datasets.uci import ADULT_NUMBERS as NUMBERS

# Table 1 of the paper: rows, features. It does not name the positives; so many are in the files.
TABLE_1 = {"breast_w": (683, 9, 239), "dermatology": (358, 34, 111), "liver": (345, 6, 145)}
TABLE_1 |= {"vehicle": (416, 18, 199), "pima": (768, 8, 500), "ionosphere": (351, 33, 225)}


def rows(path, separator=","):
    """Return the words of each line, read without a library."""
    return [[word.strip() for word in line.split(separator)] for line in path.read_text().splitlines() if line.strip()]


def numbers(table):
    return np.array([[float(word) for word in row] for row in table])


@pytest.mark.parametrize("name", TABLE_1)
def test_counts_are_those_of_table_1(name, raw_dataset):
    data = load_dataset(raw_dataset(name).name)
    assert (data.n_samples, data.n_features, data.n_positive) == TABLE_1[name]


# Table 2: a testing asymmetry g, and a cost in percent that is that of a constant decision. Errors on positives cost
# 2 g each and those on negatives 2 (1 - g). Which constant decision is cheaper is clear from g.
TABLE_2 = {"breast_w": (0.008, 0.55), "liver": (0.192, 16.10), "ionosphere": (0.933, 4.77)}
TABLE_2["adult"] = (0.947, 2.67)  # of 2000 rows


def constant_cost(g, share_positive):
    return 100 * min(2 * g * share_positive, 2 * (1 - g) * (1 - share_positive))


@pytest.mark.parametrize("name", TABLE_2)
def test_positives_agree_with_table_2(name, raw_dataset):
    data = load_dataset(raw_dataset(name).name)
    g, cost = TABLE_2[name]
    share = data.n_positive / data.n_samples
    assert constant_cost(g, share) == pytest.approx(cost, rel=0.06)
    assert constant_cost(g, 1 - share) != pytest.approx(cost, rel=0.3)


def test_diabetes_is_positive_in_table_2(raw_dataset):
    data = load_dataset(raw_dataset("pima").name)  # with the positives of another paper
    assert constant_cost(0.917, data.n_negative / data.n_samples) == pytest.approx(10.83, rel=0.01)


# Columns that are left out, the place of the label, and the positive one.
LAYOUT = {"breast_w": ([0, -1], -1, "4"), "ionosphere": ([1, -1], -1, "g"), "letter": ([0], 0, "Q")}
LAYOUT |= {name: ([-1], -1, "1") for name in ("dermatology", "liver")} | {"magic": ([-1], -1, "g")}
LAYOUT |= {name: ([-1], -1, "0") for name in ("pima", "spambase")}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "drop", "label", "positive"), [(name, *its) for name, its in LAYOUT.items()])
def test_files_are_read_number_by_number(name, drop, label, positive, raw_dataset):
    (file,) = raw_dataset(name).files
    complete = [row for row in rows(sources.find(file)) if "?" not in row]
    kept = [i for i in range(len(complete[0])) if i not in {k % len(complete[0]) for k in drop}]
    if name == "ionosphere":
        assert {row[1] for row in complete} == {"0"}
    data = load_dataset(name)
    assert np.array_equal(data.X, numbers([[row[i] for i in kept] for row in complete]))
    assert np.array_equal(data.y > 0, [row[label] == positive for row in complete])


def test_vehicles_are_saab_and_van_from_nine_files(raw_dataset):
    files = raw_dataset("vehicle").files
    table = [row for file in files for row in rows(sources.find(file), " ")]
    kept = [row[:19] for row in table if row[18] in {"van", "saab"}]
    data = load_dataset("vehicle")
    assert len(files) == 9
    assert np.array_equal(data.X, numbers(row[:18] for row in kept))
    assert np.array_equal(data.y > 0, [row[18] == "van" for row in kept])


def test_letters_can_be_chosen_and_the_default_has_the_share_of_later_papers(raw_dataset):
    for positive in ("h", "", "HZ", 8):
        with pytest.raises(RequestError, match=r"dataset\.positive is .*A to Z"):
            load(raw_dataset("letter"), positive=positive)
    letters = [row[0] for row in rows(sources.find(raw_dataset("letter").files[0]))]
    shares = {letter: 100 * letters.count(letter) / len(letters) for letter in set(letters)}
    assert {letter for letter, share in shares.items() if abs(share - 3.92) <= 0.005 + 1e-9} == {"N", "Q"}
    for letter in "QU":
        data = load_dataset("letter", positive=letter)
        assert np.array_equal(data.y > 0, [one == letter for one in letters])


@pytest.fixture(scope="module")
def adult_rows(raw_dataset):
    train, test = (rows(sources.find(file)) for file in raw_dataset("adult").files)
    return [dict(zip(COLUMNS, row, strict=True)) for row in (*train, *test[1:])]


@pytest.mark.slow  # compares 48,842 rows word by word; their positives and duplicates are counted in every run
def test_adult_is_coded_as_documented(adult_rows, raw_dataset):
    data = load_dataset(raw_dataset("adult").name)
    assert (data.n_samples, data.n_features, data.n_positive) == (48842, 13, 37155)
    assert "education" not in data.columns
    assert {data.columns[i] for i in np.flatnonzero(~data.categorical)} == set(NUMBERS)
    for name, column in zip(data.columns, data.X.T, strict=True):
        words = [row[name] for row in adult_rows]
        code = {word: rank for rank, word in enumerate(sorted(set(words)))} if name not in NUMBERS else float
        assert name in NUMBERS or list(data.words[data.columns.index(name)]) == list(code)
        assert np.array_equal(column, [code[word] if name not in NUMBERS else code(word) for word in words]), name
    assert np.array_equal(data.y > 0, [row["income"].startswith("<=50K") for row in adult_rows])
    pairs = {(row["education"], row["education-num"]) for row in adult_rows}
    assert len(pairs) == 16 == len(dict(pairs)) == len({number for _, number in pairs})


@pytest.mark.slow  # reads 48,842 rows five times; their positives and duplicates are counted in every run
def test_samples_of_adult_follow_the_seed(raw_dataset):
    raw_dataset("adult")
    whole, sample, again = load_dataset("adult"), load_dataset("adult_sample"), load_dataset("adult_sample", seed=0)
    assert (sample.n_samples, sample.n_features) == (2000, 13)  # table 1 of the paper
    assert sample.sha256 == again.sha256
    assert sample.sha256 != load_dataset("adult_sample", seed=1).sha256
    known, drawn = ({row.tobytes() for row in np.column_stack([data.X, data.y])} for data in (whole, sample))
    assert drawn <= known
    assert load_dataset("adult_sample", n_samples=48842).sha256 == whole.sha256
    for n_samples, match in ((0, "integer"), (48843, "48842 rows")):
        with pytest.raises(RequestError, match=match):
            load(raw_dataset("adult_sample"), n_samples=n_samples)


# Rows with the features and label of another, as described.
DUPLICATES = {"breast_w": 234, "liver": 4, "ionosphere": 1, "letter": 1332}
DUPLICATES |= {"adult": 52, "magic": 115, "pageblocks": 70, "spambase": 391}


@pytest.mark.parametrize("name", DUPLICATES)
def test_duplicated_rows_are_as_described(name, raw_dataset):
    dataset = raw_dataset(name)
    data = load_dataset(name)
    distinct = np.unique(np.column_stack([data.X, data.y]), axis=0)
    assert data.n_samples - len(distinct) == DUPLICATES[name]
    assert f"{DUPLICATES[name]} duplicate row" in dataset.source
