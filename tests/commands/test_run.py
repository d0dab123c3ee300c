"""``npbench.run``: the command line's run, from Python."""

import dataclasses
import json
import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf
from polars.testing import assert_frame_equal

import npbench
from npbench import session
from npbench.commands.run import run
from npbench.config.command_line import parse, requested
from npbench.config.words import keyword_words
from npbench.errors import Exit, RequestError
from npbench.progress import Progress

SCRIPT = """
import npbench

print("started")
rhos = {"rho": [0.05, 0.1]}
execution = {"name": "EXECUTION", "n_jobs": 2}
records = npbench.run(solver="centroid", dataset="blobs", problem=rhos, repeats=2, execution=execution)
print(records["status"].to_list())
"""


def frame(words):
    return session.frame(requested(parse(words)), Progress())


def test_lists_are_swept_and_failures_are_rows(stranger):
    modes = {"name": "centroid", "mode": ["ok", "fail"]}
    records = npbench.run(solver=modes, dataset="blobs", problem={"rho": 0.1}, repeats=2, results=Path("here"))
    assert isinstance(records, pl.DataFrame)
    assert sorted(records["status"]) == ["failed", "failed", "ok", "ok"]
    assert set(records["problem_params"]) == {'{"rho":0.1}'}
    assert Path("here/records").is_dir()


def test_records_are_those_of_the_command_line(stranger):
    words = ["solver=centroid", "dataset=blobs", "problem.rho=0.1", "repeats=2", "execution.n_jobs=1"]
    by_command = frame(words)
    execution = {"n_jobs": 1}
    by_python = npbench.run(solver="centroid", dataset="blobs", problem={"rho": 0.1}, repeats=2, execution=execution)
    assert_frame_equal(by_python, by_command)


def test_validation_loss_of_fixed_parameters(stranger):
    """It is what a search measures for the same candidate, and no part of a job's identity."""
    words = ["solver=centroid", "dataset=blobs", "repeats=2"]
    searched = frame([*words, "solver.search.shrinkage=[0.5,0.5]"])
    asked = requested(parse([*words, "solver.shrinkage=0.5"]))
    plain = session.frame(asked, Progress())
    assert plain["selection_loss"].null_count() == 2
    settings = dataclasses.replace(asked.settings, force=True)
    requests = [dataclasses.replace(request, validate=True) for request in asked.requests]
    validated = session.frame(dataclasses.replace(asked, requests=requests, settings=settings), Progress())
    assert validated.sort("repeat")["selection_loss"].equals(searched.sort("repeat")["selection_loss"])
    assert set(validated["key"]) == set(plain["key"])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"hydra/launcher": "joblib"}, "hydra/launcher"),
        ({"hydra": {"run": {"dir": "x"}}}, "hydra.run"),
        ({"seed": []}, "seed"),
        ({"seed": object()}, "object"),
    ],
)
def test_values_without_a_form_on_the_command_line(settings, expected):
    with pytest.raises(RequestError, match=expected):
        npbench.run(**settings)


@pytest.mark.parametrize(
    "value",
    [
        *("a b", "it's", "a\\'b", "back\\", "true", "Null", "3", "1e5", "a,b", "[x]", "{y: 1}", "choice(1)", "$x"),
        *("ä=b", "", 3, 0.1, -2, 1e-300, None, True, (1, 2), ("a b", 0.5), (), ((1,), ("x",))),
        *(np.float64(0.5), np.int64(3)),
    ],
)
def test_values_survive_the_command_line(value):
    """The grammar of Hydra reads back what was given."""
    (word,) = keyword_words({"key": value})
    (override,) = OverridesParser.create().parse_overrides([word])
    assert not override.is_sweep_override()
    config = OmegaConf.create({"key": None})
    OmegaConf.update(config, "key", override.value())
    read = OmegaConf.to_container(config)["key"]
    assert read == (json.loads(json.dumps(value)) if isinstance(value, tuple) else value)
    assert isinstance(read, bool) == isinstance(value, bool)


def test_numbers_in_a_list_are_swept():
    words = keyword_words({"seed": range(2), "problem": {"rho": [0.1, np.float64(0.2)]}})
    assert words == ["seed=0,1", "problem.rho=0.1,0.2"]


@pytest.mark.parametrize("execution", ["local", pytest.param("dask", marks=pytest.mark.slow)])  # starts a cluster
def test_script_needs_no_guard(stranger, execution, capfd):
    """Workers do not import the script, which would run it again."""
    Path("script.py").write_text(SCRIPT.replace("EXECUTION", execution))
    runpy.run_path("script.py", run_name="__main__")
    output, errors = capfd.readouterr()
    assert (output.splitlines(), errors) == (["started", str(["ok"] * 4)], "")


def test_run_within_another_hydra(stranger):
    with initialize_config_dir(str(Path.cwd()), version_base="1.3"):
        outer = GlobalHydra.instance().hydra
        assert npbench.run(solver="centroid", dataset="blobs", repeats=1)["status"].to_list() == ["ok"]
        assert GlobalHydra.instance().hydra is outer


@pytest.fixture
def half_absent(tmp_path):
    """Return a folder with the experiment ``mine``, of one data set that is present and one without its files."""
    experiment = tmp_path / "own" / "experiment" / "mine.yaml"
    experiment.parent.mkdir(parents=True)
    here, absent = "{dataset: blobs}", "{dataset: cod_rna, dataset.path: nowhere}"
    settings = "{solver: centroid, problem.rho: 0.1, repeats: 2, execution.n_jobs: 1}"
    experiment.write_text(f"title: Mine\nsettings: {settings}\nsweeps:\n  here: {here}\n  absent: {absent}\n")
    return experiment.parents[1]


def test_experiment_skips_absent_data(stranger, half_absent, capsys):
    asked = requested(parse(["--config-dir", str(half_absent), "+experiment=mine"]))
    assert run(asked) == Exit.OK
    assert "cod_rna" in capsys.readouterr().err  # with its files and their address
    assert session.frame(asked, Progress())["dataset"].to_list() == ["blobs"] * 2


def test_absent_data_fail_elsewhere(stranger, half_absent):
    with pytest.raises(RequestError, match="cod_rna"):
        frame(["solver=centroid", "dataset=cod_rna", "dataset.path=nowhere", "problem.rho=0.1"])
    words = ["--config-dir", str(half_absent), "+experiment=mine", "dataset=cod_rna", "dataset.path=nowhere"]
    with pytest.raises(RequestError, match="cod_rna"):  # nothing is left to run
        frame(words)
