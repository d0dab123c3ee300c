"""Which of Hydra's launchers a command line asks for, with what settings.

``basic``, Hydra's default, stands for this machine. The others are those of Hydra's submitit plugin: ``slurm`` is
npbench's own choice of settings for ``submitit_slurm``.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException, ValidationError
from yaml import YAMLError

from npbench.compose import unknown_key
from npbench.errors import RequestError, each, unknown_name

GROUP, NODE = "hydra/launcher", "hydra.launcher"
PLUGIN = "hydra_plugins.hydra_submitit_launcher"
BASIC = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
CLUSTERS = {
    f"{PLUGIN}.submitit_launcher.SlurmLauncher": "slurm",
    f"{PLUGIN}.submitit_launcher.LocalLauncher": "local",
}
OF_SUBMITIT = ("slurm", "submitit_slurm", "submitit_local")


@dataclass(frozen=True)
class Launcher:
    """Who carries out the combinations of a command line.

    Parameters
    ----------
    name : str
        As chosen, ``slurm``.
    cluster : {"slurm", "local"}
        What submitit calls it.
    parameters : mapping of str to object
        The settings of Hydra's plugin, by its names.
    """

    name: str
    cluster: str
    parameters: Mapping[str, Any]

    def require(self) -> None:
        """Refuse to go on where there is no Slurm to submit to.

        Raises
        ------
        RequestError
            If Slurm is asked for and its commands are not found.
        """
        absent = [command for command in ("sbatch", "srun", "sacct") if not shutil.which(command)]
        if self.cluster == "slurm" and absent:
            raise RequestError(
                f"{GROUP}={self.name} needs Slurm, and there is no {' and no '.join(absent)} here: type the command on "
                f"a login node of a cluster, or try it out here with {GROUP}=submitit_local."
            )


def split_off(settings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the settings that concern the launcher, and the others.

    Examples
    --------
    >>> split_off(["hydra/launcher=slurm", "seed=1", "+hydra.launcher.partition=cpu"])
    (['hydra/launcher=slurm', '+hydra.launcher.partition=cpu'], ['seed=1'])
    """
    launching = [setting for setting in settings if setting.lstrip("+~").startswith((GROUP, f"{NODE}."))]
    return launching, [setting for setting in settings if setting not in launching]


def compose_launcher(
    loader: ConfigLoader,
    launching: Sequence[str],
    settings: Sequence[str],
    configs: Sequence[DictConfig],
    config_name: str = "config",
) -> Launcher | None:
    """Return the launcher that is asked for, or None for Hydra's default.

    Parameters
    ----------
    loader : ConfigLoader
        Hydra's, with the search path in place.
    launching, settings : sequence of str
        The two parts of :func:`split_off`; of the latter, those of Hydra count.
    configs : sequence of DictConfig
        Composed configurations, which say where results go: what a launcher writes goes below.
    config_name : str
        Name of the primary configuration.

    Raises
    ------
    RequestError
        With one sentence for each fault of the settings, or if the launcher is not installed or not one of submitit's.
    """
    parser = OverridesParser.create(config_loader=loader)
    overrides: list[Override] = each([partial(_parsed, parser, setting) for setting in launching])
    words = [setting for setting in settings if setting.lstrip("+~").startswith("hydra")]
    chosen = [str(override.value()) for override in overrides if override.key_or_group == GROUP][-1:]
    for name in chosen:
        search_path = [word for word in words if word.startswith("hydra.searchpath=")]
        _require_known(name, loader.get_group_options(GROUP, config_name=config_name, overrides=search_path))
        words.append(f"{GROUP}={name}")
    try:
        config = loader.load_configuration(config_name, words, run_mode=RunMode.MULTIRUN)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        if not launching:
            return None  # the configurations have the same fault, and it is told
        reason = " ".join(str(error.__cause__ or error).split())
        raise RequestError(f"The launcher of {' '.join(words)} cannot be composed: {reason}") from error
    return _launcher(config, [override for override in overrides if override.key_or_group != GROUP], configs)


def _launcher(config: DictConfig, values: Sequence[Override], configs: Sequence[DictConfig]) -> Launcher | None:
    name, target = config.hydra.runtime.choices[GROUP], config.hydra.launcher._target_
    if target == BASIC:
        if values:
            raise RequestError(f"{values[0].input_line} is a setting of a launcher: choose one, as in {GROUP}=slurm.")
        return None
    if target not in CLUSTERS:
        raise RequestError(f"{GROUP}={name} is none that npbench works with: choose basic or {', '.join(OF_SUBMITIT)}.")
    if any(OmegaConf.select(one, "execution.name") == "dask" for one in configs):
        raise RequestError(f"execution=dask and {GROUP}={name} are two ways to other machines: choose one of them.")
    OmegaConf.set_readonly(config, False)
    for one in configs[:1]:
        OmegaConf.update(config, "results", OmegaConf.select(one, "results"), force_add=True)
    if "additional_parameters" in config.hydra.launcher:  # of sbatch, which knows their names
        OmegaConf.set_struct(config.hydra.launcher.additional_parameters, False)
    each([partial(_write, config, override) for override in values])
    parameters = {key: value for key, value in _plain(config).items() if key != "_target_"}
    return Launcher(name, CLUSTERS[target], parameters)


def _parsed(parser: OverridesParser, setting: str) -> Override:
    try:
        (override,) = parser.parse_overrides([setting])
    except HydraException as error:
        raise RequestError(f"Cannot read the setting {setting!r}: {str(error).splitlines()[0]}.") from error
    if override.is_sweep_override():
        raise RequestError(f"{setting} lists several values: the launcher is one for the whole run; give it one.")
    return override


def _require_known(name: str, known: Sequence[str]) -> None:
    if name in OF_SUBMITIT and "submitit_slurm" not in known:
        raise RequestError(f'{GROUP}={name} needs Hydra\'s submitit plugin: pip install "npbench[slurm]".')
    if name not in known:
        raise RequestError(unknown_name(GROUP, name, known))


def _write(config: DictConfig, override: Override) -> None:
    key, value = override.key_or_group, override.value()
    try:
        OmegaConf.update(config, key, value)
    except ValidationError as error:
        raise RequestError(f"{override.input_line}: {str(error).splitlines()[0]}.") from error
    except OmegaConfBaseException:
        raise RequestError(unknown_key(key, OmegaConf.create({"hydra": {"launcher": config.hydra.launcher}}))) from None


def _plain(config: DictConfig) -> dict[str, Any]:
    try:
        parameters = OmegaConf.to_container(config.hydra.launcher, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise RequestError(f"{error.full_key} has no value: {str(error).splitlines()[0]}.") from error
    assert isinstance(parameters, dict)
    several = [f"{NODE}.{key}={parameters[key]}" for key in ("nodes", "tasks_per_node") if parameters[key] != 1]
    if several:
        raise RequestError(
            f"{' and '.join(several)}: each combination is one task on one node, so that this must be 1. Its worker "
            f"processes are as many as {NODE}.cpus_per_task."
        )
    return {str(key): value for key, value in parameters.items()}
