"""Experiments: their form, what they run, and that they change no job."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from rich.console import Console

from npbench import cli, registry
from npbench.commands import list as listing
from npbench.config import search_path as configs
from npbench.config.compose import compose
from npbench.config.experiment import check, compose_experiment, split_off
from npbench.config.fill import check_all
from npbench.errors import RequestError
from npbench.records.store import RecordStore

SHIPPED = sorted(path.stem for path in (configs.config_dir() / "experiment").glob("*.yaml"))
DEMO = {
    "title": "Centroids, shrunken or not",
    "paper": "Nobody (2026), Table 0",
    "settings": {"dataset": "blobs", "repeats": 2, "execution.n_jobs": 1},
    "sweeps": {"few": {"solver": "centroid", "solver.shrinkage": "0,0.5", "problem.rho": 0.1}},
    "table": "npbench_papers.gasso.rates:table",
}


@pytest.fixture
def loader(stranger):
    """Hydra's, seeing ``mine/experiment``."""
    Path("mine/experiment").mkdir(parents=True)
    configs.register(str(Path("mine").absolute()))
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        yield GlobalHydra.instance().config_loader()
    configs.register()


def written(name="demo", **changes):
    Path("mine/experiment").mkdir(parents=True, exist_ok=True)
    node = {key: value for key, value in {**DEMO, **changes}.items() if value is not None}
    Path(f"mine/experiment/{name}.yaml").write_text(yaml.safe_dump(node, sort_keys=False))


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "npbench", "--config-dir", "mine", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "120"},
    )


@pytest.fixture
def answer(capsys, monkeypatch):
    """Return a function that carries out a command line in this process: its exit code, and what it printed."""
    monkeypatch.setenv("COLUMNS", "120")

    def answer(word, *arguments):
        with pytest.raises(SystemExit) as end:
            cli.main([word, "--config-dir", "mine", *arguments])
        return end.value.code, "".join(capsys.readouterr())

    return answer


def test_a_sweep_is_what_the_command_line_with_m_would_be(loader):
    written(sweeps={"one": {"solver": "centroid", "seed": "1,2"}, "two": {"solver.mode": "ok", "solver": "centroid"}})
    found, experiment, faults = compose_experiment(loader, "demo", [])
    assert faults == []
    assert experiment.title == DEMO["title"]
    common = ["dataset=blobs", "repeats=2", "execution.n_jobs=1"]
    by_hand = compose(loader, [*common, "solver=centroid", "seed=1,2"], multirun=True)[0]
    by_hand += compose(loader, [*common, "solver=centroid", "solver.mode=ok"], multirun=False)[0]
    assert found == by_hand


def test_what_is_typed_wins_and_may_list_several_values(loader):
    written()
    found, _, faults = compose_experiment(loader, "demo", ["problem.rho=0.2,0.3", "repeats=7"])
    assert faults == []
    assert [(c.problem.rho, c.solver.shrinkage, c.repeats) for c in found] == [
        (rho, shrinkage, 7) for shrinkage in (0, 0.5) for rho in (0.2, 0.3)
    ]


def test_a_setting_may_be_a_mapping(loader):
    sweep = {"solver": "np_svm_linear", "solver.search": {"C": [0.5, 2]}, "results": "a folder"}
    written(sweeps={"one": sweep}, settings={"dataset": "blobs"})
    (found,), _, faults = compose_experiment(loader, "demo", [])
    assert faults == []
    assert found.solver.search.C == [0.5, 2]
    assert found.results == "a folder"


