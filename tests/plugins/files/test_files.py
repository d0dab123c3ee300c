import bz2
import errno
import gzip
import lzma
import os
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from npbench import load_dataset
from npbench.data.delimited import INFERENCE_ROWS
from npbench.errors import RequestError
from npbench_files import formats

pandas = pytest.importorskip("pandas")
X = np.array([[0.5, 3.0], [-1.25, 0.0], [1e-300, 7.0], [0.1 + 0.2, -2.0]])
WORDS = ["no", "yes", "no", "yes"]
SIGNS = np.array([-1, 1, -1, 1])


def frame_of(matrix, labels):
    columns = {f"x{i}": column for i, column in enumerate(np.asarray(matrix, dtype=float).T)}
    return pl.DataFrame({**columns, "class": labels})


def arff(matrix, labels):
    names = [f"@attribute x{i} numeric" for i in range(matrix.shape[1])]
    rows = [",".join([*map(repr, row), label]) for row, label in zip(matrix.tolist(), labels, strict=True)]
    classes = ",".join(sorted(set(labels)))
    return "\n".join(["@relation 'a table'", *names, f"@attribute class {{{classes}}}", "@data", *rows])


def svmlight(matrix, labels):
    """Every number, zeros too, as many readers and writers of this format round."""
    rows = (" ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) for row in np.asarray(matrix, float).tolist())
    return "".join(f"{label:d} {row}\n" for label, row in zip(labels, rows, strict=True))


def write_all(folder, matrix, labels):
    """Write one table in every format, and return the names of the files."""
    table = frame_of(matrix, labels)
    text = table.write_csv().encode()
    files = {
        "t.csv": text,
        "t.csv.gz": gzip.compress(text),
        "t.csv.bz2": bz2.compress(text),
        "t.data.xz": lzma.compress(text),
        "t.tsv": table.write_csv(separator="\t").encode(),
        "semicolons.csv": table.write_csv(separator=";").encode(),
        "crlf.csv": b"\xef\xbb\xbf" + table.write_csv(line_terminator="\r\n").encode(),
        "spaces.csv": text.replace(b",", b" , "),
        "t.arff": arff(matrix, labels).encode(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    table.write_parquet(folder / "t.parquet")
    table.with_columns(pl.col("class").cast(pl.Categorical)).write_parquet(folder / "categorical.parquet")
    table.write_ipc(folder / "t.arrow")
    table.write_ipc_stream(folder / "stream.arrow")
    scipy.io.savemat(folder / "t.mat", {"class": labels, "x": matrix, "about": "a table"})
    scipy.io.savemat(folder / "cells.mat", {"class": np.array(labels, dtype=object), "x": matrix})
    np.savez(folder / "t.npz", x=matrix, **{"class": np.array(labels)})
    return [path.name for path in folder.iterdir()]


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
tables = hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 3)), elements=numbers)
few = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(matrix=tables)
@few
def test_one_table_in_every_format_is_the_same_data(matrix, tmp_path):
    labels, asked = [WORDS[i % 2] for i in range(len(matrix))], {"label": "class", "positive": "yes"}
    names = write_all(tmp_path, matrix, labels)
    every = {name: load_dataset("file", path=str(tmp_path / name), **asked) for name in names}
    unnamed = (tmp_path / "t.csv").rename(tmp_path.with_name("table"))
    every["table"] = load_dataset("file", path=str(unnamed), format="csv", **asked)
    assert {data.sha256 for data in every.values()} == {every["t.csv"].sha256}, every
    assert np.array_equal(every["t.csv"].X, matrix)
    assert np.array_equal(every["t.csv"].y, np.resize([-1, 1], len(matrix)))


@given(matrix=tables)
@few
def test_sparse_formats_agree(matrix, tmp_path):
    signs = np.resize([1, -1], len(matrix))
    text = svmlight(matrix, signs).encode()
    scipy.io.savemat(tmp_path / "t.mat", {"x": sparse.csc_array(matrix), "y": signs})
    loaded = [load_dataset("file", path=str(tmp_path / "t.mat"), label="y")]
    for name, pack in {"t.svm": bytes, "t.libsvm.bz2": bz2.compress, "t.svmlight.gz": gzip.compress}.items():
        (tmp_path / name).write_bytes(pack(text))
        loaded.append(load_dataset("file", path=str(tmp_path / name), n_features=matrix.shape[1]))
    assert len({data.sha256 for data in loaded}) == 1
    for data in loaded:
        assert data.X.format == "csr"
        assert np.array_equal(data.X.toarray(), matrix)
        assert np.array_equal(data.y, signs)


def written(name, content):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def loaded(name, content, **params):
    return load_dataset("file", path=written(name, content), **params)


