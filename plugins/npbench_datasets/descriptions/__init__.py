"""Descriptions of the data sets, read from ``datasets.toml``, ``tables.csv`` and ``prompt_injection.csv``."""

from __future__ import annotations

import csv
import tomllib
from importlib import resources
from typing import Any

from npbench.contracts import DataFile, Dataset, Mirror, Original, Wheel

_SCORES = (
    "https://raw.githubusercontent.com/bastion-soft/pi-detector-bench/"
    "d744d88aa4be70c598a67957e605a8c229c37982/results/scores"
)
_COUNTS = ("n_samples", "n_features", "n_positive")


def all_datasets() -> list[Dataset]:
    """Return the descriptions of all data sets."""
    content = tomllib.loads(_text("datasets.toml"))
    wheels = {name: Wheel(package=name, **about) for name, about in content["wheels"].items()}
    sections = content["datasets"]
    sections["prompt_injection"]["files"] = list(map(_scores, _rows("prompt_injection.csv")))
    for section in sections.values():
        if "files_of" in section:
            section["files"] = sections[section.pop("files_of")]["files"]
    described = [_described(name, section, wheels) for name, section in sections.items()]
    return described + [_table(row, wheels) for row in _rows("tables.csv")]


def _text(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_text(name).splitlines()))


def _scores(row: dict[str, str]) -> dict[str, Any]:
    name = f"{row['detector']}__{row['set']}.json"
    path, url = f"prompt_injection_scores/{name}", f"{_SCORES}/{name}"
    return {"path": path, "size": int(row["size"]), "sha256": row["sha256"], "url": url}


def _described(name: str, section: dict[str, Any], wheels: dict[str, Wheel]) -> Dataset:
    counts = dict(zip(_COUNTS, section.pop("counts", ()), strict=False))
    if "mirror" in section:
        section["mirror"] = Mirror(**_source(section["mirror"], wheels))
    if "original" in section:
        section["original"] = Original(**_source(section["original"], wheels))
    if "test_rows" in section:
        section["test_rows"] = tuple(section["test_rows"])
    return Dataset(name=name, **_source(section, wheels), **counts)


def _source(section: dict[str, Any], wheels: dict[str, Wheel]) -> dict[str, Any]:
    """Return a table with the loader's full name and descriptions of the files."""
    files = tuple(_file(file, wheels) for file in section.get("files", ()))
    return {**section, "load": f"npbench_datasets.{section['load']}", "files": files}


def _file(about: dict[str, Any], wheels: dict[str, Wheel]) -> DataFile:
    if "wheel" not in about:
        return DataFile(**about)
    wheel, member = wheels[about["wheel"]], about["member"]
    return DataFile(
        path=f"keel/{member.rpartition('/')[2]}",
        sha256=about["sha256"],
        size=about["size"],
        url=f"https://pypi.org/project/{wheel.package}/{wheel.version}/",
        wheel=wheel,
        member=member,
    )


def _table(row: dict[str, str], wheels: dict[str, Wheel]) -> Dataset:
    """Return the data set of a line in ``tables.csv``, where blanks separate several files."""
    wheel = wheels[row["wheel"]]
    members, sizes, hashes = (row[column].split() for column in ("members", "sizes", "sha256"))
    files = [
        {"wheel": wheel.package, "member": member, "size": int(size), "sha256": sha256}
        for member, size, sha256 in zip(members, sizes, hashes, strict=True)
    ]
    counts: dict[str, Any] = {name: int(row[name]) for name in _COUNTS}
    return Dataset(
        name=row["name"],
        load=f"npbench_datasets.keel:load_{'hypothyroid' if row['name'] == 'hypothyroid' else 'table'}",
        title=row["title"],
        positive=row["positive"],
        source=f"{', '.join(members)} in {wheel.package} {wheel.version} on the package index",
        licence=row["licence"],
        citation=row["citation"],
        files=tuple(_file(file, wheels) for file in files),
        **counts,
    )
