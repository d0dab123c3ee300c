"""Forged submissions: what does not follow from the scores is found in all records, the rest with a stated power."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench.records.scores import read_scores
from npbench.records.store import RecordStore
from npbench_benchmark.board import statement, verification
from npbench_benchmark.board.verification import Verified, power, sample_size, unequal_clocks
from sample_files import put
from sample_records import record

FOLDER = Path("results/submissions/centroid")
RUN = ["-m", "solver=centroid", "dataset=blobs", "problem.rho=0.1,0.3", "repeats=3", "execution.n_jobs=1"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Submission of six jobs that the first test makes and the others copy."""
    return tmp_path_factory.mktemp("honest") / "results"


@pytest.fixture
def submission(stranger, npbench, honest):
    """Return a function that verifies a submission of six records with their scores: exit code and text."""
    if not honest.exists():
        folder = f"results={honest}/submissions/centroid"
        assert npbench(*RUN, "execution.keep_scores=true", folder)[0] == 0
        statement.write(honest / "submissions" / "centroid", tuned_on_suite=False)
    shutil.copytree(honest, "results")
    return lambda *words: npbench("verify", str(FOLDER), *words)[:2]


def rewrite(forge, part="records"):
    """Replace the records, or scores, by what a function makes of them."""
    frame = RecordStore(FOLDER / "records").frame() if part == "records" else read_scores(FOLDER)
    for path in (FOLDER / part).rglob("*.parquet"):
        path.unlink()
    forge(frame).write_parquet(FOLDER / part / "a.parquet")


def last(**columns):
    """Return a function that changes columns of the last record."""
    is_last = pl.int_range(pl.len()) == pl.len() - 1
    return lambda frame: frame.with_columns(
        pl.when(is_last).then(value).otherwise(name).alias(name) for name, value in columns.items()
    )


def test_no_file_is_read_that_a_submission_names(submission):
    put(Path("secret.csv"), b"a,label\nsecret,1\n")
    params = '{"path":"secret.csv"}'
    rewrite(last(dataset=pl.lit("file"), dataset_params=pl.lit(params)))
    code, text = submission("--sample", "1")
    assert (code, "dataset=file" in text, "secret" in text) == (2, True, False), text


@pytest.mark.parametrize("text", ["", '{"format": "npbench submission 1", "tuned_on_suite": 0}'])
def test_a_submission_states_whether_it_was_tuned_on_the_suite(submission, text):
    (FOLDER / "submission.json").unlink()
    if text:
        put(FOLDER / "submission.json", text.encode())
    code, printed = submission("--sample", "1")
    assert (code, "submission.json" in printed) == (1, True), printed


def swapped(frame):
    return frame.with_columns(pl.col("score").reverse())


def permuted(frame):
    return frame.with_columns(pl.col("row", "label", "score").list.reverse())


def better(frame):
    """Scores of a perfect classifier."""
    return frame.with_columns(score=pl.col("label").cast(pl.List(pl.Float64)))


FORGED = {
    "rate": (last(p_nd=pl.lit(0.01)), "p_nd"),
    "limit": (last(p_fa_high=pl.lit(0.01)), "p_fa_high"),
    "metric that was not asked": (lambda frame: frame.with_columns(balanced_accuracy=pl.lit(1.0)), "balanced_accuracy"),
    "metrics left out": (last(metrics=pl.lit("[]"), p_nd=pl.lit(0.0)), "p_nd"),
    "curve": (last(roc=pl.col("roc").str.replace("1", "0.5")), "roc"),
    "split": (last(split_sha256=pl.lit("0" * 64)), "split_sha256"),
    "seed": (last(seed=pl.lit(7)), "other rows"),
    "repeat": (last(repeat=pl.lit(7)), "other rows"),
    "rho": (last(problem_params=pl.lit('{"rho":0.9}')), "np_score"),
    "later duplicate": (
        lambda frame: pl.concat([frame, frame.tail(1).with_columns(p_nd=0.0, stored_at=pl.lit("2026-01-01"))][::-1]),
        None,
    ),
    "another's record": (last(solver=pl.lit("gen")), "gen"),
    "another's name": (last(method=pl.lit("gen")), "centroid"),
    "protocol of another type": (last(protocol_params=pl.lit('{"folds":"x","name":"cv"}')), "folds"),
    "no such protocol": (last(protocol=pl.lit("x")), "protocol"),
    "search of another type": (
        last(search=pl.lit('{"C":{"a":"b"}}'), protocol_params=pl.lit('{"folds":[1]}')),
        "folds",
    ),
    "no such data": (last(dataset=pl.lit("nothing")), "nothing"),
    "seconds of submitted scores": (last(distribution=pl.lit("submitted scores")), "fit_cpu_seconds"),
    "not a record": (lambda frame: frame.select("key"), "cannot be read"),
}
FORGED_SCORES = {
    "none": (lambda frame: frame.clear(), "execution.keep_scores"),
    "one is missing": (lambda frame: frame.head(5), "execution.keep_scores"),
    "swapped": (swapped, "6 records"),
    "rows permuted": (permuted, "other rows"),
    "better": (better, "6 records"),
    "not finite": (lambda frame: frame.with_columns(score=pl.col("score").list.eval(pl.lit(np.nan))), "finite"),
    "fewer": (lambda frame: frame.with_columns(pl.col("score").list.head(3)), "other rows"),
    "null": (lambda frame: frame.with_columns(score=pl.lit(None, pl.List(pl.Float64))), "cannot be used"),
    "shorter": (lambda frame: frame.with_columns(pl.col("row", "label", "score").list.head(3)), "other rows"),
}


