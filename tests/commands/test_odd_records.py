"""Records that npbench did not write, or not in this version: each is named in a line, the rest is shown."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import sample_records
from npbench.console import print_faults
from npbench.numerics.roc_grid import FPR_GRID
from npbench.records.fields import SCHEMA_VERSION
from npbench.records.record import MAX_TEXT, Record
from npbench.records.store import RecordStore
from npbench.report import files
from npbench.report.assemble import assemble
from npbench.report.render import markdown, terminal
from npbench.report.run_summary import COLUMNS, print_outcome, print_summary
from npbench.report.select.collect import collect

FORMS = ("report.html", "report.md", "tables/np-pima-means.csv", "tables/np-pima-means.tex")
ROC = str([0.5] * len(FPR_GRID))
ESCAPE = "\x1b[2J\x1b]0;title\x07"
# What is odd in a record, and a word of the line that names it.
ODD = {
    "list metric": ({"p_fa": [0.1, 0.2]}, "p_fa"),
    "struct metric": ({"p_nd": {"mean": 0.1}}, "p_nd"),
    "text metric": ({"p_fa": "high"}, "p_fa"),
    "roc of another length": ({"roc": "[0, 0.5, 1]"}, "roc"),
    "roc of texts": ({"roc": str(["a"] * len(FPR_GRID)).replace("'", '"')}, "roc"),
    "roc not JSON": ({"roc": "curve"}, "roc"),
    "trace not JSON": ({"trace": "{"}, "trace"),
    "trace of two lengths": ({"trace": '{"objective":[1,2],"seconds":[0]}'}, "trace"),
    "params not JSON": ({"params": "{C:1}"}, "{C:1}"),
    "params not an object": ({"params": "[1]"}, "params"),
    "params nested without end": ({"params": "[" * 10**5}, "params"),
    "params that cannot be printed": ({"params": '{"kernel":"\\udcff"}'}, "params"),
    "problem not JSON": ({"problem_params": "rho"}, "problem_params"),
    "problem without its bound": ({"problem_params": '{"sigma":1}'}, "problem"),
    "code not JSON": ({"code": "abc"}, "code"),
    "choice not an object": ({"chosen_params": "[1]"}, "chosen_params"),
    "newer schema": ({"schema_version": 99}, str(SCHEMA_VERSION)),
    "unknown status": ({"status": "hibernated"}, "hibernated"),
    "failed without a word": ({"status": "failed", "error": ""}, "failed"),
    "from the future": ({"stored_at": "9999-01-01T00:00:00Z"}, "in the future"),
}


def record(solver="gen", repeat=0, **columns):
    about = {"key": f"{solver} {repeat}", "solver": solver, "repeat": repeat, "roc": ROC, "rho": 0.1, "p_fa": 0.05}
    return sample_records.record(**about, p_nd=0.25, n_test_duplicates=0) | columns


def stored(name, *records):
    sample_records.stored(*records, name=name)


@pytest.fixture
def report(npbench):
    """Return a function that runs ``npbench report``: its exit code and what it printed."""

    def report():
        code, text, errors = npbench("report")
        assert errors == ""
        return code, text

    return report


def summarised(planned):
    """Return what a run prints at its end, from the stored records."""
    console = Console(width=120, record=True, force_terminal=False)
    frame = RecordStore("results/records").frame(COLUMNS)
    print_summary(frame, console)
    print_outcome(frame, planned=planned, skipped=0, folder=Path("results/records"), console=console)
    return console.export_text()


@pytest.mark.one_in(5)
@pytest.mark.filterwarnings("ignore:.*same command reruns:UserWarning")
@pytest.mark.parametrize("odd", ODD)
def test_odd_record_is_named_and_the_rest_is_reported(odd):
    columns, word = ODD[odd]
    stored("a.parquet", record(), record(repeat=1))
    stored("b.parquet", record("uzawa", **columns), record("uzawa", 1, **columns))
    lead, *sections = assemble(collect([Path("results")], {}))
    text = markdown.document([lead, *sections]).replace("\\", "")
    assert word in text
    assert "0.050±0.000" in text
    if odd != "problem without its bound":  # no job of a run has such a key
        assert "0.050±0.000" in summarised(planned=4)


def test_all_odd_records_together_are_reported_in_every_form(report, without_figures):
    stored("a.parquet", record(), record(repeat=1))
    for number, (columns, _) in enumerate(ODD.values()):
        stored(f"b{number}.parquet", record("uzawa", number, **columns))
    code, text = report()
    assert code == 1
    for shown in (text, *(Path("results/report", form).read_text(encoding="utf-8") for form in FORMS)):
        assert "gen" in shown
        assert any(rate in shown for rate in ("0.050±0.000", r"0.050$\pm$0.000", ",0.05,0,"))


def test_newer_records_are_one_line():
    stored("a.parquet", record())
    for number in range(3):
        stored(f"b{number}.parquet", record("uzawa", number, schema_version=SCHEMA_VERSION + 1))
    (fault,) = collect([Path("results")], {}).faults
    assert fault.startswith("3 records")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX pipes")
def test_files_that_cannot_be_opened_are_named(report, without_figures):
    stored("a.parquet", record())
    stored("b.parquet", record("uzawa"))
    latin = os.fsdecode(b"na\xefve.parquet")
    Path("results/records/b.parquet").rename(f"results/records/{latin}")
    os.mkfifo("results/records/x.parquet")
    code, text = report()
    assert code == 1
    assert "x.parquet" in text
    assert "2 jobs" in text  # a name in another encoding is no obstacle
    assert "0.050" in text
    with pytest.warns(UserWarning, match="cannot be read"):
        assert RecordStore("results/records").done() == {"gen 0", "uzawa 0"}


def test_no_control_character_reaches_terminal_or_tables(capsys):
    bad = {"status": "failed", "error": f"{ESCAPE}boom"}
    stored("a.parquet", record(), record(f"{ESCAPE}solver", dataset=f"{ESCAPE}data"), record("uzawa", **bad))
    sections = assemble(collect([Path("results")], {}))
    console = Console(width=120, record=True, force_terminal=False)
    terminal.show(sections, console)
    files.tables(Path(), [sheet for section in sections for sheet in section.sheets])
    written = [path.read_text(encoding="utf-8") for form in ("*.csv", "*.tex") for path in Path().glob(form)]
    for shown in (console.export_text(), summarised(planned=3), markdown.document(sections), "".join(written)):
        assert "boom" in shown
        assert not {letter for letter in shown if ord(letter) in {*range(32), 127}} - {"\n"}
    print_faults(f"{ESCAPE}boom")  # such as the reason that a server sends
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.one_in(4)
@pytest.mark.parametrize("first", "=+-@")
def test_words_are_no_formula_and_numbers_stay_numbers(first):
    call = f'{first}HYPERLINK("http://x")'
    stored("a.parquet", record(call, status="failed", error=f"{call} never"), record("gen", 1, p_fa=-0.5))
    sheets = [sheet for section in assemble(collect([Path("results")], {})) for sheet in section.sheets]
    files.tables(Path(), sheets)
    tables = [list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")))) for path in Path().glob("*.csv")]
    cells = {cell for table in tables for row in table for cell in row}
    assert {f"'{call}", f"'{call} never", "-0.5"} <= cells
    assert not [cell for cell in cells if cell.startswith(first) and cell not in ("-", "-0.5")]


def test_endless_message_is_cut_where_it_is_shown():
    kept = Record(record("uzawa", status="failed", error="x" * 10**7))
    assert len(kept["error"]) < 2 * MAX_TEXT
    stored("a.parquet", record(), kept)
    console = Console(width=120, record=True, force_terminal=False)
    terminal.show(assemble(collect([Path("results")], {})), console)
    assert len(console.export_text()) < 20_000
    assert len(summarised(planned=2)) < 10_000


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_record_from_the_future_is_superseded_by_any_other(status):
    """As after a clock set back: it is neither redone for ever, nor does it hide what is stored now."""
    stored("a.parquet", record(status=status, p_fa=0.9, stored_at="9999-01-01T00:00:00Z"))
    store = RecordStore("results/records")
    assert store.done() == ({"gen 0"} if status == "ok" else set())
    store.append(Record(record(p_fa=0.1) | {"stored_at": "2000-01-01T00:00:00Z"}))
    store.close()
    assert store.done() == {"gen 0"}
    assert RecordStore("results/records").frame()["p_fa"].to_list() == [0.1]


def test_records_of_a_newer_version_survive_a_merge():
    """A killed run of a newer npbench leaves single records, which this version must not rewrite."""
    store = RecordStore("results/records")
    for number in range(3):
        store.append(Record(record(repeat=number, schema_version=SCHEMA_VERSION + 1)))
    for path in Path("results/records").glob("*.parquet"):
        os.utime(path, (0, 0))  # old: left by a run that was killed
    before = {path.name for path in Path("results/records").glob("*.parquet")}
    other = RecordStore("results/records")
    other.append(Record(record("uzawa")))
    other.close()
    assert before <= {path.name for path in Path("results/records").glob("*.parquet")}
    newer = pl.read_parquet([f"results/records/{name}" for name in before])
    assert newer["schema_version"].to_list() == [SCHEMA_VERSION + 1] * 3
