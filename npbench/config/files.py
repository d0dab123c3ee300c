"""Configuration files of npbench and of plugins, found and read without importing Hydra."""

import contextlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from npbench import registry

YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C, where PyYAML was built with it


def config_dir() -> Path:
    """Return the folder of npbench's own configuration: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    packaged = package / "conf"
    return packaged if packaged.is_dir() else package.parent / "conf"


def config_folders() -> list[Path]:
    """Return the folders of npbench's own configuration and that of plugins; what comes first wins."""
    folders = [config_dir()]
    for package in registry.installed().config_packages:  # they need no __init__.py
        with contextlib.suppress(ModuleNotFoundError):  # its parent package does not exist
            spec = importlib.util.find_spec(package)
            folders += map(Path, (spec and spec.submodule_search_locations) or ())
    return folders


def group_files(group: str) -> dict[str, Path]:
    """Return the files of a group by name."""
    return {path.stem: path for folder in reversed(config_folders()) for path in (folder / group).glob("*.yaml")}


def content(path: Path) -> dict[str, Any]:
    """Return the content of a file; raise OSError or yaml.YAMLError if it cannot be read."""
    node = yaml.load(path.read_bytes(), YAML_LOADER)
    return node if isinstance(node, dict) else {}


def merged(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return two mappings as one: the second wins, and mappings inside both are merged."""
    both = {
        key: merged(first[key], value)
        for key, value in second.items()
        if isinstance(value, Mapping) and isinstance(first.get(key), Mapping)
    }
    return {**first, **second, **both}


def merged_choice(name: str, files: Mapping[str, Path]) -> tuple[str, dict[str, Any]]:
    """Return the solver of a choice, and its section over those it starts from: parameters, and grids in ``search``."""
    own = content(files[name]) if name in files else {}
    described = registry.installed().solvers.get(name)
    solver, node = own.get("name", name), {"search": described.search} if described else {}
    others = {other: path for other, path in files.items() if other != name}  # a file may name itself, by mistake
    for base in own.get("defaults", ()):
        if base != "_self_":
            solver, of_base = merged_choice(base, others)
            node = merged(node, of_base)
    return solver, merged(node, {key: value for key, value in own.items() if key not in ("defaults", "name")})


def settings_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return the solver of a choice, and the parameters that a variant sets; those with a grid keep their defaults."""
    found, files = registry.installed(), group_files("solver")
    if name in found.solvers:
        return name, {}
    found.find("solver", {**found.solvers, **files}, name)  # refuses an unknown name
    solver, node = merged_choice(name, files)
    node.pop("search", None)
    return solver, given(node)


def given(settings: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the settings, or grids, that are not null, also within mappings."""
    plain = {str(name): given(value) if isinstance(value, dict) else value for name, value in settings.items()}
    return {name: value for name, value in plain.items() if value not in (None, {})}
