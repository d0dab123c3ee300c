"""Settings of Hydra itself: whether they differ from npbench's own, have an effect, and what they say about a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from npbench.config.compose import Composed, cannot_compose
from npbench.config.groups import COMPOSITION_ERRORS
from npbench.config.resolve import value_at
from npbench.config.search_path import initialized
from npbench.config.words import is_hydra_word
from npbench.errors import RequestError

VALIDATION_LOSS = "selection_loss"
BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"

# Keys of Hydra's node that do not say how a run is launched: filled in by Hydra, or read when composing.
IGNORED_KEYS = ("overrides", "runtime", "mode", "searchpath", "help", "hydra_help")

# Typed settings that Hydra would accept and ignore.
RUNTIME_JOB_KEYS = ("id", "num", "config_name", "override_dirname")
RUNTIME_KEYS = ("hydra.overrides", "hydra.runtime", *(f"hydra.job.{key}" for key in RUNTIME_JOB_KEYS))
FOR_HELP = ("hydra.help", "hydra.hydra_help", "hydra/help", "hydra/hydra_help")
FOR_SWEEPS = ("hydra.sweep", "hydra.sweeper", "hydra.launcher", "hydra/sweeper", "hydra/launcher")


def hydra_node(loader: ConfigLoader, words: Sequence[str], config_name: str) -> DictConfig:
    """Compose Hydra's own configuration; raise RequestError if Hydra refuses the settings."""
    try:
        return loader.load_configuration(config_name, list(words), run_mode=RunMode.MULTIRUN).hydra
    except COMPOSITION_ERRORS as error:
        raise RequestError(cannot_compose(words, error)) from error
    except AssertionError as error:  # of Hydra 1.3, for a key below one that is null
        hint = "give values to sweep as settings, as in seed=1,2, or in a configuration file."
        raise RequestError(f"The configuration of {' '.join(words)} cannot be composed: {error}; {hint}") from error


def is_ours(node: DictConfig) -> bool:
    """Return whether Hydra's configuration launches runs as npbench's own does."""
    with initialized() as hydra:
        return _compared(node) == _compared(hydra_node(hydra.config_loader, (), "config"))


def _compared(node: DictConfig) -> Mapping[str, Any]:
    plain: dict[str, Any] = OmegaConf.to_container(node, resolve=False)  # type: ignore[assignment]
    plain["job"] = {key: value for key, value in plain["job"].items() if key not in RUNTIME_JOB_KEYS}
    return {key: value for key, value in plain.items() if key not in IGNORED_KEYS}


def is_maximised(node: DictConfig) -> bool:
    """Return whether the sweeper prefers large values of its objective, in the terms of Optuna or Nevergrad."""
    direction = OmegaConf.select(node, "sweeper.direction")
    return "maximize" in str(direction).lower() or OmegaConf.select(node, "sweeper.optim.maximize") is True


def effect_faults(words: Sequence[str], multirun: bool) -> list[str]:
    """Return a message for each typed setting that Hydra would accept and ignore."""
    reasons = dict.fromkeys(RUNTIME_KEYS, "is filled in by Hydra: leave it out.")
    reasons |= dict.fromkeys(FOR_HELP, "has an effect with --help only.")
    if multirun:
        reasons["hydra.run"] = "applies to single runs: set hydra.sweep.dir for a sweep."
    else:
        reasons |= dict.fromkeys(FOR_SWEEPS, "applies to sweeps: add -m.")
    keys = [word.lstrip("+~").partition("=")[0] for word in words]
    return [f"{key} {why}" for key in keys for one, why in reasons.items() if f"{key}.".startswith(f"{one}.")]


def sweeper_words(node: DictConfig, typed: Sequence[str]) -> list[str]:
    """Return the values in ``hydra.sweeper.params`` as settings; those typed on the command line win."""
    params = OmegaConf.select(node, "sweeper.params") or {}
    keys = {word.partition("=")[0].lstrip("+") for word in typed}
    return [f"{key}={value}" for key, value in params.items() if str(key).lstrip("+") not in keys]


def lines_of_trials(loader: ConfigLoader, line: Sequence[str]) -> list[list[str]]:
    """Return lines in which each value that a sweeper may choose, or end of an interval, occurs once."""
    parser = OverridesParser.create(config_loader=loader)
    spread = [_values(parser, word) for word in line]
    first = [values[0] for values in spread]
    others = ((place, value) for place, values in enumerate(spread) for value in values[1:])
    return [first, *([*first[:place], value, *first[place + 1 :]] for place, value in others)]


def _values(parser: OverridesParser, word: str) -> list[str]:
    """Return a setting with each of its values, or as it is if it cannot be read: composing then says why."""
    try:
        override = parser.parse_override(word)
    except HydraException:
        return [word]
    swept, values = override.value(), list[str]()
    if isinstance(swept, IntervalSweep):
        values = [str(swept.start), str(swept.end)]
    elif override.is_discrete_sweep():
        values = list(override.sweep_string_iterator())
    return [f"{override.get_key_element()}={value}" for value in values] or [word]


def task_words(words: Sequence[str], composed: Sequence[Composed]) -> list[str]:
    """Return settings as Hydra accepts them; a task has one worker process unless they say otherwise."""
    own = [word for word in words if not is_hydra_word(word)]
    added = {key for one in composed for key in one.added}
    forced = [f"++{word}" if word.partition("=")[0] in added else word for word in own]
    is_typed = any(word.startswith("execution.n_jobs=") for word in own)
    configs = (config for one in composed for config in one.configs)
    is_set = any(value_at(config, ("execution", "n_jobs")) != -1 for config in configs)
    return forced if is_typed or is_set else [*forced, "execution.n_jobs=1"]


def logging_words(node: DictConfig) -> list[str]:
    """Return the settings that make ``hydra.verbose`` visible: npbench's own configuration logs nothing."""
    is_silent = OmegaConf.select(node, "job_logging.root") is None
    return ["hydra/job_logging=stdout", "hydra/hydra_logging=default"] if node.verbose and is_silent else []