def refused(name, content, **params):
    with pytest.raises(RequestError) as caught:
        loaded(name, content, **params)
    for fault in caught.value.faults:
        assert fault.startswith(f"{name}: ")
        assert fault.endswith((".", "]"))
        assert "Report it to the authors" not in fault
    return "\n".join(caught.value.faults)


TABLE = "age,site,score,class\n1.5,left,3,a\n2.5,right,?,b\n, left ,5,a\n4.5,NA,6,b\n"


def test_words_are_categories_in_alphabetical_order():
    data = loaded("t.csv", TABLE, label="class", positive="b")
    assert loaded("t.csv", TABLE.replace("\n", "\n\n"), label="class", positive="b").sha256 == data.sha256
    assert np.array_equal(data.X, [[1.5, 0, 3], [2.5, 1, np.nan], [np.nan, 0, 5], [4.5, np.nan, 6]], equal_nan=True)
    assert data.categorical.tolist() == [False, True, False]
    assert data.words == {1: ("left", "right")}
    assert data.columns == ("age", "site", "score")
    assert data.y.tolist() == [-1, 1, -1, 1]


def test_categories_have_the_same_codes_in_every_format(tmp_path):
    table = pl.read_csv(TABLE.encode(), null_values=["?", "", "NA"]).with_columns(pl.col("site").str.strip_chars())
    table.with_columns(pl.col("site").cast(pl.Enum(["right", "left"]))).write_parquet(tmp_path / "t.parquet")
    table.with_columns(pl.col("site").cast(pl.Categorical)).write_ipc(tmp_path / "t.feather")
    text = TABLE.partition("\n")[2].replace("\n,", "\n?,").replace("NA", "?").replace(" ", "")
    names = "@attribute age real\n@attribute site {right,left}\n@attribute score integer\n@attribute class {a,b}\n"
    (tmp_path / "t.arff").write_text(f"@relation t\n{names}@data\n{text}")
    expected = loaded("t.csv", TABLE, label="class", positive="b").sha256
    for name in ("t.parquet", "t.feather", "t.arff"):
        assert load_dataset("file", path=name, label="class", positive="b").sha256 == expected


def test_absent_values_of_sparse_arff_are_0_or_the_first_category():
    head = "@relation t\n@attribute x real\n@attribute site {right,left}\n@attribute class {b,a}\n@data\n"
    sparse_rows = loaded("s.arff", f"{head}{{0 1.5, 1 left}}\n{{2 a}}\n{{}}\n", label="class", positive="a")
    dense_rows = loaded("d.arff", f"{head}1.5,left,b\n0,right,a\n0,right,b\n", label="class", positive="a")
    assert sparse_rows.X.tolist() == [[1.5, 0], [0, 1], [0, 1]]
    assert sparse_rows.sha256 == dense_rows.sha256


def test_columns_are_chosen_or_dropped_by_name_and_the_group_is_not_a_feature():
    for chosen, expected in (({"columns": ["score", "age"]}, ("score", "age")), ({"drop": "site"}, ("age", "score"))):
        assert loaded("t.csv", TABLE, label="class", positive="b", **chosen).columns == expected
    table = "patient,x,y\np,1,0\nq,2,1\np,3,1\nr,4,2\n"
    data = loaded("t.csv", table, label="y", group="patient", positive=1, negative=0)
    assert data.columns == ("x",)
    assert data.groups.tolist() == [0, 1, 0]


def test_a_first_line_of_numbers_is_not_a_header_and_one_of_both_is_ambiguous():
    text = "1,2,0\n3,4,1\n5,6,1\n"
    data = loaded("t.csv", text, label="column_2")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert data.columns == ("column_0", "column_1")
    data = loaded("t.csv", text.replace("1,2,0", "1,2,3").replace("5,6,1", "5,6,0"), label=3, header=True)
    assert data.X.tolist() == [[3, 4], [5, 6]]
    assert data.columns == ("1", "2")
    text = "39,State-gov,<=50K\n50,Private,>50K\n"
    assert "'39', 'State-gov', '<=50K': set dataset.header=true" in refused("t.csv", text)
    assert loaded("t.csv", text, label="column_2", positive=">50K", header=False).n_samples == 2


@pytest.mark.parametrize(("last", "expected"), [("1.5", [1.5, 1.5]), ("", [np.nan, np.nan])])
def test_types_of_columns_follow_from_all_rows(last, expected):
    n = INFERENCE_ROWS + 1
    rows = "".join(f"{i % 3},,{i % 2}\n" for i in range(n))
    X = loaded("t.csv", f"a,b,y\n{rows}{last},{last},1\n", label="y").X
    assert np.array_equal(X[:n], np.column_stack([np.resize([0, 1, 2], n), np.full(n, np.nan)]), equal_nan=True)
    assert np.array_equal(X[n], expected, equal_nan=True)


