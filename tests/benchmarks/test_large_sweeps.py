"""Overhead of a job and of large sweeps, for the page on scale.

`python tests/benchmarks/test_large_sweeps.py` measures and stores it in about three minutes. Each command runs in
a process of its own; large results folders hold synthetic records.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE

import pytest

STORED = Path(__file__).parents[2] / "results" / "published" / "scale.json"
COMMAND = ("solver=gen_linear", "dataset=breast")
JOBS = (1_000, 10_000, 100_000, 1_000_000)
RUN = 3_000  # jobs that are executed
IN_A_FILE = 1000  # records in a merged file

# Heavy modules are imported inside functions: memory of the parent would count for the commands it starts.


class Nothing:
    """Classifier without work."""

    def get_params(self):
        return {}

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]


def run(n, folder):
    """Run jobs without work in one worker and return the cost of each; times exclude the first tenth."""
    from npbench.execution import local
    from npbench.execution.run import Limits, RunContext, store_each
    from npbench.execution.solving import status_mb
    from npbench.records.provenance import facts
    from npbench.records.store import RecordStore

    jobs, data = _jobs(n)
    stamps, resident, sizes = [], [], []

    def on_record(record):
        stamps.append((time.perf_counter(), time.process_time()))
        if len(stamps) in (IN_A_FILE - 1, n - 1):  # the parent holds most records just before a merge
            resident.append(status_mb("VmRSS"))
            sizes.append(max(folder.glob("*.parquet")).stat().st_size)  # the largest is a single record

    found, load = facts(), os.getloadavg()[0]
    context = RunContext({data.sha256: data}, found)
    store_each(RecordStore(folder), local.records(jobs, Limits(n_jobs=1), context), on_record)
    (start, cpu_start), (end, cpu_end) = stamps[n // 10 - 1], stamps[-1]
    timed = n - n // 10
    tenths = [stamps[place][0] for place in range(n // 10 - 1, n, n // 10)]
    milliseconds = [(after - before) / (n // 10) * 1e3 for before, after in pairwise(tenths)]
    files = list(folder.glob("*.parquet"))
    return {
        "jobs": n,
        "load": load,
        "ms": (end - start) / timed * 1e3,
        "median_ms": statistics.median(milliseconds),
        "least_ms": min(milliseconds),
        "parent_ms": (cpu_end - cpu_start) / timed * 1e3,
        "parent_mb": resident[0],
        "parent_mb_end": resident[-1],
        "single_bytes": sizes[0],
        "merged_bytes": sum(path.stat().st_size for path in files) / n,
        "files": len(files),
    }


def _jobs(n):
    """Return jobs with every metric of their problem, and the data."""
    from npbench.contracts import Solver
    from npbench.data.loading import load
    from npbench.evaluation.job import Request
    from npbench.evaluation.protocols import CrossValidation
    from npbench.planning.plan import Jobs, first_job
    from npbench.problem import NeymanPearson
    from npbench.registry import installed

    dataset = installed().dataset("breast")
    data = load(dataset)
    request = Request(
        solver=Solver(name="nothing", estimator="test_large_sweeps:Nothing", solves=("np",)),
        params={},
        search={},
        dataset=dataset,
        dataset_params={},
        problem=NeymanPearson(0.1),
        protocol=CrossValidation(),
        features={"preprocess": "none", "missing": "refuse", "categories": "one_hot"},
        metrics=[m for m in installed().metrics.values() if m.problems is None or "np" in m.problems],
        repeats=n,
    )
    return Jobs.of([first_job(request, data)]), data


def fill(n, results):
    """Fill a results folder with records of all repeats of COMMAND: copies of a stored one with noise."""
    import numpy as np
    import polars as pl

    from npbench.config.command_line import parse, requested
    from npbench.planning.plan import prepare

    asked = requested(parse([*COMMAND, f"repeats={n}", f"results={results}"]))
    plan, random = prepare(asked.requests, results), np.random.default_rng(0)
    (job, repeats), one = plan.jobs.parts[0], plan.store.frame().head(1)
    float_columns = [name for name, dtype in one.schema.items() if dtype == pl.Float64]
    for path in plan.store.folder.glob("*.parquet"):
        path.unlink()
    for first in range(0, n, IN_A_FILE):
        numbers = repeats[first : first + IN_A_FILE]
        noise = {name: pl.col(name) * pl.Series(random.uniform(0.9, 1.1, len(numbers))) for name in float_columns}
        part = one[[0] * len(numbers)].with_columns(
            key=pl.Series([job.key_of(repeat) for repeat in numbers]),
            repeat=pl.Series(numbers, dtype=pl.Int64),
            split_sha256=pl.Series([random.bytes(32).hex() for _ in numbers]),
            stored_at=pl.format("2026-11-22T00:00:00.{}Z", pl.Series(numbers).cast(pl.String).str.zfill(9)),
            **noise,
        )
        part.write_parquet(plan.store.folder / f"{first:020d}-synthetic.parquet")


def command(*words):
    """Run a command of Python and return its seconds, on the clock and of processors, and peak resident MB."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with exit code {process.returncode}.")
    seconds, cpu_seconds = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "mb": usage.ru_maxrss * 1024 / 1e6}


