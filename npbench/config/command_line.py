"""From the words of a command line, or the keywords of Python, to checked requests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra._internal.utils import get_args_parser  # Hydra's own parser has no public name
from hydra.core.config_loader import ConfigLoader
from hydra.types import RunMode

from npbench.config import hydra_launch, search_path
from npbench.config.checks import check_all
from npbench.config.compose import Composed, as_plain, compose
from npbench.config.dataset_defaults import AUTO, resolved
from npbench.config.experiment import Experiment, load, split_off
from npbench.config.files import config_dir
from npbench.config.hydra_launch import HydraLaunch
from npbench.config.run_settings import RunSettings
from npbench.config.words import as_word, is_hydra_word
from npbench.console import status
from npbench.errors import RequestError
from npbench.evaluation.job import Request


@dataclass(frozen=True)
class Requested:
    """Checked command line: a request for each combination, how they are run, and their composed configurations."""

    requests: Sequence[Request]
    settings: RunSettings
    configs: Sequence[Mapping[str, Any]]
    words: Sequence[str] = ()
    experiment: Experiment | None = None
    hydra: HydraLaunch | None = None  # None: npbench runs all combinations in one process


@dataclass(frozen=True)
class Combinations:
    """Composed command line, not checked yet: ``composed`` has an item for each sweep of an experiment."""

    composed: Sequence[Composed]
    experiment: Experiment | None = None
    hydra: HydraLaunch | None = None
    launch_faults: Sequence[str] = ()

    @property
    def faults(self) -> list[str]:
        """What is wrong with the launch and with the settings."""
        return [*self.launch_faults, *(fault for composed in self.composed for fault in composed.faults)]


def parse(words: Sequence[str]) -> Namespace:
    """Parse flags and settings as Hydra does, and register the configuration of plugins."""
    parser = get_args_parser()
    parser.prog = "npbench"
    options = parser.parse_intermixed_args(list(words))  # flags may stand between settings
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise RequestError(f"--config-dir {options.config_dir} is not a folder: name one that holds YAML files")
    if options.experimental_rerun:
        raise RequestError("--experimental-rerun is not supported: repeat the command, stored jobs are not run again.")
    search_path.register(str(Path(options.config_dir).absolute()) if options.config_dir else None)
    return options


def requested(options: Namespace, words: Sequence[str] = ()) -> Requested:
    """Compose and check every combination of settings; raise RequestError with every fault."""
    with status("Checking the request"):
        found = compose_all(options)
        faults = found.faults
        try:
            plain = [
                {**as_plain(config), **method_typed(words)}
                for composed in found.composed
                for config, words in zip(composed.configs, composed.combinations, strict=False)
            ]
            requests, settings = check_all(plain) if plain else ([], None)
        except RequestError as error:
            faults += error.faults
    if faults or settings is None:
        raise RequestError(*dict.fromkeys(faults))
    return Requested(requests, settings, plain, words, found.experiment, found.hydra)


def method_typed(words: Sequence[str]) -> dict[str, str]:
    """Return the choice of the solver as a setting, if the words of a combination have one."""
    chosen = [word.partition("=")[2] for word in words if word.lstrip("+").startswith("solver=")]
    return {"method": chosen[-1].strip("'\"")} if chosen else {}


def compose_all(options: Namespace) -> Combinations:
    """Compose every combination of settings, and find out whether Hydra is to launch them."""
    folder = _folder(options)
    name, words = split_off(options.overrides)
    with search_path.initialized(folder) as hydra:
        composing = _Composing(options, folder, hydra.config_loader, options.config_name or "config")
        return composing.command_line(words) if name is None else composing.experiment(name, words)


def explained_words(options: Namespace, found: Combinations) -> list[str]:
    """Return the settings with which Hydra shows the configuration that npbench composed."""
    # Hydra refuses names that the YAML of a solver or the data set's protocol lacks; npbench has checked them.
    words = [f"++{word}" if word.startswith(("solver.", "protocol.")) else word for word in options.overrides]
    configs = [config for composed in found.composed for config in composed.configs]
    return automatic_words(configs[0], words) if len(configs) == 1 else words


def print_help(options: Namespace, found: Combinations) -> None:
    """Print what Hydra's ``--help`` prints, a second sooner: Hydra copies all sources for each group that it lists."""
    options.overrides = explained_words(options, found)
    with search_path.initialized(_folder(options)) as hydra:
        hydra.app_help(options.config_name or "config", get_args_parser(), options)