def test_long_lines_and_a_last_line_of_quoted_fields_or_of_missing_values_are_whole():
    assert loaded("t.csv", 'y,a,b\n1,2,u\n0,3,"v\nw"\n', label="y").n_samples == 2
    assert np.isnan(loaded("t.tsv", "y\ta\tb\n1\t2\t3\n0\t\t\n", label="y").X[1]).all()
    rows = "".join(f"{k}," * 4000 + f"{k % 2}\n" for k in range(3))
    names = [f"gene {i} of a long name of thirty" for i in range(4000)]
    data = loaded("t.csv", f"{','.join(names)},y\n{rows}", label="y")
    assert (data.X.shape, data.columns[-1]) == ((3, 4000), names[-1])


def test_the_label_may_have_any_name():
    for name in ("count", "label", "len", ""):
        assert loaded("t.csv", f"x,{name}\n1,0\n2,1\n", label=name or "column_1").y.tolist() == [-1, 1]


def test_delimiters_are_found_or_named_and_decimal_commas_are_set():
    for sign, name in {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}.items():
        text = TABLE.replace(",", sign)
        assert loaded("t.txt", text, label="class", positive="b").n_features == 3
        assert loaded("t.txt", text, label="class", positive="b", delimiter=name).n_features == 3
    assert loaded("t.txt", "a b y\n1 2 0\n3 4 1\n", label="y", delimiter=" ").X.tolist() == [[1, 2], [3, 4]]
    text = "a;b;y\n1,5;+2;0\n-2,25;3;1\nNA;4;1\n"
    for chosen in ({}, {"decimal": "comma"}):
        X = loaded("t.csv", text, label="y", **chosen).X
        assert np.array_equal(X, [[1.5, 2], [-2.25, 3], [np.nan, 4]], equal_nan=True)
    assert "dataset.decimal=comma" in refused("t.csv", text, label="y", decimal="point")
    thousands = text.replace("1,5", "1,500").replace("-2,25", "-2,250,000")
    assert "'1,500'" in refused("t.csv", thousands.replace(",000", ""), label="y")
    assert "dataset.decimal is ','" in refused("t.csv", text, decimal=",")


def test_booleans_and_decimals_are_numbers_and_dates_and_lists_are_refused(tmp_path):
    table = pl.DataFrame({"a": [True, False], "b": ["1.5", "2.5"], "y": [True, False]})
    table.with_columns(pl.col("b").cast(pl.Decimal(10, 2))).write_parquet(tmp_path / "t.parquet")
    data = load_dataset("file", path="t.parquet", label="y")
    assert data.X.tolist() == [[1, 1.5], [0, 2.5]]
    assert data.y.tolist() == [1, -1]
    table = pl.DataFrame({"when": ["2020-01-02", "2020-01-03"], "many": [[1], [2]], "x": [1, 2], "y": [0, 1]})
    table.with_columns(pl.col("when").str.to_date()).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(RequestError, match=r"'when', 'many' .* Date, List\(Int64\)"):
        load_dataset("file", path="t.parquet", label="y")
    assert load_dataset("file", path="t.parquet", label="y", drop=["when", "many"]).n_features == 1


def test_the_path_starts_in_the_users_folder(tmp_path, monkeypatch):
    (tmp_path / "deeper").mkdir()
    written("t.csv", TABLE)
    monkeypatch.chdir(tmp_path / "deeper")
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("../t.csv", "~/t.csv"):
        assert load_dataset("file", path=path, label="class", positive="b").n_samples == 4


def test_large_indices_with_n_features():
    text = "1 1:2 1000000:3\n-1 2:1\n"
    assert "dataset.n_features=1000000" in refused("t.svm", text)
    data = loaded("t.svm", text, n_features=10**6)
    assert data.X.shape == (2, 10**6)
    assert data.X.nnz == 3


PARQUET, ARROW, NPZ, MAT = "t.parquet", "t.arrow", "t.npz", "t.mat"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.data.xz", PARQUET, ARROW, NPZ, MAT, "t.arff"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.98])
def test_a_cut_file_is_an_error(name, share, tmp_path):
    many = np.random.default_rng(0).normal(size=(400, 3))
    write_all(tmp_path, many, [WORDS[i % 2] for i in range(400)])
    content = (tmp_path / name).read_bytes()
    fault = refused(name, content[: int(share * len(content))], label="class", positive="yes")
    assert "incomplete" in fault


def test_every_exception_of_a_parser_is_reported(monkeypatch):
    def panic(_):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setitem(formats.FORMATS, "parquet", formats.Format("Parquet", (".parquet",), panic))
    assert "cannot be read as Parquet (index out of bounds): it is damaged" in refused("t.parquet", b"PAR1")


