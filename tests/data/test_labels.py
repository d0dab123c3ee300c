import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from npbench.data.labels import classes, spelled
from npbench.data.wording import DATASET
from npbench.errors import RequestError

VALUES = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=1),
    st.lists(st.sampled_from(["a", "b", "rest", "+1"]), min_size=1),
    st.lists(st.booleans(), min_size=1),
)


def signs(column, positive=None, negative=None):
    return classes(column, positive, negative, name="label", settings=DATASET)[0]


@given(VALUES, st.data())
def test_one_label_against_another_or_the_rest(values, data):
    assume(len(set(values)) > 1)
    labels = pl.Series(values)
    positive, negative = data.draw(st.lists(st.sampled_from(values), min_size=2, max_size=2, unique=True))
    expected = [1 if value == positive else -1 if value == negative else 0 for value in values]
    assert signs(labels, positive, negative).tolist() == signs(labels, [positive], [negative]).tolist() == expected
    assume("rest" not in values)
    expected = [1 if value == positive else -1 for value in values]
    assert signs(labels, positive, "rest").tolist() == signs(labels, spelled(positive), "rest").tolist() == expected


@pytest.mark.parametrize(
    "pair", [(0, 1), (-1, 1), (0.0, 1.0), ("0", "1"), ("-1", "1"), (False, True), ("False", "True")]
)
def test_the_second_of_a_usual_pair_is_positive(pair):
    assert signs(pl.Series(pair)).tolist() == [-1, 1]
    assert signs(pl.Series(pair), positive=pair[0]).tolist() == [1, -1]


@pytest.mark.parametrize("values", [[1, 2], ["no", "yes"], [0.0, 0.5], [-1, 0]])
def test_the_positive_of_other_pairs_must_be_named(values):
    first, second = map(spelled, values)
    with pytest.raises(RequestError, match=r"dataset.positive has no value") as caught:
        signs(pl.Series([*values, values[1]]))
    assert f"{first!r} (1 row), {second!r} (2 rows)" in str(caught.value)
    assert signs(pl.Series(values), positive=first).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("values", "chosen", "expected"),
    [
        (pl.Series([1.0, 2.0]), (2,), [-1, 1]),
        (pl.Series(["1", "2"]), (2,), [-1, 1]),
        (pl.Series(["True", "False"]), (True,), [1, -1]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ("b",), [-1, 1]),
        (pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])), ("b",), [-1, 1]),
        (pl.Series(["a", "rest", "c"]), ("a", "rest"), [1, -1, 0]),  # a label called rest
        (pl.Series([1, 2, 3, 4]), ([1, 2], [4]), [1, 1, 0, -1]),
    ],
)
def test_labels_are_spelled_as_yaml_reads_them(values, chosen, expected):
    assert signs(values, *chosen).tolist() == expected


@pytest.mark.parametrize(
    ("values", "asked", "sentence"),
    [
        ([1, 2, 3, 3], (3,), "there are 3 labels, '1' (1 row), '2' (1 row), '3' (2 rows): name those of -1"),
        ([1, 2], (3,), "dataset.positive is '3', which no row has. There are '1' (1 row), '2' (1 row)."),
        ([1, 2], (1, 3), "dataset.negative is '3'"),
        ([1, 2], ([1, 2],), "dataset.positive names every label"),
        ([1, 2, 3], (1, [1, 2]), "dataset.positive and dataset.negative both name '1': choose one."),
        ([1, 1], (), "every row has the label '1' (2 rows): expected two classes."),
        ([1, None, 2], (1,), "label has 1 missing of 3"),
        ([1.0, np.nan, 2.0], (1,), "label has 1 missing of 3"),
        ([], (), "there are no rows."),
        (list(range(50)), (), "'8' (1 row), '9' (1 row) and 40 more."),
    ],
)
def test_errors_of_labels(values, asked, sentence):
    with pytest.raises(RequestError) as caught:
        signs(pl.Series(values), *asked)
    assert sentence in str(caught.value)


pandas = pytest.importorskip("pandas")
FLAGS = [False, True, True, False]
COLUMNS = [
    FLAGS,
    np.array(FLAGS),
    np.array(FLAGS, dtype=np.int8),
    np.array(FLAGS, dtype=np.float32),
    np.array(FLAGS, dtype=object),
    np.array([0, 1, 1.0, "0"], dtype=object),
    np.array([b"0", b"1", b"1", b"0"]),
    np.array([[0], [1], [1], [0]]),
    ["0", "1.0", " 1", "0.0"],
    ["False", "true", "TRUE", "false"],
    pandas.Series(FLAGS, dtype="boolean"),
    pandas.Series([0, 1, 1, 0], dtype="Int64"),
    pandas.Series(["0", "1", "1", "0"], dtype="string"),
    pandas.Series(["0", "1", "1", "0"], dtype="category"),
    pandas.Series([0, 1, 1, 0], dtype="Int8", index=[3, 1, 2, 0]),
    pl.Series(FLAGS),
    pl.Series(FLAGS).cast(pl.UInt8),
    pl.Series([0, 1, 1, 0]).cast(pl.Decimal(10, 2)),
    pl.Series(["0", "1", "1", "0"], dtype=pl.Categorical),
    pl.Series(["0", "1", "1", "0"], dtype=pl.Enum(["1", "0"])),
    pl.Series([b"0", b"1", b"1", b"0"]),
]


@pytest.mark.parametrize(
    "column", COLUMNS, ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', '')}"
)
@pytest.mark.parametrize("positive", [None, 1, np.int64(1), 1.0, True, "1", b"1"])
def test_labels_mean_the_same_in_every_type(column, positive):
    assert classes(column, positive)[0].tolist() == [-1, 1, 1, -1]
    assert classes(column, positive, 0)[0].tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize(
    "column",
    [
        ["a", None],
        np.array(["a", np.nan], dtype=object),
        pandas.Series(["a", pandas.NA], dtype="string"),
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series([True, None], dtype="boolean"),
        pandas.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        np.array([1.0, np.nan]),
        np.array(["2026-01-01", "NaT"], dtype="datetime64[ns]"),
    ],
)
def test_missing_labels_are_counted_or_dropped(column):
    with pytest.raises(RequestError, match="1 missing of 2"):
        classes(column, "a")
    assert classes(column, "x", drop_missing=True)[0].tolist() == [-1, 0]


@pytest.mark.parametrize("column", [[[1], [2, 3]], np.zeros((2, 2)), np.array([{}, {}]), 3])
def test_what_is_no_column_of_labels_is_refused(column):
    with pytest.raises((RequestError, ValueError)):
        classes(column)


def test_capitals_matter_where_they_tell_labels_apart_and_codes_are_no_numbers():
    assert classes(["ok", "Fraud"], "fraud")[0].tolist() == [-1, 1]
    assert classes(["fraud", "Fraud"], "Fraud")[0].tolist() == [-1, 1]
    assert classes(["007", "7"], "007")[0].tolist() == [1, -1]