def test_a_file_that_inherits_changes_single_settings(loader):
    written()
    Path("mine/experiment/demo_full.yaml").write_text(
        "defaults: [demo, _self_]\ntitle: all of it\nsettings: {repeats: 25}\nsweeps: {few: {problem.rho: '0.1,0.2'}}\n"
    )
    found, experiment, _ = compose_experiment(loader, "demo_full", [])
    assert experiment.title == "all of it"
    assert {c.repeats for c in found} == {25}
    assert len(found) == 4


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": None}, "title is missing"),
        ({"sweeps": None}, "sweeps is missing"),
        ({"tabel": "x"}, "Unknown key 'tabel': did you mean 'table'?"),
        ({"sweeps": ["solver=centroid"]}, "sweeps is ['solver=centroid'], and must hold keys and values"),
        ({"sweeps": {"few": "solver=centroid"}}, "sweeps has 'solver=centroid' where keys and values must be"),
        ({"printed": {"rho": 0.1}}, "must hold a list"),
        ({"printed": [3]}, "printed has 3"),
        ({"table": "npbench.report.nothing:table"}, "No module named 'npbench.report.nothing'"),
        ({"table": "npbench_papers.gasso.rates:nothing"}, "has no attribute 'nothing'"),
        (
            {"table": "npbench_papers.gasso.speedup:table", "options": {"base": "a"}},
            "missing a required argument: 'other'",
        ),
        ({"options": {"basis": "a"}}, "got an unexpected keyword argument 'basis'"),
        ({"note": ["a"]}, "must hold a text"),
    ],
)
def test_a_malformed_file_is_told_in_a_sentence(changes, expected):
    node = {key: value for key, value in {**DEMO, **changes}.items() if value is not None}
    with pytest.raises(RequestError) as refusal:
        check("demo", node)
    (fault,) = refusal.value.faults
    assert fault.startswith("The experiment 'demo' is malformed: ")
    assert expected in fault
    assert "\n" not in fault


def test_a_file_that_is_no_yaml_or_empty_is_told_in_a_sentence(loader):
    for text in ("title: [a\n", "", "- a\n"):
        Path("mine/experiment/odd.yaml").write_text(text)
        _, experiment, faults = compose_experiment(loader, "odd", [])
        assert experiment is None
        assert faults
        assert all(fault.startswith("The experiment 'odd' ") and "\n" not in fault for fault in faults)


def test_only_one_experiment_at_a_time():
    for settings in (["+experiment=a,b"], ["experiment=a", "+experiment=b"]):
        with pytest.raises(RequestError, match="names 2 experiments"):
            split_off(settings)


def test_faults_are_a_line_each_and_all_of_them(answer, stranger):
    written()
    asked = {
        "plan +experiment=dem": ["Unknown experiment 'dem': did you mean 'demo'?"],
        "plan experiment=dem repeats=0 dataset=blbs": ["'dem'", "'blbs'"],
        "plan experiment=demo repeats=0 dataset=blbs": ["'blbs'", "repeats is 0"],
        "plan experiment=demo solver=centroit": ["did you mean 'centroid'?"],
        "report --experiment": ["--experiment: expected one argument"],
        "report --experiment demo results=nowhere": ["There are no records of demo in nowhere"],
    }
    for line, expected in asked.items():
        code, text = answer(*line.split())
        assert code == 2
        assert len(text.splitlines()) == len(expected), text
        assert all(part in text for part in expected), text
    assert not Path("results").exists()
    assert not Path("nowhere").exists()


def test_a_run_prints_the_table_and_goes_on_where_it_was(answer, stranger):
    written(note="Reduced: to nothing")
    by_hand = command("dataset=blobs", "solver=centroid", "solver.shrinkage=0.5", "problem.rho=0.1", "repeats=1")
    assert by_hand.returncode == 0, by_hand.stderr
    assert "3 of 4 jobs would run; 1 already in results." in answer("plan", "+experiment=demo")[1]

    first = command("+experiment=demo")
    assert (first.returncode, first.stderr) == (0, "")
    for expected in (DEMO["title"], DEMO["paper"], "Reduced", "centroid shrinkage=0.5", "2/2", "4 records, 1 of them"):
        assert expected in first.stdout
    frame = RecordStore(Path("results/records")).frame()
    assert len(frame) == 4
    assert len(set(frame["run_id"])) == 2  # that by hand, and one run for the rest
    run = json.loads(Path(f"results/runs/{frame['run_id'][-1]}.json").read_text())
    assert run["command"] == ["--config-dir", "mine", "+experiment=demo"]
    assert "0 of 4 jobs would run" in answer("plan", "experiment=demo")[1]

    table = first.stdout.partition("\n\n")[2].partition("\n\n")[0]
    assert "centroid" in table
    for report in (["--experiment", "demo"], ["--experiment=demo"], ["+experiment=demo", "repeats=3"]):
        code, text = answer("report", *report)
        assert code == 0
        assert table in text
        assert ("2 of 6 jobs have no record yet" in text) == ("repeats=3" in report)
    code, text = answer("report", "--experiment", "demo", "results=.")
    assert (code, text.strip().endswith("or name another folder with results=results")) == (2, True), text
    assert RecordStore(Path("results/records")).frame().equals(frame)


