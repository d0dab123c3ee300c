"""Data sets that scikit-learn carries or fetches."""

from npbench.contracts import Dataset

LIBRARY = (
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
        name="rcv1",
        load="npbench_datasets.library:load_rcv1",
        title="Reuters news by words, RCV1-v2",
        positive="all except category ECAT, the majority (Gasso et al. 2011); negative: ECAT, economics",
        source="scikit-learn, sklearn.datasets.fetch_rcv1; TF/IDF of the archive, not recomputed as in the paper "
        "(which has 47152 features)",
        licence="term vectors, distributed for research with permission of Reuters",
        citation="Lewis, Yang, Rose, Li (2004), RCV1: A new benchmark collection for text categorization research, "
        "JMLR 5, 361-397",
        n_samples=804414,
        n_features=47236,
        n_positive=684494,
        test_rows=(0, 23149),
    ),
)
