"""`npbench threshold` and `npbench monitor`: from a file of scores to a deployed threshold and back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import npbench
from npbench.errors import Exit, RequestError
from npbench.numerics.thresholds import fewest_negatives
from npbench.thresholding.commands import monitor, score_files, threshold
from npbench.thresholding.threshold import described, from_json

RNG = np.random.default_rng(0)
ATTACK = RNG.random(1500) < 0.3
TABLE = pl.DataFrame(
    {
        "s": RNG.normal(size=1500) + 2 * ATTACK,
        "y": np.where(ATTACK, "attack", "ok"),
        "g": RNG.choice(["a", "b"], 1500),
        "t": np.arange(1500)[::-1],
    }
)
COLUMNS = ["--label", "y", "--positive", "attack", "--score", "s"]
STORED = ["--threshold", "threshold/threshold.json"]
NAMES = {"columns": {"score": "s", "label": "y", "positive": "attack", "negative": "ok"}}


@pytest.fixture(autouse=True)
def _files(_own_folder):
    TABLE.write_parquet("scores.parquet")
    TABLE.write_csv("scores.csv")


def stored(folder="threshold"):
    return from_json(Path(folder, "threshold.json").read_text())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("file", ["scores.parquet", "scores.csv"])
@pytest.mark.usefixtures("drawn")
def test_the_file_holds_the_threshold_of_the_library(capsys, file):
    assert threshold.run([file, *COLUMNS, "--rho", "0.02"]) is Exit.OK
    expected = npbench.threshold(TABLE["s"], TABLE["y"], rho=0.02, pos_label="attack")
    assert stored().value == pytest.approx(expected.value)  # a CSV file rounds nothing that matters
    assert stored().misses == expected.misses
    columns = json.loads(Path("threshold/threshold.json").read_text())["columns"]
    assert columns == {"score": "s", "label": "y", "positive": "attack", "negative": "ok", "by": None}
    printed = capsys.readouterr().out
    missed = expected.p_nd()
    assert printed.count(f"{missed.value:.3f}  [{missed.low:.3f}, {missed.high:.3f}]") == 2  # in both tables
    assert "2995" in printed  # the plan: negatives for 0.1 %
    assert "data:image/png;base64," in Path("threshold/threshold.html").read_text()
    assert Path("threshold/np_roc.png").read_bytes().startswith(b"\x89PNG")


# Labels of the same two classes, as programs write them.
SPELLINGS = {
    "whole": pl.when(pl.col("y") == "attack").then(1).otherwise(0),
    "float": pl.when(pl.col("y") == "attack").then(1.0).otherwise(0.0),
    "boolean": pl.col("y") == "attack",
    "words": (pl.col("y") == "attack").cast(pl.String),
    "digits": pl.when(pl.col("y") == "attack").then(pl.lit("1")).otherwise(pl.lit("0")),
}


@pytest.mark.one_in(10)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("deployed", SPELLINGS)
def test_labels_of_one_meaning_are_one_class_however_they_are_spelled(deployed, ending, capsys):
    for name, spelling in SPELLINGS.items():
        table = TABLE.with_columns(y=spelling)
        table.write_csv(f"{name}.csv")
        table.write_parquet(f"{name}.parquet")
    threshold.run([f"{deployed}.{ending}", "--score", "s", "--label", "y"])
    assert (stored().n_positives, stored().n_negatives) == (ATTACK.sum(), (~ATTACK).sum())
    for name in SPELLINGS:
        for other in ("csv", "parquet"):
            assert monitor.run([f"{name}.{other}", *STORED, "--no-chart"]) is Exit.OK
            assert f"of {(~ATTACK).sum()} negatives" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["yes", "no"], "'no' .*, 'yes'"),
        (["attack", "Benign"], r"'Benign' \(1067 rows\)"),
        ([1, 0], "'0'"),
        (["attack", "ok"] * 749 + ["attack", "unsure"], r"'unsure' \(1 row\)"),
    ],
)
def test_labels_of_neither_class_are_refused_with_their_number(labels, words):
    threshold.run(["scores.csv", *COLUMNS])
    both = labels if len(labels) > 2 else np.where(ATTACK, *map(np.array, labels)).tolist()
    TABLE.with_columns(y=pl.Series(both)).write_csv("other.csv")
    with pytest.raises(RequestError, match=words):
        monitor.run(["other.csv", *STORED])


def test_a_threshold_without_the_negative_label_is_read():
    threshold.run(["scores.csv", *COLUMNS])
    content = json.loads(Path("threshold/threshold.json").read_text())
    del content["columns"]["negative"]
    Path("threshold/threshold.json").write_text(json.dumps(content))
    assert monitor.run(["scores.csv", *STORED]) is Exit.OK
    TABLE.with_columns(y=pl.col("y").replace({"attack": "yes", "ok": "no"})).write_csv("other.csv")
    with pytest.raises(RequestError, match="'attack', which no row has"):
        monitor.run(["other.csv", *STORED])


def test_rows_without_a_label_are_left_out_if_asked(capsys):
    TABLE.with_columns(y=pl.when(pl.col("t") >= 30).then("y")).write_csv("late.csv")
    with pytest.raises(RequestError, match=r"y has 30 missing of 1500.*--unlabelled drop"):
        threshold.run(["late.csv", *COLUMNS])
    threshold.run(["late.csv", *COLUMNS, "--unlabelled", "drop"])
    kept = TABLE.filter(pl.col("t") >= 30)
    assert stored() == npbench.threshold(kept["s"], kept["y"], pos_label="attack")
    assert "30 rows of 1500 left out" in capsys.readouterr().out
    with pytest.raises(RequestError, match="--unlabelled"):
        monitor.run(["late.csv", *STORED, "--unlabelled", "refuse"])
    assert monitor.run(["late.csv", *STORED, "--unlabelled", "drop"]) is Exit.OK
    assert "30 rows of 1500 left out" in capsys.readouterr().out


def test_more_than_two_labels_need_a_negative_one(capsys):
    table = TABLE.with_columns(y=pl.when(pl.col("t") < 100).then(pl.lit("unsure")).otherwise("y"))
    table.write_csv("three.csv")
    with pytest.raises(RequestError, match="--negative rest"):
        threshold.run(["three.csv", *COLUMNS])
    threshold.run(["three.csv", *COLUMNS, "--negative", "rest"])
    assert stored() == npbench.threshold(table["s"], table["y"] == "attack")
    assert monitor.run(["three.csv", *STORED]) is Exit.OK  # both negative labels are stored
    threshold.run(["three.csv", *COLUMNS, "--negative", "ok"])
    assert stored().n_negatives == (table["y"] == "ok").sum()
    assert "100 rows of 1500 left out" in capsys.readouterr().out


def test_scores_are_read_as_data_sets_are(capsys):
    decimal = TABLE.with_columns(s=pl.col("s").round(6).cast(pl.String).str.replace(".", ",", literal=True))
    decimal.write_csv("decimal.csv", separator=";")
    saturated = TABLE.with_columns(s=pl.col("s").round(6))
    pl.concat([saturated.head(200).with_columns(s=pl.lit(0.0)), saturated]).write_csv("zeros.csv")
    saturated.write_csv("a [1]*?.CSV")
    for name in ("decimal.csv", "zeros.csv", "a [1]*?.CSV"):
        assert threshold.run([name, *COLUMNS]) is Exit.OK
    saturated.with_columns(s=pl.when(pl.col("t") != 7).then("s")).write_csv("gap.csv", null_value="N/A")
    capsys.readouterr()
    threshold.run(["gap.csv", *COLUMNS])
    assert "1 row of 1500 left out: 1 without a score" in capsys.readouterr().out
    odd = pl.when(pl.col("t") != 7).then(pl.col("s").cast(pl.String)).otherwise(pl.lit("none"))
    saturated.with_columns(s=odd).write_csv("odd.csv")
    with pytest.raises(RequestError, match="'none' in line 1494"):
        threshold.run(["odd.csv", *COLUMNS])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_times_are_grouped_by_day(ending, capsys):
    start = pl.datetime(2026, 1, 1) + pl.duration(hours=pl.col("t") // 63)
    for name, when in {"dates": start.dt.date(), "times": start}.items():
        table = TABLE.with_columns(day=when).sort("t")
        getattr(table, f"write_{ending}")(f"{name}.{ending}")
        threshold.run([f"{name}.{ending}", *COLUMNS, "--by", "day", "--rho", "0.2"])
        assert monitor.run([f"{name}.{ending}", *STORED]) is Exit.OK
        assert stored().groups.keys() == {"2026-01-01"}
    dates = TABLE.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("t") % 2))
    found = npbench.threshold(dates["s"], dates["y"], by=dates["day"], pos_label="attack")
    assert npbench.GroupThresholds.from_json(found.to_json()) == found
    assert found.predict(dates["s"], dates["day"]).any()
    with pytest.raises(ValueError, match="groups"):
        npbench.Threshold.from_json(found.to_json())


@pytest.mark.usefixtures("drawn")
def test_groups_have_a_row_and_a_curve_each(capsys):
    threshold.run(["scores.parquet", *COLUMNS, "--by", "g", "--output", "out"])
    assert stored("out") == npbench.threshold(TABLE["s"], TABLE["y"], by=TABLE["g"], pos_label="attack")
    assert monitor.run(["scores.csv", "--threshold", "out/threshold.json", "--no-chart"]) is Exit.OK
    assert "b: false alarms" in capsys.readouterr().out
    with pytest.raises(RequestError, match=r"alpha is 1\.5"):
        monitor.run(["scores.csv", "--threshold", "out/threshold.json", "--alpha", "1.5"])
    TABLE.with_columns(pl.col("s") + 1).write_csv("drift.csv")
    assert monitor.run(["drift.csv", "--threshold", "out/threshold.json", "--output", "drift.png"]) is Exit.FAILED
    assert Path("drift.png").read_bytes().startswith(b"\x89PNG")
    TABLE.with_columns(g=pl.lit("c")).write_csv("c.csv")
    with pytest.raises(RequestError, match="'c'"):
        monitor.run(["c.csv", "--threshold", "out/threshold.json"])


def test_thousands_of_groups_take_one_pass_and_print_the_first(capsys, monkeypatch):
    n_groups = 100
    table = pl.DataFrame({"s": RNG.normal(size=60 * n_groups), "y": 0, "g": np.arange(60 * n_groups) % n_groups})
    table = table.with_columns(y=(pl.int_range(pl.len()) // n_groups % 5 == 0).cast(pl.Int8))
    table.write_parquet("many.parquet")
    passes = []
    monkeypatch.setattr(pl.DataFrame, "filter", lambda *_, **__: passes.append(1))
    threshold.run(["many.parquet", "--label", "y", "--score", "s", "--by", "g", "--rule", "empirical"])
    printed = capsys.readouterr().out.splitlines()
    assert not passes
    assert len(printed) < 200
    assert any("40 more rows" in line for line in printed)
    assert len(stored().groups) == n_groups
    assert stored() == npbench.threshold(table["s"], table["y"], by=table["g"], rule="empirical")


def test_of_many_groups_those_with_findings_are_drawn(capsys, monkeypatch):
    table = pl.DataFrame({"s": np.tile(RNG.normal(size=200), 30), "y": 0, "g": np.repeat(np.arange(30), 200)})
    table.write_parquet("many.parquet")
    threshold.run(["many.parquet", "--label", "y", "--score", "s", "--by", "g", "--rule", "empirical"])
    table.with_columns(pl.col("s") + 9 * (pl.col("g") == 25)).write_parquet("late.parquet")
    drawn = []
    monkeypatch.setattr(monitor, "_chart", drawn.append)
    monkeypatch.setattr(monitor, "save_picture", lambda *_: None)
    assert monitor.run(["late.parquet", *STORED]) is Exit.FAILED
    assert [list(shown) for shown in drawn] == [[25, *range(9)]]
    assert "10 groups" in capsys.readouterr().out


def test_a_reader_that_closes_the_pipe_loses_no_file(monkeypatch):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr(score_files, "write", closed)
    with pytest.raises(BrokenPipeError):
        threshold.run(["scores.csv", *COLUMNS])
    assert Path("threshold/threshold.json").exists()


def test_negatives_alone_have_no_picture():
    TABLE.filter(y="ok").with_columns(y=0).write_csv("negatives.csv")
    threshold.run(["negatives.csv", "--label", "y", "--score", "s"])
    assert {path.name for path in Path("threshold").iterdir()} == {"threshold.json", "threshold.html"}


def test_a_budget_is_a_bound():
    assert threshold.per_second("5 per day") / threshold.per_second("2000 per day") == pytest.approx(0.0025)
    assert threshold.per_second("1/hour") / threshold.per_second("100 a minute") == pytest.approx(1 / 6000)
    assert threshold.per_second("30 per months") / threshold.per_second("1e3 per day") == pytest.approx(0.001)
    assert threshold.per_second("1,234.5 per day") == threshold.per_second("1234.5 per day")
    for text in ("1,5 per day", "1_5 per day", "1,2345 per day", "per day", ". per day", "5 per year"):
        with pytest.raises(RequestError, match="per second"):
            threshold.per_second(text)


def test_a_budget_sets_the_threshold():
    threshold.run(["scores.parquet", *COLUMNS, "--budget", "20 per day", "--rate", "1000 per day"])
    assert stored().rho == pytest.approx(0.02)


def test_one_number_of_negatives_is_needed():
    TABLE[:120].write_csv("few.csv")
    with pytest.raises(RequestError, match="expected at least 146") as refused:
        threshold.run(["few.csv", *COLUMNS, "--rho", "0.025", "--recall", "0.5"])
    assert fewest_negatives(0.025, 0.05) == 119
    assert "119" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scores.csv", "--label", "y", "--score", "s"], "--positive attack or --positive ok"),
        (["scores.csv", "--label", "y", "--score", "s", "--positive", "attacks"], "'attack'"),
        (["scores.csv", *COLUMNS, "--by", "G"], "--by column 'G'"),
        (["scores.csv", *COLUMNS[:-1], "y"], "expected numbers"),
        (["scores.csv", *COLUMNS, "--rho", "1"], "rho is 1"),
        (["scores.csv", *COLUMNS, "--rho", "0.001"], "expected at least 2995 .*hold out"),
        (["scores.csv", *COLUMNS, "--budget", "5 per day"], "--rate"),
        (["scores.csv", *COLUMNS, "--budget", "5", "--rate", "9 per day"], "'5'"),
        (["scores.csv", *COLUMNS, "--rho", "0.1", "--budget", "1 per day", "--rate", "9 per day"], "--rho"),
        (["scores.csv", *COLUMNS, "--budget", "10 per day", "--rate", "9 per day"], "not a rate"),
        (["scores.csv", *COLUMNS, "--budget", "10 per day", "--rate", "0 per day"], "not a rate"),
        (["scores.csv", *COLUMNS, "--seed", "-1"], "Seed must be"),
        (["absent.csv"], "absent.csv"),
        (["scores.json"], "did you mean 'scores.csv'"),
        (["scores.parquet", *COLUMNS, "--delimiter", "comma"], "--delimiter"),
        (["scores.csv", *COLUMNS, "--by", "s", "--negative", "attack"], "both name 'attack'"),
    ],
)
def test_impossible_requests_are_refused(words, message):
    with pytest.raises(RequestError, match=message):
        threshold.run(words)


def test_monitor_reads_columns_from_the_threshold_and_returns_a_code(capsys):
    threshold.run(["scores.parquet", *COLUMNS])
    assert monitor.run(["scores.csv", *STORED]) is Exit.OK
    assert Path("monitor.png").exists()
    TABLE.with_columns(pl.col("s") + 1).write_csv("drift.csv")
    assert monitor.run(["drift.csv", *STORED, "--output", "drift.png"]) is Exit.FAILED
    assert "above 0.05" in capsys.readouterr().out
    TABLE.filter(y="ok").select("s", "t").write_csv("unlabelled.csv")
    assert monitor.run(["unlabelled.csv", *STORED]) is Exit.OK
    assert "No labels" in capsys.readouterr().out


@pytest.mark.one_in(3)
@pytest.mark.parametrize("file", ["no/where.png", "chart.xyz", "scores.csv/chart.png"])
@pytest.mark.usefixtures("saved")
def test_monitor_that_cannot_draw_keeps_its_verdict(capsys, file):
    threshold.run(["scores.parquet", *COLUMNS])
    assert monitor.run(["scores.csv", *STORED, "--output", file]) is Exit.OK
    printed = " ".join(capsys.readouterr().out.split())
    assert "no chart" in printed
    assert "--no-chart" in printed


def test_monitor_draws_nothing_if_so_asked():
    threshold.run(["scores.parquet", *COLUMNS])
    assert monitor.run(["scores.csv", *STORED, "--no-chart"]) is Exit.OK
    assert not Path("monitor.png").exists()


def test_a_group_without_a_label_yet_is_named_and_not_drawn(capsys):
    threshold.run(["scores.parquet", *COLUMNS, "--by", "g"])
    TABLE.with_columns(y=pl.when(pl.col("g") == "a").then("y")).write_parquet("late.parquet")
    capsys.readouterr()
    assert monitor.run(["late.parquet", *STORED]) is Exit.OK
    printed = capsys.readouterr().out
    assert "b: no negatives" in printed
    assert "chart of 1 group" in printed


def test_a_group_of_positives_hides_no_finding_of_the_others(capsys):
    threshold.run(["scores.parquet", *COLUMNS, "--by", "g"])
    drift = TABLE.filter((pl.col("g") == "a") | (pl.col("y") == "attack")).with_columns(pl.col("s") + 1)
    drift.write_csv("drift.csv")
    capsys.readouterr()
    assert monitor.run(["drift.csv", *STORED, "--no-chart"]) is Exit.FAILED
    printed = capsys.readouterr().out
    assert "a: false alarms" in printed
    assert "false alarms on: b." in printed
    TABLE.filter(y="attack").write_csv("attacks.csv")
    with pytest.raises(RequestError, match="no negatives"):
        monitor.run(["attacks.csv", *STORED])


def test_names_of_groups_are_no_mathematics():
    TABLE.with_columns(g=pl.lit("$x^$")).write_csv("odd.csv")
    assert threshold.run(["odd.csv", *COLUMNS, "--by", "g"]) is Exit.OK
    assert monitor.run(["odd.csv", *STORED]) is Exit.OK
    assert Path("monitor.png").exists()
    assert Path("threshold/np_roc.png").exists()


@pytest.mark.parametrize("more", [[], ["--by", "g"]])
def test_a_file_without_a_usable_row_is_refused(more):
    TABLE.with_columns(s=pl.lit(None, pl.Float64)).write_parquet("empty.parquet")
    with pytest.raises(RequestError, match="no row has a score"):
        threshold.run(["empty.parquet", *COLUMNS, *more])
    threshold.run(["scores.parquet", *COLUMNS, *more])
    with pytest.raises(RequestError, match="no row has a score"):
        monitor.run(["empty.parquet", *STORED])


def test_labels_that_come_late_are_pending(capsys):
    threshold.run(["scores.parquet", *COLUMNS])
    TABLE.with_columns(y=pl.when(pl.col("t") < 100).then(None).otherwise("y")).write_csv("late.csv")
    capsys.readouterr()
    assert monitor.run(["late.csv", *STORED, "--window", "200"]) is Exit.OK
    printed = " ".join(capsys.readouterr().out.split())
    negatives = TABLE.filter((pl.col("t") >= 100) & (pl.col("y") == "ok")).height
    assert "100 samples without a label" in printed
    assert "of 200 negatives" in printed
    assert f"{negatives - 200} earlier" in printed
    assert "left out: " not in printed
    TABLE.with_columns(y=pl.lit(None, pl.String)).write_parquet("none.parquet")
    assert monitor.run(["none.parquet", *STORED]) is Exit.OK  # the first day
    assert "no chart" in capsys.readouterr().out
    TABLE.filter(pl.col("y") == "attack").write_parquet("attacks.parquet")
    with pytest.raises(RequestError, match="no negatives"):
        monitor.run(["attacks.parquet", *STORED])
    with pytest.raises(RequestError, match="window"):
        monitor.run(["late.csv", *STORED, "--window", "0"])


@pytest.mark.parametrize("by", [[], ["--by", "g"]])
def test_of_each_customer_the_first_negative_in_time_counts(by, capsys):
    threshold.run(["scores.parquet", *COLUMNS, *by])
    deployed = stored()
    Path("grouped.json").write_text(json.dumps({**json.loads(described(deployed, grouped=True).to_json()), **NAMES}))
    words = ["twice.parquet", "--threshold", "grouped.json", "--time", "t", *by, "--no-chart"]
    later = TABLE.with_columns(pl.col("t") + 0.5, pl.col("s") + 9)
    twice = pl.concat([TABLE, later], how="vertical_relaxed").with_columns(customer=pl.col("t").floor().cast(str))
    twice.write_parquet("twice.parquet")
    with pytest.raises(RequestError, match="one sample of each group"):
        monitor.run(words)
    capsys.readouterr()
    assert monitor.run([*words, "--groups", "customer"]) is Exit.OK
    counted = capsys.readouterr().out
    Path("plain.json").write_text(json.dumps({**json.loads(deployed.to_json()), **NAMES}))
    monitor.run(["scores.csv", "--threshold", "plain.json", "--time", "t", *by, "--no-chart"])
    assert capsys.readouterr().out == counted
    twice.with_columns(customer=pl.lit(None, pl.String)).write_parquet("twice.parquet")
    with pytest.raises(RequestError, match="customer has 3000 missing"):
        monitor.run([*words, "--groups", "customer"])


def test_both_thresholds_of_an_abstention_are_printed_and_stored(capsys):
    threshold.run(["scores.parquet", *COLUMNS, "--abstain", "--recall", "0.9", "--by", "g"])
    printed = " ".join(capsys.readouterr().out.split())
    for one in stored().groups.values():
        assert f"{one.lower:.6g} to {one.value:.6g}" in printed
        share = one.unsure()["positives"]
        assert f"{share.value:.3f}" in printed
    assert f"{share.low:.3f}, {share.high:.3f}" in Path("threshold/threshold.html").read_text()
    assert monitor.run(["scores.csv", *STORED, "--no-chart"]) is Exit.OK


def test_wrong_labels_and_another_population(capsys):
    threshold.run(["scores.parquet", *COLUMNS, "--contamination", "0.95", "0", "--rho", "0.1"])
    expected = npbench.threshold(TABLE["s"], TABLE["y"], rho=0.1, pos_label="attack", contamination=(0.95, 0))
    assert stored() == expected
    misses = f"{expected.p_nd().value:.3f}"
    assert capsys.readouterr().out.count(misses) == 2  # the bounds in the plan allow for wrong labels, too
    TABLE.with_columns(w=pl.when(pl.col("y") == "ok").then(pl.col("t") / 1500)).write_parquet("w.parquet")
    threshold.run(["w.parquet", *COLUMNS, "--weights", "w", "--seed", "3"])
    found = stored()
    assert 450 < found.n_negatives < 600
    assert f"you have {found.n_negatives} negatives" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(RequestError, match="largest"):
        threshold.run(["w.parquet", *COLUMNS, "--weights", "t"])


@pytest.mark.slow  # ten commands in processes of their own
def test_settings_of_matplotlib_for_screens_harm_no_command(tmp_path):
    """A notebook's backend that is not installed here, and LaTeX."""
    Path("matplotlibrc").write_text("text.usetex: True\n")
    environment = {**os.environ, "MPLBACKEND": "module://absent.backend", "MATPLOTLIBRC": str(tmp_path)}
    for words in (["threshold", "scores.parquet", *COLUMNS], ["monitor", "scores.csv", *STORED]):
        command = [sys.executable, "-m", "npbench", *words]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert Path("monitor.png").exists()