PAGE = "\ufeff \n<!DOCTYPE html><html><body>404 Not Found</body></html>"


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.tsv", PARQUET, ARROW, NPZ, MAT, "t.arff", "t.svm", "t.svm.bz2"]
)
def test_a_web_page_or_an_empty_file_is_an_error(name):
    assert "it begins with '<!DOCTYPE html>" in refused(name, PAGE)
    assert "the file is empty" in refused(name, b"")
    if name == "t.csv.gz":
        assert "get the file itself" in refused(name, gzip.compress(PAGE.encode()))
        assert "the file is empty" in refused(name, gzip.compress(b""))


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    packed = gzip.compress(TABLE.encode())
    monkeypatch.setenv("NPBENCH_MAX_BYTES", str(len(TABLE)))
    assert loaded("t.csv.gz", packed, label="class", positive="a").n_samples == 4
    monkeypatch.setenv("NPBENCH_MAX_BYTES", str(len(TABLE) - 1))
    assert "NPBENCH_MAX_BYTES" in refused("t.csv.gz", packed, label="class", positive="a")
    arrays = {"X": np.zeros((1000, 2)), "y": np.resize([0, 1], 1000)}
    np.savez(tmp_path / "stored.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    monkeypatch.setenv("NPBENCH_MAX_BYTES", "10000")
    assert load_dataset("file", path="stored.npz", label="y").n_samples == 1000
    scipy.io.savemat(tmp_path / "packed.mat", arrays, do_compression=True)
    frame_of(arrays["X"], arrays["y"]).write_parquet(tmp_path / "packed.parquet")
    frame_of(arrays["X"], arrays["y"]).write_ipc(tmp_path / "packed.arrow", compression="zstd")
    for name in ("packed.npz", "packed.mat", "packed.parquet", "packed.arrow"):
        with pytest.raises(RequestError, match="NPBENCH_MAX_BYTES"):
            load_dataset("file", path=name, label="class" if name.endswith("t") else "y")


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())], ids=["plain", "packed"])
def test_a_text_of_a_million_columns_is_refused_at_once(pack):
    for start in ("", '2,"\n",'):
        content = pack(start + "1," * 10**6 + "1\n")
        name = "t.csv.gz" if content.startswith(b"\x1f") else "t.csv"
        assert "more than 100000 columns" in refused(name, content, label="y")


@pytest.mark.parametrize("name", ["pipe", "/dev/zero"])
def test_a_pipe_or_device_is_refused(name):
    os.mkfifo("pipe")
    with pytest.raises(RequestError, match="pipe or device"):
        load_dataset("file", path=name, format="csv", label="y")


