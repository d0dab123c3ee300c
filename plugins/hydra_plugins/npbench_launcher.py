"""Hydra's sweeper for npbench: plans all combinations once and runs them together.

Hydra imports this module at each start of every Hydra application, so nothing heavy is imported at its top.
"""

from __future__ import annotations

from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

TARGET = "hydra_plugins.npbench_launcher.NpbenchSweeper"
ConfigStore.instance().store(group="hydra/sweeper", name="npbench", node={"_target_": TARGET}, provider="npbench")


class NpbenchSweeper(Sweeper):
    """All combinations as one run: one pool of workers, one progress bar, one table.

    Hydra's own composes each combination twice and leaves four files for each.
    """

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember what the sweep needs."""
        self.hydra_context = hydra_context
        self.config = config

    def sweep(self, arguments: list[str]) -> Any:
        """Compose every combination of the settings and run them together."""
        from npbench.cli import leave
        from npbench.compose import compose
        from npbench.errors import RequestError
        from npbench.run import run

        assert self.hydra_context is not None
        assert self.config is not None
        loader, name = self.hydra_context.config_loader, self.config.hydra.job.config_name
        configs, faults = compose(loader, arguments, multirun=True, config_name=name)

        def carry_out() -> int:
            if faults:
                raise RequestError(*faults)
            return run(configs)

        leave(carry_out)
