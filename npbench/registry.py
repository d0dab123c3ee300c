"""Find plugins and look up what they provide by name.

Plugins are entry points in the group ``npbench``. One that cannot be imported, or has a hook that raises, is kept as
:class:`Unavailable` with the reason, and so is a name that two plugins provide; all others keep working.
"""

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import Distribution, EntryPoint, entry_points
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import pluggy

from npbench import hookspecs
from npbench.contracts import Dataset, Metric, Solver
from npbench.errors import RequestError, unknown_name
from npbench.numerics import numba_cache
from npbench.values import NAME

T = TypeVar("T")

# Types of descriptions by kind.
DESCRIBED: dict[str, type[Any]] = {"solver": Solver, "dataset": Dataset, "metric": Metric}
NAMED = ("command", "executor", "launcher")  # kinds for which a plugin names the code
MAX_REASON = 500  # characters
OBSERVERS = ("npbench_run_started", "npbench_job_finished")


@dataclass(frozen=True)
class Provider:
    """A plugin's module and the distribution that installed it."""

    module: str
    distribution: str
    version: str
    folder: str = ""  # of the sources, if it was installed from a folder

    @property
    def remedy(self) -> str:
        """What to do about a fault of the plugin."""
        return f"Correct it in {self.folder}." if self.folder else f"Report it to the authors of {self.distribution}."

    def __str__(self) -> str:
        return f"{self.module} ({self.distribution} {self.version})"


@dataclass(frozen=True)
class Unavailable:
    """A plugin, or something that it provides, that cannot be used, and the reason."""

    provider: Provider
    reason: str
    what: str = "Plugin"

    def __str__(self) -> str:
        return f"{self.what} {self.provider} is unavailable: {self.reason}"


@dataclass
class Registry:
    """What the installed plugins provide, by name, and the plugins that observe runs."""

    solvers: dict[str, Solver] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    config_packages: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    executors: dict[str, str] = field(default_factory=dict)
    launchers: dict[str, str] = field(default_factory=dict)
    observers: list[tuple[Provider, Any]] = field(default_factory=list)  # with their hooks
    unavailable: list[Unavailable] = field(default_factory=list)
    providers: dict[tuple[str, str], Provider] = field(default_factory=dict)
    claims: dict[tuple[str, str], list[Provider]] = field(default_factory=dict)  # all that provide a kind and name

    def solver(self, name: str) -> Solver:
        """Return the solver called ``name``; raise RequestError with the nearest name otherwise."""
        return self.find("solver", self.solvers, name)

    def dataset(self, name: str) -> Dataset:
        """Return the data set called ``name``; raise RequestError with the nearest name otherwise."""
        return self.find("dataset", self.datasets, name)

    def metric(self, name: str) -> Metric:
        """Return the metric called ``name``; raise RequestError with the nearest name otherwise."""
        return self.find("metric", self.metrics, name)

    def find(self, kind: str, table: Mapping[str, T], name: str, *hints: str) -> T:
        """Return the entry of a kind's table called ``name``; raise RequestError with the nearest name otherwise."""
        if name in table:
            return table[name]
        raise RequestError(" ".join([unknown_name(kind, name, table), *hints, *map(str, self.unavailable)]))

    def add(self, plugin: Any, provider: Provider) -> None:
        """Add what the hooks of ``plugin`` describe; nothing if one of them raises."""
        manager = pluggy.PluginManager("npbench")
        manager.add_hookspecs(hookspecs)
        manager.register(plugin, name=provider.module)
        manager.check_pending()
        named: list[tuple[str, str, Any]] = []
        for kind, description in DESCRIBED.items():
            for item in chain(*getattr(manager.hook, f"npbench_{kind}s")()):
                if not isinstance(item, description):
                    raise TypeError(f"npbench_{kind}s returned {item!r}, which is not a {description.__name__}")
                _check_texts(kind, item)
                named.append((kind, item.name, item))
        packages = [*chain(*manager.hook.npbench_config_packages()), *_configuration_beside(provider.module)]
        for kind in NAMED:
            targets = chain(*(mapping.items() for mapping in getattr(manager.hook, f"npbench_{kind}s")()))
            named += [(kind, name, target) for name, target in targets]
        if wrong := [(kind, name) for kind, name, _ in named if not (isinstance(name, str) and NAME.fullmatch(name))]:
            kind, name = wrong[0]
            raise ValueError(f"{kind} {name!r:.60} is not a name: expected letters, digits and _.+-, at most 60")
        self.config_packages = list(dict.fromkeys([*self.config_packages, *packages]))
        for kind, name, item in named:
            getattr(self, f"{kind}s")[name] = item
            self.providers[kind, name] = provider
            self.claims.setdefault((kind, name), []).append(provider)
        if any(getattr(manager.hook, hook).get_hookimpls() for hook in OBSERVERS):
            self.observers.append((provider, manager.hook))

    def set_clashes_aside(self) -> None:
        """Mark each name that several plugins provide as unavailable."""
        advice = "provides it too. Uninstall one of them, or list the plugins to use in NPBENCH_PLUGINS."
        for (kind, name), claimed in self.claims.items():
            if len(claimed) > 1:
                del getattr(self, f"{kind}s")[name], self.providers[kind, name]
                pairs = zip(claimed, [*claimed[1:], claimed[0]], strict=True)
                what = f"{kind.capitalize()} {name!r} of"
                self.unavailable += [Unavailable(one, f"{other} {advice}", what) for one, other in pairs]


