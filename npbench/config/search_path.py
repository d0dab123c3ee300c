"""Sources of configuration: YAML of npbench and plugins, which comes first, and nodes generated from descriptions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from hydra import initialize_config_dir
from hydra._internal.hydra import Hydra
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from npbench import registry
from npbench.config.files import config_dir, config_folders, content
from npbench.config.run_settings import own_settings
from npbench.config.solver_settings import code_identity
from npbench.problem import PROBLEMS
from npbench.signature import REQUIRED, fields, filled_in, signature
from npbench.user_cache import cached


def register(folder: str | None = None) -> None:
    """Make Hydra see the configuration of plugins, the generated nodes, and a user's own ``folder``."""
    PluginConfigs.folder = folder
    Plugins.instance().register(PluginConfigs)
    Plugins.instance().register(RegistrySource)


@contextmanager
def initialized(folder: str | None = None) -> Iterator[Hydra]:
    """Initialize Hydra with a folder of primary configurations, by default npbench's own, also within another Hydra."""
    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(folder or str(config_dir()), version_base="1.3", job_name="npbench"):
            hydra = GlobalHydra.instance().hydra
            assert hydra is not None
            yield hydra
    finally:
        GlobalHydra.instance().hydra = outer


class PluginConfigs(SearchPathPlugin):
    """Append the user's folder, npbench's own, those of plugins, and the generated nodes to Hydra's search path."""

    folder: ClassVar[str | None] = None

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append to the search path; what comes first wins."""
        if self.folder:
            search_path.append(provider="command-line", path=f"file://{self.folder}")
        known = {str(element.path).removeprefix("file://") for element in search_path.get_path()}
        for folder in config_folders():  # npbench's own is the main one, unless --config-path names another
            if str(folder) not in known:
                search_path.append(provider="npbench", path=f"file://{folder}")
        search_path.append(provider="npbench", path="npbench://registry")


class RegistrySource(ConfigSource):
    """Configuration generated from descriptions; listing it imports nothing."""

    @staticmethod
    def scheme() -> str:
        """Return the scheme of its addresses."""
        return "npbench"

    def available(self) -> bool:
        """Return whether there is anything to read."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Return whether ``config_path`` is among those generated."""
        return config_path.strip("/") in ("", *NODES)

    def is_config(self, config_path: str) -> bool:
        """Return whether ``config_path`` is a known name in a group, as in "solver/np_svm"."""
        group, _, name = config_path.removesuffix(".yaml").partition("/")
        return group in NODES and name in _names(group)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the groups, or the names in a group."""
        if not (group := config_path.strip("/")):
            return [] if results_filter is ObjectType.CONFIG else sorted(NODES)
        return [] if results_filter is ObjectType.GROUP else sorted(_names(group))

    def load_config(self, config_path: str) -> ConfigResult:
        """Generate the node; raise ConfigCompositionException if its code cannot be imported or configured."""
        group, _, name = config_path.removesuffix(".yaml").partition("/")
        try:
            node = OmegaConf.create(NODES[group](name))
        except Exception as error:  # whatever importing someone's module raises
            why = f"{type(error).__name__}: {error}"
            raise ConfigCompositionException(f"The {group} {name!r} cannot be imported: {why}") from error
        return ConfigResult(provider=self.provider, path=self.full_path(), config=node, header={"package": None})


def _names(group: str) -> Mapping[str, Any]:
    if group == "problem":
        return PROBLEMS
    return getattr(registry.installed(), "executors" if group == "execution" else f"{group}s")


def _solver_node(name: str) -> dict[str, Any]:
    solver = registry.installed().solver(name)

    def make() -> dict[str, Any]:  # imports the estimator
        hidden = filled_in(solver)
        params = {k: v for k, v in signature(solver.estimator).defaults.items() if k not in hidden}
        return {"name": name} | _plain(params) | dict.fromkeys(solver.search) | {"search": dict(solver.search)}

    return cached("nodes", code_identity(solver), make)


def _dataset_node(name: str) -> dict[str, Any]:
    dataset = registry.installed().dataset(name)
    return {"name": name} | _plain(signature(dataset.load, len(dataset.files)).defaults)


def _execution_node(name: str) -> dict[str, Any]:
    shared = content(config_dir() / "execution" / "local.yaml")
    return shared | {"name": name} | _plain({key: default for key, (default, _) in own_settings(name).items()})


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    # A parameter without a default needs a value: Hydra's "???". A default that YAML cannot express stays in the code.
    shown = {name: "???" if default is REQUIRED else default for name, default in params.items()}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in shown.items() if _is_plain(v)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    return value is None or type(value) in (bool, int, float, str)


NODES: dict[str, Callable[[str], dict[str, Any]]] = {
    "solver": _solver_node,
    "dataset": _dataset_node,
    "execution": _execution_node,
    "problem": lambda name: {"name": name} | _plain(fields(PROBLEMS[name])),
}
