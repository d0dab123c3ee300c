"""Benchmarks are collected only when asked for: ``pytest tests/benchmarks --benchmark-only``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if config.getoption("benchmark_only", default=False) else True


@pytest.fixture
def side_by_side(benchmark: Any, capsys: pytest.CaptureFixture[str]) -> Callable[..., float]:
    """Return a function that times ours and theirs in turn and prints the median ratio theirs / ours."""

    def measure(ours: Callable[[], Any], theirs: Callable[[], Any], label: str, rounds: int = 3) -> float:
        ours()  # compiles, and fills caches
        theirs_seconds = []
        ratios = []
        for _ in range(rounds):
            start = time.perf_counter()
            theirs()
            middle = time.perf_counter()
            ours()
            end = time.perf_counter()
            theirs_seconds.append(middle - start)
            ratios.append((middle - start) / (end - middle))
        benchmark.pedantic(ours, rounds=rounds)
        ratio = statistics.median(ratios)
        benchmark.extra_info |= {"theirs_seconds": statistics.median(theirs_seconds), "ratio": ratio}
        with capsys.disabled():
            print(
                f"\n{label}: theirs {statistics.median(theirs_seconds):.3f} s, ratio {ratio:.1f} "
                f"({min(ratios):.1f} to {max(ratios):.1f})"
            )
        return ratio

    return measure
