"""Runs that Hydra launches itself: other launchers and sweepers, and settings under ``hydra``."""

import json
import logging
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
import yaml

from npbench import registry, session
from npbench.config.command_line import parse, requested
from npbench.progress import Progress
from npbench.records.store import RecordStore

pytestmark = pytest.mark.filterwarnings("ignore")  # of launchers and sweepers that are older than what they import

BLOBS = ("solver=centroid", "dataset=blobs", "repeats=2")
CALLBACK = """
from pathlib import Path
from hydra.experimental.callback import Callback

class Note(Callback):
    def on_job_end(self, config, job_return, **_):
        with Path("noted").open("a") as stream:
            print("job", job_return.return_value, file=stream)

    def on_multirun_end(self, config, **_):
        with Path("noted").open("a") as stream:
            print("end", file=stream)
"""


def needs(plugin):
    return pytest.mark.skipif(not find_spec(f"hydra_plugins.{plugin}"), reason=f"{plugin} is not installed")


@pytest.fixture
def answer(npbench, stranger):
    """Return a function that carries out a command line in this process: its exit code, and what it printed."""

    def answer(*words):
        code, output, errors = npbench(*words)
        return code, output + errors

    root = logging.getLogger()
    before = root.level, list(root.handlers)
    yield answer
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    logging.getLogger("hydra").setLevel(logging.NOTSET)


def records():
    return RecordStore(Path("results/records")).frame()


def best_value(key="best_value"):
    """Return the best value that Optuna found."""
    (folder,) = Path("results/hydra").iterdir()
    return yaml.safe_load((folder / "optimization_results.yaml").read_text())[key]


def best_params():
    return best_value("best_params")


def test_single_run_in_a_folder_of_hydra(answer):
    code, text = answer(*BLOBS, "hydra.run.dir=out", "hydra.output_subdir=.hydra")
    assert code == 0, text
    assert "2/2" in text
    assert yaml.safe_load(Path("out/.hydra/config.yaml").read_text())["solver"]["name"] == "centroid"
    assert "solver=centroid" in yaml.safe_load(Path("out/.hydra/overrides.yaml").read_text())
    stored = records()
    assert stored["n_jobs"].to_list() == [1, 1]
    (description,) = Path("results/runs").iterdir()
    assert set(stored["run_id"]) == {json.loads(description.read_text())["run_id"]} == {description.stem}

    code, text = answer(*BLOBS, "hydra.run.dir=out")
    assert (code, "2 of them from before" in text) == (0, True)
    assert records().equals(stored)


def test_jobs_are_those_of_an_ordinary_run(answer):
    swept = ("-m", *BLOBS, "problem.rho=range(0.05,0.12,0.05)", "solver.mode=ok")
    session.frame(requested(parse(swept)), Progress())
    stored = records()
    code, text = answer(*swept, "hydra.sweep.dir=out")
    assert (code, "4 of them from before" in text) == (0, True), text
    assert records().equals(stored)


def test_results_lie_where_the_command_was_typed(answer, monkeypatch):
    code, _ = answer(*BLOBS, "hydra.job.chdir=true", "hydra.run.dir=elsewhere", "execution.n_jobs=2")
    assert code == 0
    assert Path("elsewhere").is_dir()
    assert not list(Path("elsewhere").iterdir())
    assert records()["n_jobs"].to_list() == [2, 2]


@pytest.mark.slow  # a run for a setting of Hydra's own
def test_verbose_shows_the_log(answer):
    code, text = answer(*BLOBS, "repeats=1", "hydra.verbose=[hydra]")
    assert code == 0
    assert "hydra" in text.lower().partition("minimise")[0]


@pytest.mark.slow  # four jobs; the next test has a callback that a plan leaves alone
def test_callbacks(answer, monkeypatch):
    Path("noting.py").write_text(CALLBACK)
    monkeypatch.syspath_prepend(Path.cwd())
    code, text = answer("-m", *BLOBS, "solver.mode=ok,fail", "+hydra.callbacks.mine._target_=noting.Note")
    assert code == 1
    assert "2 of 4 jobs failed" in text
    job, failed, end = Path("noted").read_text().splitlines()
    assert 0 <= float(job.split()[1]) <= 1  # mean validation loss
    assert (failed, end) == ("job nan", "end")


def test_a_plan_imports_no_callback(answer, monkeypatch):
    Path("noting_import.py").write_text(CALLBACK + 'Path("noted").touch()')
    monkeypatch.syspath_prepend(Path.cwd())
    code, text = answer("plan", "-m", *BLOBS, "seed=1,2", "+hydra.callbacks.mine._target_=noting_import.Note")
    assert code == 0, text
    assert not Path("noted").exists()


