"""Data sets of the UCI repository."""

from npbench.contracts import DataFile, Dataset

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"

UCI = (
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
                url="https://raw.githubusercontent.com/mikeizbicki/datasets/master/csv/uci/pima-indians-diabetes.data",
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
)