def automatic_words(config: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    """Return words that state what the data set decides, before those that are given."""
    decided = {key: value for key, value in resolved(config).items() if value != config[key]}
    protocol = decided.pop("protocol", {})
    stated = [f"protocol={protocol['name']}"] if protocol else []
    stated += [f"++protocol.{key}={as_word(value)}" for key, value in protocol.items() if key != "name"]
    stated += [f"{key}={as_word(value)}" for key, value in decided.items()]
    left = {f"{key}={AUTO}" for key in (*decided, *("protocol",) * bool(protocol))}
    return [*stated, *(word for word in words if word not in left)]


def _folder(options: Namespace) -> str:
    """Return the folder of the primary configuration."""
    return str(Path(options.config_path).absolute()) if options.config_path else str(config_dir())


@dataclass(frozen=True)
class _Composing:
    """One command line on its way to combinations."""

    options: Namespace
    folder: str
    loader: ConfigLoader
    config_name: str

    def command_line(self, words: Sequence[str]) -> Combinations:
        """Compose settings without an experiment."""
        hydra_words, own_words = _divided(words)
        try:
            node = self._hydra_node(hydra_words)
        except RequestError as error:
            return Combinations([self._compose(words, self.options.multirun)], launch_faults=error.faults)
        multirun = self.options.multirun or (node is not None and node.mode is RunMode.MULTIRUN)
        faults = self._effect_faults(hydra_words, multirun)
        if self._is_ours(node):
            return Combinations([self._compose(words, multirun)], launch_faults=faults)
        adaptive = multirun and not hydra_launch.has_basic_sweeper(node)
        swept = hydra_launch.sweeper_words(node, words) if multirun else []
        composed = self._compose([*swept, *words], multirun, adaptive=adaptive)
        overrides = ["hydra.sweeper.params=null"] if swept else []  # they are among the settings of the tasks
        listed = hydra_launch.combinations(composed) if multirun and not adaptive else None
        if listed is None:
            overrides += hydra_launch.task_words([*swept, *own_words], composed)
        launch = self._launch(node, [*hydra_words, *overrides], listed, adaptive=adaptive)
        return Combinations([composed], hydra=launch, launch_faults=faults)

    def experiment(self, name: str, words: Sequence[str]) -> Combinations:
        """Compose the sweeps of an experiment; settings on the command line win over its own."""
        try:
            experiment = load(self.loader, name, words, self.config_name)
        except RequestError as error:
            return Combinations([self._compose(words, multirun=True)], launch_faults=error.faults)
        lines = [[*line, *words] for line in experiment.command_lines()]
        sweeps = [self._compose(line, multirun=True) for line in lines]
        hydra_words = list(dict.fromkeys(word for line in lines for word in _divided(line)[0]))
        try:
            node = self._hydra_node(hydra_words)
        except RequestError as error:
            return Combinations(sweeps, experiment, launch_faults=error.faults)
        faults = self._effect_faults(hydra_words, multirun=True)
        if node is not None and (not hydra_launch.has_basic_sweeper(node) or node.sweeper.params):
            faults.append("hydra.sweeper applies to sweeps of your own: +experiment names its sweeps itself.")
        if faults or self._is_ours(node):
            return Combinations(sweeps, experiment, launch_faults=faults)
        listed = [words for sweep in sweeps for words in hydra_launch.combinations(sweep)]
        return Combinations(sweeps, experiment, self._launch(node, hydra_words, listed))

    def _launch(
        self, node: Any, overrides: Sequence[str], listed: list[list[str]] | None, *, adaptive: bool = False
    ) -> HydraLaunch:
        overrides = [*overrides, *hydra_launch.logging_words(node)]
        return HydraLaunch(self.folder, self.config_name, overrides, adaptive, listed)

    def _compose(self, words: Sequence[str], multirun: bool, *, adaptive: bool = False) -> Composed:
        settings = [word for word in words if not is_hydra_word(word) or word.startswith("hydra.searchpath=")]
        return compose(self.loader, settings, multirun=multirun, config_name=self.config_name, adaptive=adaptive)

    def _hydra_node(self, hydra_words: Sequence[str]) -> Any:
        """Return Hydra's configuration; None where it cannot differ from npbench's own, which saves a composition."""
        # Files of --config-dir come after npbench's own, and are read where settings name them.
        if hydra_words or self.options.config_path or self.options.config_name:
            return hydra_launch.hydra_node(self.loader, hydra_words, self.config_name)
        return None

    def _is_ours(self, node: Any) -> bool:
        return node is None or hydra_launch.is_ours(node, None if self.options.config_path else self.loader)

    def _effect_faults(self, words: Sequence[str], multirun: bool) -> list[str]:
        explains = self.options.help or self.options.cfg or self.options.info
        return [] if explains else hydra_launch.effect_faults(words, multirun)


def _divided(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the settings of Hydra, and the others."""
    return [word for word in words if is_hydra_word(word)], [word for word in words if not is_hydra_word(word)]
