"""Data sets of molecules: pairs of proteins, compounds, sequences of RNA, counts of genes, spectra of peptides."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from npbench.errors import RequestError
from npbench_datasets import libsvm
from npbench_datasets.negative_binomial import stabilized
from npbench_datasets.ranges import between, refuse
from npbench_datasets.user_files import user_files

PAIR_COLUMNS, MISSING, MOST_MISSING = 162 + 1, -100.0, 0.25
LIBSVM_FORMAT = "lines in the format of LIBSVM, a label and number:value from 1 to {}"
LABEL, FIRST_FEATURE, PEPTIDE = 1, 5, 24  # columns of percolator's format
TUMOUR, NORMAL = range(1, 10), range(10, 20)  # TCGA's codes of sample types; from 20 on, controls


def load_ppi(path: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return features of 240249 pairs of yeast proteins and labels, +1 for those that interact.

    A row has 162 features and a class, with commas between them and -100 for a missing value. As in the paper, features
    that lack a quarter of their values or more are left out. Gaps of the others are filled from all rows: by the mode
    of whole numbers, otherwise by the mean.

    ``path`` is the folder that holds both files, by default ``ppi`` in a data folder.
    """
    from sklearn.impute import SimpleImputer

    names = ("dipsPosPair.feature", "dipsRandpairSub23w.feature")
    origin = "https://www.cs.cmu.edu/~qyj/papers_sulp/proteins05_pages/features.html"
    types = [pl.Float64] * PAIR_COLUMNS  # inferring them takes four times as long
    with user_files("ppi", names, path, origin, "163 numbers a row with commas between them") as files:
        parts = [pl.read_csv(file, has_header=False, schema_overrides=types).to_numpy() for file in files]
    X = np.vstack(parts)[:, :-1]
    X[X == MISSING] = np.nan
    X = X[:, np.isnan(X).mean(axis=0) < MOST_MISSING]
    whole = (np.isnan(X) | (np.round(X) == X)).all(axis=0)
    for columns, strategy in ((whole, "most_frequent"), (~whole, "mean")):
        if columns.any():
            X[:, columns] = SimpleImputer(strategy=strategy).fit_transform(X[:, columns])
    return X, np.repeat([1, -1], list(map(len, parts)))


def load_chemo(path: str | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Return 2142 x 1021 bits of fingerprints and labels, +1 for antagonists of the alpha1A adrenoceptor.

    The compounds are published as structures; Open Babel computes their FP2 fingerprints. The file has a line in the
    format of LIBSVM for each: the label, +1 or -1, and ``number:1`` for each bit that is set, from 1.

    ``path`` is the file, by default ``chemo/chemo.svm`` in a data folder.
    """
    origin = "the supplement of Jorissen, Gilson (2005), as FP2 fingerprints in the format of LIBSVM"
    with user_files("chemo", ["chemo.svm"], path, origin, LIBSVM_FORMAT.format(1021)) as files:
        return libsvm.read(*files, n_features=1021)


def load_cod_rna(path: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return 488565 x 8 features of pairs of sequences and labels, +1 for non-coding RNA.

    ``path`` is the folder that holds the three files, by default ``cod_rna`` in a data folder.
    """
    origin = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
    names = ("cod-rna", "cod-rna.t", "cod-rna.r")
    with user_files("cod_rna", names, path, origin, LIBSVM_FORMAT.format(8)) as files:
        X, y = libsvm.read(*files, n_features=8)
    return X.toarray(), y


def load_tcga(path: str | None = None, psi: float | None = 6.0) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return transformed read counts of genes in tissue samples and labels, +1 for a tumour; groups are patients.

    The table has a row for each gene, its name first, and a column for each sample, headed by a TCGA barcode such as
    ``TCGA-05-4244-01A``: the second and third part name the patient, the fourth begins with the type of the sample,
    01 to 09 for a tumour, 10 to 19 for normal tissue. Other samples are left out, as are counts of reads outside genes,
    whose names begin with ``__``. Barlaud et al. (2015) bound the errors on normal tissue, the minority.

    Parameters
    ----------
    path : str, optional
        The table, ``.parquet`` or tab-separated, possibly gzipped; by default ``tcga/counts.tsv`` in a data folder.
    psi : float, optional
        Dispersion, in ]0.1, 1e6[: counts become ``ln(count + psi / 2)``. The default suits the counts generated in the
        paper. None leaves the counts unchanged.
    """
    if psi is not None:
        refuse(between(0.1, 1e6, psi=psi))
    origin = "https://portal.gdc.cancer.gov or https://xena.ucsc.edu"
    form = "a table with tabs or in Parquet, names of genes in the first column and counts in the rest"
    with user_files("tcga", ["counts.tsv"], path, origin, form) as (file,):
        table = _gene_table(file)
    codes = [_sample_type(name, file) for name in table.columns[1:]]
    kept = [i for i, code in enumerate(codes) if code in TUMOUR or code in NORMAL]
    X = table[:, 1:].to_numpy().T[kept]
    if psi is not None and (X < 0).any():
        raise RequestError(f"{file} has negative numbers, expected counts: for logarithms, add dataset.psi=null.")
    y = [1 if codes[i] in TUMOUR else -1 for i in kept]
    patients = ["-".join(table.columns[1 + i].split("-")[:3]) for i in kept]
    return X if psi is None else stabilized(X, psi), np.array(y), {"groups": patients, "columns": table[:, 0].to_list()}


def _gene_table(file: Path) -> Any:
    if file.suffix == ".parquet":
        table = pl.read_parquet(file)
    else:
        _, *samples = pl.read_csv(file, separator="\t", n_rows=0).columns
        table = pl.read_csv(file, separator="\t", schema_overrides=dict.fromkeys(samples, pl.Float64))
    if table.width < 2:
        raise ValueError("it has only one column")
    return table.filter(~pl.nth(0).str.starts_with("__"))


def _sample_type(barcode: str, file: Path) -> int:
    parts = barcode.split("-")
    if len(parts) < 4 or not parts[3][:2].isdigit():
        raise RequestError(
            f"{file} has a column {barcode!r}, expected a TCGA barcode such as 'TCGA-05-4244-01A': after the names of "
            "the genes, each column must be a sample. For a table with a row for each sample, use dataset=file."
        )
    return int(parts[3][:2])


def load_proteomics(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return 19674 x 19 features of matches and labels, +1 for targets and -1 for decoys.

    The columns are SpecId, Label, ScanNr, ExpMass, CalcMass, the features lnrSp, ..., absdM, Peptide, and a column
    for each protein, so rows differ in length. Columns that identify a match are dropped; all features are kept,
    including enzInt, which is constant. The line below the header holds initial weights and is not a match.

    A spectrum has up to 9 matches with targets and up to 9 with decoys, so its rows can be on both sides of a
    split. Of the targets, 7141 match only random proteins that were added to the database as a check (named mimic):
    at least 72 % of the positives are false.
    """
    # Peptides may contain the character that starts a comment elsewhere.
    table = np.loadtxt(path, delimiter="\t", skiprows=2, usecols=(LABEL, *range(FIRST_FEATURE, PEPTIDE)), comments=None)
    return table[:, 1:], table[:, 0]
