"""Columns in batches give what columns at once give, in bounded memory."""

import json
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from npbench.errors import RequestError
from npbench.numerics.np_roc import np_roc
from npbench.thresholding.commands import batches, metrics, monitor, score_files, threshold

TABLE = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 1 << 20),
        "n": st.integers(60, 200),
        "digits": st.integers(0, 12),
        "labels": st.sampled_from([[0, 1], [False, True], ["no", "yes"], ["no", "yes", "1.0", "1"]]),
        "missing": st.booleans(),
        "kind": st.sampled_from([pl.String, pl.Categorical, pl.Datetime]),
    }
)
OPTIONS = {
    "rho": ["--rho", "0.2", "--unlabelled", "drop"],
    "average": ["--rho", "0.2", "--rule", "average", "--randomized", "--unlabelled", "drop"],
    "recall": ["--rho", "none", "--recall", "0.7", "--unlabelled", "drop"],
    "abstain": ["--rho", "0.3", "--recall", "0.7", "--abstain", "--unlabelled", "drop"],
    "precision": ["--rho", "0.4", "--precision", "0.2", "--unlabelled", "drop"],
    "weights": ["--rho", "0.3", "--weights", "w", "--unlabelled", "drop"],
    "groups": ["--rho", "0.4", "--delta", "0.3", "--by", "by", "--small", "pool", "--unlabelled", "drop"],
    "all scores": ["--rho", "0.2", "--keep-scores", "--unlabelled", "drop"],
}
QUIET = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def table(seed, n, digits, labels, missing, kind):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, len(labels), n)
    positive = np.array([str(labels[i]).lower() in ("1", "true", "yes", "1.0") for i in place])
    lost = rng.random((2, n)) < 0.05 * missing
    day = pl.Series(rng.integers(0, 4, n) + 19000).cast(pl.Date)
    group = day.cast(pl.Datetime) if kind == pl.Datetime else day.cast(pl.String).cast(kind)
    frame = pl.DataFrame(
        {"score": np.round(rng.normal(size=n) + 2 * positive, digits) + 0.0, "y": [labels[i] for i in place]}
    )
    hide = [
        pl.when(pl.lit(pl.Series(~rows))).then(name).alias(name)
        for name, rows in zip(("score", "y"), lost, strict=True)
    ]
    rising = {"w": rng.random(n), "by": group, "time": np.sort(rng.integers(0, n, n))}
    return frame.with_columns(hide).with_columns(**rising)


def found(words):
    """Return what the command concludes, or its error; of the picture, its points."""

    def curves(shown):
        return [np_roc(one.part.negatives, one.part.positives).bands() for one in shown.values()]

    with patch.object(threshold, "_drawn", curves), patch.object(score_files, "conclude") as conclude:
        try:
            threshold.run(words)
        except RequestError as error:
            return str(error)
        return repr(conclude.call_args)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", OPTIONS)
@QUIET
@given(given=TABLE, n_rows=st.integers(15, 70))
def test_a_threshold_is_the_same(name, given, n_rows, tmp_path_factory):
    file = tmp_path_factory.mktemp("one") / "scores.parquet"
    table(**given).write_parquet(file, row_group_size=17)
    words = [str(file), "--label", "y", *OPTIONS[name]]
    words += ["--positive", "yes"] * ("yes" in given["labels"]) + ["--negative", "no"] * (len(given["labels"]) > 2)
    with patch.object(np, "set_printoptions"), np.printoptions(threshold=sys.maxsize, precision=17):
        expected = found(words)
        with patch.object(batches, "BATCH_ROWS", n_rows):
            assert found(words) == expected


@QUIET
@given(given=TABLE, n_rows=st.integers(15, 70), grouped=st.booleans(), window=st.integers(1, 150) | st.none())
def test_monitoring_is_the_same(given, n_rows, grouped, window, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    table(**given).write_parquet(folder / "old.parquet")
    labels = ["--label", "y", *["--positive", "yes"] * ("yes" in given["labels"])]
    labels += ["--negative", "no"] * (len(given["labels"]) > 2)
    by = ["--by", "by", "--small", "pool", "--rule", "average"] if grouped else []
    made = [str(folder / "old.parquet"), *labels, *by, "--rho", "0.2", "--unlabelled", "drop"]
    with patch.object(score_files, "conclude") as conclude, patch.object(threshold, "_drawn"):
        try:
            threshold.run(made)
        except RequestError:
            assume(False)
    (folder / "t.json").write_text(json.dumps(conclude.call_args.kwargs["stored"], default=str))
    new = table(**{**given, "seed": given["seed"] + 1})
    new.write_parquet(folder / "new.parquet", row_group_size=13)
    words = [str(folder / "new.parquet"), "--threshold", str(folder / "t.json"), "--time", "time", "--no-chart"]
    words += [] if window is None else ["--window", str(window)]

    def findings():
        with patch.object(monitor, "write") as write:
            try:
                monitor.run(words)
            except RequestError as error:
                return str(error)
            return [one.args[0] for one in write.call_args_list]

    expected = findings()
    with patch.object(batches, "BATCH_ROWS", n_rows):
        assert findings() == expected


def test_rows_out_of_order_are_read_at_once(tmp_path, monkeypatch):
    frame = pl.DataFrame({"score": np.arange(400.0) * 17 % 401, "time": np.arange(400)[::-1]})
    frame.write_parquet(tmp_path / "new.parquet")
    frame.with_columns(label=0).write_parquet(tmp_path / "old.parquet")
    threshold.run([str(tmp_path / "old.parquet"), "--output", str(tmp_path)])
    words = [str(tmp_path / "new.parquet"), "--threshold", str(tmp_path / "threshold.json"), "--window", "150"]
    seen = []
    for n_rows in (1 << 20, 9):
        monkeypatch.setattr(batches, "BATCH_ROWS", n_rows)
        monkeypatch.setattr(monitor, "write", lambda text, console: seen.append(text))
        monitor.run([*words, "--time", "time", "--no-chart"])
    assert seen[0] == seen[1]


def test_a_time_that_is_missing_where_a_batch_begins_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 100)
    frame = pl.DataFrame({"score": np.arange(300.0), "label": np.zeros(300, dtype=int), "time": np.arange(300)})
    frame.write_parquet(tmp_path / "old.parquet")
    at = pl.when(pl.col("time") != 100).then("time").cast(pl.Datetime)
    frame.with_columns(time=at).write_parquet(tmp_path / "new.parquet")
    threshold.run([str(tmp_path / "old.parquet"), "--output", str(tmp_path)])
    words = [str(tmp_path / "new.parquet"), "--threshold", str(tmp_path / "threshold.json"), "--time", "time"]
    with pytest.raises(RequestError, match="1 missing"):
        monitor.run([*words, "--no-chart"])


