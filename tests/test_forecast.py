from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from npbench import forecast
from npbench.problem import NeymanPearson

SOLVER = SimpleNamespace(name="np_svm")


def job(key, rho=0.1):
    return SimpleNamespace(key=key, dataset="pima", solver=SOLVER, problem=NeymanPearson(rho))


def forecast_of(monkeypatch, jobs, todo, seconds, *, n_jobs=2, why=None):
    """Print the forecast of ``jobs``, of which those in ``todo`` run; ``seconds`` and ``why`` are given by key."""
    monkeypatch.setattr(forecast, "explain", lambda job, frame, trace: (why or {}).get(job.key, "new"))
    monkeypatch.setattr(forecast, "estimate", lambda job, frame: seconds.get(job.key))
    console = Console(width=80, record=True)
    plan = SimpleNamespace(
        jobs=jobs,
        todo=[job for job in jobs if job.key in todo],
        store=SimpleNamespace(frame=lambda: None),
        settings=SimpleNamespace(results=Path("results"), n_jobs=n_jobs, trace=False),
    )
    forecast.print_forecast(plan, console)
    return console.export_text()


def test_jobs_are_counted_by_setting_and_reason(monkeypatch):
    jobs = [job("a"), job("b"), job("c", rho=0.2), job("d")]
    text = forecast_of(monkeypatch, jobs, {"a", "b", "c"}, {}, why={"d": "done"})
    rows = [row.split() for row in text.splitlines() if row.startswith("pima")]
    assert [row[-1] for row in rows] == ["2", "1", "1"]
    assert [row[4] for row in rows] == ["run", "run", "skip"]
    assert "3 of 4 jobs would run; 1 already in results." in text


def test_what_is_done_runs_again_when_forced(monkeypatch):
    assert "done, but forced" in forecast_of(monkeypatch, [job("a")], {"a"}, {}, why={"a": "done"})


@pytest.mark.parametrize(
    ("seconds", "n_jobs", "expected"),
    [
        ({}, 2, "How long is unknown"),
        ({"a": 30, "b": 90, "c": 60}, 1, "about 3 min on 1 worker."),
        ({"a": 30, "b": 90, "c": 60}, 2, "about 1 min 30 s on 2 workers."),
        ({"a": 60}, 8, "about 1 min on 3 workers (a guess for 2 of them)."),
    ],
)
def test_the_time_is_the_work_shared_by_the_workers(monkeypatch, seconds, n_jobs, expected):
    assert expected in forecast_of(monkeypatch, [job("a"), job("b"), job("c")], set("abc"), seconds, n_jobs=n_jobs)


def test_nothing_to_do_takes_no_time(monkeypatch):
    text = forecast_of(monkeypatch, [job("a")], set(), {}, why={"a": "done"})
    assert "0 of 1 jobs would run" in text
    assert "How long" not in text
