"""Benchmarks are collected only when asked for: ``pytest tests/benchmarks --benchmark-only``.

Tests of the asv suite are collected as others are.
"""

import io
import statistics
import time
from typing import NamedTuple

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

import npbench
from npbench.evaluation.protocols import CrossValidation


class Comparison(NamedTuple):
    """Medians over rounds that run both in turn; ``ratio`` is theirs / ours.

    ``quality`` measures both results in the same way, so that no ratio compares unequal results.
    """

    what: str
    size: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    quality: str


TESTS = (
    *("test_asv_suite.py", "test_slowdown.py", "test_guardrails.py", "test_iterates.py", "test_large_sweeps.py"),
    *("test_second_rate.py", "test_store.py"),
)
COMPARISONS = pytest.StashKey[list[Comparison]]()


def pytest_ignore_collect(collection_path, config):
    asked = config.getoption("benchmark_only", default=False) or collection_path.name in TESTS
    return None if asked or collection_path.suffix != ".py" else True


def pytest_configure(config):
    config.stash[COMPARISONS] = []


def pytest_terminal_summary(terminalreporter, config):
    """Print all ratios of the session in one table."""
    table = Table("what", "size", "peer", "ours s", "theirs s", "ratio", "quality, ours / theirs", box=None)
    for row in config.stash[COMPARISONS]:
        ratio = f"{row.ratio:.2f} ({row.lowest:.2f} to {row.highest:.2f})"
        table.add_row(row.what, row.size, row.peer, f"{row.ours:.4f}", f"{row.theirs:.4f}", ratio, row.quality)
    if table.rows:
        console = Console(file=io.StringIO(), width=200)
        console.print(table)
        terminalreporter.section("ratios of seconds, theirs / ours")
        terminalreporter.write(console.file.getvalue())


def worth(quality):
    """Return a measure with its values for ours and theirs as text."""
    known = quality() if callable(quality) else quality
    if isinstance(known, str):
        return known
    measure, ours, theirs = known
    return f"{measure} {ours:.6g} / {theirs:.6g}"


def seconds_of(call, memory):
    np.full(memory, 1, np.uint8)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@pytest.fixture
def side_by_side(benchmark, request):
    """Return a function that times ours and theirs in turn and records the median ratio theirs / ours.

    ``quality`` is a measure and its values for ours and theirs, or a function that returns them when both have run, or
    what both have done where it is the same work. Both find ``memory`` bytes that the process has written to just
    before: a virtual machine can take milliseconds to provide a megabyte for the first time.
    """

    def measure(ours, theirs, what, size, peer, quality, rounds=3, memory=0):
        ours()  # compiles, and fills caches
        seconds = []
        for _ in range(rounds):
            slow, fast = (seconds_of(call, memory) for call in (theirs, ours))
            seconds.append((fast, slow))
        benchmark.pedantic(ours, rounds=rounds)
        ratios = [slow / fast for fast, slow in seconds]
        medians = (statistics.median(column) for column in (*zip(*seconds, strict=True), ratios))
        found = Comparison(what, size, peer, *medians, min(ratios), max(ratios), worth(quality))
        benchmark.extra_info |= found._asdict()
        request.config.stash[COMPARISONS].append(found)
        return found.ratio

    return measure


@pytest.fixture
def against_seconds(benchmark, request):
    """Return a function that compares seconds with the least and most of a peer that does not run in this process."""

    def note(seconds, others, what, size, peer, quality):
        theirs = statistics.fmean(others)
        ratios = (value / seconds for value in (theirs, *others))
        found = Comparison(what, size, peer, seconds, theirs, *ratios, worth(quality))
        benchmark.extra_info |= found._asdict()
        request.config.stash[COMPARISONS].append(found)

    return note


@pytest.fixture
def standardised(raw_dataset):
    """Return a function from the name of a data set to features, scaled by the training part, labels and split 0."""

    def prepared(name):
        data = npbench.load_dataset(raw_dataset(name).name)
        split = CrossValidation().split(data, 0, 0)
        train = data.X[split.train]
        return (data.X - train.mean(axis=0)) / train.std(axis=0), data.y.astype(int), split

    return prepared
