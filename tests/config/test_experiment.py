"""Experiments: their form, what they run, and that they change no job."""

import itertools
import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from omegaconf import OmegaConf
from rich.console import Console

from npbench import registry
from npbench.commands import list as listing
from npbench.config import search_path
from npbench.config.command_line import compose_all, parse
from npbench.config.compose import compose
from npbench.config.experiment import Experiment, check, load, split_off
from npbench.errors import RequestError
from npbench.records.store import RecordStore
from npbench.report import experiment_report

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
    search_path.register(str(Path("mine").absolute()))
    with search_path.initialized() as hydra:
        yield hydra.config_loader
    search_path.register()


def written(name="demo", **changes):
    Path("mine/experiment").mkdir(parents=True, exist_ok=True)
    node = {key: value for key, value in {**DEMO, **changes}.items() if value is not None}
    Path(f"mine/experiment/{name}.yaml").write_text(yaml.safe_dump(node, sort_keys=False))


def composed(*words):
    """Return the configurations of an experiment, the experiment, and what is wrong."""
    sweeps, faults, experiment, _ = compose_all(parse(["--config-dir", "mine", *words]))
    return [OmegaConf.create(config) for sweep in sweeps for config in sweep.configs], experiment, faults


@pytest.fixture
def answer(npbench):
    """Return a function that runs a command line in this process: its exit code and what it printed."""

    def answer(word, *arguments):
        words = ["--config-dir", "mine", word] if "=" in word else [word, "--config-dir", "mine"]
        code, output, errors = npbench(*words, *arguments)
        return code, output + errors

    return answer


def test_sweep_equals_the_command_line(loader):
    written(sweeps={"one": {"solver": "centroid", "seed": "1,2"}, "two": {"solver.mode": "ok", "solver": "centroid"}})
    found, experiment, faults = composed("+experiment=demo")
    assert faults == []
    assert experiment.title == DEMO["title"]
    common = ["dataset=blobs", "repeats=2", "execution.n_jobs=1"]
    by_hand = compose(loader, [*common, "solver=centroid", "seed=1,2"], multirun=True).configs
    by_hand += compose(loader, [*common, "solver=centroid", "solver.mode=ok"], multirun=False).configs
    assert found == by_hand


def test_typed_settings_win(loader):
    written()
    found, _, faults = composed("+experiment=demo", "problem.rho=0.2,0.3", "repeats=7")
    assert faults == []
    assert [(c.problem.rho, c.solver.shrinkage, c.repeats) for c in found] == [
        (rho, shrinkage, 7) for shrinkage in (0, 0.5) for rho in (0.2, 0.3)
    ]


def test_typed_data_sets_run_in_the_sweeps_that_name_them():
    sweeps = {
        "small": {"problem.rho": 0.1, "dataset": "pima, heart"},
        "large": {"problem.rho": "0.1,0.01", "dataset": "breast,pima"},
    }
    crossed, settings = {"own": {}, "other": {"solver": "np_svm"}}, {"solver": "gen,centroid"}
    asked = check("demo", {"title": "Mine", "sweeps": sweeps, "crossed": crossed, "settings": settings})

    def ran(*typed):
        found = Counter()
        for line in asked.command_lines(typed):
            given = {key: value.replace(" ", "").split(",") for key, _, value in (word.partition("=") for word in line)}
            rhos = map(float, given["problem.rho"])
            found.update(itertools.product(given["solver"], given["dataset"], rhos))
        return found

    both = [(solver, rho) for solver in ("gen", "centroid", "np_svm") for rho in (0.1, 0.01)]
    assert ran("dataset=breast") == {(solver, "breast", rho): 1 for solver, rho in both}
    assert ran("dataset=heart", "solver=np_svm") == {("np_svm", "heart", 0.1): 1}
    assert ran("dataset=heart", "solver=gen", "problem.rho=0.05") == {("gen", "heart", 0.05): 1}
    assert ran("dataset=heart,breast", "solver=gen") == {("gen", "heart", 0.1): 1} | {
        ("gen", "breast", rho): 1 for rho in (0.1, 0.01)
    }
    # Named by both; by none, so in all four sweeps.
    assert ran("dataset=pima", "solver=gen") == {("gen", "pima", 0.1): 2, ("gen", "pima", 0.01): 1}
    assert ran("dataset=blobs", "solver=sgd") == {("sgd", "blobs", 0.1): 4, ("sgd", "blobs", 0.01): 2}
    crossed = {"own": {}, "half": {"solver": "random_forest", "solver.threshold": "average"}}
    asked = check("demo", {"title": "Mine", "sweeps": sweeps, "crossed": crossed, "settings": {"solver": "gen"}})
    mixed = "solver=sgd,random_forest"
    assert ran("dataset=heart", mixed) == {("sgd", "heart", 0.1): 1, ("random_forest", "heart", 0.1): 1}


def test_settings_may_be_deleted_before_data_are_named():
    asked = Experiment("demo", "A demonstration", {"one": {"dataset": "pima"}, "two": {"dataset": "heart"}})
    lines = asked.command_lines(["~missing", "dataset=heart"])
    assert lines == [["dataset=heart", "~missing", "dataset=heart"]]


