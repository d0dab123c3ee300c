"""Find plugins and look up what they provide by name.

Plugins are entry points in the group ``npbench``. One that cannot be imported, or has a hook that raises, is kept as
:class:`Unavailable` with the reason; all others keep working.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint, entry_points
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from npbench import hookspecs
from npbench.contracts import Dataset, Metric, Solver
from npbench.errors import RequestError, unknown_name

T = TypeVar("T", Solver, Dataset, Metric)

# By hook: the kind of what it describes, and the type of the description.
KINDS: dict[str, tuple[str, type]] = {
    "npbench_solvers": ("solver", Solver),
    "npbench_datasets": ("dataset", Dataset),
    "npbench_metrics": ("metric", Metric),
}
OBSERVERS = ("npbench_run_started", "npbench_job_finished")


@dataclass(frozen=True)
class Provider:
    """A plugin's module and the distribution that installed it."""

    module: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.module} ({self.distribution} {self.version})"


@dataclass(frozen=True)
class Unavailable:
    """A plugin that cannot be used, and the reason."""

    provider: Provider
    reason: str

    def __str__(self) -> str:
        return f"Plugin {self.provider} is unavailable: {self.reason}"


@dataclass
class Registry:
    """Solvers, data sets and metrics of the installed plugins by name, and the plugins that observe runs."""

    solvers: dict[str, Solver] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    config_packages: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    observers: list[tuple[Provider, Any]] = field(default_factory=list)  # with their hooks
    unavailable: list[Unavailable] = field(default_factory=list)
    providers: dict[tuple[str, str], Provider] = field(default_factory=dict)

    def solver(self, name: str) -> Solver:
        """Return the solver called ``name``; raise RequestError with the nearest name otherwise."""
        return self._find("solver", self.solvers, name)

    def dataset(self, name: str) -> Dataset:
        """Return the data set called ``name``; raise RequestError with the nearest name otherwise."""
        return self._find("dataset", self.datasets, name)

    def metric(self, name: str) -> Metric:
        """Return the metric called ``name``; raise RequestError with the nearest name otherwise."""
        return self._find("metric", self.metrics, name)

    def _find(self, kind: str, table: Mapping[str, T], name: str) -> T:
        if name in table:
            return table[name]
        raise RequestError(" ".join([unknown_name(kind, name, table), *map(str, self.unavailable)]))

    def add(self, plugin: Any, provider: Provider) -> None:
        """Add what the hooks of ``plugin`` describe; nothing if one of them raises."""
        manager = pluggy.PluginManager("npbench")
        manager.add_hookspecs(hookspecs)
        manager.register(plugin, name=provider.module)
        manager.check_pending()
        described: list[tuple[str, Any]] = []
        for hook, (kind, description) in KINDS.items():
            for item in chain(*getattr(manager.hook, hook)()):
                if not isinstance(item, description):
                    raise TypeError(f"{hook} returned {item!r}, which is not a {description.__name__}")
                described.append((kind, item))
        packages = [*chain(*manager.hook.npbench_config_packages()), *_configuration_beside(provider.module)]
        commands = dict(chain(*(named.items() for named in manager.hook.npbench_commands())))
        for kind, item in described:
            self._own(kind, item.name, provider)
            getattr(self, f"{kind}s")[item.name] = item
        self.config_packages = list(dict.fromkeys([*self.config_packages, *packages]))
        for word in commands:
            self._own("command", word, provider)
        self.commands |= commands
        if any(getattr(manager.hook, hook).get_hookimpls() for hook in OBSERVERS):
            self.observers.append((provider, manager.hook))

    def _own(self, kind: str, name: str, provider: Provider) -> None:
        """Note who provides a name; refuse a name that another plugin provides."""
        if (kind, name) in self.providers:
            raise RequestError(
                f"Two plugins provide a {kind} called {name!r}: {self.providers[kind, name]} and {provider}. "
                "Uninstall one of them, or list the plugins to use in NPBENCH_PLUGINS."
            )
        self.providers[kind, name] = provider


def _configuration_beside(target: str) -> list[str]:
    """Return the package of the folder ``conf`` beside a plugin's module; none if there is no such folder."""
    module = sys.modules.get(target.partition(":")[0])
    file, package = getattr(module, "__file__", None), getattr(module, "__package__", None)
    return [f"{package}.conf"] if file and package and (Path(file).parent / "conf").is_dir() else []


def _provider(point: EntryPoint) -> Provider:
    return Provider(point.value, *(_name_and_version(point.dist) if point.dist else ("unknown", "unknown")))


@functools.cache  # each look parses the metadata, and a distribution may have many plugins
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


def load(points: Iterable[EntryPoint]) -> Registry:
    """Build a registry from entry points, setting aside plugins that fail; two plugins with one name are refused."""
    registry = Registry()
    for point in sorted(points, key=lambda p: (p.value, p.name)):
        provider = _provider(point)
        try:
            registry.add(point.load(), provider)
        except RequestError:
            raise
        except (Exception, SystemExit) as error:  # whatever a plugin raises must not take the others down
            registry.unavailable.append(Unavailable(provider, f"{type(error).__name__}: {error}"))
    return registry


def wanted(points: Iterable[EntryPoint], names: str) -> list[EntryPoint]:
    """Return the entry points with a module or distribution among ``names``, separated by commas or colons."""
    from packaging.utils import canonicalize_name

    named = [(name, point) for point in points for name in {point.module, _provider(point).distribution}]
    known = {name for name, _ in named}
    chosen = {canonicalize_name(name): name for name in re.split(r"[,:\s]+", names) if name}
    if unknown := [name for normal, name in chosen.items() if normal not in map(canonicalize_name, known)]:
        raise RequestError(*(unknown_name("plugin in NPBENCH_PLUGINS", name, known) for name in unknown))
    return list(dict.fromkeys(point for name, point in named if canonicalize_name(name) in chosen))


@functools.cache
def installed() -> Registry:
    """Return the registry of all installed plugins, built once per process.

    The environment variable ``NPBENCH_PLUGINS`` restricts it to the modules and distributions it lists, if any.
    """
    points: Iterable[EntryPoint] = entry_points(group="npbench")
    names = os.environ.get("NPBENCH_PLUGINS", "").strip()
    return load(wanted(points, names) if names else points)
