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


def session(measured):
    return json.dumps(
        {
            "datetime": "2026-11-22T01:00:00",
            "commit_info": {"id": "0123456789"},
            "machine_info": {"cpu": {"brand_raw": "EPYC"}, "processor": "", "python_version": "3.11.7"},
            "benchmarks": [{"extra_info": info} for info in measured],
        }
    )


def raced(method, fpr_range, correlation, seconds, proved=False):
    times = {"objective": seconds, "area": 0.01}
    return {"raced": method, "proved": proved, "fpr_range": fpr_range, "correlation": correlation, **times}


def test_ratios_are_grouped_and_slower_ones_are_bold(speed, tmp_path, monkeypatch):
    measured = [
        compared(2.345),
        compared(0.5),
        compared(250.2),
        compared(3.0, what="||w||, 3 iterations against 7"),
        *(compared(4.0, what=f"{name}, 100", size="pima", peer="liquidSVM 1") for name in ("ac_svm", "np_svm")),
        {"n": 3},
    ]
    monkeypatch.setattr(speed, "STORED", tmp_path)
    (tmp_path / "ratios.json").write_text(speed.comparisons(session(measured)))
    (tmp_path / "selections.json").write_text(speed.comparisons(session(measured), of_liquidsvm=True))
    assert speed.selections().splitlines()[-1] == "| pima | 2 | 0.5 | 0.5 |"
    head, *lines = [line for line in speed.ratios().splitlines() if line]
    assert head == "Measured 2026-11-22 at commit 01234567, EPYC, Python 3.11.7."
    assert lines[2:] == ["| a fit | SVC | 3 | 2.3 | **0.5** | 250 |", r"| \|\|w\|\| | SVC | 1 | 3 | 3 | 3 |"]


def test_races_are_ordered_by_problem(speed, tmp_path, monkeypatch):
    measured = [
        raced("ours", [0.0, 1.0], 0.95, 0.123, proved=True),
        raced("ours", [0.0, 0.1], 0.0, 2.0, proved=True),
        raced("theirs", [0.0, 0.1], 0.0, 1.0),
        raced("theirs", [0.0, 1.0], 0.95, None),
        compared(2.0),
    ]
    monkeypatch.setattr(speed, "STORED", tmp_path)
    (tmp_path / "pauc_race.json").write_text(speed.races(session(measured)))
    _, head, _, *lines = [line for line in speed.race().splitlines() if line]
    assert head == "| method | proved | [0, 0.1], independent | [0, 1], correlated |"
    assert lines == ["| ours | yes | 2 | 0.12 |", "| theirs | no | 1 | not reached |"]


def test_every_benchmark_is_on_the_page(speed):
    defined = {
        f"{file.stem}.{name}"
        for file in SUITE.glob("*.py")
        for name in re.findall(r"^class (\w+)\(", file.read_text(), re.MULTILINE)
    } - {"benchmark.Benchmark"}
    rows = [line for line in speed.suite().splitlines() if line.startswith("| `")]
    assert {line.split("`")[1] for line in rows} == defined
    assert all(line.count(" |") == 3 for line in rows)