LABEL = {"label": "y"}
SIGNS_1_3 = "1 1:2 3:1\n-1 1:1\n"
# What is set for TABLE, and what is wrong with it.
SETTINGS = [
    ({"delimiter": "commas"}, "dataset.delimiter is 'commas'.* comma, semicolon, tab, bar"),
    ({"header": "no"}, "dataset.header is 'no'"),
    ({"label": ["age", "class"]}, r"dataset.label is \['age', 'class'\]"),
    ({}, "dataset.label has no value: .* There are: age, site, score, class"),
    ({"label": "clas"}, "dataset.label column 'clas': did you mean 'class'?"),
    ({"label": "class", "drop": ["sit"]}, "dataset.drop column 'sit': did you mean 'site'?"),
    ({"label": "class", "columns": ["class"]}, "no column is left for the features"),
    ({"label": "class", "positive": "c"}, r"'c', .* There are 'a' \(2 rows\), 'b'"),
    ({"label": "site", "positive": "left"}, "label has 1 missing of 4"),
    ({"features": "x"}, "CSV files accept .* but not dataset.features"),
    ({"format": "cvs"}, "Unknown dataset.format 'cvs': did you mean 'csv'"),
]
# A file, its content, what is set for it, and what is wrong.
CONTENTS = [
    ("t.csv", "a b y\n1 2 0\n", {}, "comma, semicolon, tab, bar .*, 'a b y'"),
    ("t.csv", "a;b;y\n1;2;0\n", {"delimiter": "comma"}, "only one column.* dataset.delimiter=semicolon splits"),
    ("t.csv", "a,y\n1,0\n2,1,3\n", LABEL, "line 3 has 3 columns where the first has 2"),
    ("t.csv", "a,b,y\n1,0\n2,1,3\n", LABEL, "line 2 has 2 columns where the first has 3"),
    ("t.csv", f"a,b,y\n1\r2,{'long ' * 50_000},1\n1,0\n2,1,3\n", LABEL, "line 3 has 2 columns where the first has 3"),
    ("t.csv", 'a,y\n"1\n",0\n\n2,1,1\n', LABEL, "line 5 has 3 columns"),
    ("t.csv", "y,a,b\n1,0,2\n0,1\n\n", LABEL, "the last line has 2 of 3 columns: the file was cut off"),
    ("t.csv.gz", gzip.compress(b"y\ta\r\n1\t0\r\n0", mtime=0), LABEL, "the last line has 1 of 2 columns"),
    ("t.csv.gz", gzip.compress(b"a,y\n" + b"1,0\n2,1\n" * 9 + b"odd,1\n", mtime=0), LABEL, "'odd' in line 20"),
    ("t.csv", b"a,y\n\xe9,0\n1,1\n", LABEL, "not UTF-8 text"),
    ("t.csv", b"\xe9,y\n0,0\n1,1\n", LABEL, "not UTF-8 text"),
    ("t.csv", "a,y\n0,0\n1,1\n".encode("utf-16-le"), LABEL, "not UTF-8 text"),
    ("t.csv", "a,y\n0,0\n1,1\n".encode("utf-16")[:-1], LABEL, "UTF-16"),
    ("t.csv", "a,b,y\n1,2,0\n3,4,1\n", {"label": "y", "delimiter": "\u00a6"}, "single character"),
    ("t.csv", "y,a,y\n0,1,0\n1,2,1\n", LABEL, "'y' occurs 2 times"),
    ("t.csv", "y,a, y\n0,1,0\n1,2,1\n", LABEL, "'y' occurs 2 times"),
    ("t.csv", "a,y\n", LABEL, "there are no rows"),
    ("t.svm", "1 1:2\n", LABEL, "SVMLight files accept dataset.n_features, but not dataset.label"),
    ("t.svm", SIGNS_1_3, {"n_features": 2}, "dataset.n_features is 2, .* 3"),
    ("t.svm", SIGNS_1_3, {"n_features": "many"}, "dataset.n_features is 'many'"),
    ("t.svm", "1 1:2 99999999999:3\n-1 2:1\n", {}, "an index of a feature is beyond 2.31"),
    ("t.svm", "1 1:2 3\n-1 2:1\n", {}, "cannot be read as SVMLight"),
    ("t.svm", TABLE, {}, "cannot be read as SVMLight"),
    ("t.arff", TABLE, LABEL, "cannot be read as ARFF .*line 5"),
    ("t.xlsx", b"PK", {}, "'.xlsx', .*dataset.format=csv|tsv"),
    ("t.h5", b"\x89HDF", {}, "'.h5', .*convert it to CSV or Parquet"),
    *(("t.csv", TABLE, params, words) for params, words in SETTINGS),
]


@pytest.mark.parametrize(("name", "content", "params", "words"), CONTENTS)
def test_errors_of_files_and_settings(name, content, params, words):
    assert re.search(words, refused(name, content, **params))


def test_an_absent_path_or_file_is_an_error(tmp_path):
    written("table.csv", TABLE)
    written("picture.png", TABLE)
    with pytest.raises(RequestError) as caught:
        load_dataset("file", path="nothing_like_it.csv")
    assert ("table.csv" in str(caught.value), "picture" in str(caught.value)) == (True, False)
    for params, words in (
        ({}, "dataset.path has no value"),
        ({"path": "tabel.csv"}, r"^tabel.csv: .* did you mean 'table.csv'\?"),
        ({"path": "no/such/table.csv"}, "Unknown file .* none"),
        ({"path": str(tmp_path)}, "this is a folder"),
    ):
        with pytest.raises(RequestError, match=words):
            load_dataset("file", **params)


