"""Publishing records: what is written, what is left out, what is refused."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from npbench.records.store import RecordStore
from sample_files import put

ROOT = Path(__file__).parents[2]


@pytest.fixture
def publish(script):
    return script("publish").publish


@pytest.fixture
def results(tmp_path):
    """A results folder with the records of one experiment and their runs."""
    source, folder = ROOT / "results" / "published" / "gasso", tmp_path / "mine"
    (folder / "records").mkdir(parents=True)
    shutil.copy(source / "records" / "gasso_table5.parquet", folder / "records")
    shutil.copytree(source / "runs", folder / "runs")
    return folder


def test_published_records_and_runs_are_those_of_the_folder(publish, results, tmp_path):
    before = RecordStore(results / "records").frame()
    (run_id,) = before["run_id"].unique()
    named = results / "runs" / f"{run_id}.json"
    named.write_text(named.read_text().replace('"command": [', f'"command": ["results={results}", '))
    put(tmp_path / "published" / "runs" / "20200101T000000-00000000.json", "{}")  # of records that are replaced
    publish(results, tmp_path / "published" / "gasso_table5", ["roc"])
    after = pl.read_parquet(tmp_path / "published" / "records" / "gasso_table5.parquet")
    assert "roc" not in after.columns
    assert after.equals(before.drop("roc"))
    (run,) = (tmp_path / "published" / "runs").iterdir()
    assert run.stem == run_id
    assert '"results=results"' in run.read_text()
    assert str(tmp_path) not in run.read_text()


def test_many_records_make_several_files_which_replace_older_ones(script, results, tmp_path, monkeypatch):
    before = RecordStore(results / "records").frame()
    monkeypatch.setattr(script("blocks"), "PUBLISHED", tmp_path / "published")
    for most, n_files in ((len(before) // 3, 3), (len(before) // 2, 2)):
        monkeypatch.setattr(script("publish"), "MOST_RECORDS", most)
        script("publish").publish(results, tmp_path / "published" / "gasso_table5", [])
        files = script("blocks").stored("gasso_table5")
        assert len(files) == n_files
        assert pl.concat(map(pl.read_parquet, files)).equals(before)


def test_copied_records_do_not_name_the_folder_of_their_run(publish, results, tmp_path):
    (run_id,) = RecordStore(results / "records").frame()["run_id"].unique()
    named = results / "runs" / f"{run_id}.json"
    run = json.loads(named.read_text())
    elsewhere = {"command": ["results=/me/mine"], "configs": [{**one, "results": "/me/mine"} for one in run["configs"]]}
    named.write_text(json.dumps(run | elsewhere))
    publish(results, tmp_path / "published" / "gasso_table5", [])
    published = json.loads((tmp_path / "published" / "runs" / named.name).read_text())
    assert published["command"] == ["results=results"]
    assert {one["results"] for one in published["configs"]} == {"results"}


def test_runs_of_many_settings_keep_their_number_and_lost_ones_do_not_stop_the_others(
    publish, results, tmp_path, capsys
):
    (run_id,) = RecordStore(results / "records").frame()["run_id"].unique()
    named, published = results / "runs" / f"{run_id}.json", tmp_path / "published" / "runs" / f"{run_id}.json"
    run = json.loads(named.read_text())
    named.write_text(json.dumps({**run, "configs": 101 * run["configs"][:1]}))
    publish(results, tmp_path / "published" / "gasso_table5", [])
    assert json.loads(published.read_text()) == {**{k: v for k, v in run.items() if k != "configs"}, "n_configs": 101}
    shutil.copy(published, named)  # published records that another run is added to
    publish(results, tmp_path / "published" / "gasso_table5", [])
    assert json.loads(published.read_text())["n_configs"] == 101
    named.unlink()
    publish(results, tmp_path / "published" / "gasso_table5", [])
    assert named.name in capsys.readouterr().out
    assert published.exists()


def test_published_runs_name_no_folder_of_a_machine():
    folders = {
        one["results"]
        for path in (ROOT / "results" / "published").glob("*/runs/*.json")
        for one in json.loads(path.read_text(encoding="utf-8")).get("configs", [])
    }
    assert folders
    assert not any(Path(one).is_absolute() for one in folders)


def test_tracebacks_name_no_folder_of_the_machine(publish, results, tmp_path):
    path = results / "records" / "gasso_table5.parquet"
    lines = '  File "/me/npbench/kernel.py", line 3\n  File "/me/venv/lib/site-packages/numpy/core.py", line 8'
    pl.read_parquet(path).with_columns(traceback=pl.lit(lines)).write_parquet(path)
    publish(results, tmp_path / "published" / "gasso_table5", [])
    found = pl.read_parquet(tmp_path / "published" / "records" / "gasso_table5.parquet")["traceback"][0]
    assert found == '  File "npbench/kernel.py", line 3\n  File "site-packages/numpy/core.py", line 8'


def test_records_of_a_changed_checkout_are_refused(publish, results, tmp_path):
    path = results / "records" / "gasso_table5.parquet"
    pl.read_parquet(path).with_columns(git_dirty=True).write_parquet(path)
    with pytest.raises(SystemExit, match="modified checkout"):
        publish(results, tmp_path / "published" / "gasso_table5", [])
    assert not (tmp_path / "published").exists()
