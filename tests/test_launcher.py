"""Combinations as jobs of Slurm, or as processes of submitit's local executor."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from misbehaving_jobs import gaussians
from misbehaving_jobs import jobs as listed
from omegaconf import OmegaConf
from rich.console import Console

from npbench import cli, configs, provenance
from npbench.errors import RequestError
from npbench.jobs import Jobs
from npbench.launcher import compose_launcher
from npbench.memory import machine_mb
from npbench.progress import JobProgress
from npbench.run import prepare
from npbench.store import RecordStore
from npbench.submission import Arrivals, Batch

submitit = pytest.importorskip("submitit")
pytest.importorskip("hydra_plugins.hydra_submitit_launcher")

LOCAL = ("-m", "hydra/launcher=submitit_local", "execution.n_jobs=1")
BLOBS = ("dataset=blobs", "repeats=2")
SLURM = {
    "sbatch": """\
        rm -f "$FAKE_SLURM"/ended-*
        cp "$1" "$FAKE_SLURM/script"
        cpus=$(sed -n 's/^#SBATCH --cpus-per-task=//p' "$1")
        last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\)%.*/\\1/p' "$1")
        for i in $(seq 0 "${last:-0}"); do
            (
                export SLURM_JOB_ID=$((77 + i)) SLURM_CPUS_PER_TASK=$cpus
                [ -z "$last" ] || export SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=$i
                bash "$FAKE_SLURM/script"
                touch "$FAKE_SLURM/ended-$i"
            ) > /dev/null 2>&1 &
        done
        echo "Submitted batch job 77"
    """,
    "srun": """\
        echo "cores of the step: $SRUN_CPUS_PER_TASK" >> "$FAKE_SLURM/steps"
        while [[ $1 == --* ]]; do
            case $1 in
                --output) out=$2; shift 2;;
                --error) err=$2; shift 2;;
                *) shift;;
            esac
        done
        named() { sed "s/%j/77/; s/%A/77/; s/%a/$SLURM_ARRAY_TASK_ID/; s/%t/0/" <<< "$1"; }
        exec "$@" >> "$(named "$out")" 2>> "$(named "$err")"
    """,
    "sacct": """\
        echo "JobID|State|NodeList"
        for i in 0 1; do
            [ -e "$FAKE_SLURM/ended-$i" ] && state=OUT_OF_MEMORY || state=RUNNING
            echo "77_$i|$state|node"
            [ $i = 1 ] || echo "77|$state|node"
        done
    """,
}
REAPER = """
from npbench import hookimpl
from npbench.contracts import Solver

@hookimpl
def npbench_solvers():
    return [Solver(name=name, estimator="npbench_reaper_code:" + name.title(), solves=("np",), search={})
            for name in ("gentle", "reaper", "lazy")]
"""
REAPER_CODE = """
import os, signal, time
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Gentle(ClassifierMixin, BaseEstimator):
    def __init__(self, *, rho=0.05):
        self.rho = rho
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def decision_function(self, X):
        return X[:, 0] - 1.0
    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

class Reaper(Gentle):
    def fit(self, X, y):
        if len(y) > 20 and not Path("spared").exists():  # not on toy data
            server = Path(f"/proc/{os.getppid()}/stat").read_text()
            os.kill(int(server.rpartition(")")[2].split()[1]), signal.SIGKILL)
            time.sleep(60)
        return super().fit(X, y)

class Lazy(Gentle):
    def fit(self, X, y):
        time.sleep(1.0 if len(y) > 20 else 0.0)
        return super().fit(X, y)