def test_an_unreadable_file_is_an_error(monkeypatch):
    def denied(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    written("t.csv", TABLE)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(RequestError, match=r"^t.csv: it cannot be opened: Permission denied\.$"):
        load_dataset("file", path="t.csv")


@pytest.mark.parametrize("number", [2**53, -(2**53) - 1, 10**30])
def test_whole_numbers_beyond_float64_are_refused(number, tmp_path):
    fault = refused("t.csv", f"id number,a,y\n{number},1,0\n1,2,1\n", label="y")
    assert "the column 'id number' holds integers of 2^53" in fault
    assert "\"dataset.drop=['id number']\"" in fault
    if number < 2**63:
        np.savez(tmp_path / "t.npz", X=np.array([[number], [1]]), y=[0, 1])
        with pytest.raises(RequestError, match=r"X has integers of 2\^53"):
            load_dataset("file", path="t.npz", label="y")


@pytest.mark.parametrize(("head", "form"), [("name", "patient {}"), ("", "{}")])  # row numbers as pandas writes them
@pytest.mark.parametrize("first", [0, 1])
def test_words_and_numbers_that_identify_rows_are_refused_unless_named(head, form, first):
    name = head or "column_0"
    table = f"{head},x,y\n" + "".join(f"{form.format(i + first)},{i % 7},{i % 2}\n" for i in range(60))
    assert f"dataset.drop=[{name}]" in refused("t.csv", table, label="y")
    assert loaded("t.csv", table, label="y", drop=[name]).columns == ("x",)
    if not head:
        assert loaded("t.csv", table, label="y", columns=[name, "x"]).n_features == 2


ROWS = 60


def rows_of(**columns):
    """A table with two features and labels, and more columns."""
    numbers = np.random.default_rng(0).integers(0, 9, (2, ROWS))
    return pl.DataFrame({"a": numbers[0], "b": numbers[1] / 7, "y": np.arange(ROWS) % 2, **columns})


@pytest.mark.one_in(6)
@pytest.mark.parametrize("bad", ["None", "#N/A", "4\x00", "1,5,6", "-", "1.5e"])
@pytest.mark.parametrize("n_bad", [1, 3])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\n"])
def test_a_cell_that_is_no_number_in_a_column_of_numbers_is_named(bad, n_bad, line_end):
    cells = [bad if i >= ROWS - n_bad else f"{i % 7}" for i in range(ROWS)]
    text = rows_of(v=cells).write_csv(quote_style="always").replace("\n", line_end)
    line = 1 + line_end.count("\n") * (1 + ROWS - n_bad)
    fault = refused("t.csv", text, label="y")
    assert f"{bad!r} in line {line}" in fault
    assert ("and 2 more" in fault) == (n_bad == 3)
    assert loaded("t.csv", text, label="y", drop="v").n_features == 2


def test_a_cell_that_is_no_number_is_named_in_typed_files_and_after_quoted_lines(tmp_path):
    cells = [f"{i % 7}" for i in range(ROWS - 1)] + ["none"]
    rows_of(v=cells).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(RequestError, match=f"'none' in row {ROWS - 1}"):
        load_dataset("file", path="t.parquet", label="y")
    text = rows_of(v=cells, w=['two\n"lines"'] * ROWS).write_csv()
    assert f"'none' in line {2 * ROWS}" in refused("t.csv", text, label="y")
    shares = [str(i % 7) if i % 5 else "other" for i in range(ROWS)]  # a fifth: words are meant
    assert loaded("t.csv", rows_of(v=shares).write_csv(), label="y").categorical.tolist() == [False, False, True]


DATES = [
    "2026-01-{:02d}",
    "{:02d}.03.2026",
    "2/{:d}/2026",
    "2026-01-{:02d}T10:30:00Z",
    "2026-01-{:02d} 10:30",
    "10:{:02d}",
]


@pytest.mark.parametrize("form", [*DATES, "10:{:02d}"])
def test_dates_in_a_text_are_no_features(form):
    text = rows_of(when=[form.format(1 + i % 28) for i in range(ROWS)]).write_csv()
    assert "'when' holds neither numbers nor words, but dates" in refused("t.csv", text, label="y")
    assert loaded("t.csv", text, label="y", drop="when").n_features == 2


def test_times_group_the_rows_of_a_day(tmp_path):
    hours = pl.datetime_range(pl.datetime(2026, 1, 1), pl.datetime(2026, 1, 3, 11), "1h", eager=True)
    table = rows_of(when=hours)
    expected = [i // 24 for i in range(ROWS)]
    assert loaded("t.csv", table.write_csv(), label="y", group="when").groups.tolist() == expected
    for kind in (pl.Datetime, pl.Date):
        table.with_columns(pl.col("when").cast(kind)).write_parquet(tmp_path / "t.parquet")
        assert load_dataset("file", path="t.parquet", label="y", group="when").groups.tolist() == expected


def test_a_column_of_numbers_or_dates_gives_the_order_in_time(tmp_path):
    days = pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 12, 31), "1d", eager=True)
    days = days.sample(ROWS, shuffle=True, seed=0)
    order = days.arg_sort().to_list()
    table = rows_of(when=days)
    forms = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%SZ"
    texts = [days.cast(pl.Datetime).dt.strftime(form) for form in forms]
    for when in (days, days.cast(pl.Datetime("ms")), days.to_physical(), *texts):
        table.with_columns(when=when).write_parquet(tmp_path / "t.parquet")
        table.with_columns(when=when).write_csv(tmp_path / "t.csv")
        for path in ("t.parquet", "t.csv"):
            data = load_dataset("file", path=path, label="y", time="when")
            assert data.time.argsort().tolist() == order
            assert "when" not in data.columns


