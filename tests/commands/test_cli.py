"""The command line: a few whole runs in separate processes, the rest through functions."""

import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench import __all__ as public_names
from npbench import __version__, cli
from npbench.cli import COMMANDS
from npbench.commands.complete import words_for
from npbench.records.store import RecordStore

BLOBS = ("solver=centroid", "dataset=blobs", "execution.n_jobs=1")


@pytest.fixture
def refused(npbench):
    """Return a function that runs a bad command line, and returns the lines with which it is refused."""

    def run(*words):
        code, output, errors = npbench(*words)
        assert (code, output) == (2, "")
        return errors.splitlines()

    return run


def records():
    return RecordStore(Path("results/records")).frame()


def test_run_leaves_records_and_a_description(stranger, npbench):
    code, text, errors = npbench(*BLOBS, "repeats=2")
    assert (code, errors) == (0, "")
    for expected in (" standard deviation", "centroid", "2/2"):
        assert expected in text
    assert sorted(path.name for path in Path().iterdir()) == ["results"]
    assert sorted(path.name for path in Path("results").iterdir()) == ["records", "runs"]
    frame = records()
    assert frame["status"].to_list() == ["ok", "ok"]
    (description,) = Path("results/runs").glob("*.json")
    run = json.loads(description.read_text())
    assert set(frame["run_id"]) == {run["run_id"]} == {description.stem}
    assert run["configs"][0]["solver"]["name"] == "centroid"

    code, text, _ = npbench(*BLOBS, "repeats=2")
    assert (code, "2 of them from before" in text) == (0, True)
    assert records().equals(frame)
    assert list(Path("results/runs").glob("*.json")) == [description]

    assert npbench(*BLOBS, "repeats=2", "execution.force=true")[0] == 0
    assert set(records()["run_id"]).isdisjoint({run["run_id"]})


@pytest.mark.slow  # starts three processes, as the gate does with README's first command
def test_run_in_its_own_process_prints_what_the_terminal_can_show(stranger):
    words = [sys.executable, "-m", "npbench", *BLOBS, "repeats=2"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    for expected in (" standard deviation", "centroid", "2/2"):
        assert expected in ended.stdout


def test_sweep_is_one_run_with_one_table(stranger, npbench):
    sweep = ("-m", *BLOBS, "problem.rho=0.05,0.1", "solver.mode=ok,fail")
    code, text, _ = npbench(*sweep, "repeats=1")
    assert code == 1
    assert "2 of 4 jobs failed" in text
    assert "no centroid today" in " ".join(text.split())
    assert text.count("np_score") == 1
    assert sorted(records()["status"]) == ["failed", "failed", "ok", "ok"]
    assert len(list(Path("results/runs").glob("*.json"))) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["results"]

    code, text, _ = npbench("plan", *sweep, "repeats=2")
    assert code == 0
    assert "6 of 8 jobs would run; 2 already in results." in text
    assert "failed before: failed: no centroid today" in text


@pytest.mark.slow  # starts three processes; the next test ends a run in this one
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


def test_terminated_run(stranger, npbench):
    def terminate():
        if eventually(lambda: list(Path().glob("results/runs/*.json"))):
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=terminate)
    sender.start()
    code, _, errors = npbench(*BLOBS, "solver.mode=slow", "solver.shrinkage=0")
    sender.join()
    assert (code, "0 of 5 jobs" in errors) == (130, True)
    assert not list(Path().glob("results/records/.*.unfinished"))


def eventually(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def test_default_solver_and_data(npbench):
    code, text, _ = npbench("plan", "repeats=1")
    assert (code, "np_svm" in text) == (0, True)


@pytest.mark.slow  # compiles the kernels of np_svm
def test_default_run(npbench):
    assert npbench("repeats=1", "solver.search.C=[1]", "solver.search.gamma=[0.01]")[0] == 0
    assert records()["solver"].to_list() == ["np_svm"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("re", "report"),
        ("ver", "verify"),
        ("data fetch pi", "pima"),
        ("info ", "p_fa"),
        ("check solver cen", "centroid"),
        ("threshold --r", "--recall"),
        ("list e", "experiments"),
        ("report --experiment gasso", "gasso_table2"),
        ("plan -m solver=ce", "solver=centroid"),
        ("-m solver=np_svm,ge", "solver=np_svm,gen"),
        ("metrics=", "metrics=[p_fa"),
        ("metrics=[p_fa,p", "metrics=[p_fa,p_nd"),
        ("solver=centroid solver.s", "solver.search.shrinkage="),
        ("+experiment=gasso_t", "+experiment=gasso_table3"),
        ("execution.", "execution.time_limit="),
        ("protocol=", "protocol=nested"),
        ("problem.", "problem.fpr_range="),
    ],
)
def test_completion_has(line, expected, stranger, npbench, monkeypatch):
    monkeypatch.setenv("COMP_LINE", f"npbench {line}")
    assert expected in npbench("-sc", "query=bash")[1].split()
    assert expected in npbench("-sc", "query=fish")[1].splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_completion_has_the_options_of_the_help(command, npbench):
    code, printed, _ = npbench(command, "--help")
    assert set(re.findall(r"(?<![\w`])--[a-z][\w-]*", printed)) <= words_for(f"npbench {command} --", COMMANDS)
    assert code == 0