def test_faults_name_rows_of_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 50)
    scores = np.arange(200.0)
    scores[[3, 120, 180]] = np.inf
    pl.DataFrame({"score": scores, "label": np.arange(200) % 2}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(RequestError, match="3 of 200"):
        threshold.run([str(tmp_path / "a.parquet")])
    monkeypatch.setattr(batches, "MAX_VALUES", 10)
    pl.DataFrame({"score": np.arange(200.0), "label": np.arange(200)}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(RequestError, match="label"):
        threshold.run([str(tmp_path / "b.parquet")])


def test_a_file_that_claims_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 1000)
    pl.DataFrame({"score": np.zeros(300_000), "label": np.zeros(300_000, dtype=int)}).write_parquet(
        tmp_path / "a.parquet"
    )
    monkeypatch.setenv("NPBENCH_MAX_BYTES", "2_000_000")
    with pytest.raises(RequestError, match="NPBENCH_MAX_BYTES"):
        threshold.run([str(tmp_path / "a.parquet")])


def test_a_file_with_fewer_rows_than_it_says_is_refused(tmp_path):
    pl.DataFrame({"score": np.arange(200.0), "label": np.arange(200) % 2}).write_parquet(tmp_path / "a.parquet")
    with patch("pyarrow.parquet.ParquetFile.iter_batches", return_value=iter([])), pytest.raises(RequestError):
        threshold.run([str(tmp_path / "a.parquet")])


@pytest.mark.slow  # 12 million rows: 10 seconds
@pytest.mark.parametrize("command", ["threshold", "monitor"])
def test_memory_does_not_grow_with_the_rows(command, tmp_path):
    rng, n = np.random.default_rng(0), 12_000_000
    label = (rng.random(n) < 0.1).astype(np.int64)
    frame = pl.DataFrame({"score": rng.normal(size=n) + label, "label": label})
    frame.write_parquet(tmp_path / "scores.parquet")
    frame.head(1000).write_parquet(tmp_path / "few.parquet")
    threshold.run([str(tmp_path / "few.parquet"), "--output", str(tmp_path)])
    words = {"threshold": [], "monitor": ["--threshold", str(tmp_path / "threshold.json")]}[command]
    picture = "new" if command == "threshold" else "new.png"
    code = (
        "import sys; from npbench.cli import main; from npbench.data.file_limits import status_mb\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(status_mb('VmHWM'), file=sys.stderr)"  # getrusage counts the memory of this process, too
    )
    words = [command, str(tmp_path / "scores.parquet"), *words, "--output", str(tmp_path / picture)]
    run = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1)  # 1: a finding
    # columns of scores and labels alone take 190 MB, at once 1,400 MB
    assert float(run.stderr.split()[-1]) < 700


@QUIET
@given(given=TABLE, n_rows=st.integers(15, 70), grouped=st.booleans())
def test_metrics_are_the_same(given, n_rows, grouped, tmp_path_factory):
    file = tmp_path_factory.mktemp("one") / "scores.parquet"
    table(**given).write_parquet(file, row_group_size=17)
    words = [str(file), "--label", "y", "--unlabelled", "drop", *["--by", "by"] * grouped]
    words += ["--positive", "yes"] * ("yes" in given["labels"]) + ["--negative", "no"] * (len(given["labels"]) > 2)

    def stored():
        with patch.object(score_files, "conclude") as conclude:
            try:
                metrics.run(words)
            except RequestError as error:
                return {"error": str(error)}
            return {row["group"]: row for row in conclude.call_args.kwargs["stored"]["groups"]}

    expected = stored()
    with patch.object(batches, "BATCH_ROWS", n_rows):
        found = stored()
    assert found.keys() == expected.keys()
    for group, row in found.items():
        assert row == expected[group] if group == "error" else approx(row) == expected[group]


def approx(row):
    return {**row, "metrics": {name: pytest.approx(one, abs=1e-9) for name, one in row["metrics"].items()}}
