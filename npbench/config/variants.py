"""Variants of solvers: files in ``conf/solver`` that set parameters of a solver under a name of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from npbench import registry
from npbench.config.search_folders import config_folders
from npbench.errors import RequestError, unknown_name

NO_PARAMETERS = ("defaults", "name", "search")


def settings_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return the solver of a variant and the parameters that it sets; those with a grid keep their defaults.

    Raises
    ------
    RequestError
        If there is neither a solver nor a variant of this name.

    Examples
    --------
    >>> solver, params = settings_of("linear_svm")
    >>> solver, params["params"]
    ('scorer', {'dual': 'auto', 'max_iter': 10000})
    """
    found = registry.installed()
    files = {path.stem: path for folder in reversed(config_folders()) for path in (folder / "solver").glob("*.yaml")}
    if name not in files:
        raise RequestError(
            " ".join([unknown_name("solver", name, {*found.solvers, *files}), *map(str, found.unavailable)])
        )
    node = _read(files[name])
    bases = [base for base in node.get("defaults", []) if base in files]
    solver, inherited = node.get("name", name), {}
    for base in bases:
        solver, inherited = (base, {}) if base in found.solvers else settings_of(base)
    own = {key: value for key, value in node.items() if key not in NO_PARAMETERS}
    return solver, _without_nulls(_merged(inherited, own))


def _read(path: Path) -> dict[str, Any]:
    node = yaml.safe_load(path.read_text(encoding="utf-8"))
    return node if isinstance(node, dict) else {}


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: _merged(below[key], value) for key, value in above.items() if isinstance(below.get(key), dict)}
    return {**below, **above, **both}


def _without_nulls(node: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: _without_nulls(value) if isinstance(value, dict) else value for key, value in node.items()}
    return {key: value for key, value in plain.items() if value is not None}