@pytest.mark.parametrize("odd", ["31/12/2026", "12:30", "", "soon", "2026-13-01", "2026-01-01 10:30 AM"])
def test_times_that_are_no_numbers_or_iso_dates_are_refused_with_their_line(odd):
    days = ["2026-01-01"] * (ROWS - 1)
    for rows, line in (([*days, odd], ROWS + 1), ([odd] * ROWS, 2)):
        message = refused("t.csv", rows_of(when=rows).write_csv(), label="y", time="when")
        assert f"line {line}:" in message
        assert "dataset.time" in message


def index_files(frame):
    frame.to_parquet("t.parquet")
    frame.rename_axis("customer").to_parquet("named.parquet")
    frame.to_csv("t.csv")
    frame.to_csv("first.csv")
    pandas.read_csv("first.csv").to_csv("again.csv", index=False)
    frame.reset_index().to_csv("reset.csv", index=False)
    pa.feather.write_feather(pa.Table.from_pandas(frame), "t.feather")
    with pa.ipc.new_stream(
        "stream.arrow", (table := pa.Table.from_pandas(frame.rename_axis("customer"))).schema
    ) as out:
        out.write_table(table)


@pytest.mark.filterwarnings("ignore:.*have the features of another row")  # joined with itself
@pytest.mark.parametrize("kind", ["filtered", "joined", "words", "two"])
def test_an_index_of_pandas_is_no_feature(kind):
    frame = rows_of().to_pandas()
    if kind == "filtered":
        frame = frame[frame.a > 2]
    elif kind == "joined":
        frame = pandas.concat([frame[:30], frame[:30]])
    else:
        words = [f"row {i % 9}" for i in range(ROWS)]
        frame.index = words if kind == "words" else pandas.MultiIndex.from_arrays([words, np.arange(ROWS) // 3])
    if kind == "two":
        frame.to_parquet("t.parquet")
        frame.to_csv("t.csv")
    else:
        index_files(frame)
    for path in Path().glob("t.*" if kind == "two" else "*"):
        if path.name == "reset.csv" and kind == "words":
            continue  # a column of words like any other
        with pytest.raises(RequestError, match="index"):
            load_dataset("file", path=path.name, label="y")
        assert load_dataset("file", path=path.name, label="y", columns=["a", "b"]).n_features == 2


@pytest.mark.parametrize(
    "again", [pl.col("y"), pl.col("y") == 1, pl.col("y").cast(pl.Float64), pl.col("y").cast(pl.String)]
)
def test_labels_that_occur_twice_are_refused(again, tmp_path):
    table = rows_of().with_columns(**{"y.1": again})
    table.write_parquet(tmp_path / "t.parquet")
    assert "'y.1' holds the labels again" in refused("t.csv", table.write_csv(), label="y")
    with pytest.raises(RequestError, match=r"dataset.drop=\[y.1\]"):
        load_dataset("file", path="t.parquet", label="y")
    assert load_dataset("file", path="t.parquet", label="y", drop="y.1").n_features == 2


def test_all_faults_of_a_file_come_at_once():
    table = rows_of(
        id=np.arange(ROWS),
        when=[f"2026-01-{1 + i % 28:02d}" for i in range(ROWS)],
        note=[f"note {i}" for i in range(ROWS)],
        v=["?!", *map(str, range(1, ROWS))],
    )
    fault = refused("t.csv", table.write_csv(), label="y", positive="yes")
    for words in ("'id'", "'when'", "'note", "'?!' in line 2", "dataset.positive is 'yes'"):
        assert words in fault


@pytest.mark.parametrize("name", ["indices", "indptr"])
@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("value", [9, 10**8, -1, -(10**8), 2**31 - 1])
@pytest.mark.parametrize("role", ["X", "y"])
def test_a_sparse_matrix_with_wrong_indices_is_refused(name, place, value, role, tmp_path):
    matrix = sparse.csc_array(np.ones((4, 2)))
    arrays = {"X": matrix, "y": np.array([0, 1, 0, 1])} if role == "X" else {"X": np.ones((8, 2)), "y": matrix}
    scipy.io.savemat(tmp_path / "t.mat", arrays)
    right = getattr(matrix, name)
    wrong = right.copy()
    wrong[place] = value
    if np.array_equal(right, wrong):
        return
    content = (tmp_path / "t.mat").read_bytes()
    assert right.tobytes() in content
    assert refused("t.mat", content.replace(right.tobytes(), wrong.tobytes()), label="y")


@pytest.mark.parametrize("times", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused(times, tmp_path):
    folder = tmp_path / "whole"
    folder.mkdir()
    write_all(folder, np.random.default_rng(0).normal(size=(20, 2)), [WORDS[i % 2] for i in range(20)])
    arrays = {"x": sparse.csc_array(np.eye(20)), "class": np.resize([0.0, 1.0], 20)}
    for name, options in {"v5.mat": {}, "v7.mat": {"do_compression": True}, "v4.mat": {"format": "4"}}.items():
        scipy.io.savemat(folder / name, arrays, **options)
    random = np.random.default_rng(0)
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for _ in range(times):
            changed = bytearray(content[: random.integers(1, len(content) + 1)] if random.random() < 0.2 else content)
            for place in random.integers(0, len(changed), random.integers(1, 6)):
                changed[place] = random.choice([0, 127, 128, 255, random.integers(256)])
            written(path.name, bytes(changed))
            try:
                load_dataset("file", path=path.name, label="class", positive="yes")
            except RequestError as error:
                assert all(fault.startswith(f"{path.name}: ") for fault in error.faults)  # noqa: PT017


@pytest.mark.parametrize("kind", [0, 14, 15, 20, 11269])
def test_an_unknown_type_in_a_matlab_file_is_refused(kind, tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.ones((9, 2)), "y": np.resize([0.0, 1.0], 9)})
    content = (tmp_path / "t.mat").read_bytes()
    for values, code in ((np.ones((9, 2)), 9), (np.resize([0.0, 1.0], 9), 9)):
        at = content.index(values.tobytes()) - 8
        assert content[at] == code
        fault = refused("t.mat", content[:at] + kind.to_bytes(4, "little") + content[at + 4 :], label="y")
        assert "cannot be read as MATLAB" in fault


def test_cells_that_claim_more_than_memory_are_refused(tmp_path):
    words = np.array(["no", "yes"] * 2, dtype=object)
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.ones((4, 2)), "y": words})
    content = (tmp_path / "t.mat").read_bytes()
    sizes = np.array([1, 4], dtype=np.int32).tobytes()
    for claimed, word in (
        ([2**31 - 1, 2**31 - 1], "NPBENCH_MAX_BYTES"),
        ([1, 5], "cannot be read"),
        ([-1, 4], "cannot"),
    ):
        changed = content.replace(sizes, np.array(claimed, dtype=np.int32).tobytes())
        assert word in refused("t.mat", changed, label="y", positive="yes")


