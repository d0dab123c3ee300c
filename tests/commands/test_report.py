"""``npbench report`` as a user meets it: what it prints, writes, refuses, and with which code it ends."""

import functools
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

import sample_records
from npbench.report import escape

FORMS = ("report.html", "report.md", "records.parquet", "tables", "figures")


def record(solver="gen", repeat=0, **columns):
    about = {"key": f"{solver} {repeat}", "solver": solver, "repeat": repeat}
    return sample_records.record(**about, rho=0.1, p_fa=0.05) | columns


@pytest.fixture
def results():
    """A results folder with three jobs, one of which failed."""
    failed = record("uzawa", 1, status="failed", error="<b>no</b> & never")
    return sample_records.stored(record(), record("uzawa", p_fa=0.2), failed)


@pytest.fixture
def answer(npbench):
    """Return a function that carries out ``npbench report``: its exit code, what it printed, and its errors."""
    return functools.partial(npbench, "report")


def test_report_is_printed_and_written_in_every_form(answer, results):
    before = (results / "records" / "a.parquet").read_bytes()
    code, text, errors = answer()
    assert (code, errors) == (0, "")
    for expected in ("3 jobs, 2 of them good", "Problem np: ", "0.200*", "<b>no</b> & never", "How it was run"):
        assert expected in text
    output = results / "report"
    assert f"In {output}:" in text
    assert sorted(path.name for path in output.iterdir()) == sorted(FORMS)
    assert "uzawa" in (output / "tables" / "np-pima-means.csv").read_text()
    assert escape.latex("<b>no</b> & never") in (output / "tables" / "failures.tex").read_text()
    assert pl.read_parquet(output / "records.parquet")["label"].to_list() == ["gen", "uzawa", "uzawa"]
    figures = {path.stem for path in (output / "figures").iterdir()}
    assert figures
    for stem in figures:
        assert {path.suffix for path in (output / "figures").glob(f"{stem}.*")} == {".pdf", ".svg", ".png"}
    assert (results / "records" / "a.parquet").read_bytes() == before
    assert [path.name for path in (results / "records").iterdir()] == ["a.parquet"]


def test_report_replaces_only_an_earlier_one(answer, results, without_figures):
    tables = Path("out/tables")
    tables.mkdir(parents=True)
    (tables / "mine.csv").write_text("a")
    assert answer()[0] == 0  # which is no source of the next
    code, text, _ = answer("--output", "out")
    assert (code, "3 jobs" in text) == (0, True)
    assert (tables / "mine.csv").exists()  # there was no report before
    assert (tables / "failures.csv").exists()
    assert answer("--output", "out", "solver=gen")[0] == 0
    assert not (tables / "failures.csv").exists()
    assert (tables / "np-pima-means.csv").exists()


def test_filters_choose_records(answer, results, without_figures):
    code, text, _ = answer("solver=uzawa", "problem.rho=0.1")
    assert code == 0
    assert "2 jobs" in text
    assert "gen" not in text.partition("How it was run")[0]


def test_results_are_named_as_in_a_run(answer, results, without_figures):
    results.rename(results.with_name("study"))
    code, text, _ = answer("results=study", "solver=uzawa")
    assert code == 0
    assert "2 jobs" in text


def test_unreadable_sources_end_with_1(answer, results, without_figures):
    (results / "records" / "b.parquet").write_bytes(b"PAR1")
    code, text, _ = answer("results", "nowhere")
    assert code == 1
    assert "b.parquet cannot be read" in text
    assert "There is no nowhere" in text
    assert "0.200*" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere"], "There is no nowhere"),
        (["empty"], "There are no records in empty"),
        (["solvr=gen"], "did you mean 'solver'?"),
        (["--ouput", "x"], "did you mean '--output'?"),
        (["--format", "csv"], "tables/"),
        (["--output"], "argument --output: expected one argument"),
        (["--output", "file/report"], "The report cannot be written to file/report"),
        (["--experiment", "gasso_tabel2"], "'gasso_table2'"),
        (["--experiment", "gasso_table2", "--against", "results"], "compares no folders"),
        (["results", "--force"], "--against FOLDER --force"),
    ],
)
def test_fault_is_one_line(answer, results, words, expected):
    Path("empty").mkdir()
    Path("file").write_text("")
    code, text, errors = answer(*words)
    assert (code, text) == (2, "")
    assert len(errors.splitlines()) == 1
    assert expected in errors


def test_help(answer):
    code, text, _ = answer("--help")
    assert (code, "--against" in text) == (0, True)


def test_a_clean_study_of_two_solvers_has_no_warning(npbench, without_figures):
    words = ["-m", "solver=gen_linear,logistic_regression", "dataset=breast", "results=clean"]
    assert npbench(*words, "repeats=1", "execution.n_jobs=1")[0] == 0
    assert npbench(*words, "repeats=2")[0] == 0  # with more parallel jobs, on which only times depend
    code, text, errors = npbench("report", "clean")
    assert (code, errors) == (0, "")
    report = Path("clean/report/report.md").read_text()
    for warning in ("same conditions", "differ among", "differs among", "results do not compare"):
        assert warning not in " ".join((text + report).split())


@pytest.mark.slow  # draws in three formats; tests/config prints the tables of one
def test_report_of_an_experiment(npbench, answer, results, stranger, request):
    Path("mine/experiment").mkdir(parents=True)
    node = {
        "title": "Centroids",
        "paper": "Nobody (2026), Table 0",
        "sweeps": {"few": {"solver": "centroid", "dataset": "blobs", "problem.rho": 0.1}},
        "settings": {"repeats": 2},
        "table": "npbench_papers.gasso.rates:table",
        "charts": "npbench_papers.gasso.rates:charts",
    }
    Path("mine/experiment/demo.yaml").write_text(yaml.safe_dump(node))
    assert npbench("--config-dir", "mine", "+experiment=demo", "repeats=1", "execution.n_jobs=1")[0] == 0
    code, text, _ = answer("--config-dir", "mine", "--experiment", "demo")
    assert code == 1
    for expected in (
        "Centroids",
        "Nobody (2026)",
        "1 of 2 jobs",
        "centroid on blobs: 1",
        "npbench --config-dir mine +experiment=demo",
    ):
        assert expected in text
    output = results / "report" / "demo"
    assert sorted(path.name for path in output.iterdir()) == sorted(FORMS)
    assert "bound" in (output / "tables" / "demo-blobs.csv").read_text()
    assert {path.name for path in (output / "figures").iterdir()} == {f"demo.{form}" for form in ("pdf", "svg", "png")}
    assert (output / "report.html").read_text().count('<figure class="chart" data-name="demo">') == 1
    request.getfixturevalue("without_figures")
    assert answer("--config-dir", "mine", "+experiment=demo", "repeats=1", "--output", "other")[0] == 0
    assert sorted(path.name for path in Path("other").iterdir()) == sorted(FORMS)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "--help"],
        pytest.param(["--help"], marks=pytest.mark.slow),  # 3 s to compose what the help lists
        pytest.param(["report"], marks=pytest.mark.slow),  # 5 s to draw
    ],
)
def test_closed_pipe_ends_the_output_only(results, arguments):
    command = [sys.executable, "-m", "npbench", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()  # as `| head` does once it has its lines
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, "")
    assert "--help" in arguments or (results / "report" / "report.html").is_file()
