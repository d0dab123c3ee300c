"""Overhead of an isolated job: 1000 jobs of a solver that does nothing, in one worker.

Split, metrics, record on disk, time limit and memory limit included. The other framework's figures are those noted of
version 1.10 on a machine like this one, for runs without isolation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTED = (0.004, 0.008)  # seconds a run of benchopt, from the parallel mode without cache to the sequential one with it


def test_overhead(
    benchmark: Any, against_seconds: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DOCS)
    import scale

    found = benchmark.pedantic(scale.run, args=(1000, tmp_path / "records"), rounds=1)
    assert found["files"] == 1
    benchmark.extra_info |= found
    against_seconds(
        found["ms"] / 1e3,
        NOTED,
        what="a job that does nothing",
        size="1000 jobs, one worker",
        peer="benchopt 1.10, not isolated (noted)",
        quality=f"of tenths: median {found['median_ms']:.1f} ms, least {found['least_ms']:.1f} ms",
    )
