"""Data sets of the UCI repository: text tables with a column of labels."""

import subprocess
from collections.abc import Callable, Collection
from importlib import resources
from io import StringIO
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import polars as pl

from npbench.errors import RequestError
from npbench_datasets.packaged import Loaded, split
from npbench_datasets.ranges import integer, refuse

ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def loader(
    *positive: object, label: int = -1, drop: Collection[int] = (), negative: Collection[object] = (), mirror: str = ""
) -> Callable[[Path], tuple[np.ndarray, np.ndarray]]:
    """Return a loader of complete rows.

    ``label`` and ``drop`` are columns that are not features. With ``negative``, rows of other labels are left out. Rows
    of a ``mirror`` are brought into the order of the official file.
    """

    def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
        table = complete(path)
        if negative:
            table = table.filter(pl.nth(label).is_in([*positive, *negative]))
        X = table.drop(table.columns[place] for place in (label, *drop)).to_numpy()
        y = np.where(table[:, label].is_in(list(positive)), 1, -1)
        return in_order(X, y, mirror) if mirror else (X, y)

    return load


def in_order(X: np.ndarray, y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a mirror in the order of the official file."""
    with resources.files("npbench_datasets").joinpath("orders.npz").open("rb") as stream, np.load(stream) as orders:
        order = orders[name]
    return X[order], y[order]


load_breast_w = loader(4, drop=[0])  # 683 x 9; 16 of 699 rows are incomplete, the first column numbers the samples
load_dermatology = loader(1)  # 358 x 34; 8 of 366 rows lack an age
load_ionosphere = loader("g", drop=[1])  # 351 x 33; +1 for a good return, the second column is always 0
# 345 x 6. The label was made to divide rows into a training and a test part; its use is customary.
load_liver = loader(1)
load_pima = load_spambase = loader(0)
load_magic = loader("g")  # 19020 x 10; +1 for gamma rays


def letters(label: int, mirror: str = "") -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Return a loader of 20000 x 16 features and labels, +1 for one of the letters A to Z."""

    def load(path: Path, positive: str = "Q") -> tuple[np.ndarray, np.ndarray]:
        if positive not in list(ascii_uppercase):
            raise RequestError(f"dataset.positive is {positive!r}: expected a capital letter, A to Z.")
        return loader(positive, label=label, mirror=mirror)(path)

    return load


load_letter = letters(label=0)


def load_vehicle(*paths: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 416 x 18 features of silhouettes and labels, +1 for van and -1 for saab; bus and opel are left out."""
    # Some lines end in a blank, which starts a twentieth column.
    tables = (pl.read_csv(path, has_header=False, separator=" ", columns=list(range(19))) for path in paths)
    table = pl.concat(tables).filter(pl.nth(-1).is_in(["van", "saab"]))
    return table[:, :-1].to_numpy(), np.where(table[:, -1] == "van", 1, -1)


def load_pageblocks(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 5473 x 10 features and labels, +1 for text (class 1)."""
    try:  # a ``.Z`` file of Unix compress, which gzip reads and Python does not
        run = subprocess.run(["gzip", "-dc"], input=path.read_bytes(), capture_output=True, check=True)
    except FileNotFoundError as error:
        raise RequestError(f"{path} needs the program gzip, which is not installed: install it.") from error
    table = np.loadtxt(run.stdout.decode("ascii").splitlines())
    return table[:, :-1], np.where(table[:, -1] == 1, 1, -1)


def load_covertype(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 232350 x 54 features and labels, +1 for spruce and fir (class 1), -1 for krummholz (class 7)."""
    kept = _covertype(path).filter(pl.nth(-1).is_in([1, 7]))
    return kept[:, :-1].to_numpy(), np.where(kept[:, -1] == 1, 1, -1)


def load_covertype_pine(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 581012 x 54 features and labels, +1 for lodgepole pine (class 2)."""
    table = _covertype(path)
    return table[:, :-1].to_numpy(), np.where(table[:, -1] == 2, 1, -1)


def _covertype(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, has_header=False, schema_overrides=[pl.Int16] * 55)


def load_adult(train: Path, test: Path) -> Loaded:
    """Return 48842 x 13 features and labels, +1 for an income of up to 50,000 dollars, the training part first.

    ``education`` is left out, since ``education-num`` holds it in numbers; Bach et al. (2006) do not name the column
    that they left out. Words are coded by alphabetical rank within their column, from 0, ``?`` like any other.
    """
    # The test part starts with an extra line, and its labels end in a dot; both parts end in an empty line.
    table = pl.concat(
        pl.read_csv(path, has_header=False, new_columns=ADULT_COLUMNS, skip_rows=skip, infer_schema=False)
        for path, skip in ((train, 0), (test, 1))
    )
    table = table.drop_nulls().select(pl.all().str.strip_chars(" ."))
    columns = table.with_columns(pl.col(ADULT_NUMBERS).cast(pl.Float64))
    return split({column.name: column.to_numpy() for column in columns}, "income", "<=50K", ["education"])


def load_adult_sample(train: Path, test: Path, n_samples: int = 2000, seed: int = 0) -> Loaded:
    """Return rows of :func:`load_adult`, drawn without replacement, whatever their class."""
    refuse(integer(1, n_samples=n_samples) + integer(0, seed=seed))
    X, y, more = load_adult(train, test)
    if n_samples > len(y):
        raise RequestError(f"dataset.n_samples is {n_samples}, but there are {len(y)} rows: ask for fewer.")
    rows = np.sort(np.random.default_rng(seed).choice(len(y), n_samples, replace=False))
    return X[rows], y[rows], more


def complete(path: Path) -> pl.DataFrame:
    """Return the rows of a table without a question mark; lines that begin with @ are its header."""
    text = path.read_text(encoding="ascii").replace(" ", "")
    rows = pl.read_csv(StringIO(text), has_header=False, comment_prefix="@", null_values="?", infer_schema_length=None)
    return rows.drop_nulls()