@pytest.mark.parametrize("save", [scipy.io.savemat, lambda path, arrays: np.savez(path, **arrays)])
def test_ambiguous_variables_must_be_named(save, tmp_path):
    path = tmp_path / ("t.mat" if save is scipy.io.savemat else "t.npz")
    save(path, {"train": X, "test": X + 1, "y": np.array([0, 1, 0, 1])})

    def check(words, **params):
        with pytest.raises(RequestError, match=words):
            load_dataset("file", path=path.name, **params)

    check("dataset.label has no value")
    check(r"dataset.features has no value.*test \(4 x 2\)", label="y")
    check("dataset.features variable 'tain'.*did you mean 'train'", label="y", features="tain")
    check("dataset.label variable '1'.*there are", label=1)
    assert load_dataset("file", path=path.name, label="y", features="test").X.tolist() == (X + 1).tolist()
    save(path, {"x": X.T, "y": np.array([0, 1, 0, 1])})
    check("x has 2 rows, .* 4 labels", label="y")


def test_objects_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return open, (str(tmp_path / "sprung"), "w")

    np.savez(tmp_path / "t.npz", X=X, y=np.array([Trap()], dtype=object))
    with pytest.raises(RequestError, match="'y' holds Python objects"):
        load_dataset("file", path="t.npz", label="y")
    assert not (tmp_path / "sprung").exists()


def test_arff_without_its_parser_and_matlab_files_of_version_7_3_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.externals._arff", None)
    monkeypatch.delattr("sklearn.externals._arff", raising=False)
    assert "has no parser for ARFF files: save it as CSV" in refused("t.arff", arff(X, WORDS), label="class")
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400)
    assert "version 7.3" in refused("t.mat", header, label="y")


def test_a_refused_file_leaves_no_records(tmp_path, monkeypatch, npbench):
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    asked = ["dataset=file", "dataset.label=class", "dataset.positive=yes", "solver=gen_linear", "repeats=1"]
    frame_of(X, WORDS).write_parquet(tmp_path / "t.parquet")
    written("cut.parquet", (tmp_path / "t.parquet").read_bytes()[:-20])
    for path, words in {"no.csv": "Unknown file", "cut.parquet": "cannot be read as Parquet"}.items():
        code, _, errors = npbench(*asked, f"dataset.path={path}")
        assert (code, words in errors) == (2, True)
        # Checks of the solver's settings are kept, and no data.
        assert [path.name for path in (tmp_path / "cache").iterdir()] == ["remembered"]
        assert not Path("results").exists()