"""


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "npbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def records():
    return RecordStore(Path("results/records")).frame()


def said(capsys, *arguments):
    """Return the exit code and what a command line prints, in this process."""
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return end.value.code, captured.out + captured.err


@pytest.fixture
def slurm(tmp_path_factory, monkeypatch):
    """Put a stand-in for Slurm on the path, which runs all tasks of an array at once; return its folder."""
    folder = tmp_path_factory.mktemp("slurm")
    for name, script in SLURM.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("FAKE_SLURM", str(folder))
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


def composed(*launching, settings=(), results="there"):
    configs.register()
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = OmegaConf.create({"results": results, "execution": {"name": "local"}})
        return compose_launcher(loader, launching, settings, [config])


# What is asked for


def test_npbench_has_settings_of_its_own_for_slurm():
    launcher = composed(
        "hydra/launcher=slurm",
        "hydra.launcher.partition=cpu",
        "+hydra.launcher.additional_parameters.nice=100",
        "hydra.launcher.additional_parameters={mail-type: END}",
    )
    assert (launcher.name, launcher.cluster) == ("slurm", "slurm")
    parameters = launcher.parameters
    assert (parameters["partition"], parameters["name"], parameters["tasks_per_node"]) == ("cpu", "npbench", 1)
    assert parameters["additional_parameters"] == {"nice": 100, "mail-type": "END"}
    assert re.fullmatch(r"there/launched/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d/%j", parameters["submitit_folder"])


def test_the_launchers_of_the_plugin_itself_are_taken_too():
    assert composed("hydra/launcher=submitit_slurm").cluster == "slurm"
    local = composed("hydra/launcher=submitit_local", settings=["hydra.sweep.dir=elsewhere", "seed=1"])
    assert (local.cluster, local.parameters["submitit_folder"]) == ("local", "elsewhere/.submitit/%j")
    assert composed("hydra/launcher=basic") is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["hydra/launcher=slrum"], "Unknown hydra/launcher 'slrum': did you mean 'slurm'?"),
        (["hydra/launcher=slurm", "hydra.launcher.partiton=x"], "did you mean 'hydra.launcher.partition'?"),
        (["hydra/launcher=slurm", "hydra.launcher.timeout_min=long"], "hydra.launcher.timeout_min=long: Value 'long'"),
        (["hydra/launcher=slurm", "hydra.launcher.nodes=2"], "hydra.launcher.nodes=2: each combination is one task"),
        (["hydra/launcher=slurm", "hydra.launcher.partition=a,b"], "the launcher is one for the whole run"),
        (["hydra/launcher=slurm", "hydra.launcher.partition=(("], "Cannot read the setting"),
        (["hydra.launcher.partition=cpu"], "choose one, as in hydra/launcher=slurm"),
        (["hydra/launcher=slurm", "execution=dask"], "two ways to other machines"),
    ],
)
def test_what_is_wrong_with_a_launcher_is_told_in_a_line(capsys, stranger, arguments, expected):
    code, output = said(capsys, "plan", "solver=centroid", "dataset=blobs", *arguments)
    assert code == 2
    assert expected in output
    assert len(output.splitlines()) == 1


def test_a_file_of_ones_own_chooses_what_a_site_needs(capsys, stranger):
    folder = Path("mine/hydra/launcher")
    folder.mkdir(parents=True)
    mine = "defaults: [slurm, _self_]\npartition: cpu\nsetup: [module load gcc]\n"
    (folder / "here.yaml").write_text(mine)
    (folder / "wrong.yaml").write_text(mine.replace("partition", "partiton"))
    asked = ("plan", "--config-dir", "mine", "solver=centroid", "dataset=blobs")
    code, output = said(capsys, *asked, "hydra/launcher=here")
    assert code == 0
    assert "hydra/launcher=here gets 1 job" in output
    code, output = said(capsys, *asked, "hydra/launcher=wrong")
    assert code == 2
    assert "The launcher of hydra/launcher=wrong cannot be composed: " in output
    assert "partiton" in output


def test_faults_of_the_launcher_are_told_beside_others(capsys, stranger):
    wrong = ("hydra.launcher.partiton=x", "hydra.launcher.timeout_min=long", "seed=-1")
    code, output = said(capsys, "solver=centroid", "dataset=blobs", "hydra/launcher=slurm", *wrong)
    assert code == 2
    assert len(output.splitlines()) == 3


def test_a_plugin_that_is_absent_is_named(capsys, stranger, monkeypatch):
    launchers = ConfigStore.instance().repo["hydra"]["launcher"]
    for name in ("submitit_slurm.yaml", "submitit_local.yaml"):
        monkeypatch.delitem(launchers, name)
    for name in ("slurm", "submitit_local"):
        code, output = said(capsys, "solver=centroid", "dataset=blobs", f"hydra/launcher={name}")
        assert code == 2
        assert output.splitlines() == [
            f'npbench: hydra/launcher={name} needs Hydra\'s submitit plugin: pip install "npbench[slurm]".'
        ]


def test_where_there_is_no_slurm_nothing_is_planned(capsys, stranger, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, output = said(capsys, "solver=centroid", "dataset=blobs", "hydra/launcher=slurm")
    assert code == 2
    assert "no sbatch and no srun and no sacct here" in output
    assert not Path("results").exists()


def test_a_plan_counts_what_the_launcher_gets(capsys, stranger):
    sweep = ("-m", "solver=centroid", "dataset=blobs", "problem.rho=0.1,0.2,0.3", "repeats=4")
    code, output = said(capsys, "plan", *sweep, "hydra/launcher=slurm")
    assert code == 0
    assert "12 of 12 jobs would run" in output
    assert "hydra/launcher=slurm gets 3 jobs" in output


def test_a_plan_of_an_experiment_counts_too(capsys):
    code, output = said(capsys, "plan", "+experiment=barlaud_figure3", "hydra/launcher=slurm")
    assert code == 0
    assert "hydra/launcher=slurm gets 1 job:" in output


def test_what_slurm_refuses_is_told_in_its_words(capsys, stranger, slurm):
    (slurm / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: cup' >&2\nexit 1\n")
    code, output = said(
        capsys, "solver=centroid", "dataset=blobs", "hydra/launcher=slurm", "hydra.launcher.partition=cup"
    )
    assert code == 2
    assert "asks for (sbatch: error: invalid partition specified: cup): change hydra.launcher.NAME=VALUE" in output
    assert records().is_empty()


# What is granted


def test_slurm_says_how_many_cores_and_how_much_memory_there_are(monkeypatch):
    cores, memory = provenance.available_cores(), machine_mb()
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "100")
    assert (provenance.available_cores(), machine_mb()) == (1, 104.8576)
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", str(cores + 1))
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "")
    assert (provenance.available_cores(), machine_mb()) == (cores, memory)


# What a node does


@pytest.fixture
def batch(stranger):
    config = {
        "solver": {"name": "centroid", "search": {"shrinkage": [0.0]}},
        "dataset": {"name": "blobs"},
        "problem": {"name": "np", "rho": 0.1},
        "protocol": {"name": "cv"},
        "execution": {"name": "local", "n_jobs": 1, "force": False, "trace": False},
        **{"seed": 0, "repeats": 2, "preprocess": "none", "missing": "refuse", "categories": "one_hot"},
        **{"metrics": None, "results": "results"},
    }
    plan = prepare([config])
    return Batch(plan.todo, plan.settings, {"run_id": "r", "run_started": "now"})


def test_a_batch_arrives_on_a_node_as_it_was_sent_and_is_done_once(batch):
    sent = pickle.dumps(batch)
    assert len(sent) < 20_000
    arrived = pickle.loads(sent)
    assert list(arrived.jobs.keys()) == list(batch.jobs.keys())
    arrived()
    arrived.checkpoint().function()
    frame = records()
    assert frame["status"].to_list() == ["ok", "ok"]
    assert set(frame["run_id"]) == {"r"}


def test_a_node_with_other_data_or_sources_is_refused(batch):
    ((job, repeats),) = batch.jobs.parts
    other = dataclasses.replace(job, data_sha256="0", versions={**job.versions, "numpy": "0.1"})
    elsewhere = dataclasses.replace(batch, jobs=Jobs([(other, repeats)]))
    with pytest.raises(RequestError, match=r"numpy, the data set blobs\. Install the same on all nodes"):
        elsewhere()
    assert records().is_empty()


def test_records_are_told_of_once_as_they_arrive(tmp_path):
    store, told = RecordStore(tmp_path), []
    planned = Jobs((job, [job.repeat]) for job in listed(gaussians(), {}, {}, {}, {}))
    first, second, third, fourth = (job.columns for job in planned)
    store.append({**first, "run_id": "another", "status": "ok"})
    arrivals = Arrivals(RecordStore(tmp_path), planned, False, told.append)
    for record in (first, second, third):
        store.append({**record, "run_id": "r", "status": "ok"})
        arrivals.look()
    assert arrivals.lacking(planned) == 1
    store.append({**third, "run_id": "another", "status": "ok"})
    store.append({**fourth, "run_id": "another", "status": "failed"})
    store.compact()
    arrivals.look()
    assert [record["key"] for record in told] == [job.key for job in planned]
    assert [record["run_id"] for record in told] == ["r", "r", "r", "another"]
    assert arrivals.lacking(planned) == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_what_waits_in_the_queue_is_a_sign_of_life(terminal):
    stream, now = io.StringIO(), [0.0]
    console = Console(file=stream, force_terminal=terminal, width=120)
    with JobProgress(4, "np_svm on breast", console, clock=lambda: now[0]) as bar:
        for states in ({"PENDING": 3}, {"PENDING": 2, "RUNNING": 1}):
            now[0] += 20
            bar.queued(states)
    if terminal:
        assert "queue: 2 pending, 1 running" in stream.getvalue()
    else:
        assert stream.getvalue() == "0 of 4 jobs done, 0 failed; queue: 2 pending, 1 running.\n"


# The command


def test_each_combination_is_a_process_and_one_table_is_printed(stranger):
    sweep = (*LOCAL, "solver=centroid", *BLOBS, "problem.rho=0.1,0.2")
    done = command(*sweep)
    assert done.returncode == 0, done.stderr
    assert re.match(r"Submitted 2 jobs \(\d+ \d+\); what they print is in results/launched/.*\n", done.stderr)
    assert done.stdout.count("2/2") == 2
    assert [path.name for path in Path().iterdir()] == ["results"]
    frame = records()
    assert frame["status"].to_list() == ["ok"] * 4
    (description,) = Path("results/runs").glob("*.json")
    assert set(frame["run_id"]) == {description.stem}
    assert "hydra/launcher=submitit_local" in json.loads(description.read_text())["command"]


@pytest.mark.parametrize(
    ("launcher", "state"),
    [("submitit_local", ""), pytest.param("slurm", " Slurm says OUT_OF_MEMORY of 77_0.", marks=pytest.mark.slow)],
)
def test_what_a_solver_does_to_its_node_concerns_its_combination_only(install, slurm, launcher, state):
    install("npbench-reaper", npbench_reaper=REAPER, npbench_reaper_code=REAPER_CODE)
    sweep = ("-m", f"hydra/launcher={launcher}", "solver=reaper,gentle", "dataset=synthetic", "repeats=2")
    first = command(*sweep)
    assert first.returncode == 1, first.stderr
    assert "Traceback" not in first.stderr
    lost = f"npbench: reaper on synthetic, np rho=0.05: 2 of 2 jobs have no record.{state} {Path.cwd()}/results/"
    assert lost in first.stderr
    assert "The same command goes on with what is left." in first.stderr
    assert "2 left no record" in first.stdout
    assert records()["solver"].to_list() == ["gentle"] * 2
    Path("spared").touch()
    again = command(*sweep)
    assert again.returncode == 0, again.stderr
    assert "Submitted 1 job " in again.stderr
    assert sorted(records()["solver"]) == ["gentle"] * 2 + ["reaper"] * 2


def test_slurm_is_asked_for_what_the_settings_say(slurm, stranger):
    asked = ("hydra.launcher.partition=cpu", "hydra.launcher.cpus_per_task=2", "hydra.launcher.mem_gb=3")
    asked += ("hydra.launcher.additional_parameters.nice=100", "hydra.launcher.timeout_min=7")
    done = command("-m", "hydra/launcher=slurm", *asked, "solver=centroid", *BLOBS, "problem.rho=0.1,0.2")
    assert done.returncode == 0, done.stderr
    assert "Submitted 2 jobs (77)" in done.stderr
    lines = set((slurm / "script").read_text().splitlines())
    assert {
        "#SBATCH --array=0-1%2",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --job-name=npbench",
        "#SBATCH --mem=3GB",
        "#SBATCH --nice=100",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
        "#SBATCH --partition=cpu",
        "#SBATCH --time=7",
    } <= lines
    assert (slurm / "steps").read_text() == "cores of the step: 2\n" * 2
    frame = records()
    assert frame["status"].to_list() == ["ok"] * 4
    assert set(frame["n_jobs"]) == {min(2, provenance.available_cores())}


def started(*arguments, until):
    """Start a command, and return its process once ``until()`` holds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "npbench", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not until():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


