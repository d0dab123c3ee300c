"""Tables stored from a session of benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

COMPARED = dict.fromkeys(("what", "size", "ours", "theirs", "ratio", "lowest", "highest", "quality"), 1)
RACED = dict.fromkeys(("raced", "proved", "fpr_range", "correlation", "objective", "area"), 0)


def measured(info: dict[str, Any], name: str = "test_fit[1]", file: str = "test_linear.py") -> dict[str, Any]:
    return {"extra_info": info, "name": name, "fullname": f"{file}::{name}", "params": {"n": 1}, "stats": {"min": 0.5}}


def test_each_table_gets_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import store

    session = {
        "datetime": "2026-11-22T01:00:00",
        "commit_info": {"id": "0123456789"},
        "machine_info": {"cpu": {"brand_raw": "EPYC"}, "processor": "", "python_version": "3.11.7"},
        "benchmarks": [
            measured({**COMPARED, "peer": "SVC", "other": 2}),
            measured({**COMPARED, "peer": "liquidSVM 1"}),
            measured({**RACED, "other": 2}),
            measured({"C": 2.0}, "test_growth[1]", "test_pauc.py"),
        ],
    }
    found = dict(store.tables(session))
    assert found["speed/ratios"]["rows"] == [{**COMPARED, "peer": "SVC"}]
    assert found["speed/selections"]["rows"] == [{**COMPARED, "peer": "liquidSVM 1"}]
    assert found["speed/pauc_race"]["rows"] == [RACED]
    assert found["narasimhan/seconds"] == [{"benchmark": "test_growth", "n": 1, "C": 2.0, "seconds": 0.5}]
    about = {"when": "2026-11-22", "commit": "01234567", "cpu": "EPYC", "python": "3.11.7"}
    assert {name: found["speed/ratios"][name] for name in about} == about
