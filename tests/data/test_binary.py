import copy
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from npbench.data import BinaryData
from npbench.errors import RequestError

X = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1e300], [5e-324, 7.0, 0.0]])
Y = np.array([1, -1, -1, 1])

SPELLINGS = {
    "as it is": (X, Y),
    "Fortran order": (np.asfortranarray(X), Y),
    "a strided view": (np.repeat(X, 2, axis=1)[:, ::2], np.repeat(Y, 3)[::3]),
    "long doubles": (X.astype(np.longdouble), Y.astype(np.int64)),
    "other byte order": (X.astype(">f8"), Y.astype(">i4")),
    "lists": (X.tolist(), Y.astype(float).tolist()),
    "objects": (X.astype(object), Y.astype(object)),
    "negative zeros": (np.where(X == 0, -0.0, X), Y),
    "a data frame": (pl.DataFrame(X), pl.Series(Y)),
}


def unsorted():
    """Return X in CSR with each row's indices backwards, a stored zero and an entry in two parts."""
    values, columns = [-2.0, 1.5, 3.0, 0.0, 1e300, 4.0, -4.0, 7.0, 5e-324], [2, 1, 0, 2, 2, 0, 0, 1, 0]
    return sparse.csr_matrix((values, columns, [0, 2, 4, 7, 9]), shape=X.shape)


SPARSE_SPELLINGS = {
    "CSR": sparse.csr_array(X),
    "CSR matrix": sparse.csr_matrix(X),
    "CSC": sparse.csc_array(X),
    "COO": sparse.coo_array(X),
    "LIL": sparse.lil_matrix(X),
    "single column blocks": sparse.bsr_array(sparse.csr_array(X), blocksize=(2, 1)),
    "unsorted, with duplicates and stored zeros": unsorted(),
}


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("spelling", [*SPELLINGS, *SPARSE_SPELLINGS])
def test_equal_numbers_are_the_same_data(spelling, copied):
    features, labels = SPELLINGS.get(spelling) or (SPARSE_SPELLINGS[spelling], Y)
    data = BinaryData.checked(copy.deepcopy(features), labels, copy=copied)
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int8)
    assert np.array_equal(data.y, Y)
    if spelling in SPELLINGS:
        assert data.sha256 == BinaryData.checked(X, Y).sha256
        assert data.X.flags.c_contiguous
        assert np.array_equal(data.X, X)
    else:
        assert data.sha256 == BinaryData.checked(sparse.csr_array(X), Y).sha256
        assert (data.X.format, data.X.nnz) == ("csr", np.count_nonzero(X))
        assert np.array_equal(data.X.toarray(), X)
        assert all(np.all(np.diff(data.X[[row]].indices) > 0) for row in range(len(X)))


def test_different_data_have_different_hashes():
    altered = X.copy()
    altered[2, 2] = np.nextafter(X[2, 2], 0)
    divisions = [[[0, 1]], [[0, 2]], [[0, 1], [0, 2]], [[0, 1, 2]], [[0], [1], [2]]]
    groups = [0, 1, 1, 2]
    optional = [
        *({"published": one} for one in divisions),
        *({"categorical": [0]}, {"categorical": [1]}, {"groups": [0, 0, 1, 2]}, {"groups": groups}),
        *({"time": time} for time in ([1, 2, 2, 3], [1, 2, 3, 3])),
        *({"groups": groups, "categorical": [0]}, {"groups": groups, "published": [[0]]}),
    ]
    csr = sparse.csr_array(X)
    dense = [X, altered, X[:, ::-1], with_entries((0, 0, np.nan)), with_entries((0, 1, np.nan))]
    different = [
        *(BinaryData.checked(X, Y, **one) for one in optional),
        *(BinaryData.checked(one, Y) for one in [*dense, csr, csr[:, ::-1], sparse.hstack([csr, 0 * csr[:, [0]]])]),
        BinaryData.checked(X, -Y),
        BinaryData.checked(X.reshape(6, 2), [1, -1, -1, 1, 1, 1]),
        BinaryData.checked(csr, Y, published=[[0, 1]]),
    ]
    assert len({data.sha256 for data in different}) == len(different)
    named = [BinaryData.checked(X, Y, name, columns=columns) for name in "ab" for columns in (None, "xyz")]
    assert len({data.sha256 for data in named}) == 1  # names are not hashed


@pytest.mark.parametrize(
    ("features", "published", "sha256"),
    [
        (X, None, "11ae40a9546843fff1802c86d9af8c18ae5593ef3c9857d6d757e47909b4d8c5"),
        (X, [[0, 1], [2, 0]], "3626b18b66d7cbdaaff4336eee0170c3da86a795956f2c5e955048577111a2e5"),
        (sparse.csr_array(X), None, "805c3499fc5cf9ad342e26b496b6a8ce3ec84c105d5479deab04dc7068c73859"),
        (sparse.csr_array(X), [[0, 1], [2, 0]], "da0e6b0f3566da67f23a5aa3798049f4ae98ada711c9f7d3f83b35812f0173b1"),
    ],
)
def test_hashes_agree_with_published_records(features, published, sha256):
    # Computed before data could have categories, groups and missing values.
    assert BinaryData.checked(features, Y, published=published).sha256 == sha256