def test_monitor_follows_the_time(capsys):
    threshold.run(["scores.parquet", *COLUMNS])
    TABLE.with_columns(pl.when(pl.col("t") < 750).then(pl.col("s") + 1).otherwise("s")).write_csv("late.csv")
    after = []
    for words in ([], ["--time", "t"]):
        monitor.run(["late.csv", *STORED, *words])
        after.append(int(capsys.readouterr().out.replace("\n", " ").split("the first ")[1].split()[0]))
    assert after[0] > 500 > after[1]  # in the file, the drift comes last


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M:%S+02:00",
    ],
)
def test_times_are_sorted_as_times(form, capsys):
    threshold.run(["scores.parquet", *COLUMNS])
    drift = TABLE.with_columns(pl.when(pl.col("t") < 750).then(pl.col("s") + 1).otherwise("s"))
    drift = drift.with_columns(at=(pl.datetime(999, 1, 1) + pl.duration(days=pl.col("t"))).dt.to_string(form))
    drift.write_csv("drift.csv")
    monitor.run(["drift.csv", *STORED, "--time", "at"])
    assert int(capsys.readouterr().out.replace("\n", " ").split("the first ")[1].split()[0]) < 500


@pytest.mark.parametrize("wrong", ["yesterday", "31.12.2026", "2026-13-01", None])
def test_text_that_is_no_time_is_refused(wrong):
    threshold.run(["scores.parquet", *COLUMNS])
    at = pl.when(pl.col("t") == 1490).then(pl.lit(wrong)).otherwise(pl.lit("2026-01-31"))
    TABLE.with_columns(at=at).write_csv("drift.csv")
    with pytest.raises(RequestError, match=r"line 11|row 9"):
        monitor.run(["drift.csv", *STORED, "--time", "at"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scores.csv", "--threshold", "scores.csv"], "is not what"),
        (["scores.csv", "--threshold", "absent.json"], "absent.json"),
        (["scores.csv", *STORED, "--label", "z"], "'z'"),
        (["scores.csv", *STORED, "--alpha", "2"], "alpha is 2"),
    ],
)
def test_monitor_refuses_impossible_requests(words, message):
    threshold.run(["scores.parquet", *COLUMNS])
    with pytest.raises(RequestError, match=message):
        monitor.run(words)
