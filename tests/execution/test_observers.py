"""Plugins that observe runs: what they see, and that one that fails is left out."""

import json
from pathlib import Path

from npbench import registry
from npbench.records.store import RecordStore

DIARY = """
import json
from npbench import hookimpl

def write(*line):
    with open("diary.jsonl", "a") as file:
        file.write(json.dumps(line) + "\\n")

@hookimpl
def npbench_run_started(run):
    write("run", run["run_id"], run["jobs"], run["configs"][0]["solver"]["name"])

@hookimpl
def npbench_job_finished(record):
    write("job", record["run_id"], record["status"], record["p_fa"])
"""
GRUMPY = """
from npbench import hookimpl

@hookimpl
def npbench_job_finished(record):
    record["p_fa"] = 0.0
"""


def diary():
    return [json.loads(line) for line in Path("diary.jsonl").read_text().splitlines()]


def test_observers_see_a_run_and_each_of_its_records(stranger, install, npbench):
    install("npbench-diary", npbench_diary=DIARY)
    blobs = ("solver=centroid", "dataset=blobs", "execution.n_jobs=2", "repeats=3")
    assert npbench(*blobs)[0] == 0
    frame = RecordStore(Path("results/records")).frame()
    (run_id,) = set(frame["run_id"])
    started, *jobs = diary()
    assert started == ["run", run_id, 3, "centroid"]
    assert sorted(jobs) == sorted(["job", run_id, "ok", p_fa] for p_fa in frame["p_fa"])

    assert npbench(*blobs)[0] == 0  # nothing is left to do
    assert len(diary()) == 4


def test_an_observer_that_fails_is_named_once_and_left_out(stranger, install, npbench):
    install("npbench-diary", npbench_diary=DIARY)
    install("npbench-grumpy", npbench_grumpy=GRUMPY)
    assert len(registry.installed().observers) == 2  # plugins without such hooks are none
    code, _, errors = npbench("solver=centroid", "dataset=blobs", "execution.n_jobs=1", "repeats=2")
    assert code == 0
    (line,) = errors.splitlines()
    assert line.startswith("npbench: npbench_grumpy (npbench-grumpy 1.0) raised in npbench_job_finished")
    assert "TypeError" in line  # what it is shown cannot be changed
    assert len(diary()) == 3
    assert RecordStore(Path("results/records")).frame()["p_fa"].min() >= 0.0


MLFLOW = """
import contextlib, json

def write(*line):
    with open("mlflow.jsonl", "a") as file:
        file.write(json.dumps(line) + "\\n")

def set_experiment(name): write("experiment", name)
def set_tags(tags): write("tags", tags)
def log_params(params): write("params", params)
def log_metrics(metrics): write("metrics", metrics)

@contextlib.contextmanager
def start_run(run_name):
    write("start", run_name)
    yield
    write("end", run_name)
"""


def test_the_documented_logger_logs_every_job(stranger, install, npbench):
    example = Path(__file__).parents[2] / "docs" / "examples" / "npbench-mlflow" / "npbench_mlflow.py"
    install("npbench-mlflow", npbench_mlflow=example.read_text(), mlflow=MLFLOW)
    arguments = ("solver=centroid", "dataset=blobs", "execution.n_jobs=1", "repeats=1")
    assert npbench(*arguments)[0] == 0
    _, _, errors = npbench(*arguments, "solver.mode=fail")
    assert errors == ""
    events = [json.loads(line) for line in Path("mlflow.jsonl").read_text().splitlines()]
    assert [kind for kind, _ in events] == ["experiment", "start", "tags", "params", "metrics", "end"] * 2
    good, bad = dict(events[:6]), dict(events[6:])
    (record,) = RecordStore(Path("results/records")).frame().filter(status="ok").to_dicts()
    assert good["start"] == good["end"] == "centroid on blobs, repeat 0"
    assert (good["tags"]["status"], bad["tags"]["status"]) == ("ok", "failed")
    assert good["params"]["shrinkage"] == json.loads(record["chosen_params"])["shrinkage"]
    assert bad["params"]["mode"] == "fail"
    assert all(good["metrics"][name] == record[name] for name in ("p_fa", "fit_seconds"))
    assert "p_fa" not in bad["metrics"]