@pytest.mark.slow  # reads a configuration of its own twice; other tests sweep values that are typed
def test_values_to_sweep_in_a_configuration(answer):
    Path("mine").mkdir()
    params = {"problem.rho": "0.05,0.1", "seed": 3, "solver.shrinkage": 0.5}
    node = {"defaults": ["config", "_self_"], "hydra": {"mode": "MULTIRUN", "sweeper": {"params": params}}}
    Path("mine/sweep.yaml").write_text(yaml.safe_dump(node, sort_keys=False))
    code, text = answer("-cp", "mine", "-cn", "sweep", *BLOBS, "seed=4")
    assert code == 0, text
    stored = records().sort("problem_params", "repeat")
    assert stored["problem_params"].to_list() == ['{"rho":0.05}'] * 2 + ['{"rho":0.1}'] * 2
    assert set(stored["seed"]) == {4}
    code, text = answer("plan", "-cp", "mine", "-cn", "sweep", *BLOBS, "seed=4")
    assert (code, "0 of 4 jobs would run" in text) == (0, True)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-m", "hydra/launcher=joblib", "problem.rho=2"], "problem.rho"),
        (["-m", "hydra/launcher=nothing"], "hydra/launcher/nothing"),
        (["hydra/launcher=joblib"], "add -m"),
        (["-m", "hydra.run.dir=x"], "hydra.sweep.dir"),
        (["hydra.sweep.dir=x"], "add -m"),
        (["hydra.runtime.cwd=x"], "hydra.runtime.cwd"),
        (["hydra.job.id=x"], "hydra.job.id"),
        (["hydra.help.header=x"], "--help"),
        (["hydra.nothing=x"], "nothing"),
        (["hydra.sweeper.params.seed=1", "-m"], "hydra.sweeper.params.seed"),
        (["hydra.verbose=true,false", "-m"], "hydra.verbose"),
        (["--experimental-rerun", "config.pickle"], "--experimental-rerun"),
    ],
)
def test_faults_come_before_any_launch(answer, words, expected):
    if "hydra/launcher=joblib" in words and not find_spec("hydra_plugins.hydra_joblib_launcher"):
        pytest.skip("hydra_joblib_launcher is not installed")
    code, text = answer(*BLOBS, *words)
    assert code == 2
    (line,) = text.splitlines()
    assert expected in line
    assert not Path("results").exists()


def test_without_its_plugin_settings_of_hydra_are_refused(answer, monkeypatch):
    monkeypatch.setattr(registry.installed(), "launchers", {})
    code, text = answer(*BLOBS, "hydra.run.dir=out")
    assert (code, "NPBENCH_PLUGINS" in text) == (2, True)


def test_data_are_checked_before_any_launch(answer):
    code, text = answer("-m", *BLOBS, "hydra.sweep.dir=out", "dataset.n=6,120")
    assert (code, "too few" in text) == (2, True)
    assert not Path("out").exists()


@pytest.mark.slow  # 6 s of trials
@needs("hydra_optuna_sweeper")
def test_optuna_minimises_the_validation_loss(answer):
    words = ("-m", *BLOBS, "hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "hydra.sweeper.sampler.seed=1")
    code, text = answer(*words, "solver.shrinkage=interval(0,1)")
    assert code == 0, text
    stored = records()
    assert len(stored) == 4
    assert stored["selection_loss"].null_count() == 0  # measured, although nothing is selected
    losses = stored.group_by("params").agg(pl.mean("selection_loss"))["selection_loss"]
    assert best_value() == pytest.approx(losses.min())
    assert f"Best trial: shrinkage={best_params()['solver.shrinkage']}" in text
    trials, _, rates = text.partition("Best trial")
    assert (trials.count("\nblobs"), rates.count("\nblobs")) == (2, 1)  # test rates of the best alone
    assert "p_fa" not in trials

    code, text = answer(*words, "solver.shrinkage=interval(0,1)")
    assert (code, "4 of them from before" in text) == (0, True)
    assert records().equals(stored)


@pytest.mark.slow  # two runs; the next test has a sweeper's
@needs("hydra_optuna_sweeper")
def test_jobs_without_a_validation_loss_are_rerun(answer):
    session.frame(requested(parse([*BLOBS, "solver.shrinkage=0.5"])), Progress())
    assert records()["selection_loss"].null_count() == 2
    trials = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=1")
    code, _ = answer("-m", *BLOBS, *trials, "solver.shrinkage=choice(0.5)")
    assert (code, records()["selection_loss"].null_count()) == (0, 0)


@pytest.mark.slow  # runs trials; the next test has trials that fail
@needs("hydra_optuna_sweeper")
def test_optuna_optimises_a_metric(answer):
    trials = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "hydra.sweeper.direction=maximize")
    code, text = answer("-m", *BLOBS, *trials, "execution.objective=auc", "solver.shrinkage=interval(0,0.9)")
    assert code == 0, text
    assert best_value() == pytest.approx(records().group_by("params").agg(pl.mean("auc"))["auc"].max())
    assert f"shrinkage={best_params()['solver.shrinkage']}, auc" in text
    assert "optimistic" in text


