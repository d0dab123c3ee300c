"""Folders of configuration, found without importing Hydra."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from npbench import registry


def config_dir() -> Path:
    """Return the folder of npbench's own configuration: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    packaged = package / "conf"
    return packaged if packaged.is_dir() else package.parent / "conf"


def package_folders(package: str) -> list[Path]:
    """Return the folders of a package of YAML; none if it does not exist.

    Such a package needs no ``__init__.py``, and then may have several folders.
    """
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # its parent package does not exist
        spec = None
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def config_folders() -> list[Path]:
    """Return the folders of npbench's own configuration and that of plugins; what comes first wins."""
    packages = registry.installed().config_packages
    return [config_dir(), *(folder for package in packages for folder in package_folders(package))]
