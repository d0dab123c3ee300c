"""The peak of a job is its own, not that of a larger one before it."""

from __future__ import annotations

import pytest

from npbench.execution import memory
from npbench.execution.memory import peak_memory

SIZE = 100_000_000


def test_a_peak_counts_from_its_own_beginning():
    first = peak_memory()
    buffer = bytearray(SIZE)
    del buffer  # the peak stays
    large = first()
    small = peak_memory()()
    assert large["peak_memory_of"] == small["peak_memory_of"] == "job"
    assert large["peak_memory_mb"] - large["memory_before_mb"] == pytest.approx(100, abs=15)
    assert small["peak_memory_mb"] - small["memory_before_mb"] < 15
    assert large["memory_before_mb"] == pytest.approx(small["memory_before_mb"], abs=15)


def test_where_the_mark_cannot_be_reset_the_peak_is_that_of_the_process(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_CLEAR_REFS", tmp_path / "absent" / "clear_refs")
    bytearray(SIZE)
    columns = peak_memory()()
    assert columns["peak_memory_of"] == "process"
    assert columns["memory_before_mb"] is None
    assert columns["peak_memory_mb"] > 100