@pytest.mark.parametrize("line", ["threshold sco", "solver=no_such solver.", "no_such ", "data 'x", "", "info \0"])
def test_completion_never_prints_an_error(line, npbench, monkeypatch):
    monkeypatch.setenv("COMP_LINE", f"npbench {line}".replace("\0", "\x1b"))
    code, _, error = npbench("-sc", "query=bash")
    assert (code, error) == (0, "")


def test_completion_imports_neither_hydra_nor_numerics():
    code = (
        "import sys; from npbench.commands.complete import words_for; words_for('npbench solver=gen solver.', {});"
        "words_for('npbench info ', {}); sys.exit(str({'hydra', 'numpy', 'sklearn', 'polars'} & set(sys.modules) or 0))"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ended.stderr.strip() == "0"


@pytest.mark.slow  # Hydra writes the script
def test_bash_completes(tmp_path):
    script = """eval "$(npbench -sc install=bash)"
        COMP_LINE="npbench data fetch pim"; COMP_POINT=${#COMP_LINE}; COMP_CWORD=3; hydra_bash_completion
        echo "${COMPREPLY[@]}" """
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True, env=env)
    assert (ended.stdout.strip(), ended.stderr) == ("pima", "")


def test_help_is_one_screen_and_names_every_command(npbench):
    code, text, _ = npbench("--help")
    assert code == 0
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 80
    assert [name for name in (*COMMANDS, "verify", "submit", "splits") if name not in text] == []
    assert [name for name in public_names if re.match("NP|Soft", name) and name not in text] == []
    assert npbench("--version") == (0, f"npbench {__version__}\n", "")


def test_the_fit_of_the_help_is_a_command(stranger, npbench):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 200)
    words = {"b": np.where(rng.random(400) < 0.5, "red", "blue"), "label": np.where(y, "bad", "good")}
    table = pl.DataFrame({"a": rng.normal(2 * y), **words}).with_columns(a=pl.when(pl.col("a") < 3).then("a"))
    table.write_csv("table.csv")
    _, text, _ = npbench("--help")
    (printed,) = re.findall(r"npbench (fit .*?--save \S+)", text.replace("\\\n", ""), re.DOTALL)
    named = {"FILE": "table.csv", "COLUMN": "label", "VALUE": "bad"}
    words = re.sub("|".join(named), lambda found: named[found[0]], printed).split()
    code, text, _ = npbench(*words)
    assert (code, Path(words[-1]).exists()) == (0, True)
    assert "score >" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["lst"], "Unknown command 'lst': did you mean 'list'?"),
        (["list", "solvres"], "did you mean 'solvers'?"),
        (["--solver", "np_svm"], "--solver: write settings as solver="),
        (["plan", "--rho=0.1"], "--rho=0.1"),
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
        (["plan", "--config-dir", "x" * 300], "x" * 300),
    ],
)
def test_fault_is_one_line(refused, stranger, arguments, expected):
    (line,) = refused(*arguments)
    assert expected in line
    assert not Path("results").exists()


def test_too_few_samples(refused, stranger):
    lines = refused("-m", *BLOBS, "dataset.n=6,120", "protocol.folds=4")
    assert lines
    assert all("too few" in line for line in lines)
    assert not Path("results").exists()


def test_all_faults_in_one_go(refused, stranger):
    unknown = ["solver=centriod", "solver.shrinkge=1", "dataset=blob"]
    words = [*unknown, "problem.rho=2", "repeats=0", "execution.n_jobs=0"]
    assert len(refused(*words)) == 5  # the settings of an unknown solver are not judged
    for place in (0, 3, 6):  # people put -m anywhere
        assert len(refused(*words[:place], "-m", *words[place:])) == 5


