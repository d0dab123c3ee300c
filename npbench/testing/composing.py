"""The configuration that a run would have, as plain values."""

from __future__ import annotations

from typing import Any

from npbench.config.compose import as_plain
from npbench.testing.check import require


def composed(*settings: str) -> dict[str, Any]:
    """Compose the configuration of a command line; raise AssertionError with its faults if it has any."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    from npbench.config import search_path as configs
    from npbench.config.compose import compose

    configs.register()
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        found, faults = compose(GlobalHydra.instance().config_loader(), settings, multirun=False)
    require(not faults, f"`npbench {' '.join(settings)}` is refused: {' '.join(faults)}")
    plain: dict[str, Any] = as_plain(found[0])
    return plain
