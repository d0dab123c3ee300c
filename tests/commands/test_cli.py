"""The command line: a few whole runs in separate processes, the rest through functions."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import npbench
from npbench import cli
from npbench.records.store import RecordStore

BLOBS = ("solver=centroid", "dataset=blobs", "execution.n_jobs=1")


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "npbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


@pytest.fixture
def answer(capsys, monkeypatch):
    """Return a function that runs a command line in this process: its exit code and what it printed."""
    monkeypatch.setenv("COLUMNS", "100")

    def answer(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(arguments)
        return end.value.code, capsys.readouterr().out

    return answer


def refused(capsys, *arguments):
    """Return the lines with which a bad command line is refused."""
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.splitlines()


def records():
    return RecordStore(Path("results/records")).frame()


def test_run_leaves_records_and_a_description(stranger, answer):
    first = command(*BLOBS, "repeats=2", PYTHONIOENCODING="ascii")
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    assert "mean +- standard deviation" in first.stdout
    assert "centroid" in first.stdout
    assert "2/2" in first.stdout
    assert sorted(path.name for path in Path().iterdir()) == ["results"]
    assert sorted(path.name for path in Path("results").iterdir()) == ["records", "runs"]
    frame = records()
    assert frame["status"].to_list() == ["ok", "ok"]
    (description,) = Path("results/runs").glob("*.json")
    run = json.loads(description.read_text())
    assert set(frame["run_id"]) == {run["run_id"]} == {description.stem}
    assert run["configs"][0]["solver"]["name"] == "centroid"

    code, text = answer(*BLOBS, "repeats=2")
    assert (code, "2 of them from before" in text) == (0, True)
    assert records().equals(frame)
    assert list(Path("results/runs").glob("*.json")) == [description]

    assert answer(*BLOBS, "repeats=2", "execution.force=true")[0] == 0
    assert set(records()["run_id"]).isdisjoint({run["run_id"]})


def test_sweep_is_one_run_with_one_table(stranger, answer):
    sweep = ("-m", *BLOBS, "problem.rho=0.05,0.1", "solver.mode=ok,fail")
    code, text = answer(*sweep, "repeats=1")
    assert code == 1
    assert "2 of 4 jobs failed" in text
    assert "no centroid today" in " ".join(text.split())
    assert text.count("np_score") == 1
    assert sorted(records()["status"]) == ["failed", "failed", "ok", "ok"]
    assert len(list(Path("results/runs").glob("*.json"))) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["results"]

    code, text = answer("plan", *sweep, "repeats=2")
    assert code == 0
    assert "6 of 8 jobs would run; 2 already in results." in text
    assert "failed before: failed: no centroid today" in text


def test_interrupted_run(stranger):
    """Ctrl-C reaches all processes of a terminal."""
    arguments = [sys.executable, "-m", "npbench", *BLOBS, "solver.mode=slow", "solver.shrinkage=0"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert eventually(lambda: list(Path().glob("results/runs/*.json")))
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert not list(Path().glob("results/records/.*.unfinished"))
    assert "0 of 5 jobs" in stderr


def test_terminated_run(stranger, capsys):
    def terminate():
        if eventually(lambda: list(Path().glob("results/runs/*.json"))):
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=terminate)
    sender.start()
    with pytest.raises(SystemExit) as end:
        cli.main([*BLOBS, "solver.mode=slow", "solver.shrinkage=0"])
    sender.join()
    assert end.value.code == 130
    assert not list(Path().glob("results/records/.*.unfinished"))
    assert "0 of 5 jobs" in capsys.readouterr().err


def eventually(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def test_default_solver_and_data(answer):
    code, text = answer("plan", "repeats=1")
    assert code == 0
    assert "np_svm" in text


@pytest.mark.slow  # compiles the kernels of np_svm
def test_default_run(answer):
    assert answer("repeats=1", "solver.search.C=[1]", "solver.search.gamma=[0.01]")[0] == 0
    assert records()["solver"].to_list() == ["np_svm"]


def test_completion(stranger, answer, monkeypatch):
    monkeypatch.setenv("COMP_POINT", "99")

    def completed(line):
        monkeypatch.setenv("COMP_LINE", f"npbench {line}")
        return answer("-sc", "query=bash")[1].split()

    assert {"solver.shrinkage=", "solver.search."} <= set(completed("solver=centroid solver.s"))
    assert {"experiment=gasso_table2", "experiment=gasso_table3"} <= set(completed("experiment=gasso_t"))


def test_help(answer):
    _, text = answer("--help")
    for expected in ("npbench list", "np_svm", "problem.rho=0.05", "Exit code"):
        assert expected in text


def test_help_takes_names_that_the_yaml_of_a_solver_lacks(answer):
    code, text = answer("solver=logistic_regression", "solver.params.tol=0.25", "--help")
    assert (code, "tol: 0.25" in text) == (0, True)


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"npbench {npbench.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["lst"], "Unknown command 'lst': did you mean 'list'?"),
        (["list", "solvres"], "did you mean 'solvers'?"),
        (["--help", "solver=zzz"], "Unknown solver 'zzz'"),
        (["--cfg", "job", "seeed=1", "solver=centroid"], "did you mean 'seed'?"),
        (["--config-dir", "nowhere"], "--config-dir nowhere"),
        (["--config-name", "nothing"], "cannot be composed"),
        (["-m", "--cfg", "job", "solver=centroid"], "Only one of"),
        (["-m", "results=a,b", "solver=centroid"], "whole run"),
        (["dataset.n=1", "solver=centroid"], "'dataset.n'"),
        (["solver=centroid", "plan"], "comes first"),
        ([*BLOBS, f"results={'long' * 75}"], "File name too long"),
        (["report", "long" * 75], "File name too long"),
    ],
)
def test_fault_is_one_line(capsys, stranger, arguments, expected):
    (line,) = refused(capsys, *arguments)
    assert expected in line
    assert not Path("results").exists()


def test_too_few_samples(capsys, stranger):
    lines = refused(capsys, "-m", *BLOBS, "dataset.n=6,120", "protocol.folds=4")
    assert lines
    assert all("too few" in line for line in lines)
    assert not Path("results").exists()


def test_all_faults_in_one_go(capsys, stranger):
    arguments = [
        "solver=centriod",
        "solver.shrinkge=1",
        "problem.rho=2",
        "repeats=0",
        "dataset=blob",
        "execution.n_jobs=0",
    ]
    lines = refused(capsys, *arguments)
    assert len(lines) == 5  # the settings of an unknown solver are not judged
    for place in (0, 3, 6):  # people put -m anywhere
        assert len(refused(capsys, *arguments[:place], "-m", *arguments[place:])) == 5


def test_own_configuration_folder(capsys, stranger):
    Path("mine/problem").mkdir(parents=True)
    Path("mine/problem/strict.yaml").write_text("name: np\nrho: 1.5\n")
    (line,) = refused(capsys, "--config-dir", "mine", *BLOBS, "problem=strict")
    assert line.startswith("npbench: problem.rho is 1.5")

    Path("mine/problem/strict.yaml").write_text("name: [np\n")
    (line,) = refused(capsys, "--config-dir", "mine", *BLOBS, "problem=strict")
    assert "cannot be composed" in line
    assert "strict.yaml" in line


@pytest.mark.parametrize("words", [["report"], ["plan", "--config-dir"]])
def test_too_long_name_is_one_line(capsys, stranger, words):
    (line,) = refused(capsys, *words, "x" * 300)
    assert "x" * 300 in line


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENAMETOOLONG])
def test_folder_that_cannot_be_read_is_one_line(capsys, number):
    def step():
        raise OSError(number, os.strerror(number), "folder/records")

    with pytest.raises(SystemExit, match="2"):
        cli.exit_with(step)
    assert "folder/" in capsys.readouterr().err


def test_interrupt_while_preparing(capsys):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as end:
        cli.exit_with(interrupted)
    assert end.value.code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize(("ignored", "expected"), [(False, 130), (True, 0)])
def test_closing_the_terminal_interrupts_unless_nohup_ignores_it(ignored, expected):
    def hang_up():
        os.kill(os.getpid(), signal.SIGHUP)
        return 0

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as end:
            cli.exit_with(hang_up)
        assert signal.getsignal(signal.SIGHUP) == (signal.SIG_IGN if ignored else signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert end.value.code == expected
