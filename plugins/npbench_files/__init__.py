"""Data of the user: a file in a common format, or a data set of OpenML."""

from npbench import hookimpl
from npbench.contracts import Dataset


@hookimpl
def npbench_datasets() -> list[Dataset]:
    """Describe the data sets."""
    positive = "the label in dataset.positive; 1 if the labels are 0 and 1 or -1 and 1"
    return [
        Dataset(
            name="file",
            load="npbench_files.file:load_file",
            title="Your own file: CSV, TSV, Parquet, Arrow, SVMLight, ARFF, .mat or .npz",
            positive=positive,
            source="the path in dataset.path",
            licence="that of your file",
            citation="that of your file",
            named_by="path",
        ),
        Dataset(
            name="openml",
            load="npbench_files.openml:load_openml",
            title="A data set of OpenML, by its number",
            positive=positive,
            source="openml.org, data set dataset.id, through scikit-learn",
            licence="stated at openml.org",
            citation="Vanschoren, van Rijn, Bischl, Torgo (2013), OpenML: networked science in machine learning, "
            "SIGKDD Explorations 15(2), 49-60; and the one stated at openml.org",
            named_by="id",
        ),
    ]
