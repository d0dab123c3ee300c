"""Formats of files: tables, and those that hold a matrix."""

from npbench.data import table_files
from npbench.data.table_files import Format
from npbench_files.arff import read_arff
from npbench_files.matrices import read_mat, read_npz, read_svmlight

ARRAYS = ("label", "features")
FORMATS = {
    **table_files.FORMATS,
    "arff": Format("ARFF", (".arff",), read_arff),
    "svmlight": Format("SVMLight", (".svmlight", ".svm", ".libsvm"), read_svmlight, ("n_features",), is_table=False),
    "mat": Format("MATLAB", (".mat",), read_mat, ARRAYS, is_table=False),
    "npz": Format("NumPy", (".npz",), read_npz, ARRAYS, is_table=False),
}