def test_an_honest_submission_is_verified_in_full(submission):
    code, text = submission()
    assert code == 0, text
    assert "6 of 6 records follow" in text
    assert "6 of 6 jobs" in text  # so few that the power needs all of them


@pytest.mark.filterwarnings("default:The scores in")
@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_record_is_found_without_its_rerun(submission, kind, monkeypatch):
    monkeypatch.setattr(verification, "rerun", lambda records: [])
    forge, word = FORGED[kind]
    rewrite(forge)
    code, text = submission("--sample", "1")
    if word is None:  # the later record counts, in reports as here
        assert code == 0, text
        return
    assert (code != 0, word in text) == (True, True), text


@pytest.mark.parametrize("kind", FORGED_SCORES)
def test_forged_scores_are_found_without_a_rerun(submission, kind, monkeypatch):
    monkeypatch.setattr(verification, "rerun", lambda records: [])
    forge, word = FORGED_SCORES[kind]
    rewrite(forge, "scores")
    code, text = submission("--sample", "1")
    assert (code, word in text) == (1, True), text


def test_scores_and_metrics_forged_alike_are_found_by_a_rerun(submission):
    """As of a classifier that knows the labels."""
    rewrite(better, "scores")
    perfect = {"p_fa": 0.0, "p_nd": 0.0}
    rewrite(lambda frame: frame.with_columns(**perfect))
    code, text = submission("--sample", "2")
    assert (code, "0 of 2 jobs" in text) == (1, True), text


def test_each_run_draws_its_own_sample_and_its_seed_repeats_it(submission, monkeypatch):
    drawn = []
    monkeypatch.setattr(verification, "rerun", lambda records: drawn.append([one["key"] for one in records]) or [])
    texts = [submission("--sample", "3")[1] for _ in range(8)]
    assert len({tuple(keys) for keys in drawn}) > 1
    seed = texts[0].partition("--seed ")[2].split()[0]
    submission("--sample", "3", "--seed", seed)
    assert drawn[-1] == drawn[0]


def test_tasks_of_an_experiment_without_a_record_are_named(submission, npbench):
    code, text = submission("--experiment", "np_benchmark_small")
    assert (code, "26 tasks" in text) == (1, True), text


def test_no_text_of_a_record_is_interpreted(submission):
    rewrite(lambda frame: frame.with_columns(pl.lit(0.5).alias("[/]\x1b[31m\n::error::"), dataset=pl.lit("[/]\x1b[2J")))
    code, text = submission("--sample", "1")
    assert code == 1
    assert "\x1b" not in text
    assert "\n::error" not in text


@pytest.mark.parametrize(("n_records", "share"), [(26, 0.05), (140, 0.05), (1000, 0.05), (300, 0.2)])
def test_the_power_of_a_sample_is_that_of_random_draws(n_records, share):
    size = sample_size(n_records, share)
    n_forged, draws = int(np.ceil(share * n_records - 1e-9)), 20_000
    found = np.random.default_rng(0).hypergeometric(n_forged, n_records - n_forged, size, draws) > 0
    assert found.mean() == pytest.approx(power(n_records, size, share), abs=0.006)
    assert power(n_records, size, share) >= 0.95 > power(n_records, size - 1, share)


def test_very_many_records_need_59():
    assert [sample_size(n) for n in (0, 1, 10**6)] == [0, 1, 59]


@pytest.mark.parametrize(("stored", "here", "is_named"), [(9, 3, False), (0, 3, True), (90, 3, True), (0, 0.01, False)])
def test_times_that_no_machine_explains_are_named(stored, here, is_named):
    others = [Verified(record(), seconds=(5.0, 4.0))] * 9
    assert bool(unequal_clocks([*others, Verified(record(), seconds=(stored, here))])) == is_named
