"""Shipped data sets.

Which class is +1 follows Gasso et al. (2011), section 5.1: the majority class.
"""

from npbench import hookimpl
from npbench.contracts import DataFile, Dataset

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@hookimpl
def npbench_datasets() -> list[Dataset]:
    """Describe the data sets."""
    return [
        Dataset(
            name="breast",
            load="npbench_datasets.library:load_breast",
            title="Wisconsin diagnostic breast cancer",
            positive="benign, the majority (Gasso et al. 2011); negative: malignant",
            source="scikit-learn, sklearn.datasets.load_breast_cancer (UCI data set 17)",
            licence="CC BY 4.0",
            citation="Wolberg, Mangasarian, Street, Street (1993), Breast Cancer Wisconsin (Diagnostic), UCI, "
            "doi:10.24432/C5DW2B",
            n_samples=569,
            n_features=30,
            n_positive=357,
        ),
        Dataset(
            name="pima",
            load="npbench_datasets.uci:load_pima",
            title="Diabetes among Pima women",
            positive="class 0, no diabetes, the majority (Gasso et al. 2011); negative: class 1, diabetes",
            source="a copy of the UCI file, which UCI no longer serves; zeros stand for missing in several columns",
            licence="listed as public by OpenML (data set 37)",
            citation="Smith, Everhart, Dickson, Knowler, Johannes (1988), Using the ADAP learning algorithm to "
            "forecast the onset of diabetes mellitus, Proc. Symp. Computer Applications and Medical Care, 261-265",
            files=(
                DataFile(
                    path="pima/pima-indians-diabetes.data",
                    sha256="06f5b7c2cd7bca686fda4f92eab5f61e7ff6426a9acefa2e3dda04fc54293cf5",
                    size=23279,
                    url="https://raw.githubusercontent.com/mikeizbicki/datasets/master/csv/uci/"
                    "pima-indians-diabetes.data",
                ),
            ),
            n_samples=768,
            n_features=8,
            n_positive=500,
        ),
        Dataset(
            name="spambase",
            load="npbench_datasets.uci:load_spambase",
            title="Spam e-mail by word frequencies",
            positive="class 0, not spam, the majority (Gasso et al. 2011); negative: class 1, spam",
            source="UCI data set 94",
            licence="CC BY 4.0",
            citation="Hopkins, Reeber, Forman, Suermondt (1999), Spambase, UCI, doi:10.24432/C53G6X",
            files=(
                DataFile(
                    path="spambase/spambase.data",
                    sha256="b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
                    size=702942,
                    url=f"{_UCI}/spambase/spambase.data",
                ),
            ),
            n_samples=4601,
            n_features=57,
            n_positive=2788,
        ),
        Dataset(
            name="synthetic",
            load="npbench_datasets.gaussians:load_synthetic",
            title="Two Gaussians in the plane",
            positive="the Gaussian around (1.5, 1.5), our choice; negative: the one around the origin",
            source="drawn by npbench; parameters n_pos, n_neg, seed",
            licence="none needed",
            citation="after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), section 5.1 and Fig. 2",
        ),
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/dataset/*.yaml."""
    return ["npbench_datasets.conf"]
