"""The configuration that a run would have, as plain values."""

from typing import Any

from npbench.config import search_path
from npbench.config.compose import compose
from npbench.config.resolve import as_plain
from npbench.testing.check import require


def composed(*settings: str) -> dict[str, Any]:
    """Compose the configuration of a command line; raise AssertionError with its faults if it has any."""
    search_path.register()
    with search_path.initialized() as hydra:
        found = compose(hydra.config_loader, settings, multirun=False)
    require(not found.faults, f"`npbench {' '.join(settings)}` is refused: {' '.join(found.faults)}")
    return as_plain(found.configs[0])