def remedy(kind: str, name: str) -> str:
    """Return what to do about a fault in something that a plugin provides."""
    provider = installed().providers.get((kind, name))
    return provider.remedy if provider else "Report it to the authors of its plugin."


def _check_texts(kind: str, item: Any) -> None:
    """Raise TypeError if a description has anything else where text belongs, which would break listings."""
    texts = {one.name: getattr(item, one.name) for one in fields(item) if one.type in (str, "str")}
    if isinstance(item, Solver):
        texts |= {f"solves[{place}]": problem for place, problem in enumerate(item.solves)}
    if wrong := [name for name, value in texts.items() if not isinstance(value, str)]:
        raise TypeError(f"{kind} {item.name!r}: {wrong[0]} is {texts[wrong[0]]!r:.60}, expected text")


def _configuration_beside(target: str) -> list[str]:
    """Return the package of the folder ``conf`` beside a plugin's module; none if there is no such folder."""
    module = sys.modules.get(target.partition(":")[0])
    file, package = getattr(module, "__file__", None), getattr(module, "__package__", None)
    return [f"{package}.conf"] if file and package and (Path(file).parent / "conf").is_dir() else []


def _provider(point: EntryPoint) -> Provider:
    return Provider(point.value, *(_name_and_version(point.dist) if point.dist else ("unknown", "unknown")))


@functools.cache  # each look parses the metadata, and a distribution may have many plugins
def _name_and_version(distribution: Distribution) -> tuple[str, str, str]:
    """Return name, version, and the folder that it was installed from, if any (PEP 610)."""
    metadata, folder = distribution.metadata, ""
    with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):  # no file, or a damaged one
        address = urlsplit(json.loads(distribution.read_text("direct_url.json") or "{}")["url"])
        folder = unquote(address.path) if address.scheme == "file" else ""
    return metadata["Name"], metadata["Version"], folder


def load(points: Iterable[EntryPoint]) -> Registry:
    """Build a registry from entry points, setting aside plugins that fail, and names that several provide."""
    registry = Registry()
    for point in sorted(points, key=lambda p: (p.value, p.name)):
        provider = _provider(point)
        try:
            registry.add(point.load(), provider)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a plugin raises must not take the others down
            registry.unavailable.append(Unavailable(provider, f"{type(error).__name__}: {error}"[:MAX_REASON]))
    registry.set_clashes_aside()
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
    """Return all installed plugins, found once per process, or those that ``NPBENCH_PLUGINS`` lists, if any."""
    numba_cache.prepare()  # a plugin may import kernels at once
    points: Iterable[EntryPoint] = entry_points(group="npbench")
    names = os.environ.get("NPBENCH_PLUGINS", "").strip()
    return load(wanted(points, names) if names else points)
