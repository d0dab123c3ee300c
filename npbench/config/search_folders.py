"""The folders that configuration lies in, found without importing Hydra or any plugin's code."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def config_dir() -> Path:
    """Return the folder of npbench's own configuration: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    packaged = package / "conf"
    return packaged if packaged.is_dir() else package.parent / "conf"


def package_folders(package: str) -> list[Path]:
    """Return the folders of a package with configuration, as plugins name them; none if there is no such package.

    Packages of YAML need no ``__init__.py``; such a package may have several folders.
    """
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # the package that it lies in
        spec = None
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