def test_own_configuration_folder(refused, stranger):
    Path("mine/problem").mkdir(parents=True)
    Path("mine/problem/strict.yaml").write_text("name: np\nrho: 1.5\n")
    (line,) = refused("--config-dir", "mine", *BLOBS, "problem=strict")
    assert line.startswith("npbench: problem.rho is 1.5")

    Path("mine/problem/strict.yaml").write_text("name: [np\n")
    (line,) = refused("--config-dir", "mine", *BLOBS, "problem=strict")
    assert "cannot be composed" in line
    assert "strict.yaml" in line


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (OSError(errno.EACCES, "no", "folder/records"), 2, "folder/"),
        (OSError(errno.ENAMETOOLONG, "no", "folder/records"), 2, "folder/"),
        (OSError(errno.EIO, "Input/output error", "folder/records"), 2, "folder/"),
        (OSError(errno.ESTALE, "Stale file handle"), 2, "Stale"),
        (FileNotFoundError(errno.ENOENT, "no", "folder/records"), 2, "renamed"),
        (FileExistsError(errno.EEXIST, "no", "folder/records"), 2, "folder/"),
        (OSError("without a number"), 2, "without a number"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_what_stops_a_command_is_one_line(capsys, error, code, text):
    def step():
        raise error

    with pytest.raises(SystemExit) as end:
        cli.exit_with(step)
    assert (end.value.code, text in capsys.readouterr().err) == (code, True)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", [["list"], ["--help"], ["info", "--help"]])
def test_a_closed_pipe_is_no_failure(words):
    """As after `| head`; what is printed last goes out when Python ends."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "npbench", *words]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("file", "content", "word"),
    [
        ("experiment/mine.yaml", b"title: \xe9\n", "UTF-8"),
        ("experiment/mine.yaml", b"defaults: [mine, _self_]\n", "itself"),
        ("problem/mine.yaml", b"title: \xe9\n", "UTF-8"),
        ("solver/mine.yaml", b"defaults: [mine, _self_]\n", "itself"),
    ],
)
def test_configuration_that_cannot_be_read_is_one_line(refused, stranger, file, content, word):
    path = Path("own", file)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    chosen = f"{'+' * file.startswith('experiment')}{path.parent.name}=mine"
    (line,) = refused("plan", "--config-dir", "own", "dataset=blobs", chosen)
    assert word in line


OTHER_NAMES = ("a=b", "é ü", "e(f)", "x~y", "~t", "日本", "h#i", "q'uo", "[1]", "${HOME}", "$(x)")


@pytest.mark.parametrize("name", ["é=a (f)", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHER_NAMES)])
def test_any_folder_name_works_or_the_advice_does_as_typed_in_a_shell(npbench, stranger, name, request):
    if name not in OTHER_NAMES:
        request.getfixturevalue("without_figures")
    code, output, errors = npbench(*BLOBS, "repeats=1", f"results={name}")
    if code:
        (word,) = shlex.split(errors.rpartition(" type ")[2].rstrip(".\n"))
        code, output, errors = npbench(*BLOBS, "repeats=1", word)
    assert (code, Path(name, "records").is_dir()) == (0, True)
    assert json.dumps(f"{name}/records", ensure_ascii=False) in output
    assert npbench("report", name)[0] == 0


def test_records_that_are_a_file_are_refused_before_anything_runs(refused, stranger):
    Path("results").mkdir()
    Path("results/records").write_text("mine")
    (line,) = refused(*BLOBS)
    assert "results/records" in line


def test_a_folder_that_is_removed_during_a_run_ends_it(npbench, stranger, monkeypatch):
    append = RecordStore.append

    def append_after_removal(store, record):
        append(store, dict(record))
        shutil.rmtree("results")
        append(store, record)

    monkeypatch.setattr(RecordStore, "append", append_after_removal)
    code, _, errors = npbench(*BLOBS, "repeats=3", "execution.keep_scores=true")
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "results/records" in errors
    monkeypatch.setattr(RecordStore, "append", append)
    assert npbench(*BLOBS, "repeats=3")[0] == 0


def test_a_removed_current_folder_is_named(refused):
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()
    (line,) = refused("plan")
    assert "current folder" in line


@pytest.mark.slow  # starts a process; the test above removes the folder of this one
def test_a_folder_that_is_removed_before_the_start_is_named():
    leave = "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')"
    code = f"{leave}; from npbench.cli import main; main(['plan'])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "current folder" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


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
