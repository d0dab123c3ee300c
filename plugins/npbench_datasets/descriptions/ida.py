"""Data sets of the IDA benchmark repository."""

from npbench.contracts import DataFile, Dataset, Original
from npbench_datasets.descriptions import addresses, keel

_COPIES = "https://raw.githubusercontent.com/lminvielle/mom-kde/ce3e2c3cfccf7bb5441b6dfdb6e725da7d787603/datasets"
_IDA = "or, if present, ida/benchmarks.mat with the 100 divisions of the IDA repository"


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


IDA = (
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
        name="breast_cancer",
        load="npbench_datasets.ida:load_breast_cancer",
        title="Recurrence of breast cancer, Ljubljana",
        positive="recurrence, the minority, as in the IDA repository (Davenport et al. 2006); negative: no recurrence",
        source=f"UCI data set 14, words coded by us, {_IDA}",
        licence="CC BY 4.0",
        citation="Zwitter, Soklic (1988), Breast Cancer, UCI, doi:10.24432/C51P4M",
        files=(
            DataFile(
                path="ida_src_breast_cancer/breast-cancer.data",
                sha256="ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65",
                size=18654,
                url=f"{addresses.UCI}/breast-cancer/breast-cancer.data",
            ),
        ),
        original=_ida("breast_cancer"),
        mirror=keel.MIRRORS["breast_cancer"],
        n_samples=277,
        n_features=9,
        n_positive=81,
        n_train=200,
    ),
    Dataset(
        name="heart",
        load="npbench_datasets.ida:load_heart",
        title="Heart disease, Statlog",
        positive="disease, the minority, as in the IDA repository (Davenport et al. 2006); negative: no disease",
        source=f"UCI data set 145, {_IDA}",
        licence="CC BY 4.0",
        citation="Statlog (Heart), UCI, doi:10.24432/C57303",
        files=(
            DataFile(
                path="ida_src_heart/heart.dat",
                sha256="f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
                size=16461,
                url=f"{addresses.UCI}/statlog/heart/heart.dat",
            ),
        ),
        original=_ida("heart"),
        n_samples=270,
        n_features=13,
        n_positive=120,
        n_train=170,
    ),
    Dataset(
        name="thyroid",
        load="npbench_datasets.ida:load_thyroid",
        title="Over- and underactive thyroids, by five laboratory tests",
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
                url=f"{addresses.UCI}/thyroid-disease/new-thyroid.data",
            ),
        ),
        original=_ida("thyroid"),
        mirror=keel.MIRRORS["thyroid"],
        n_samples=215,
        n_features=5,
        n_positive=65,
        n_train=140,
    ),
)
