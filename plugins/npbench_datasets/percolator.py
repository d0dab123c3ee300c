"""Peptide-spectrum matches in percolator's tab-separated format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LABEL, FIRST_FEATURE, PEPTIDE = 1, 5, 24


def load_proteomics(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 19674 x 19 features of matches and labels, +1 for targets and -1 for decoys.

    The columns are SpecId, Label, ScanNr, ExpMass, CalcMass, the features lnrSp, ..., absdM, Peptide, and a column
    for each protein, so that rows differ in length. Columns that identify a match are dropped; all features are kept,
    including enzInt, which is constant. The line below the header holds initial weights and is not a match.

    A spectrum has up to 9 matches with targets and up to 9 with decoys, so that its rows can be on both sides of a
    split. Of the targets, 7141 match only random proteins that were added to the database as a check (named mimic):
    at least 72 % of the positives are false.
    """
    # Peptides may contain the character that starts a comment elsewhere.
    table = np.loadtxt(path, delimiter="\t", skiprows=2, usecols=(LABEL, *range(FIRST_FEATURE, PEPTIDE)), comments=None)
    return table[:, 1:], table[:, 0]
