"""Data sets that scikit-learn ships or fetches."""

from __future__ import annotations

import warnings
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npbench.data.sources import answering_in_time
from npbench.errors import RequestError

if TYPE_CHECKING:
    from scipy import sparse

# Official files and their numbers at figshare.
RCV1_FILES = {
    "lyrl2004_vectors_train.dat.gz": 5976057,
    "lyrl2004_vectors_test_pt0.dat.gz": 5976069,
    "lyrl2004_vectors_test_pt1.dat.gz": 5976066,
    "lyrl2004_vectors_test_pt2.dat.gz": 5976063,
    "lyrl2004_vectors_test_pt3.dat.gz": 5976060,
    "rcv1v2.topics.qrels.gz": 5976048,
}


def load_breast() -> tuple[np.ndarray, np.ndarray]:
    """Return 569 x 30 features of cell nuclei and labels, +1 for benign."""
    path = Path(str(distribution("scikit-learn").locate_file("sklearn/datasets/data/breast_cancer.csv")))
    if path.is_file():  # importing sklearn.datasets takes a second or more
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, target = table[:, :-1], table[:, -1]
    else:
        from sklearn.datasets import load_breast_cancer

        X, target = load_breast_cancer(return_X_y=True)
    return X, np.where(target == 1, 1, -1)  # scikit-learn codes benign as 1


def load_rcv1() -> tuple[sparse.csr_array, np.ndarray]:
    """Return 804414 x 47236 features of news and labels, -1 for category ECAT and +1 for all others.

    scikit-learn downloads and checks the files once and keeps the result in its own data folder. Rows are in the
    official order, the 23149 documents of the training part first. Their TF/IDF weights come from that part and are
    divided by the norm of the row, so they cannot be recomputed from another part.
    """
    from sklearn.datasets import fetch_rcv1, get_data_home

    try:
        with answering_in_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a retry; a final failure is reported below
            news = fetch_rcv1(n_retries=1)
    except OSError as error:
        folder = Path(get_data_home()) / "RCV1"
        files = ", ".join(f"{name} (.../files/{number})" for name, number in RCV1_FILES.items())
        raise RequestError(
            f"RCV1 is not in scikit-learn's data folder, {folder}, and could not be downloaded from "
            f"https://ndownloader.figshare.com/files/...: {error}. Save these files, 656 MB, there: {files}. Or use "
            "the stand-in, dataset=rcv1_like."
        ) from error
    is_ecat = news.target[:, list(news.target_names).index("ECAT")].toarray().ravel()
    return news.data, np.where(is_ecat > 0, -1, 1)