def test_jobs_that_two_sweeps_have_in_common_are_counted_once(answer, stranger):
    written(sweeps={"one": {"solver": "centroid"}, "two": {"solver": "centroid", "problem.rho": "0.05,0.1"}})
    assert command("+experiment=demo").returncode == 0
    code, text = answer("report", "--experiment", "demo")
    assert code == 0
    assert "4 jobs, 4 of them good" in text
    assert "no record" not in text
    assert "2 of 6 jobs have no record yet" in answer("report", "--experiment", "demo", "repeats=3")[1]


def test_flags_may_stand_between_settings(capsys, stranger):
    written()
    with pytest.raises(SystemExit) as end:
        cli.main(["plan", "repeats=1", "--config-dir", "mine", "+experiment=demo"])
    assert end.value.code == 0
    assert "2 of 2 jobs would run" in capsys.readouterr().out


def test_a_record_without_the_trace_that_is_asked_for_is_made_again(answer, stranger):
    written(sweeps={"one": {"solver": "centroid", "solver.shrinkage": 0.5}})
    assert command("+experiment=demo", "repeats=1").returncode == 0
    code, text = answer("plan", "+experiment=demo", "repeats=1", "execution.trace=true")
    assert code == 0
    assert "no trace was kept" in text
    assert "1 of 1 jobs would run" in text
    assert command("+experiment=demo", "repeats=1", "execution.trace=true").returncode == 0
    assert RecordStore(Path("results/records")).frame()["trace"].to_list() == ["{}"]  # centroids have none to keep
    for trace in ("true", "false"):
        assert "0 of 1" in answer("plan", "+experiment=demo", "repeats=1", f"execution.trace={trace}")[1]


def test_without_a_table_the_summary_is_printed(stranger):
    written(table=None, settings={"dataset": "blobs", "repeats": 1})
    ended = command("+experiment=demo", "solver.mode=fail", "solver.shrinkage=0.5")
    assert ended.returncode == 1
    assert "* above rho" in ended.stdout
    assert "1 of 1 jobs failed" in ended.stdout


def test_a_figure_is_drawn_or_said_how_to_get(stranger, monkeypatch):
    pytest.importorskip("matplotlib")
    written(figure="npbench_papers.gasso.rates:plot")
    ended = command("+experiment=demo", "repeats=1")
    assert "Figure: results/figures/demo.png" in ended.stdout
    assert Path("results/figures/demo.png").read_bytes().startswith(b"\x89PNG")


def test_completion_knows_experiments(stranger):
    written()
    for typed in ("experiment=gasso_t", "+experiment=gasso_t"):
        line = f"npbench {typed}"
        done = subprocess.run(
            [sys.executable, "-m", "npbench", "-sc", "query=bash"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COMP_LINE": line, "COMP_POINT": str(len(line))},
        )
        assert {"gasso_table2", "gasso_table3"} <= {word.partition("=")[2] for word in done.stdout.split()}


def test_experiments_of_plugins_are_listed_and_unreadable_ones_named(tmp_path, monkeypatch):
    folder = tmp_path / "theirs" / "conf" / "experiment"
    folder.mkdir(parents=True)
    (folder / "theirs.yaml").write_text("title: What they did\npaper: Them (2026)\nsweeps: {}\n")
    (folder / "odd.yaml").write_text("title: [\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry.installed(), "config_packages", ["theirs.conf", "absent.conf"])
    console = Console(width=100, record=True)
    listing.show(["experiments"], console)
    text = console.export_text()
    for expected in ("What they did", "Them (2026)", "cannot be read", "gasso_table3"):
        assert expected in text


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_experiment_can_be_asked_for(name):
    configs.register()
    with initialize_config_dir(str(configs.config_dir()), version_base="1.3"):
        found, experiment, faults = compose_experiment(GlobalHydra.instance().config_loader(), name, [])
    assert faults == []
    assert experiment.title
    assert experiment.paper
    requests, _ = check_all(found)
    jobs = {"gasso_table2": 160, "gasso_table3": 160, "gasso_figure3": 100}
    assert sum(request.repeats for request in requests) == jobs.get(name, sum(r.repeats for r in requests))
