"""From the words of a command line, or the keywords of Python, to checked requests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hydra._internal.utils import get_args_parser  # Hydra's own parser has no public name
from hydra.types import RunMode
from omegaconf import OmegaConf

from npbench.config import hydra_launch, search_path
from npbench.config.checks import check_all
from npbench.config.compose import Composed, compose
from npbench.config.experiment import Experiment, load, split_off
from npbench.config.files import config_dir
from npbench.config.resolve import as_plain, resolved
from npbench.config.run_settings import RunSettings
from npbench.config.words import as_word, is_hydra_word, readable
from npbench.console import status
from npbench.errors import RequestError, merged
from npbench.evaluation.job import Request


@dataclass(frozen=True)
class Requested:
    """Checked command line: a request for each combination, how they are run, and their composed configurations."""

    requests: Sequence[Request]
    settings: RunSettings
    configs: Sequence[Mapping[str, Any]]
    words: Sequence[str] = ()
    experiment: Experiment | None = None
    hydra: hydra_launch.HydraLaunch | None = None  # None: npbench runs all combinations in one process


@dataclass(frozen=True)
class Combinations:
    """Composed command line, not checked yet: ``composed`` has an item for each sweep of an experiment."""

    composed: Sequence[Composed]
    faults: Sequence[str]  # of the launch and of the settings
    experiment: Experiment | None = None
    hydra: hydra_launch.HydraLaunch | None = None


def parse(words: Sequence[str]) -> Namespace:
    """Parse flags and settings as Hydra does, and register the configuration of plugins."""
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]  # instead of Hydra's usage
    options = parser.parse_intermixed_args(list(words))  # flags may stand between settings
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise RequestError(f"--config-dir {options.config_dir} is not a folder: name one that holds YAML files")
    if options.experimental_rerun:
        raise RequestError("--experimental-rerun is not supported: repeat the command, stored jobs are not run again.")
    options.overrides = [readable(word) for word in options.overrides]
    search_path.register(str(Path(options.config_dir).absolute()) if options.config_dir else None)
    return options


def _refuse(message: str) -> NoReturn:
    raise RequestError(f"{message}: write settings as solver=np_svm, without dashes; see `npbench --help`.")


def requested(options: Namespace, words: Sequence[str] = ()) -> Requested:
    """Compose and check every combination of settings; raise RequestError with every fault."""
    with status("Checking the request"):
        found = compose_all(options)
        faults = list(found.faults)
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
        raise RequestError(*merged(faults))
    return Requested(requests, settings, plain, words, found.experiment, found.hydra)


def method_typed(words: Sequence[str]) -> dict[str, str]:
    """Return the choice of the solver as a setting, if the words of a combination have one."""
    chosen = [word.partition("=")[2] for word in words if word.lstrip("+").startswith("solver=")]
    return {"method": chosen[-1].strip("'\"")} if chosen else {}


def compose_all(options: Namespace) -> Combinations:
    """Compose every combination of settings, and find out whether Hydra is to launch them."""
    folder, config_name = _folder(options), options.config_name or "config"
    name, words = split_off(options.overrides)
    experiment, node, lines, hydra_words, faults = None, None, [words], list[str](), list[str]()
    with search_path.initialized(folder) as hydra:
        loader = hydra.config_loader
        try:
            if name is not None:
                experiment = load(loader, name, words, config_name)
                lines = experiment.command_lines(words)
            hydra_words = list(dict.fromkeys(word for line in lines for word in line if is_hydra_word(word)))
            # Without any of these, Hydra's node cannot differ from npbench's own.
            if hydra_words or options.config_path or options.config_name:
                node = hydra_launch.hydra_node(loader, hydra_words, config_name)
        except RequestError as error:
            faults += error.faults
        multirun = name is not None or options.multirun or (node is not None and node.mode is RunMode.MULTIRUN)
        if not (faults or options.help or options.cfg or options.info):
            faults += hydra_launch.effect_faults(hydra_words, multirun)
        if node is not None and hydra_launch.is_ours(node):
            node = None
        sweeper = OmegaConf.select(node, "sweeper._target_") if node is not None else None
        adaptive = multirun and sweeper not in (None, hydra_launch.BASIC_SWEEPER)  # jobs are not known before
        swept = hydra_launch.sweeper_words(node, words) if node is not None and multirun else []
        if experiment is not None and (adaptive or swept):
            faults.append("hydra.sweeper applies to sweeps of your own: +experiment names its sweeps itself.")
        sweeps = [
            compose(loader, [*swept, *line], multirun=multirun, config_name=config_name, adaptive=adaptive)
            for line in lines
        ]
    faults += [fault for sweep in sweeps for fault in sweep.faults]
    if node is None or faults:
        return Combinations(sweeps, faults, experiment)
    tasks = None
    if swept:  # they are among the settings of the tasks
        hydra_words.append("hydra.sweeper.params=null")
    if multirun and not adaptive:
        tasks = [hydra_launch.task_words(one, sweep) for sweep in sweeps for one in sweep.combinations]
    else:
        hydra_words += hydra_launch.task_words([*swept, *words], sweeps[0])
    hydra_words += hydra_launch.logging_words(node)
    maximised = adaptive and hydra_launch.is_maximised(node)
    launch = hydra_launch.HydraLaunch(folder, config_name, hydra_words, adaptive, tasks, maximised)
    return Combinations(sweeps, faults, experiment, launch)


def explained_words(options: Namespace, found: Combinations) -> list[str]:
    """Return the settings with which Hydra shows the configuration that npbench composed."""
    # Hydra refuses names that the YAML of a solver or the data set's protocol lacks; npbench has checked them.
    words = [f"++{word}" if word.startswith(("solver.", "protocol.")) else word for word in options.overrides]
    configs = [config for composed in found.composed for config in composed.configs]
    if len(configs) != 1:
        return words
    decided = {key: value for key, value in resolved(configs[0]).items() if value != configs[0][key]}  # by the data set
    left = [word for word in words if word.partition("=")[0] not in decided]
    protocol = decided.pop("protocol", {"name": None})
    stated = [f"protocol={name}"] if (name := protocol.pop("name")) else []
    stated += [f"++protocol.{key}={as_word(value)}" for key, value in protocol.items()]
    return [*stated, *(f"{key}={as_word(value)}" for key, value in decided.items()), *left]


def print_help(options: Namespace, found: Combinations) -> None:
    """Print what Hydra's ``--help`` prints, a second sooner: Hydra copies all sources for each group that it lists."""
    options.overrides = explained_words(options, found)
    with search_path.initialized(_folder(options)) as hydra:
        hydra.app_help(options.config_name or "config", get_args_parser(), options)


def _folder(options: Namespace) -> str:
    return str(Path(options.config_path).absolute()) if options.config_path else str(config_dir())