@needs("hydra_optuna_sweeper")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "2 of 2 jobs failed"),
        pytest.param(("hydra.sweeper.max_failure_rate=1",), "4 of 4 jobs failed", marks=pytest.mark.slow),  # of Optuna
    ],
)
def test_optuna_stops_or_goes_on_after_a_failed_trial(answer, words, expected):
    trials = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "hydra.sweeper.n_jobs=1")
    code, text = answer("-m", *BLOBS, *trials, "solver.shrinkage=interval(0,1)", "solver.mode=fail", *words)
    assert (code, expected in text) == (1, True), text


@pytest.mark.one_in(4)
@needs("hydra_optuna_sweeper")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["solver.shrinkage=interval(0,2)"], "shrinkage"),
        (["solver.shrinkage=interval(0,1)", "execution.objective=nothing"], "'nothing'"),
        (["solver.shrinkag=interval(0,1)"], "solver.shrinkage"),
        (["+experiment=demo"], "hydra.sweeper"),
    ],
)
def test_faults_of_an_adaptive_sweep(answer, words, expected):
    written_experiment()
    code, text = answer("--config-dir", "mine", "-m", *BLOBS, "hydra/sweeper=optuna", *words)
    assert (code, expected in text) == (2, True), text
    assert not Path("results").exists()


def test_plan_of_an_adaptive_sweep_is_refused(answer):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    code, text = answer("plan", "-m", *BLOBS, "hydra/sweeper=optuna", "solver.shrinkage=interval(0,1)")
    assert (code, "sweeper" in text) == (2, True)


def written_experiment(**sweeps):
    Path("mine/experiment").mkdir(parents=True)
    sweeps = {"a": {"solver.shrinkage": "0,0.5"}, "b": {"problem.rho": 0.2}, **sweeps}
    node = {"title": "Mine", "settings": {"solver": "centroid", "dataset": "blobs", "repeats": 1}, "sweeps": sweeps}
    Path("mine/experiment/demo.yaml").write_text(yaml.safe_dump(node, sort_keys=False))


def test_experiment_gives_the_launcher_every_combination(answer):
    written_experiment()
    code, text = answer("--config-dir", "mine", "+experiment=demo", "hydra.sweep.dir=out", "seed=1")
    assert code == 0, text
    assert len(records()) == 3
    assert {path.name for path in Path("out").iterdir()} == {"0", "1", "2", "multirun.yaml"}


@pytest.mark.slow  # a sweep; tests/commands/test_run.py skips without Hydra's launcher
def test_experiment_skips_absent_data(answer):
    written_experiment(c={"dataset": "cod_rna", "dataset.path": "nowhere"})
    code, text = answer("--config-dir", "mine", "+experiment=demo", "hydra.sweep.dir=out")
    assert code == 0, text
    assert text.count("Skipped: ") == 2  # before the runs and below the table
    assert records()["dataset"].to_list() == ["blobs"] * 3


JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
OPTUNA = ("hydra/sweeper=optuna", "hydra.sweeper.n_jobs=2", "hydra.sweeper.n_trials=4")
TRIALS = (*OPTUNA, "solver.shrinkage=interval(0,1)")
SUBMITIT = ("hydra/launcher=submitit_local", "problem.rho=0.05,0.1")


@pytest.mark.slow  # every process of a launcher imports everything: 3 to 20 s each
@pytest.mark.parametrize(
    ("words", "n_records"),
    [
        pytest.param((*JOBLIB, "problem.rho=0.05,0.1"), 4, marks=needs("hydra_joblib_launcher")),
        pytest.param((*JOBLIB, *TRIALS), 8, marks=[needs("hydra_joblib_launcher"), needs("hydra_optuna_sweeper")]),
        pytest.param(SUBMITIT, 4, marks=needs("hydra_submitit_launcher")),
    ],
)
def test_launchers_of_hydra(answer, words, n_records):
    code, text = answer("-m", *BLOBS, *words)
    assert code == 0, text
    assert len(records()) == n_records


@pytest.mark.slow
@needs("hydra_joblib_launcher")
@pytest.mark.parametrize("words", [("+experiment=demo", "--config-dir", "mine"), ("-m", "problem.rho=0.05,0.1,0.2")])
def test_joblib_counts_failures(answer, words):
    written_experiment()
    code, text = answer(*words, *JOBLIB, *BLOBS, "repeats=1", "solver.mode=fail")
    assert (code, "3 of 3 jobs failed" in text) == (1, True), text


@pytest.mark.slow
def test_name_that_the_yaml_of_a_solver_lacks(answer):
    """Hydra itself would refuse it without ``++``."""
    words = ("solver=logistic_regression", "solver.params.C=1", "solver.params.tol=0.01", "dataset=blobs", "repeats=1")
    code, text = answer(*words, "hydra.run.dir=out")
    assert code == 0, text
    assert json.loads(records()["params"][0])["params"]["tol"] == 0.01


@pytest.mark.slow
def test_command_in_a_process_of_its_own(stranger):
    words = [sys.executable, "-m", "npbench", "-m", *BLOBS, "problem.rho=0.05,0.1", "hydra.sweep.dir=out"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("np_score") == 1
