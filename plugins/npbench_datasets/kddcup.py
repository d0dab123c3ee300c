"""Data sets of two KDD Cups: candidate regions in medical images, several for each patient."""

from typing import Any

import numpy as np

from npbench.errors import RequestError
from npbench_datasets.user_files import user_files

STUDY_COLUMN = 4


def load_kddcup08(path: str | None = None) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return 102294 x 117 features of regions in mammograms and labels, +1 for a malignant mass; groups are patients.

    ``Features.txt`` has a row for each region and a column for each feature. ``Info.txt`` has 11 columns in the same
    rows, of which the first, the label, and the fifth, the study or patient, are used. Both separate columns by blanks
    and are part of the training data. The patient is not a feature, since its number reveals the label.

    ``path`` is the folder that holds both files, by default ``kddcup08`` in a data folder.
    """
    names, origin = ("Features.txt", "Info.txt"), "https://www.kdd.org/kdd-cup/view/kdd-cup-2008"
    form = "numbers with blanks between them, 117 a row and 11 a row"
    with user_files("kddcup08", names, path, origin, form) as (features, info):
        X, about = np.loadtxt(features, ndmin=2), np.loadtxt(info, usecols=(0, STUDY_COLUMN), ndmin=2)
    if len(X) != len(about):
        raise RequestError(f"{features} has {len(X)} rows and {info} {len(about)}: expected one for each region.")
    return X, about[:, 0], {"groups": about[:, 1]}


def load_kddcup06(path: str | None = None) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return 4429 x 116 features of regions in CT images and labels, +1 for an embolism; groups are patients.

    Both files have a row for each region, with blanks between patient, label (0: no embolism; above 0: its number) and
    features; the rows of ``KDDPETrain.txt`` come first. ``KDDPETest.txt`` came with -1 for unknown labels: replace them
    with the labels published later. Its patients 3111 and 3126 are 3103 and 3115 of the other file.

    ``path`` is the folder that holds both files, by default ``kddcup06`` in a data folder.
    """
    names, origin = ("KDDPETrain.txt", "KDDPETest.txt"), "https://kdd.org/kdd-cup/view/kdd-cup-2006/Data"
    with user_files("kddcup06", names, path, origin, "118 numbers a row with blanks between them") as files:
        table = np.vstack([np.loadtxt(file, ndmin=2) for file in files])
    patients, labels, X = table[:, 0], table[:, 1], table[:, 2:]
    if (labels < 0).any():
        rows = f"{np.sum(labels < 0)} rows of {' and '.join(map(str, files))}"
        raise RequestError(f"{rows} have the label -1, unknown: write the labels published later into column 2.")
    same_person = {3111: 3103, 3126: 3115}
    groups = [same_person.get(int(patient), int(patient)) for patient in patients]
    return X, np.where(labels > 0, 1, -1), {"groups": groups}
