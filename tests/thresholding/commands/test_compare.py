"""`npbench compare`: from the scores of two models to which of them misses less."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import npbench
from npbench.errors import Exit, RequestError
from npbench.thresholding.commands import compare, threshold

RNG = np.random.default_rng(0)
ATTACK = RNG.random(1500) < 0.3
SIGNAL = RNG.normal(size=1500) + 2 * ATTACK
TABLE = pl.DataFrame(
    {
        "key": [f"row {i}" for i in range(1500)],
        "score": SIGNAL + RNG.normal(size=1500),
        "label": ATTACK.astype(int),
        "new": SIGNAL + 0.3 * RNG.normal(size=1500),
    }
)
OTHER = TABLE.select("key", "label", score="new")


@pytest.fixture(autouse=True)
def _files(_own_folder, monkeypatch):
    monkeypatch.setattr("npbench.thresholding.compare.N_DRAWS", 1000)
    TABLE.write_parquet("old.parquet")
    OTHER.write_parquet("new.parquet")


def stored(*words):
    assert compare.run(list(words)) is Exit.OK
    return json.loads(Path("comparison", "comparison.json").read_text())


@pytest.mark.usefixtures("drawn")
def test_the_files_hold_the_result_of_the_library_and_names_reach_neither_mathematics_nor_markup(capsys):
    odd = "$x_<b>" + "y" * 100
    Path("old.parquet").rename(f"{odd}.parquet")
    expected = npbench.compare(TABLE["score"], TABLE["new"], TABLE["label"], rho=0.05, names=(odd[:30], "new"))
    found = stored(f"{odd}.parquet", "new.parquet")
    assert found == json.loads(expected.to_json())
    assert found["better"] == "new"
    printed = capsys.readouterr().out
    assert " ".join(expected.verdict.split()) in " ".join(printed.split())
    assert "[{:+.3f}, {:+.3f}]".format(*expected.auc.limits) in printed
    page = Path("comparison/comparison.html").read_text()
    assert "data:image/png;base64," in page
    assert "<b>" not in page
    assert Path("comparison/comparison.png").read_bytes().startswith(b"\x89PNG")


def test_rows_are_paired_by_id(capsys):
    expected = stored("old.parquet", "new.parquet")
    OTHER.drop("label").sample(fraction=1.0, shuffle=True, seed=1).write_csv("new.csv")
    assert stored("old.parquet", "new.csv", "--id", "key") == expected
    capsys.readouterr()
    pl.concat([OTHER[100:], OTHER[:1].with_columns(key=pl.lit("another"))]).write_csv("new.csv")
    assert stored("old.parquet", "new.csv", "--id", "key")["n_positives"] == TABLE["label"][100:].sum()
    printed = capsys.readouterr().out
    assert "100 rows of old.parquet" in printed
    assert "1 row" in printed


def test_numbers_and_words_of_the_same_ids_pair():
    numbered = OTHER.with_row_index("id")
    numbered.write_parquet("new.parquet")
    TABLE.with_row_index("id").with_columns(pl.col("id").cast(pl.String)).write_parquet("old.parquet")
    assert stored("old.parquet", "new.parquet", "--id", "id")["n_negatives"] == np.sum(~ATTACK)


def test_two_columns_of_one_file_are_compared():
    found = stored("old.parquet", "--other-score", "new")
    assert found["names"] == ["score", "new"]
    assert found["better"] == "new"


def test_rows_that_a_model_did_not_score_are_left_out_of_both(capsys):
    OTHER.with_columns(score=pl.when(pl.int_range(pl.len()) >= 7).then("score")).write_parquet("new.parquet")
    found = stored("old.parquet", "new.parquet")
    assert found["n_negatives"] + found["n_positives"] == 1493
    assert "7 rows" in capsys.readouterr().out


def test_deployed_thresholds_are_compared():
    for name in ("old", "new"):
        threshold.run([f"{name}.parquet", "--output", name])
    found = stored("old.parquet", "new.parquet", "--thresholds", "old/threshold.json", "new/threshold.json")
    limit = json.loads(Path("old/threshold.json").read_text())["value"]
    assert found["deployed_false_alarms"]["first"] == np.mean(TABLE["score"].to_numpy()[~ATTACK] > limit)


def test_few_samples_are_a_result_without_limits():
    TABLE.head(30).write_parquet("old.parquet")
    found = stored("old.parquet", "--other-score", "new")
    assert found["misses"]["limits"] is None
    assert found["better"] is None


FEWER = TABLE.head(10)
CASES = {
    "one file": (None, ["old.parquet"], "--other-score"),
    "lengths": (OTHER.head(10), ["old.parquet", "new.parquet"], "--id"),
    "labels": (OTHER.with_columns(label=1 - pl.col("label")), ["old.parquet", "new.parquet"], "1500"),
    "no labels": (OTHER.drop("label"), ["old.parquet", "new.parquet"], "label"),
    "repeated id": (
        OTHER.with_columns(key=pl.lit("a")),
        ["old.parquet", "new.parquet", "--id", "key"],
        "more than once",
    ),
    "other ids": (
        OTHER.with_columns(key=pl.int_range(pl.len())),
        ["old.parquet", "new.parquet", "--id", "key"],
        "share no id",
    ),
    "no id": (OTHER, ["old.parquet", "new.parquet", "--id", "nothing"], "--id"),
    "rho": (OTHER, ["old.parquet", "new.parquet", "--rho", "2"], "rho"),
    "no threshold": (OTHER, ["old.parquet", "new.parquet", "--thresholds", "a", "b"], "a"),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_requests_are_named(case):
    other, words, word = CASES[case]
    if other is not None:
        other.write_parquet("new.parquet")
    with pytest.raises(RequestError, match=word):
        compare.run(words)


def test_a_third_file_is_refused():
    with pytest.raises(RequestError, match="two"):
        compare.run(["old.parquet", "new.parquet", "third.parquet"])
    with pytest.raises(SystemExit):
        compare.run(["old.parquet", "new.parquet", "--rate", "0.1"])


def test_thresholds_of_groups_are_refused():
    TABLE.with_columns(g=pl.int_range(pl.len()) % 2).write_parquet("old.parquet")
    threshold.run(["old.parquet", "--by", "g"])
    words = ["old.parquet", "new.parquet", "--thresholds", *["threshold/threshold.json"] * 2]
    with pytest.raises(RequestError, match="group"):
        compare.run(words)
