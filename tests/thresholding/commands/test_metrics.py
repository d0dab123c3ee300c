"""`npbench metrics`: from a column of scores to what they detect at low false-alarm rates."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from npbench import metrics as library
from npbench.errors import Exit, RequestError
from npbench.thresholding.commands import metrics

RNG = np.random.default_rng(0)
ATTACK = RNG.random(900) < 0.3
TABLE = pl.DataFrame(
    {
        "score": RNG.normal(size=900) + 2 * ATTACK,
        "label": np.where(ATTACK, "attack", "benign"),
        "site": RNG.choice(["$x_<b>", "home"], 900),
    }
)
WORDS = ("scores.csv", "--positive", "attack")


@pytest.fixture(autouse=True)
def _files(_own_folder):
    TABLE.write_csv("scores.csv")


def stored(*words):
    assert metrics.run([*WORDS, *words]) is Exit.OK
    return json.loads(Path("metrics/metrics.json").read_text())["groups"]


@pytest.mark.usefixtures("drawn")
def test_the_files_hold_the_metrics_of_the_library_and_are_printed(capsys):
    (found,) = stored("--fpr", "0.02", "0.1", "--tpr", "0.9")
    y, scores, level = TABLE["label"], TABLE["score"], {"pos_label": "attack", "confidence": 0.95}
    expected = {
        "TPR at FPR 0.02": library.tpr_at_fpr(y, scores, fpr=0.02, **level),
        "TPR at FPR 0.1": library.tpr_at_fpr(y, scores, fpr=0.1, **level),
        "partial AUC to 0.02": library.partial_auc(y, scores, fpr_range=(0, 0.02), **level),
        "partial AUC to 0.1": library.partial_auc(y, scores, fpr_range=(0, 0.1), **level),
        "FPR at TPR 0.9": library.fpr_at_tpr(y, scores, tpr=0.9, **level),
        "AUC": library.partial_auc(y, scores, fpr_range=(0, 1), **level),
    }
    assert found["metrics"] == {name: pytest.approx(vars(one)) for name, one in expected.items()}
    assert (found["n_positives"], found["n_negatives"]) == (sum(ATTACK), sum(~ATTACK))
    printed = capsys.readouterr().out
    assert all(f"[{one.low:.4f}, {one.high:.4f}]" in printed for one in expected.values())
    assert Path("metrics/roc.png").read_bytes().startswith(b"\x89PNG")


def test_rates_that_differ_in_the_seventh_digit_have_metrics_of_their_own():
    (found,) = stored("--fpr", "0.1", "0.1000001")
    assert {"TPR at FPR 0.1", "TPR at FPR 0.1000001"} < set(found["metrics"])


@pytest.mark.usefixtures("drawn")
def test_groups_have_metrics_of_their_own_and_names_reach_neither_mathematics_nor_markup():
    found = {row["group"]: row["metrics"] for row in stored("--by", "site", "--fpr", "0.1")}
    for site, rows in TABLE.group_by("site"):
        expected = library.tpr_at_fpr(rows["label"], rows["score"], fpr=0.1, pos_label="attack")
        assert found.pop(site[0])["TPR at FPR 0.1"]["value"] == expected
    assert not found
    assert "<b>" not in Path("metrics/metrics.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fpr", "1.5"], "--fpr is 1.5"),
        (["--tpr", "0"], "--tpr is 0"),
        (["--fpr", "nan"], "--fpr is nan"),
        (["--by", "site"], "one class only in site $x_<b>"),
        (["--by", "nowhere"], "Unknown --by column"),
    ],
)
def test_what_cannot_be_measured_is_refused(words, said):
    TABLE.filter((pl.col("site") == "home") | (pl.col("label") == "attack")).write_csv("scores.csv")
    with pytest.raises(RequestError) as refused:
        metrics.run([*WORDS, *words])
    assert said in str(refused.value)
    assert not Path("metrics").exists()
