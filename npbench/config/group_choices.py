"""Compose choices of groups as Hydra does, reading each file once and merging plain mappings.

Hydra composes its own settings with every combination, some 0.1 s each. Here Hydra decides once for each kind of
choice which files take part, in which order and where; choices of one kind have equal defaults lists. Hydra itself
composes everything that is not plain: references, missing values, structured configurations and deleted settings.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.default_element import ResultDefault
from hydra.types import RunMode
from omegaconf import OmegaConf

HYDRA = "hydra"
MARKS = ("${", "???")  # of a reference, and of a missing value


@dataclass(frozen=True)
class _File:
    """One configuration file.

    Parameters
    ----------
    content : dict or None
        Plain content without the defaults list; None if Hydra must merge it.
    package : str or None
        Package in the header.
    defaults : str
        The defaults list as text.
    """

    content: dict[str, Any] | None
    package: str | None
    defaults: str


class GroupChoices:
    """Configurations for choices of groups, equal to those of Hydra without the node ``hydra``.

    Parameters
    ----------
    loader : ConfigLoader
        Hydra's, with the search path in place.
    config_name : str
        Name of the primary configuration.
    """

    def __init__(self, loader: ConfigLoader, config_name: str) -> None:
        self._loader = loader
        self._repository = loader.repository  # type: ignore[attr-defined]
        self._config_name = config_name
        self._file = functools.cache(self._read)
        self._merged = functools.cache(self._merge)
        self._of_kind: dict[tuple[Any, ...], tuple[dict[str, str], list[ResultDefault]]] = {}

    def config(self, choices: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the plain configuration of ``choices``, by group; None if Hydra must compose it.

        Parts are shared with other configurations: copy what is to be changed.

        Raises
        ------
        HydraException, OmegaConfBaseException, YAMLError
            If Hydra refuses the choices.
        """
        files = self._files(choices)
        return None if files is None else self._merged(files)

    def _files(self, choices: Mapping[str, str]) -> tuple[tuple[str, str | None], ...] | None:
        """Return the path and package of each file in the order of merging, without those of Hydra."""
        kind = tuple((group, *self._kind(group, name)) for group, name in choices.items())
        if kind not in self._of_kind:
            self._of_kind[kind] = dict(choices), self._defaults(choices)
        like, defaults = self._of_kind[kind]
        if any(f"{MARKS[0]}" in self._file(str(default.config_path)).defaults for default in defaults):
            like, defaults = dict(choices), self._defaults(choices)  # a name may choose further files
        paths = [str(default.config_path) for default in defaults]
        for group, name in choices.items():
            before, after = f"{group}/{like[group]}", f"{group}/{name}"
            if before == after:
                continue
            if paths.count(before) != 1 or after in paths:
                return None
            paths[paths.index(before)] = after
        found = zip(paths, (default.package for default in defaults), strict=True)
        return tuple((path, package) for path, package in found if not path.startswith(f"{HYDRA}/"))

    def _kind(self, group: str, name: str) -> tuple[str, str | None, str]:
        """Return what decides which files a choice brings, and where they go."""
        file = self._file(f"{group}/{name}")
        named = name if file.package and "_name_" in file.package else name.rpartition("/")[0]
        return named, file.package, file.defaults

    def _defaults(self, choices: Mapping[str, str]) -> list[ResultDefault]:
        words = [f"{group}={name}" for group, name in choices.items()]
        return self._loader.compute_defaults_list(self._config_name, words, RunMode.RUN).defaults

    def _read(self, path: str) -> _File:
        found = self._repository.load_config(path)
        if found is None:
            return _File(None, None, "")
        package = found.header.get("package")
        is_plain = OmegaConf.is_dict(found.config) and OmegaConf.get_type(found.config) is dict
        is_matched = self._repository.get_schema_source().is_config(path)  # by a structured one of the same name
        content: Any = OmegaConf.to_container(found.config, resolve=False) if is_plain and not is_matched else None
        if path == self._config_name:
            if OmegaConf.select(found.config, "hydra.searchpath") is not None:
                content = None
            elif content is not None:
                content.pop(HYDRA, None)
        if content is None or HYDRA in content or not is_resolved(content):
            return _File(None, package, repr(found.defaults_list))
        return _File(content, package, repr(found.defaults_list))

    def _merge(self, files: Sequence[tuple[str, str | None]]) -> dict[str, Any] | None:
        if not files:
            return {}
        before, (path, package) = self._merged(files[:-1]), files[-1]
        file = self._file(path)
        content = file.content
        if before is None or content is None:
            return None
        place = file.package if package is None else package
        for key in reversed(place.split(".") if place else []):
            content = {key: content}
        return merged(before, content)


def is_resolved(value: Any) -> bool:
    """Return whether a plain value has no reference and no missing part."""
    if isinstance(value, str):
        return MARKS[0] not in value and value != MARKS[1]
    return all(map(is_resolved, _parts(value)))


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def merged(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return two mappings as one: the second wins, and mappings inside both are merged.

    Examples
    --------
    >>> merged({"a": {"x": 1, "y": [2]}, "b": 3}, {"a": {"y": [4, 5]}, "b": None})
    {'a': {'x': 1, 'y': [4, 5]}, 'b': None}
    """
    both = {key: merged(first[key], value) for key, value in second.items() if _are_mappings(first.get(key), value)}
    return {**first, **second, **both}


def _are_mappings(*values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)


def with_value(config: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any] | None:
    """Return a plain configuration with one value replaced; None if OmegaConf must write it.

    Plain is a value without mappings or references, in place of another that is no mapping.

    Examples
    --------
    >>> with_value({"a": {"x": 1, "y": 2}}, ["a", "y"], [3])
    {'a': {'x': 1, 'y': [3]}}
    >>> with_value({"a": {"x": 1}}, ["a", "z"], 3)
    """
    key, *below = path
    if key not in config:
        return None
    if not below:
        is_plain = not isinstance(config[key], dict) and is_resolved(value) and not _has_mapping(value)
        return {**config, key: value} if is_plain else None
    part = with_value(config[key], below, value) if isinstance(config[key], dict) else None
    return None if part is None else {**config, key: part}


def _has_mapping(value: Any) -> bool:
    return isinstance(value, dict) or any(map(_has_mapping, _parts(value)))