def commands():
    """Yield the cost of each command: an empty plan, plans of many jobs, and a run with nothing left to do."""
    npbench = ("-m", "npbench")
    with tempfile.TemporaryDirectory() as folder:
        yield {"what": "start", "jobs": 1, **command(*npbench, "plan", *COMMAND, "repeats=1", f"results={folder}")}
        for n in JOBS:
            once = (*COMMAND, f"repeats={n}", f"results={folder}")
            yield {"what": "plan repeats", "jobs": n, **command(*npbench, "plan", *once)}
        for n in JOBS:
            rates = ",".join(f"{(i + 1) / (n // 1000 + 1):.4f}" for i in range(n // 1000))
            sweep = ("-m", *COMMAND, f"problem.rho={rates}", "repeats=1000", f"results={folder}")
            yield {"what": "plan combinations", "jobs": n, **command(*npbench, "plan", *sweep)}
    for n in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            command(*npbench, *COMMAND, "repeats=1", f"results={folder}", "execution.n_jobs=1")
            command(__file__, "fill", str(n), folder)
            once = (*COMMAND, f"repeats={n}", f"results={folder}")
            files = list(Path(folder, "records").glob("*.parquet"))
            size = sum(path.stat().st_size for path in files) / 1e6
            yield {"what": "again", "jobs": n, "files": len(files), "size_mb": size, **command(*npbench, *once)}
            yield {"what": "plan again", "jobs": n, **command(*npbench, "plan", *once)}


@pytest.mark.slow  # plans and runs as the benchmark does
def test_empty_jobs_are_real_jobs(tmp_path, monkeypatch):
    from npbench.records.store import RecordStore

    monkeypatch.syspath_prepend(Path(__file__).parent)
    found = run(20, tmp_path)
    records = RecordStore(tmp_path).frame()
    assert list(records["status"]) == ["ok"] * 20
    assert records["p_fa"].null_count() == 0
    assert found["files"] == 1
    assert found["single_bytes"] > found["merged_bytes"]


@pytest.mark.slow  # starts npbench twice
def test_synthetic_records_belong_to_the_command(tmp_path, monkeypatch):
    from npbench.records.store import RecordStore

    monkeypatch.setattr(sys.modules[__name__], "IN_A_FILE", 10)
    command("-m", "npbench", *COMMAND, "repeats=1", f"results={tmp_path}", "execution.n_jobs=1")
    fill(25, tmp_path)
    records = RecordStore(tmp_path / "records")
    assert len(records.done()) == 25
    assert records.frame().select("p_nd", "split_sha256").n_unique() == 25
    before = set(records.folder.glob("*.parquet"))
    assert len(before) == 3
    command("-m", "npbench", *COMMAND, "repeats=25", f"results={tmp_path}")
    assert set(records.folder.glob("*.parquet")) == before


def test_all_measurements_are_stored():
    rows = json.loads(STORED.read_text(encoding="utf-8"))
    stored = {(row["what"], row["jobs"]) for row in rows}
    kinds = ("plan repeats", "plan combinations", "again", "plan again")
    assert stored == {("run", RUN), ("start", 1), *((kind, n) for kind in kinds for n in JOBS)}
    (one,) = (row for row in rows if row["what"] == "run")
    # Both moments hold the same number of records; two thousand jobs have ended in between.
    assert abs(one["parent_mb_end"] - one["parent_mb"]) < 20


if __name__ == "__main__":
    if words := sys.argv[1:]:
        print(json.dumps({"run": run, "fill": fill}[words[0]](int(words[1]), Path(words[2]))))
    else:
        with tempfile.TemporaryDirectory() as results:
            output = subprocess.run(
                [sys.executable, __file__, "run", str(RUN), results], stdout=PIPE, check=True
            ).stdout
        rows = [{"what": "run", **json.loads(output)}, *commands()]
        from store import here  # after the commands, whose memory would count it

        rows = [{**row, **here()} for row in rows]
        STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
