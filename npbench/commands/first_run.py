"""Start worker processes before a first run is planned: they load what they share meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def prepare_workers(words: Sequence[str]) -> None:
    """Start loading what workers share if, as far as the words tell, there are no results yet."""
    if _is_first_run(words):
        from npbench.execution import processes

        processes.prepare()


def _is_first_run(words: Sequence[str]) -> bool:
    is_usual = all("=" in word or word in ("-m", "--multirun") for word in words)
    is_local = not any(word.startswith(("hydra", "execution=")) for word in words)
    named = [word.removeprefix("results=") for word in words if word.startswith("results=")]
    return is_usual and is_local and not Path(*(named or ["results"])[-1:], "records").is_dir()