def nodes():
    """Return the processes that carry out combinations in this folder, by their number."""
    own = [path.name for path in Path("/proc").glob("[0-9]*") if is_node(path)]
    return [int(number) for number in own]


def is_node(process):
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        return b"submitit.core._submit" in words and (process / "cwd").resolve() == Path.cwd()
    except OSError:
        return False


def stored(at_least):
    return lambda: len(list(Path("results/records").glob("*.parquet"))) >= at_least


LONG = ("solver=lazy", "dataset=synthetic", "repeats=6", "execution.n_jobs=1")


@pytest.mark.slow
def test_an_interrupt_ends_what_runs_here(install):
    install("npbench-reaper", npbench_reaper=REAPER, npbench_reaper_code=REAPER_CODE)
    process = started("-m", "hydra/launcher=submitit_local", *LONG, until=stored(2))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.search(r"Interrupted: [1-5] of 6 jobs are stored in results; the same command goes on", errors)
    assert "Traceback" not in errors
    deadline = time.monotonic() + 20
    while nodes():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.slow
def test_what_slurm_has_goes_on_after_an_interrupt_and_the_same_command_joins_it(install, slurm):
    install("npbench-reaper", npbench_reaper=REAPER, npbench_reaper_code=REAPER_CODE)
    process = started("-m", "hydra/launcher=slurm", *LONG, until=stored(2))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "What Slurm has goes on; to end it: scancel 77." in errors
    again = command("-m", "hydra/launcher=submitit_local", *LONG)
    assert again.returncode == 0, again.stderr
    assert "no record" not in again.stderr
    deadline = time.monotonic() + 20
    while nodes():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    frame = records()
    assert frame["status"].to_list() == ["ok"] * 6


@pytest.mark.slow
def test_a_node_that_is_taken_back_goes_on_where_it_stopped(install):
    install("npbench-reaper", npbench_reaper=REAPER, npbench_reaper_code=REAPER_CODE)
    process = started("-m", "hydra/launcher=submitit_local", *LONG, until=stored(2))
    (node,) = nodes()
    os.kill(node, signal.SIGUSR2)  # as Slurm sends before it takes the node
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 0, errors
    frame = records()
    assert frame["status"].to_list() == ["ok"] * 6
    (log,) = Path("results/launched").glob("*/.submitit/*/*_log.out")
    assert "Requeued" in log.read_text()