def test_optional_arrays_without_information_are_dropped():
    plain = BinaryData.checked(X, Y)
    for nothing in ({"categorical": []}, {"categorical": [False] * 3}, {"groups": list("dbca")}):
        data = BinaryData.checked(X, Y, **nothing)
        assert (data.categorical, data.groups, data.sha256) == (None, None, plain.sha256)


@pytest.mark.parametrize(
    "columns", [[2, 0], np.array([0, 2], dtype=np.uint8), [True, False, True], {2: ["x", "y"], 0: []}]
)
def test_categorical_columns_by_number_or_boolean(columns):
    data = BinaryData.checked(X, Y, categorical=columns)
    assert data.categorical.tolist() == [True, False, True]
    assert data.words == ({2: ("x", "y"), 0: ()} if isinstance(columns, dict) else None)


@pytest.mark.parametrize("groups", [[7, 7, 2, 7], ["p", "p", "a", "p"], np.array(["x", "x", 3, "x"], dtype=object)])
def test_groups_do_not_depend_on_their_names(groups):
    data = BinaryData.checked(X, Y, groups=groups)
    assert data.groups.tolist() == [0, 0, 1, 0]
    assert data.sha256 == BinaryData.checked(X, Y, groups=[0, 0, 1, 0]).sha256


@pytest.mark.parametrize(
    ("optional", "words"),
    [
        *(({"categorical": columns}, "categorical columns other than 0 to 2") for columns in ([3], [-1])),
        ({"categorical": [True]}, "(1,) and type bool"),
        ({"categorical": ["age"]}, "(1,) and type <U3"),
        ({"categorical": [0], "features": sparse.csr_array(X)}, "sparse"),
        ({"groups": [1, 2]}, "groups of shape (2,)"),
        *(({"groups": groups}, "rows without a group") for groups in ([1, 1, 2, np.nan], ["a", None, "b", "a"])),
        *(({"time": time}, "times other than 4") for time in ([1, 2], [1, 2, 3, np.nan], list("abcd"), [True] * 4)),
        ({"columns": ["age"]}, "1 names for 3 columns"),
        ({"published": [0, 1]}, "(2,) and type int64"),
        ({"published": [[0.0, 1.0]]}, "(1, 2) and type float64"),
        ({"published": [[]]}, "(1, 0)"),
        ({"published": [[0, 1], [2]]}, "cannot be read as a table"),
        *(({"published": rows}, "rows other than 0 to 3") for rows in ([[1, 2], [3, 4]], [[-1, 2]])),
        ({"published": [[0, 1], [2, 2]]}, "repeated rows"),
        ({"published": [[0, 1, 2, 3]]}, "train on every row"),
    ],
)
def test_faults_of_optional_arrays(optional, words):
    with pytest.raises(RequestError, match=r"^Data set 'toy' has ") as caught:
        BinaryData.checked(optional.pop("features", X), Y, "toy", **optional)
    (fault,) = caught.value.faults
    assert words in fault


def test_all_bit_patterns_of_nan_are_equal():
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    one, other = (BinaryData.checked(with_entries((1, 1, nan)), Y) for nan in bits)
    assert one.has_missing
    assert one.sha256 == other.sha256 == BinaryData.checked([*X[:1], [3, None, 0], *X[2:]], Y).sha256
    assert not BinaryData.checked(X, Y).has_missing


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.sampled_from([0.0, -0.0, 1.5])
    ),
    st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_rows_have_equal_hashes_only_if_equal(features, kind):
    hashes = BinaryData.checked(kind(features), np.resize([1, -1], len(features))).row_hashes
    equal = (features[:, None] == features).all(axis=2)
    assert np.array_equal(hashes[:, None] == hashes, equal)


