"""The experiments behind the tables and figures of the docs."""

from __future__ import annotations

from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from npbench.config.experiment import Experiment, load
from npbench.config.search_folders import config_dir
from npbench.config.search_path import register


def load_experiment(name: str) -> Experiment:
    """Read an experiment by name."""
    register()
    with initialize_config_dir(str(config_dir()), version_base="1.3"):
        return load(GlobalHydra.instance().config_loader(), name)
