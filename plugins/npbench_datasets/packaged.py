"""Tables inside wheels with a name for each column: CSV files, and tables of R packages, pickled by pandas."""

import lzma
import pickle
from collections.abc import Callable, Collection
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

Loaded = tuple[np.ndarray, np.ndarray, dict[str, Any]]
Table = dict[str, np.ndarray]  # values by column

MAX_BYTES = 1 << 26  # of an unpacked pickle
ROW_NUMBERS = "rownames"  # of tables of R
MONTHS = ("Jan", "Feb", "Mar", "Apr")  # of the taxi trips


class _Kept:
    """Stand-in for classes and functions of pandas: keeps what it is called with and runs nothing."""

    def __init__(self, *args: Any) -> None:
        self.args = args


GLOBALS = {
    ("builtins", "slice"): slice,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): _Kept,
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: np.empty(0, np.int8),  # its state follows
    ("numpy.core.numeric", "_frombuffer"): lambda b, dtype, shape, order: np.frombuffer(b, dtype).reshape(
        shape, order=order
    ),
}


class _TableUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return one of ``GLOBALS`` or the stand-in, so that a pickle cannot run code."""
        if module.startswith("pandas."):
            return _Kept
        if (module, name) not in GLOBALS:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a table")
        return GLOBALS[module, name]


def unpickled(path: Path) -> Table:
    """Return the columns of a data frame of pandas 2 in an xz-compressed pickle, without pandas."""
    unpacking = lzma.LZMADecompressor()
    content = unpacking.decompress(path.read_bytes(), MAX_BYTES)
    if not unpacking.eof:
        raise pickle.UnpicklingError(f"more than {MAX_BYTES} bytes, or an incomplete file")
    blocks, (columns, _) = _TableUnpickler(BytesIO(content)).load()._mgr.args
    names = columns.args[1]["data"]
    found = {name: values for block in blocks for name, values in zip(names[block.args[1]], block.args[0], strict=True)}
    return {str(name): found[name] for name in names if name != ROW_NUMBERS}


def from_csv(path: Path) -> Table:
    """Return the columns of a CSV file, possibly compressed by gzip."""
    return {column.name: column.to_numpy() for column in pl.read_csv(path)}


def split(table: Table, label: str, positive: Any, left_out: Collection[str] = (), **more: np.ndarray) -> Loaded:
    """Return features and labels of a table; words become codes in their alphabetical order."""
    features = {name: values for name, values in table.items() if name not in {label, *left_out}}
    X, words = np.empty((len(table[label]), len(features))), {}
    for place, values in enumerate(features.values()):
        known = np.array([isinstance(value, str) for value in values])
        if known.any():
            distinct, codes = np.unique(values[known].astype(str), return_inverse=True)
            words[place], X[:, place], X[known, place] = distinct.tolist(), np.nan, codes
        else:
            X[:, place] = values
    y = np.where(table[label] == positive, 1, -1)
    return X, y, {"categorical": words, "columns": list(features), **more}


def loader(label: str, positive: Any, read: Callable[[Path], Table] = unpickled) -> Callable[[Path], Loaded]:
    """Return a loader of a table in which all columns but the label are features."""
    return lambda path: split(read(path), label, positive)


load_caravan = loader("Purchase", "Yes", from_csv)
load_credit_data = loader("Status", "bad")
load_lending_club = loader("Class", "bad")
load_shuttle = loader("anomaly", 1, from_csv)


def load_email(path: Path) -> Loaded:
    """Return features of e-mails with their times of arrival, and labels, +1 for spam."""
    table = unpickled(path)
    arrival = np.array([moment.removesuffix("Z") for moment in table["time"]], dtype="datetime64[s]")
    return split(table, "spam", 1, ["time"], time=arrival.astype(np.int64))


def load_flchain(path: Path) -> Loaded:
    """Return blood tests with the years of the samples, and labels, +1 for death within five years.

    Leaves out 195 persons who were seen alive for a shorter time, and what was known only at the end.
    """
    table, horizon = unpickled(path), 5 * 365.25
    table["died"] = (table["death"] == 1) & (table["futime"] <= horizon)
    kept = table["died"] | (table["futime"] >= horizon)
    table = {name: values[kept] for name, values in table.items()}
    return split(table, "died", True, ["death", "futime", "chapter", "sample.yr"], time=table["sample.yr"])


def load_nafld(path: Path) -> Loaded:
    """Return features of persons and labels, +1 for death during follow-up.

    A person is a patient with a fatty liver (``nafld`` is 1), or one of up to four controls of the same age and sex.
    """
    table = unpickled(path)
    table["nafld"] = (table["id"] == table["case.id"]).astype(float)
    return split(table, "status", 1, ["id", "case.id", "futime"])


def load_nass(path: Path) -> Loaded:
    """Return features of occupants of cars with the years of their crashes, and labels, +1 for death.

    Groups are crashes. The severity of the injury and the weight in the survey, which depends on it, reveal the label.
    """
    table = unpickled(path)
    crash = [f"{year}:{case.rpartition(':')[0]}" for year, case in zip(table["yearacc"], table["caseid"], strict=True)]
    left_out = ["caseid", "injSeverity", "weight", "yearacc"]
    return split(table, "dead", "dead", left_out, time=table["yearacc"], groups=np.array(crash))


def load_taxi(path: Path) -> Loaded:
    """Return features of taxi trips with their months, and labels, +1 for no tip."""
    table = unpickled(path)
    return split(table, "tip", "no", ["month"], time=np.array([MONTHS.index(month) for month in table["month"]]))
