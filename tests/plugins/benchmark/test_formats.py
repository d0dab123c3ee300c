"""Formats of splits, scores and promises: what npbench writes has them, damaged files are named in a sentence."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench.records.scores import packed
from npbench.thresholding.threshold import GroupThresholds, Threshold
from npbench_benchmark.formats import validate
from sample_files import put, sha256

ONE = Threshold(0.5, rho=0.01, delta=0.05, rule="umbrella", n_negatives=300, false_alarms=0)
PART = {"repeat": [0, 0], "row": [0, 1], "part": ["train", "test"], "fold": [0, None]}
SCORES = {"dataset": ["a", "a"], "repeat": [0, 0], "rho": [0.1, 0.1], "row": [0, 1], "score": [0.5, -1.5]}
TASK = {
    **{"dataset": "pima", "dataset_params": "{}", "problem": "np", "problem_params": '{"rho":0.1}', "protocol": "cv"},
    **{"protocol_params": '{"folds":4,"name":"cv","test_size":0.5}', "preprocess": "none", "missing": "refuse"},
    **{"categories": "one_hot", "seed": 0, "metrics": '["p_fa"]', "repeats": 1, "data_sha256": "a" * 64},
    "split_sha256": ["b" * 64],
}
SPLITS = {"format": "npbench splits 1", "words": ["dataset=pima"], "tasks": [TASK]}
VALUES = [None, True, -1, 1.5, 1e400, "", "x", "\0", "[/]", "../x", [], [1], ["x"], {}, {"x": 1}, 10**400, "[" * 10**5]


def kept(**columns):
    frame = pl.read_parquet(packed(sha256("a"), np.arange(3), np.array([1, -1, 1]), np.array([0.1, -2, 3])))
    return frame.with_columns(**columns)


def faults(kind, content):
    if isinstance(content, pl.DataFrame):
        content.write_parquet("file")
    else:
        put(Path("file"), content if isinstance(content, bytes) else json.dumps(content).encode())
    return validate.faults(kind, Path("file"))


SOUND = {
    "splits": SPLITS,
    "parts": pl.DataFrame(PART, schema_overrides={"fold": pl.Int64}),
    "scores": pl.DataFrame(SCORES),
    "kept": kept(),
    "promise": ONE.to_dict(),
    "submission": {"format": "npbench submission 1", "tuned_on_suite": True},
}


@pytest.mark.parametrize("kind", SOUND)
def test_sound_files_have_their_format(kind):
    assert faults(kind, SOUND[kind]) == []


def test_promises_for_groups_have_their_format():
    assert faults("promise", GroupThresholds({"a": ONE, 3: ONE}, 0.1).to_dict()) == []


DAMAGED_TABLES = {
    "another part": ("parts", SOUND["parts"].with_columns(part=pl.lit("tests")), "tests"),
    "a row twice": ("parts", pl.concat([SOUND["parts"]] * 2), "unique"),
    "negative row": ("parts", SOUND["parts"].with_columns(row=pl.lit(-1)), "-1"),
    "null part": ("parts", SOUND["parts"].with_columns(part=pl.lit(None, pl.String)), "None"),
    "no score": ("scores", SOUND["scores"].drop("score"), "score"),
    "NaN": ("scores", SOUND["scores"].with_columns(score=pl.lit(float("nan"))), "nan"),
    "infinite": ("scores", SOUND["scores"].with_columns(score=pl.lit(float("inf"))), "inf"),
    "text": ("scores", SOUND["scores"].with_columns(score=pl.lit("1")), "string"),
    "nested": ("scores", SOUND["scores"].with_columns(rho=pl.concat_list("rho")), "rho"),
    "half a row": ("scores", SOUND["scores"].with_columns(row=pl.lit(0.5)), "0.5"),
    "path": ("scores", SOUND["scores"].with_columns(dataset=pl.lit("../x")), "../x"),
    "escape": ("scores", SOUND["scores"].with_columns(dataset=pl.lit("\x1b[2J")), "x1b"),
    "key": ("kept", kept(key=pl.lit("x")), "key"),
    "key twice": ("kept", pl.concat([kept()] * 2), "unique"),
    "label 0": ("kept", kept(label=pl.lit([1, 0, 1], pl.List(pl.Int8))), "0"),
    "other lengths": ("kept", kept(score=pl.lit([1.0])), "length"),
    "wide rows": ("kept", kept(row=pl.col("row").cast(pl.List(pl.Int64))), "int64"),
    "no table": ("kept", b"PAR1" + bytes(20) + b"PAR1", "cannot be read"),
    "empty file": ("kept", b"", "cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGED_TABLES)
def test_damaged_tables_are_named(damage):
    kind, content, word = DAMAGED_TABLES[damage]
    found = faults(kind, content)
    assert any(word in fault for fault in found), found
    assert all(fault.isprintable() and len(fault) < 600 for fault in found)


@pytest.mark.parametrize("name", [*TASK, "words", "tasks", "format"])
def test_damaged_splits_are_named_and_refused(name, npbench):
    """Each field in turn without a value, and with values of every other kind."""
    for value in ("absent", *VALUES):
        damaged = {**SPLITS, name: value} if name in SPLITS else {**SPLITS, "tasks": [{**TASK, name: value}]}
        if value == "absent":
            del (damaged if name in SPLITS else damaged["tasks"][0])[name]
        text = json.dumps(damaged).replace("Infinity", "1e400")
        put(Path("splits.json"), text.encode())
        put(Path("scores.csv"), b"dataset,repeat,rho,row,score\n")
        code, printed = npbench("submit", "scores.csv", "--name", "mine", "--tuned", "no")[:2]
        assert (code, "Traceback" in printed) == (2, False), (value, printed)
        assert not Path("results").exists()


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{", b"[" * 10**5, b'{"tasks": NaN}', b"\0" * 99])
@pytest.mark.parametrize("kind", ["splits", "promise", "submission"])
def test_other_files_are_refused(kind, content):
    assert faults(kind, content)


@pytest.mark.parametrize("name", ["value", "rho", "delta", "rule", "n_negatives", "false_alarms", "cross_fitted"])
def test_damaged_promises_are_named_like_reading_them_does(name):
    for value in VALUES:
        damaged = {**ONE.to_dict(), name: value}
        try:
            Threshold.from_json(json.dumps(damaged))
        except ValueError:
            assert faults("promise", damaged), value


def test_the_validator_runs_alone(tmp_path):
    for path in validate.FOLDER.glob("*"):
        if path.suffix in (".py", ".json") and path.name != "__init__.py":
            put(tmp_path / "alone" / path.name, path.read_bytes())
    tree = ast.parse((tmp_path / "alone" / "validate.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(str(name).startswith("npbench") for name in imported)
    put(tmp_path / "good.json", json.dumps(SPLITS).encode())
    put(tmp_path / "bad.json", b"{}")
    words = [sys.executable, "-I", "-S", "alone/validate.py", "splits"]  # without installed packages
    assert subprocess.run([*words, "good.json"], cwd=tmp_path, check=False).returncode == 0
    bad = subprocess.run([*words, "bad.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (bad.returncode, "lacks words, tasks" in bad.stdout) == (1, True)
