"""Tables stored from a session of benchmarks."""

from pathlib import Path


def measured(info, name="test_fit[1]", file="test_linear.py"):
    return {"extra_info": info, "name": name, "fullname": f"{file}::{name}", "params": {"n": 1}, "stats": {"min": 0.5}}


def test_each_table_gets_its_rows(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import store

    compared, raced = dict.fromkeys(store.COMPARED, 1), dict.fromkeys(store.RACED, 0)
    session = {
        "datetime": "2026-11-22T01:00:00",
        "commit_info": {"id": "0123456789"},
        "machine_info": {"cpu": {"brand_raw": "EPYC"}, "processor": "", "python_version": "3.11.7"},
        "benchmarks": [
            measured({**compared, "peer": "SVC", "other": 2}),
            measured({**compared, "peer": "liquidSVM 1"}),
            measured({**raced, "other": 2}),
            measured({"C": 2.0}, "test_growth[1]", "test_pauc.py"),
        ],
    }
    found = dict(store.tables(session))
    assert found["speed/ratios"]["rows"] == [{**compared, "peer": "SVC"}]
    assert found["speed/selections"]["rows"] == [{**compared, "peer": "liquidSVM 1"}]
    assert found["speed/pauc_race"]["rows"] == [raced]
    assert found["narasimhan/seconds"] == [{"benchmark": "test_growth", "n": 1, "C": 2.0, "seconds": 0.5}]
    about = {"when": "2026-11-22", "commit": "01234567", "cpu": "EPYC", "python": "3.11.7"}
    assert {name: found["speed/ratios"][name] for name in about} == about
