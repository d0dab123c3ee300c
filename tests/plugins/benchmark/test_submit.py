"""``npbench splits`` and ``npbench submit``: records from scores of a method that npbench cannot run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench.data import BinaryData
from npbench.evaluation.protocols import PROTOCOLS
from npbench.records.reading import conformed
from npbench.records.scores import read_scores
from npbench.records.store import RecordStore
from npbench_benchmark.board import statement
from npbench_benchmark.board.split_files import _parts
from npbench_benchmark.formats.validate import faults
from npbench_benchmark.tables import places, tables
from sample_records import cells, frame, record

SETTINGS = ["solver=centroid", "dataset=blobs", "problem.rho=0.1,0.3", "repeats=2"]
METRICS = ["p_fa", "p_nd", "np_score", "auc", "p_fa_low", "accuracy"]
TASK = ["dataset", "problem_params", "repeat"]


@pytest.fixture(scope="module")
def written_splits(tmp_path_factory):
    """Folder of splits that the first test writes and the others copy."""
    return tmp_path_factory.mktemp("written") / "splits"


@pytest.fixture
def scores(stranger, npbench, written_splits):
    """Splits in a folder, and a score for each test row."""
    if not written_splits.exists():
        assert npbench("splits", "-m", *SETTINGS, "--write", str(written_splits), "--data")[0] == 0
    shutil.copytree(written_splits, "splits")
    rows = pl.read_parquet("splits/blobs.parquet").filter(part="test").select("repeat", "row")
    cases = rows.join(pl.DataFrame({"dataset": "blobs", "rho": [0.1, 0.3]}), how="cross")
    cases = cases.sample(fraction=1, shuffle=True, seed=0)
    drawn = pl.Series(np.random.default_rng(0).normal(size=len(cases)))
    return cases.select("dataset", "repeat", "rho", "row", score=drawn)


def submit(npbench, table, name="mine", tuned="no"):
    table.write_parquet("splits/scores.parquet")
    return npbench("submit", "splits/scores.parquet", "--name", name, "--tuned", tuned)


def test_records_are_those_of_the_solver_with_the_same_scores(scores, npbench):
    assert npbench("-m", *SETTINGS, "execution.keep_scores=true", "execution.n_jobs=1")[0] == 0
    jobs = RecordStore("results/records").frame().select("key", "dataset", "repeat", "rho")
    kept = read_scores("results").join(jobs, on="key").explode("row", "score").sample(fraction=1, shuffle=True, seed=0)
    code, text = submit(npbench, kept.select(scores.columns))
    assert code == 0, text
    folder = Path("results/submissions/mine")
    ours = RecordStore("results/records").frame().sort(TASK)
    theirs = RecordStore(folder / "records").frame().sort(TASK)
    assert set(theirs["solver"]) == {"mine"}
    for name in METRICS:
        assert theirs[name].to_numpy() == pytest.approx(ours[name].to_numpy(), abs=1e-7)
    for name in ("split_sha256", "data_sha256", "n_test_duplicates", "n_test_positive", "roc"):
        assert theirs[name].equals(ours[name]), name
    assert theirs["fit_seconds"].is_null().all()
    code, text = npbench("verify", str(folder), "--sample", "9")
    assert (code, "4 of 4" in text) == (0, True), text


@pytest.mark.parametrize("changes", [{}, {"metrics": pl.lit("[]")}])
def test_a_changed_submission_is_found(scores, npbench, changes):
    assert submit(npbench, scores)[0] == 0
    folder = Path("results/submissions/mine/records")
    (path,) = folder.glob("*.parquet")
    RecordStore(folder).frame().with_columns(p_nd=pl.col("p_nd") / 2, **changes).write_parquet(path)
    code, text = npbench("verify", "results/submissions/mine")
    assert (code, " p_nd: " in text) == (1, True), text


def test_what_is_written_has_its_format(scores, npbench):
    assert submit(npbench, scores)[0] == 0
    (kept,) = Path("results/submissions/mine/scores").glob("*.parquet")
    files = {
        "splits": "splits/splits.json",
        "parts": "splits/blobs.parquet",
        "scores": "splits/scores.parquet",
        "kept": kept,
        "submission": "results/submissions/mine/submission.json",
    }
    assert [fault for kind, path in files.items() for fault in faults(kind, Path(path))] == []


def test_splits_and_data(scores):
    described = json.loads(Path("splits/splits.json").read_text())
    assert [task["split_sha256"] for task in described["tasks"]] == [described["tasks"][0]["split_sha256"]] * 2
    rows, data = pl.read_parquet("splits/blobs.parquet"), pl.read_parquet("splits/data/blobs.parquet")
    assert rows.group_by("repeat").len()["len"].to_list() == [120, 120]
    assert data.shape == (120, 5)
    one = rows.filter(repeat=1)
    tested = scores.filter(repeat=1, rho=0.1)["row"]
    assert sorted(one.filter(part="test")["row"]) == sorted(tested)
    assert one.filter(part="train")["fold"].unique().sort().to_list() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["cv", "holdout", "nested"])
def test_parts_of_every_kind_of_protocol(name):
    """The file says all that the hash of a split covers."""
    random = np.random.default_rng(0)
    data = BinaryData.checked(random.normal(size=(60, 2)), np.repeat([-1, 1], 30), "made")
    split = PROTOCOLS[name]().split(data, 0, 1)
    frame = _parts(split, 1)
    assert frame.filter(part="train")["row"].to_list() == split.train.tolist()
    assert frame.filter(part="test")["row"].to_list() == split.test.tolist()
    for number, (fit, validate) in enumerate(split.folds):
        assert frame.filter(fold=number)["row"].to_list() == validate.tolist()
        fitted = frame.filter(pl.col("part") != "test", pl.col("fold").ne_missing(number))["row"].to_list()
        assert fitted == fit.tolist()


def edited(column, value, rows=slice(0, 1)):
    def edit(table):
        values = table[column].to_list()
        values[rows] = [value] * len(values[rows])
        return table.with_columns(pl.Series(column, values, dtype=table[column].dtype))

    return edit


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (edited("score", float("nan")), "NaN"),
        (edited("score", float("inf")), "infinite"),
        (edited("score", None), "missing"),
        (edited("dataset", "blob"), "did you mean 'blobs'"),
        (edited("rho", 0.2), "rho=0.2"),
        (edited("repeat", 7), "repeat=7"),
        (edited("row", 10_000), "not in the test part"),
        (lambda table: table.vstack(table.head(1)), "duplicates"),
        (lambda table: table[1:], "are missing"),
        (lambda table: table.filter(pl.col("rho") > 0.2), "of 120 test rows are missing"),
        (lambda table: table.drop("rho"), "rho"),
        (lambda table: table.with_columns(score=pl.lit("high")), "wrong type"),
    ],
)
def test_faulty_scores_are_refused(scores, npbench, edit, expected):
    code, text = submit(npbench, edit(scores))
    assert (code, expected in text) == (2, True), text
    assert not Path("results/submissions").exists()


def test_tables_written_by_other_programs_are_read(scores, npbench):
    whole = scores.with_columns(score=pl.when(pl.int_range(pl.len()) < 110).then(1.0).otherwise("score"))
    code, text = submit(npbench, whole.cast({"rho": pl.Float32, "row": pl.Float64, "dataset": pl.Categorical}))
    assert code == 0, text
    lines = whole.write_csv().replace(",1.0\n", ",1\n")  # as R writes whole numbers
    Path("splits/scores.csv").write_text(lines)
    words = ["submit", "splits/scores.csv", "--name", "mine", "--tuned", "no", "--output", "other"]
    assert npbench(*words)[0] == 0
    one, other = (RecordStore(Path(folder, "records")).frame() for folder in ("results/submissions/mine", "other"))
    assert one.sort(TASK)["auc"].equals(other.sort(TASK)["auc"])


def test_other_and_incomplete_descriptions_of_splits_are_refused(scores, npbench):
    path = Path("splits/splits.json")
    other = path.read_text().replace('"seed": 0', '"seed": 1')
    incomplete = [json.dumps({"words": [], "tasks": tasks}) for tasks in ([], [{}], ["breast"])]
    for text, expected in ((other, "split differently"), *((one, "splits.json") for one in incomplete)):
        path.write_text(text)
        code, printed = submit(npbench, scores)
        assert (code, expected in printed) == (2, True), printed


def test_names_and_folders_that_cannot_be_used_are_refused(scores, npbench, stranger):
    for name in ("centroid", "a/b", ""):
        code, text = submit(npbench, scores, name)
        assert (code, "--name" in text) == (2, True), text
    Path("taken").touch()
    code, text = npbench("splits", *SETTINGS[:2], "--write", "taken")
    assert (code, "taken" in text) == (2, True), text
    code, text = npbench("splits", "-m", *SETTINGS, "protocol.folds=2,3", "--write", "splits")
    assert (code, "protocol_params" in text) == (2, True), text


@pytest.mark.slow  # five commands; .ci/run places a newcomer, too
def test_places_of_a_newcomer(stranger, npbench):
    """An experiment with a ranking: the second run runs its own jobs only, and is ranked among the stored ones."""
    words = ["-m", "+experiment=np_benchmark_small", "dataset=blobs", "problem.rho=0.1", "repeats=2"]
    assert npbench(*words, "solver=centroid", "execution.n_jobs=1")[0] == 0
    code, text = npbench(*words, "solver=centroid", "solver.shrinkage=0.5", "execution.n_jobs=1")
    assert (code, "of 2" in text, "2 records" in text) == (0, True, True), text
    report = ["report", "--experiment", "np_benchmark_small", *words[2:], "solver=centroid", "solver.shrinkage=0.5"]
    code, text = npbench(*report)
    assert (code, "> centroid shrinkage=0.5" in text, "rho=0.1: ranking" in text) == (0, True, True), text
    assert text.count(" 1 of 2  ") == 2, text  # places
    page = Path("results/report/np_benchmark_small/report.html").read_text()
    assert page.count("centroid shrinkage=0.5") > 1
    assert npbench("splits", "+experiment=np_benchmark_small", *words[2:], "--write", "splits")[0] == 0
    rows = pl.read_parquet("splits/blobs.parquet").filter(part="test").select("repeat", "row")
    made = rows.with_columns(dataset=pl.lit("blobs"), rho=pl.lit(0.1), score=0.5 - pl.col("row") % 2)
    code, text = submit(npbench, made, tuned="yes")
    assert (code, "1 of 3" in text) == (0, True), text
    assert "yes" in text.partition("> mine")[2].partition("\n")[0].split()


@pytest.mark.parametrize("tuned", [True, False])
def test_tables_show_whether_a_submission_was_tuned_on_the_suite(tuned, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = [
        {**record(solver=name, p_fa=0.0, p_nd=level, np_score=level, rho=0.1, seconds=1.0), "key": name}
        for name, level in (("mine", 0.1), ("gen", 0.2), ("../mine", 0.3))
    ]

    def made():  # each command reads the records for itself
        return conformed(frame(own))

    assert "tuned on the suite" not in tables(made(), [])[0].columns
    folder = Path("results/submissions/mine")
    folder.mkdir(parents=True)
    statement.write(folder, tuned_on_suite=tuned)
    assert statement.faults(folder) == []
    for sheet in (tables(made(), [])[0], *places(made(), ["mine"])):
        found = {row["method"].removeprefix("> "): row["tuned on the suite"] for row in cells(sheet)}
        assert (found["mine"], found["gen"]) == ("yes" if tuned else "no", "-")
    (folder / "submission.json").write_text('{"tuned_on_suite": "perhaps"}')
    assert "tuned on the suite" not in tables(made(), [])[0].columns
    assert any("perhaps" in fault for fault in statement.faults(folder))