def test_setting_may_be_a_mapping(loader):
    sweep = {"solver": "np_svm_linear", "solver.search": {"C": [0.5, 2]}, "results": "a folder"}
    written(sweeps={"one": sweep}, settings={"dataset": "blobs"})
    (found,), _, faults = composed("+experiment=demo")
    assert faults == []
    assert found.solver.search.C == [0.5, 2]
    assert found.results == "a folder"


def test_file_inherits_from_another(loader):
    written()
    Path("mine/experiment/demo_full.yaml").write_text(
        "defaults: [demo, _self_]\ntitle: all of it\nsettings: {repeats: 25}\nsweeps: {few: {problem.rho: '0.1,0.2'}}\n"
    )
    found, experiment, _ = composed("+experiment=demo_full")
    assert experiment.title == "all of it"
    assert {c.repeats for c in found} == {25}
    assert len(found) == 4


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": None}, "title is missing"),
        ({"sweeps": None}, "sweeps is missing"),
        ({"tabel": "x"}, "Unknown key 'tabel': did you mean 'table'?"),
        ({"sweeps": ["solver=centroid"]}, "sweeps is ['solver=centroid'], expected keys and values"),
        ({"sweeps": {"few": "solver=centroid"}}, "sweeps has 'solver=centroid', expected keys and values"),
        ({"crossed": {"few": "seed=1"}}, "crossed has 'seed=1', expected keys and values"),
        ({"printed": {"rho": 0.1}}, "expected a list"),
        ({"printed": [3]}, "printed has 3"),
        ({"table": "npbench.report.nothing:table"}, "No module named 'npbench.report.nothing'"),
        ({"table": "npbench_papers.gasso.rates:nothing"}, "has no attribute 'nothing'"),
        ({"table": "npbench_papers.gasso.speedup:table", "options": {"base": "a"}}, "required argument: 'other'"),
        ({"options": {"basis": "a"}}, "got an unexpected keyword argument 'basis'"),
        ({"note": ["a"]}, "expected a text"),
    ],
)
def test_malformed_file(changes, expected):
    node = {key: value for key, value in {**DEMO, **changes}.items() if value is not None}
    with pytest.raises(RequestError) as refusal:
        check("demo", node)
    (fault,) = refusal.value.faults
    assert fault.startswith("The experiment 'demo' is malformed: ")
    assert expected in fault
    assert "\n" not in fault


def test_each_sweep_runs_with_each_of_the_crossed_settings(loader):
    written(
        sweeps={"few": {"problem.rho": 0.1}, "many": {"problem.rho": 0.05}}, crossed={"own": {}, "set": {"seed": 1}}
    )
    Path("mine/experiment/less.yaml").write_text(
        "defaults: [demo, _self_]\nsweeps: {many: null}\ncrossed: {own: null}\n"
    )
    for name, expected in {"demo": [(0.1, 0), (0.1, 1), (0.05, 0), (0.05, 1)], "less": [(0.1, 1)]}.items():
        found, _, faults = composed(f"+experiment={name}", "solver=centroid")
        assert not faults
        assert [(c.problem.rho, c.seed) for c in found] == expected
        assert {c.repeats for c in found} == {2}


def test_file_is_not_a_mapping(loader):
    for text in ("title: [a\n", "", "- a\n"):
        Path("mine/experiment/odd.yaml").write_text(text)
        with pytest.raises(RequestError) as refusal:
            load(loader, "odd")
        assert all(fault.startswith("The experiment 'odd' ") and "\n" not in fault for fault in refusal.value.faults)


@pytest.mark.parametrize(
    "text", ["defaults: [override /dataset: blobs]\nseed: 3\n", "title: mine\nsweeps: {a: {solver: centroid}}\n"]
)
def test_experiment_in_the_style_of_hydra(loader, text):
    Path("mine/experiment/theirs.yaml").write_text(f"# @package _global_\n{text}")
    with pytest.raises(RequestError, match="sweeps"):
        load(loader, "theirs")


def test_one_experiment_a_command():
    for settings in (["+experiment=a,b"], ["experiment=a", "+experiment=b"]):
        with pytest.raises(RequestError, match="names 2 experiments"):
            split_off(settings)


