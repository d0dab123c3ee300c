"""Shipped data sets.

Which class is +1 follows the paper that a set is here for: the majority in those of Gasso et al. (2011), section 5.1;
the minority, with the label +1 in the IDA repository, in those of Davenport et al. (2006), section 4.
"""

from npbench import hookimpl
from npbench.contracts import DataFile, Dataset, Original

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_COPIES = "https://raw.githubusercontent.com/lminvielle/mom-kde/ce3e2c3cfccf7bb5441b6dfdb6e725da7d787603/datasets"
_IDA = "or, where present, ida/benchmarks.mat with the 100 divisions of the IDA repository"


def _ida(name: str) -> Original:
    return Original(
        load=f"npbench_datasets.ida:published_{name}",
        files=(
            DataFile(
                path="ida/benchmarks.mat",
                sha256="47c19e4bc4716edc4077cfa5ea61edf4d02af4ec51a0ecfe035626ae8b561c75",
                size=8912086,
                url="https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets/raw/master/benchmarks.mat",
            ),
        ),
    )


@hookimpl
def npbench_datasets() -> list[Dataset]:
    """Describe the data sets."""
    return [
        Dataset(
            name="banana",
            load="npbench_datasets.ida:load_banana",
            title="Two banana-shaped classes in the plane, made for the IDA repository",
            positive="label +1, the minority, as in the IDA repository (Davenport et al. 2006); negative: label -1",
            source=f"a copy of the first of its divisions, {_IDA}",
            licence="none stated by the IDA repository; its copies are under MIT and BSD-3",
            citation="Rätsch, Onoda, Müller (2001), Soft margins for AdaBoost, Machine Learning 42(3), 287-320",
            files=(
                DataFile(
                    path="ida_banana_split1/banana_train_data_1.asc",
                    sha256="d9ae475e6aa77ef0faa1fdad1d9f476756cb466445a3e65c760988d8a45c1753",
                    size=13200,
                    url=f"{_COPIES}/banana/banana_train_data_1.asc",
                ),
                DataFile(
                    path="ida_banana_split1/banana_train_labels_1.asc",
                    sha256="d009b24035b8af68f2683a27b9e14abe20c6b0984d3647f5168ec0d5843d2f65",
                    size=6800,
                    url=f"{_COPIES}/banana/banana_train_labels_1.asc",
                ),
                DataFile(
                    path="ida_banana_split1/banana_test_data_1.asc",
                    sha256="e9979e1ffeb52f3a4c541eca4f2967ab2dee22e768e775229d954ee725acfdf5",
                    size=161700,
                    url=f"{_COPIES}/banana/banana_test_data_1.asc",
                ),
                DataFile(
                    path="ida_banana_split1/banana_test_labels_1.asc",
                    sha256="979ec19fc7f08a2e91f6f6d449362f83b07031c0d44a0e4c640b03ee73659e77",
                    size=83300,
                    url=f"{_COPIES}/banana/banana_test_labels_1.asc",
                ),
            ),
            original=_ida("banana"),
            n_samples=5300,
            n_features=2,
            n_positive=2376,
            n_train=400,
        ),
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
            name="breast_cancer",
            load="npbench_datasets.ida:load_breast_cancer",
            title="Recurrence of breast cancer, Ljubljana",
            positive="recurrence, the minority, as in the IDA repository (Davenport et al. 2006); negative: none",
            source=f"UCI data set 14, words coded by us, {_IDA}",
            licence="CC BY 4.0",
            citation="Zwitter, Soklic (1988), Breast Cancer, UCI, doi:10.24432/C51P4M",
            files=(
                DataFile(
                    path="ida_src_breast_cancer/breast-cancer.data",
                    sha256="ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65",
                    size=18654,
                    url=f"{_UCI}/breast-cancer/breast-cancer.data",
                ),
            ),
            original=_ida("breast_cancer"),
            n_samples=277,
            n_features=9,
            n_positive=81,
            n_train=200,
        ),
        Dataset(
            name="covertype",
            load="npbench_datasets.uci:load_covertype",
            title="Forest cover: spruce and fir against krummholz",
            positive="class 1, spruce and fir, the majority (Gasso et al. 2011); negative: class 7, krummholz; others "
            "are left out",
            source="UCI data set 31",
            licence="CC BY 4.0",
            citation="Blackard (1998), Covertype, UCI, doi:10.24432/C50K5N",
            files=(
                DataFile(
                    path="covertype/covtype.data.gz",
                    sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                    size=11240707,
                    url=f"{_UCI}/covtype/covtype.data.gz",
                ),
            ),
            n_samples=232350,
            n_features=54,
            n_positive=211840,
        ),
        Dataset(
            name="covertype_like",
            load="npbench_datasets.covertype_like:load_covertype_like",
            title="STAND-IN for covertype, drawn: same size, class counts and kinds of features",
            positive="the class shifted by separation, the majority, as in covertype",
            source="drawn by npbench; parameters n_pos, n_neg, separation, seed",
            licence="none needed",
            citation="sizes after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Table I",
        ),
        Dataset(
            name="heart",
            load="npbench_datasets.ida:load_heart",
            title="Heart disease, Statlog",
            positive="disease, the minority, as in the IDA repository (Davenport et al. 2006); negative: none",
            source=f"UCI data set 145, {_IDA}",
            licence="CC BY 4.0",
            citation="Statlog (Heart), UCI, doi:10.24432/C57303",
            files=(
                DataFile(
                    path="ida_src_heart/heart.dat",
                    sha256="f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
                    size=16461,
                    url=f"{_UCI}/statlog/heart/heart.dat",
                ),
            ),
            original=_ida("heart"),
            n_samples=270,
            n_features=13,
            n_positive=120,
            n_train=170,
        ),
        Dataset(
            name="magic",
            load="npbench_datasets.uci:load_magic",
            title="Showers of gamma rays and of hadrons in the MAGIC telescope",
            positive="class g, gamma, the majority (Gasso et al. 2011); negative: class h, hadron",
            source="UCI data set 159",
            licence="CC BY 4.0",
            citation="Bock (2004), MAGIC Gamma Telescope, UCI, doi:10.24432/C52C8B",
            files=(
                DataFile(
                    path="magic04/magic04.data",
                    sha256="e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
                    size=1477391,
                    url=f"{_UCI}/magic/magic04.data",
                ),
            ),
            n_samples=19020,
            n_features=10,
            n_positive=12332,
        ),
        Dataset(
            name="pageblocks",
            load="npbench_datasets.uci:load_pageblocks",
            title="Blocks of a page layout: text or not",
            positive="class 1, text, the majority (Gasso et al. 2011); negative: classes 2 to 5, lines and pictures",
            source="UCI data set 78, a .Z file: the program gzip unpacks it",
            licence="CC BY 4.0",
            citation="Malerba (1995), Page Blocks Classification, UCI, doi:10.24432/C5J590",
            files=(
                DataFile(
                    path="pageblocks/page-blocks.data.Z",
                    sha256="399ece75ff0f97cfb8ae536448448a9e7d1836b63980690284cb2fc3c02b1dc6",
                    size=104579,
                    url=f"{_UCI}/page-blocks/page-blocks.data.Z",
                ),
            ),
            n_samples=5473,
            n_features=10,
            n_positive=4913,
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
            name="proteomics",
            load="npbench_datasets.percolator:load_proteomics",
            title="Peptide-spectrum matches, yeast: STAND-IN for the larger set of Gasso et al., another run",
            positive="targets, most of them false (Gasso et al. 2011); negative: decoys",
            source="percolator's example data; matches of one spectrum can be on both sides of a split",
            licence="Apache-2.0 (percolator)",
            citation="Käll, Canterbury, Weston, Noble, MacCoss (2007), Nature Methods 4, 923-925",
            files=(
                DataFile(
                    path="percolator_yeast/percolatorTab",
                    sha256="f990978a603ef85bfd7cb77195e2cfad07a504624598720f80ac6c290538f709",
                    size=3869097,
                    url="https://raw.githubusercontent.com/percolator/percolator/"
                    "834544f37e72639a1a94622267e45774ac5dcedf/data/percolator/tab/percolatorTab",
                ),
            ),
            n_samples=19674,
            n_features=19,
            n_positive=9852,
        ),
        Dataset(
            name="qvalue_mixture",
            load="npbench_datasets.qvalue:load_qvalue_mixture",
            title="Gaussian positives, a known share of which are false",
            positive="around a mean at distance separation, the false ones like negatives; negative: around 0",
            source="drawn by npbench; parameters n_pos, n_neg, n_features, share_false, separation, seed",
            licence="none needed",
            citation="after the target-decoy model of Elias, Gygi (2007), Nature Methods 4(3), 207-214",
        ),
        Dataset(
            name="rcv1",
            load="npbench_datasets.library:load_rcv1",
            title="Reuters news by words, RCV1-v2",
            positive="all but category ECAT, the majority (Gasso et al. 2011); negative: ECAT, economics",
            source="scikit-learn, sklearn.datasets.fetch_rcv1; TF/IDF of the archive, not recomputed as in the paper "
            "(which has 47152 features)",
            licence="term vectors, given out for research with leave from Reuters",
            citation="Lewis, Yang, Rose, Li (2004), RCV1: A new benchmark collection for text categorization research, "
            "JMLR 5, 361-397",
            n_samples=804414,
            n_features=47236,
            n_positive=684494,
            test_rows=(0, 23149),
        ),
        Dataset(
            name="rcv1_like",
            load="npbench_datasets.rcv1_like:load_rcv1_like",
            title="STAND-IN for rcv1, drawn: same size, density and class counts",
            positive="documents of words that lean to it, the majority, as in rcv1",
            source="drawn by npbench; parameters n_pos, n_neg, n_features, density, separation, seed",
            licence="none needed",
            citation="sizes after Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3), Table I",
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
        Dataset(
            name="thyroid",
            load="npbench_datasets.ida:load_thyroid",
            title="Thyroids that work too much or too little, by five laboratory tests",
            positive="classes 2 and 3, not normal, the minority, as in the IDA repository (Davenport et al. 2006); "
            "negative: class 1, normal",
            source=f"UCI data set 102, new-thyroid, {_IDA}",
            licence="CC BY 4.0",
            citation="Quinlan (1986), Thyroid Disease, UCI, doi:10.24432/C5D010",
            files=(
                DataFile(
                    path="ida_src_thyroid/new-thyroid.data",
                    sha256="0760039b928ecba5170f377b8fd96caaf55ed26f9861511c52f81395a9d8227a",
                    size=4844,
                    url=f"{_UCI}/thyroid-disease/new-thyroid.data",
                ),
            ),
            original=_ida("thyroid"),
            n_samples=215,
            n_features=5,
            n_positive=65,
            n_train=140,
        ),
    ]


@hookimpl
def npbench_config_packages() -> list[str]:
    """Name the package with conf/dataset/*.yaml."""
    return ["npbench_datasets.conf"]