def test_arrays_are_copied_and_cannot_be_changed():
    features, labels = X.copy(), Y.astype(np.int8)
    data = BinaryData.checked(features, labels, published=[[0]], categorical=[0], groups=[0, 0, 1, 1])
    features[:], labels[:] = 9, 1
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, Y)
    for array in (*data.arrays.values(), *BinaryData.checked(sparse.csr_array(X), Y).arrays.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_memory_is_reused_without_copy():
    dense, csr = X.copy(), sparse.csr_array(X)
    assert np.shares_memory(BinaryData.checked(dense, Y, copy=False).X, dense)
    assert np.shares_memory(BinaryData.checked(csr, Y, copy=False).X.data, csr.data)
    with pytest.raises(ValueError, match="read-only"):
        dense[0, 0] = 9


@pytest.mark.parametrize("spelling", ["as it is", "negative zeros"])
def test_read_only_memory_is_copied(spelling):
    dense, csr = SPELLINGS[spelling][0].copy(), unsorted()
    parts = (dense, csr.data, csr.indices, csr.indptr)
    before = [part.tobytes() for part in parts]
    for part in parts:
        part.flags.writeable = False
    for features in (dense, csr):
        assert np.array_equal(sparse.csr_array(BinaryData.checked(features, Y, copy=False).X).toarray(), X)
    assert [part.tobytes() for part in parts] == before


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, ">i8"])
def test_published_divisions_are_sets_of_rows(dtype):
    rows = np.array([[3, 0], [1, 3]], dtype=dtype)
    data = BinaryData.checked(X, Y, published=rows)
    assert data.published.tolist() == [[0, 3], [1, 3]]
    assert data.sha256 == BinaryData.checked(X, Y, published=rows[:, ::-1].tolist()).sha256
    assert rows.tolist() == [[3, 0], [1, 3]]


def with_entries(*entries):
    features = X.copy()
    for row, column, value in entries:
        features[row, column] = value
    return features


BAD = with_entries((0, 0, np.nan), (0, 2, np.inf), (2, 2, -np.inf))
TOO_LARGE_INDEX = sparse.csr_array(([1.0], ([1], [2])), shape=(4, 3))
TOO_LARGE_INDEX.indices[0] = 7
FAULTS = {
    "infinity": (BAD, Y, ["2 infinite feature values, in column 2 and rows 0, 2 "]),
    "sparse NaN": (sparse.csr_array(BAD), Y, ["3 NaN or infinite feature values, in columns 0, 2 and rows 0, 2 "]),
    "one of them": (with_entries((3, 1, np.inf)), Y, ["1 infinite feature value, in column 1 and row 3 "]),
    "beyond double precision": ([[10**400], [1]], [1, -1], ["cannot be read as a table of numbers"]),
    "words": ([["a"], ["b"]], [1, -1], ["cannot be read as a table of numbers"]),
    "ragged rows": ([[1, 2], [3]], [1, -1], ["cannot be read as a table of numbers"]),
    "complex numbers": (X * 1j, Y, ["complex"]),
    "complex sparse": (sparse.csr_array(X * 1j), Y, ["complex"]),
    "index out of bounds": (TOO_LARGE_INDEX, Y, ["cannot be read as a table of numbers"]),
    "one dimension": (X[:, 0], Y, ["features of shape (4,)"]),
    "three dimensions": (X[None], Y, ["features of shape (1, 4, 3)"]),
    "no rows": (np.empty((0, 3)), [], ["no rows"]),
    "no features": (np.empty((4, 0)), Y, ["no features"]),
    "lengths": (X, [1, -1, 1], ["4 rows of features but 3 labels"]),
    "labels 0 and 1": (X, [0, 1, 1, 0], ["2 labels other than -1 and +1: 0. Code"]),
    "words for labels": (X, list("yyny"), ["4 labels other than -1 and +1: 'y', 'n'."]),
    "true and false": (X, [True, False, True, True], ["labels other than -1 and +1: True, False."]),
    "NaN label": (X, [1, -1, np.nan, 1], ["1 labels other than -1 and +1: nan."]),
    "unsigned 255": (X, np.array([1, 255, 1, 255], dtype=np.uint8), ["2 labels other than -1 and +1: 255"]),
    "one class": (X, [-1, -1, -1, -1], ["one class only, -1"]),
    "a column of labels": (X, Y[:, None], ["labels of shape (4, 1)"]),
    "many columns": (np.outer([np.inf, 1], np.ones(100)), [1, -1], ["columns 0, 1, 2, 3, 4 and 95 more and row 0 "]),
    "several at once": (BAD[:3], [1, 1, 1, 1], ["2 infinite", "one class only", "3 rows of features but 4 labels"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_reported(fault):
    features, labels, words = FAULTS[fault]
    with pytest.raises(RequestError) as caught:
        BinaryData.checked(features, labels, "toy")
    assert len(caught.value.faults) == len(words)
    for word in words:
        assert any(sentence.startswith("Data set 'toy' has ") and word in sentence for sentence in caught.value.faults)


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6)), st.data())
def test_numbers_are_kept_or_refused(features, data):
    labels = data.draw(hnp.arrays(np.int8, features.shape[0], elements=st.sampled_from([-1, 1])))
    two = len(set(labels.tolist())) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (np.asarray, sparse.csc_array):
            if not two or not np.isfinite(features[~(np.isnan(features) & (kind is np.asarray))]).all():
                with pytest.raises(RequestError):
                    BinaryData.checked(kind(features), labels)
                continue
            out = BinaryData.checked(kind(features), labels).X
            assert np.array_equal(out.toarray() if sparse.issparse(out) else out, features, equal_nan=True)
