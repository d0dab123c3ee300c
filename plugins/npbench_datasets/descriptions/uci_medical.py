"""Data sets of the UCI repository with patients in their rows."""

from npbench.contracts import DataFile, Dataset
from npbench_datasets.descriptions import addresses, keel

UCI_MEDICAL = (
    Dataset(
        name="breast_w",
        load="npbench_datasets.uci:load_breast_w",
        title="Wisconsin breast cancer by nine grades, the original set",
        positive="class 4, malignant, the minority, with which Table 2 of Bach et al. (2006) agrees; negative: "
        "class 2, benign",
        source="UCI data set 15; 16 of 699 rows, incomplete, and the sample number are left out; 234 duplicate rows",
        licence="CC BY 4.0",
        citation="Wolberg (1990), Breast Cancer Wisconsin (Original), UCI, doi:10.24432/C5HP4Z",
        files=(
            DataFile(
                path="breast_w/breast-cancer-wisconsin.data",
                sha256="402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
                size=19889,
                url=f"{addresses.UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
            ),
        ),
        mirror=keel.MIRRORS["breast_w"],
        n_samples=683,
        n_features=9,
        n_positive=239,
    ),
    Dataset(
        name="dermatology",
        load="npbench_datasets.uci:load_dermatology",
        title="Diseases of the skin: psoriasis against five others",
        positive="class 1, psoriasis, the most common of six, our choice (Bach et al. 2006 name none); negative: "
        "classes 2 to 6",
        source="UCI data set 33; 8 of 366 rows, without an age, are left out",
        licence="CC BY 4.0",
        citation="Ilter, Guvenir (1998), Dermatology, UCI, doi:10.24432/C5FK5P",
        files=(
            DataFile(
                path="dermatology/dermatology.data",
                sha256="455eba77f72cd087ce54a5a266c514c5f34e85000c8689ad09e796d68ad45742",
                size=25964,
                url=f"{addresses.UCI}/dermatology/dermatology.data",
            ),
        ),
        mirror=keel.MIRRORS["dermatology"],
        n_samples=358,
        n_features=34,
        n_positive=111,
    ),
    Dataset(
        name="liver",
        load="npbench_datasets.uci:load_liver",
        title="Blood tests and drinking: the selector of the BUPA liver disorders",
        positive="selector 1, the minority, with which Table 2 of Bach et al. (2006) agrees; negative: selector 2",
        source="UCI data set 60; the label marks a train and a test part, not a diagnosis, but it is what makes the "
        "paper's 6 features; 4 duplicate rows",
        licence="CC BY 4.0",
        citation="Forsyth (1990), Liver Disorders, UCI, doi:10.24432/C54G67",
        files=(
            DataFile(
                path="liver_bupa/bupa.data",
                sha256="a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
                size=7297,
                url=f"{addresses.UCI}/liver-disorders/bupa.data",
            ),
        ),
        mirror=keel.MIRRORS["liver"],
        n_samples=345,
        n_features=6,
        n_positive=145,
    ),
    Dataset(
        name="pima",
        load="npbench_datasets.uci:load_pima",
        title="Diabetes among Pima women",
        positive="class 0, no diabetes, the majority (Gasso et al. 2011; Table 2 of Bach et al. 2006 agrees with the "
        "other); negative: class 1, diabetes",
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
        mirror=keel.MIRRORS["pima"],
        n_samples=768,
        n_features=8,
        n_positive=500,
    ),
)