def test_faults_are_a_line_each(answer, stranger):
    written()
    asked = {
        "plan +experiment=dem": ["Unknown experiment 'dem': did you mean 'demo'?"],
        "plan experiment=dem repeats=0 dataset=blbs": ["'dem'", "'blbs'", "repeats is 0"],
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


def test_run_prints_the_table_and_resumes(answer, stranger, without_figures):
    written(note="Reduced: to nothing")
    by_hand = ["dataset=blobs", "solver=centroid", "solver.shrinkage=0.5", "problem.rho=0.1", "repeats=1"]
    assert answer(*by_hand)[0] == 0
    assert "3 of 4 jobs would run; 1 already in results." in answer("plan", "+experiment=demo")[1]

    code, first = answer("+experiment=demo")
    assert code == 0
    for expected in (DEMO["title"], DEMO["paper"], "Reduced", "centroid shrinkage=0.5", "2/2", "4 records, 1 of them"):
        assert expected in first
    frame = RecordStore(Path("results/records")).frame()
    assert len(frame) == 4
    assert len(set(frame["run_id"])) == 2  # that by hand, and one run for the rest
    run = json.loads(Path(f"results/runs/{frame['run_id'][-1]}.json").read_text())
    assert run["command"] == ["--config-dir", "mine", "+experiment=demo"]
    assert "0 of 4 jobs would run" in answer("plan", "experiment=demo")[1]

    table = first.partition("\n\n")[2].partition("\n\n")[0]
    assert "centroid" in table
    for report in (["--experiment", "demo"], ["--experiment=demo"], ["+experiment=demo", "repeats=3"]):
        code, text = answer("report", *report)
        assert code == ("repeats=3" in report)  # 1 if jobs are missing
        assert table in text
        assert ("2 of 6 jobs have no record yet" in text) == ("repeats=3" in report)
        assert "jobs are missing" not in text
    text = answer("report", "+experiment=demo", "repeats=9")[1]
    assert text.index("14 of 18 jobs are missing") < text.index(DEMO["title"])
    code, text = answer("report", "--experiment", "demo", "results=.")
    assert (code, "or name another folder with results=results (4 of 4 jobs)" in text) == (2, True), text
    Path("a/records").mkdir(parents=True)
    frame.head(1).write_parquet("a/records/some.parquet")
    assert "results=results " in answer("report", "--experiment", "demo", "results=.")[1]
    named = text.partition("run npbench ")[2].partition(",")[0].split()
    assert named[0] == "--config-dir"
    assert "of 4 jobs" in answer("plan", *named[2:])[1]  # npbench accepts the command
    assert RecordStore(Path("results/records")).frame().equals(frame)


def test_common_jobs_count_once(answer, stranger, without_figures, monkeypatch):
    shown = []
    status = SimpleNamespace(update=shown.append)
    monkeypatch.setattr(experiment_report, "status", lambda text: nullcontext(shown.append(text) or status))
    written(sweeps={"one": {"solver": "centroid"}, "two": {"solver": "centroid", "problem.rho": "0.05,0.1"}})
    assert answer("+experiment=demo")[0] == 0
    code, text = answer("report", "--experiment", "demo")
    assert code == 0
    assert len(shown) == 2  # reads, and makes tables
    assert "4 jobs, 4 of them good" in text
    assert "no record" not in text
    assert "2 of 6 jobs have no record yet" in answer("report", "--experiment", "demo", "repeats=3")[1]


def test_flags_between_settings(npbench, stranger):
    written()
    code, text, _ = npbench("plan", "repeats=1", "--config-dir", "mine", "+experiment=demo")
    assert (code, "2 of 2 jobs" in text) == (0, True)


@pytest.mark.slow  # two runs; tests/records has the reason to run again
def test_record_without_trace_is_rerun(answer, stranger):
    written(sweeps={"one": {"solver": "centroid", "solver.shrinkage": 0.5}})
    assert answer("+experiment=demo", "repeats=1")[0] == 0
    code, text = answer("plan", "+experiment=demo", "repeats=1", "execution.trace=true")
    assert code == 0
    assert "no trace" in text
    assert "1 of 1 jobs would run" in text
    assert answer("+experiment=demo", "repeats=1", "execution.trace=true")[0] == 0
    assert RecordStore(Path("results/records")).frame()["trace"].to_list() == ["{}"]  # centroids have none to keep
    for trace in ("true", "false"):
        assert "0 of 1" in answer("plan", "+experiment=demo", "repeats=1", f"execution.trace={trace}")[1]


def test_summary_without_a_table(answer, stranger):
    written(table=None, settings={"dataset": "blobs", "repeats": 1})
    code, text = answer("+experiment=demo", "solver.mode=fail", "solver.shrinkage=0.5")
    assert code == 1
    assert "* above rho" in text
    assert "1 of 1 jobs failed" in text


def test_figure_is_drawn(answer, stranger):
    written(charts="npbench_papers.gasso.rates:charts")
    assert "results/figures/demo.png" in answer("+experiment=demo", "repeats=1")[1]
    assert Path("results/figures/demo.png").read_bytes().startswith(b"\x89PNG")


def test_experiments_of_plugins_are_listed(tmp_path, monkeypatch):
    folder = tmp_path / "theirs" / "conf" / "experiment"
    folder.mkdir(parents=True)
    (folder / "theirs.yaml").write_text("title: What they did\npaper: Them (2026)\nsweeps: {}\n")
    (folder / "odd.yaml").write_text("title: [\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry.installed(), "config_packages", ["theirs.conf", "absent.conf"])
    console = Console(width=100, record=True)
    listing.show(["experiment"], console)
    text = console.export_text()
    for expected in ("What they did", "Them (2026)", "cannot be read"):
        assert expected in text
