"""From the words of a command line, or the keywords of Python, to checked requests."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, Protocol

from hydra._internal.utils import get_args_parser  # Hydra's own parser has no public name
from hydra.core.config_loader import ConfigLoader

from npbench import registry
from npbench.config import search_path
from npbench.config.checks import check_all
from npbench.config.compose import Composed, compose
from npbench.config.experiment import Experiment, load, split_off
from npbench.config.files import config_dir
from npbench.config.resolve import as_plain, resolved
from npbench.config.run_settings import RunSettings
from npbench.config.words import as_word, is_hydra_word, readable
from npbench.console import status
from npbench.contracts import resolve
from npbench.errors import Exit, RequestError, merged
from npbench.evaluation.job import Request


class Launch(Protocol):
    """A command line as a launcher understands it, which a plugin names in its hook ``npbench_launchers``."""

    differs: bool  # whether the launcher is to run it, not npbench in one process
    multirun: bool  # settings may list values
    adaptive: bool  # values are chosen during the run: the jobs are not known beforehand
    lines: list[list[str]]  # settings to compose; if adaptive, with each value that may be chosen
    faults: Sequence[str]

    def run(self, asked: "Requested", report: Callable[..., Exit]) -> Exit:
        """Carry out the run, and print its records with ``report``, :func:`npbench.commands.run.report`."""


@dataclass(frozen=True)
class Requested:
    """Checked command line: a request for each combination, how they are run, and their composed configurations."""

    requests: Sequence[Request]
    settings: RunSettings
    configs: Sequence[Mapping[str, Any]]
    words: Sequence[str] = ()
    experiment: Experiment | None = None
    launch: Launch | None = None  # None: npbench runs all combinations in one process
    composed: Sequence[Composed] = ()


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
        sweeps, faults, experiment, launch = compose_all(options)
        try:
            pairs = (pair for sweep in sweeps for pair in zip(sweep.configs, sweep.combinations, strict=False))
            plain = [{**as_plain(config), **method_typed(combination)} for config, combination in pairs]
            requests, settings = check_all(plain) if plain else ([], None)
        except RequestError as error:
            faults += error.faults
    if faults or settings is None:
        raise RequestError(*merged(faults))
    return Requested(requests, settings, plain, words, experiment, launch, sweeps)


def method_typed(words: Sequence[str]) -> dict[str, str]:
    """Return the choice of the solver as a setting, if the words of a combination have one."""
    chosen = [word.partition("=")[2] for word in words if word.lstrip("+").startswith("solver=")]
    return {"method": chosen[-1].strip("'\"")} if chosen else {}


def compose_all(options: Namespace) -> tuple[list[Composed], list[str], Experiment | None, Launch | None]:
    """Compose each sweep, and return them with all faults, the experiment, and the launcher that is to run them."""
    folder, config_name = _folder(options), options.config_name or "config"
    name, words = split_off(options.overrides)
    experiment, launch, lines, faults = None, None, [words], list[str]()
    with search_path.initialized(folder) as hydra:
        loader = hydra.config_loader
        try:
            if name is not None:
                experiment = load(loader, name, words, config_name)
                lines = experiment.command_lines(words)
            # Without any of these, Hydra's settings cannot differ from npbench's own.
            if options.config_path or options.config_name or any(map(is_hydra_word, chain(*lines))):
                launch = _launch(loader, folder, options, lines)
                lines, faults = launch.lines, [*launch.faults]
        except RequestError as error:
            faults += error.faults
        multirun = launch.multirun if launch else name is not None or options.multirun
        sweeps = [compose(loader, line, multirun=multirun, config_name=config_name) for line in lines]
    faults += dict.fromkeys(fault for sweep in sweeps for fault in sweep.faults)
    return sweeps, faults, experiment, launch if launch and launch.differs else None


def _launch(loader: ConfigLoader, folder: str, options: Namespace, lines: Sequence[Sequence[str]]) -> Launch:
    """Return the command line as the launcher of Hydra's settings understands it."""
    launchers = registry.installed().launchers
    if "hydra" not in launchers:
        fault = "No plugin launches runs with settings of Hydra: NPBENCH_PLUGINS may leave it out."
        raise RequestError(" ".join([fault, *map(str, registry.installed().unavailable)]))
    return resolve(launchers["hydra"])(loader, folder, options, lines)


def explained_words(options: Namespace, sweeps: Sequence[Composed]) -> list[str]:
    """Return the settings with which Hydra shows the configuration that npbench composed."""
    # Hydra refuses names that the YAML of a solver or the data set's protocol lacks; npbench has checked them.
    words = [f"++{word}" if word.startswith(("solver.", "protocol.")) else word for word in options.overrides]
    configs = [config for sweep in sweeps for config in sweep.configs]
    if len(configs) != 1:
        return words
    decided = {key: value for key, value in resolved(configs[0]).items() if value != configs[0][key]}  # by the data set
    left = [word for word in words if word.partition("=")[0] not in decided]
    protocol = decided.pop("protocol", {"name": None})
    stated = [f"protocol={name}"] if (name := protocol.pop("name")) else []
    stated += [f"++protocol.{key}={as_word(value)}" for key, value in protocol.items()]
    return [*stated, *(f"{key}={as_word(value)}" for key, value in decided.items()), *left]


def print_help(options: Namespace, sweeps: Sequence[Composed]) -> None:
    """Print what Hydra's ``--help`` prints, a second sooner: Hydra copies all sources for each group that it lists."""
    options.overrides = explained_words(options, sweeps)
    with search_path.initialized(_folder(options)) as hydra:
        hydra.app_help(options.config_name or "config", get_args_parser(), options)


def _folder(options: Namespace) -> str:
    return str(Path(options.config_path).absolute()) if options.config_path else str(config_dir())
