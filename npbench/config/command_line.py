"""From the words of a command line to checked requests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import initialize_config_dir
from hydra._internal.utils import get_args_parser  # Hydra's own parser has no public name
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from npbench.config import search_path
from npbench.config.compose import as_plain, compose
from npbench.config.experiment import Experiment, compose_experiment, split_off
from npbench.config.fill import check_all
from npbench.config.run_settings import RunSettings
from npbench.console import status
from npbench.errors import RequestError
from npbench.evaluation.request import Request


@dataclass(frozen=True)
class Requested:
    """What a command line asks for, checked.

    Parameters
    ----------
    requests : sequence of Request
        One for each combination of settings.
    settings : RunSettings
        How they are run.
    configs : sequence of mapping
        The composed configurations, for the description of the run.
    words : sequence of str
        The command line.
    experiment : Experiment, optional
        The experiment that the combinations belong to.
    """

    requests: Sequence[Request]
    settings: RunSettings
    configs: Sequence[Mapping[str, Any]]
    words: Sequence[str] = ()
    experiment: Experiment | None = None


def parse(words: Sequence[str]) -> Namespace:
    """Parse flags and settings as Hydra does, and register the configuration of plugins."""
    parser = get_args_parser()
    parser.prog = "npbench"
    options = parser.parse_intermixed_args(list(words))  # flags may stand between settings
    if options.config_dir and not Path(options.config_dir).is_dir():
        raise RequestError(f"--config-dir {options.config_dir} is not a folder: name one that holds YAML files")
    search_path.register(str(Path(options.config_dir).absolute()) if options.config_dir else None)
    return options


def requested(options: Namespace, words: Sequence[str] = ()) -> Requested:
    """Compose and check every combination of settings.

    Raises
    ------
    RequestError
        With every fault of settings and values.
    """
    with status("Checking the request"):
        configs, experiment, faults = compose_all(options)
        try:
            plain = [as_plain(config) for config in configs]
            requests, settings = check_all(plain) if plain else ([], None)
        except RequestError as error:
            faults += error.faults
    if faults or settings is None:
        raise RequestError(*dict.fromkeys(faults))
    return Requested(requests, settings, plain, words, experiment)


def compose_all(options: Namespace) -> tuple[list[DictConfig], Experiment | None, list[str]]:
    """Return the configuration of every combination, the experiment they belong to, and what is wrong."""
    folder = str(Path(options.config_path).absolute()) if options.config_path else str(search_path.config_dir())
    config_name = options.config_name or "config"
    name, settings = split_off(options.overrides)
    with initialize_config_dir(folder, version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        if name is not None:
            return compose_experiment(loader, name, settings, config_name)
        configs, faults = compose(loader, settings, multirun=options.multirun, config_name=config_name)
        return configs, None, faults
