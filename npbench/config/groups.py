"""Compose choices of groups: Hydra composes the defaults, and reads each further choice once."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.default_element import ConfigDefault
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from npbench.config.files import merged

COMPOSITION_ERRORS = (HydraException, OmegaConfBaseException, YAMLError, RecursionError, UnicodeDecodeError)


class Groups:
    """Plain configurations for choices of groups, equal to Hydra's without the node ``hydra``.

    A composition by Hydra takes about 0.1 s, and a sweep may combine a thousand choices. A choice whose file names
    only files of its own group replaces one section; Hydra composes the others, such as ``@package _global_``.
    """

    def __init__(self, loader: ConfigLoader, config_name: str, search_path: Sequence[str]) -> None:
        self._loader, self._config_name = loader, config_name
        # ``loader.get_group_options`` would make a repository for each group, which takes as long as reading it.
        make: Any = loader._parse_overrides_and_create_caching_repo  # type: ignore[attr-defined]
        self._repository = functools.cache(lambda: make(config_name, list(search_path))[1])
        # choices of a group; none if there is no such group
        self.options = functools.cache(lambda group: self._repository().get_group_options(group))
        self._load = functools.cache(self._compose)
        self._section = functools.cache(self._read)
        self._is_replaceable = functools.cache(self._equals_its_file)

    def config(self, overrides: Sequence[Override]) -> dict[str, Any]:
        """Return the configuration for settings, whose parts are shared; one of COMPOSITION_ERRORS if Hydra refuses."""
        if all(map(_is_choice, overrides)):
            sections = {one.key_or_group: self._section(one.key_or_group, str(one.value())) for one in overrides}
            if None not in sections.values() and all(map(self._is_replaceable, sections)):
                return {**self._load(())[0], **sections}
        return self._load(tuple(str(one.input_line) for one in overrides))[0]

    def _compose(self, words: tuple[str, ...]) -> tuple[dict[str, Any], DictConfig]:
        """Return what Hydra composes, and its node ``hydra``."""
        config = self._loader.load_configuration(self._config_name, list(words), run_mode=RunMode.RUN)
        OmegaConf.set_struct(config, False)
        node = config.pop("hydra")
        return OmegaConf.to_container(config, resolve=False), node  # type: ignore[return-value]

    def _equals_its_file(self, group: str) -> bool:
        """Return whether the primary configuration has a choice of this group and changes nothing in its section."""
        composed, node = self._load(())
        name = node.runtime.choices.get(group)
        primary = self._repository().load_config(self._config_name)
        refers = "${" in repr(primary and primary.defaults_list)  # a choice may choose another
        is_read_here = isinstance(name, str) and not node.searchpath and not refers
        return is_read_here and composed.get(group) == self._section(group, name)

    def _read(self, group: str, name: str) -> dict[str, Any] | None:
        """Return the section of a choice, with the files of the group that it starts from; None if Hydra must."""
        file = self._repository().load_config(f"{group}/{name}")
        if file is None or file.header.get("package") not in (None, group):
            return None
        if OmegaConf.get_type(file.config) is not dict:  # a structured configuration, whose types Hydra checks
            return None
        entries = list(file.defaults_list or ())
        if not any(entry.is_self() for entry in entries):
            entries.append(ConfigDefault(path="_self_"))
        section: dict[str, Any] = {}
        for entry in entries:
            own: Any = None
            if entry.is_self():
                own = OmegaConf.to_container(file.config, resolve=False)
            elif isinstance(entry, ConfigDefault) and entry.package is None and str(entry.path).isidentifier():
                own = self._section(group, str(entry.path))  # a file of the same group
            if not isinstance(own, dict):
                return None
            section = merged(section, own)
        return section


def reason(error: Exception) -> str:
    """Return why a configuration cannot be composed, in one line."""
    if isinstance(error, RecursionError):
        return "a file includes itself in its defaults list"
    if isinstance(error, UnicodeDecodeError):
        return f"a file is not UTF-8: {error.object[max(0, error.start - 20) : error.end]!r}"
    return " ".join(str(error.__cause__ or error).partition("Config search path:")[0].split())


def _is_choice(override: Override) -> bool:
    is_change = override.type is OverrideType.CHANGE and not override.is_hydra_override()
    return is_change and override.package is None and isinstance(override.value(), str)


def with_value(config: Any, path: Sequence[str], value: Any, *, add: bool = False) -> Any:
    """Return a plain configuration with one value replaced, or with ``add`` also added; mappings are merged.

    >>> with_value({"a": {"x": 1, "y": [2, 3]}}, ["a", "y", "1"], 4)
    {'a': {'x': 1, 'y': [2, 4]}}
    """
    key, *below = path
    if isinstance(config, list):
        by_place = {str(place): part for place, part in enumerate(config)}
        return list(with_value(by_place, path, value).values())
    if not isinstance(config, Mapping) or (key not in config and not add):
        raise KeyError(key)
    present = config.get(key)
    if below:
        return {**config, key: with_value({} if add and present is None else present, below, value, add=add)}
    if isinstance(present, Mapping) and isinstance(value, Mapping):
        value = merged(present, value)
    return {**config, key: value}
