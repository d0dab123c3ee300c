"""Tables of the speed page."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SUITE = Path(__file__).parents[1] / "benchmarks" / "asv"


@pytest.fixture
def speed():
    spec = spec_from_file_location("speed_page", DOCS / "speed.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compared(ratio, **changed):
    row = {"what": "a fit", "size": "||w|| <= 1", "peer": "SVC", "ours": 0.5, "theirs": 0.5 * ratio, "ratio": ratio}
    return {**row, "lowest": ratio, "highest": ratio, "quality": "gap 1e-06 / 0.1", **changed}


def test_ratios_are_grouped_and_slower_ones_are_bold(speed, tmp_path, monkeypatch):
    measured = [
        compared(2.345),
        compared(0.5),
        compared(250.2),
        compared(3.0, what="||w||, 3 iterations against 7"),
        {"n": 3},
    ]
    session = {
        "datetime": "2026-11-22T01:00:00",
        "commit_info": {"id": "0123456789"},
        "machine_info": {"cpu": {"brand_raw": "EPYC"}, "processor": "", "python_version": "3.11.7"},
        "benchmarks": [{"extra_info": info} for info in measured],
    }
    monkeypatch.setattr(speed, "STORED", tmp_path)
    (tmp_path / "ratios.json").write_text(speed.comparisons(json.dumps(session)))
    head, *lines = [line for line in speed.ratios().splitlines() if line]
    assert head == "Measured 2026-11-22 at commit 01234567, EPYC, Python 3.11.7."
    assert lines[2:] == ["| a fit | SVC | 3 | 2.3 | **0.5** | 250 |", r"| \|\|w\|\| | SVC | 1 | 3 | 3 | 3 |"]


def test_every_benchmark_is_on_the_page(speed):
    defined = {
        f"{file.stem}.{name}"
        for file in SUITE.glob("*.py")
        for name in re.findall(r"^class (\w+)\(", file.read_text(), re.MULTILINE)
    } - {"benchmark.Benchmark"}
    rows = [line for line in speed.suite().splitlines() if line.startswith("| `")]
    assert {line.split("`")[1] for line in rows} == defined
    assert all(line.count(" |") == 3 for line in rows)
