"""Tables of a report against a slow computation, and in each form they are written in."""

import csv
import io
import json
import re
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import sample_records
from npbench import registry
from npbench.config.experiment import Experiment
from npbench.records import provenance
from npbench.records.reading import conformed
from npbench.report import escape, files
from npbench.report.assemble import lead
from npbench.report.render import latex, markdown, terminal
from npbench.report.sections import comparison, environment, experiment, failures, figures, overview
from npbench.report.select import metrics
from npbench.report.select.collect import Collection
from npbench.report.sheet import MISSING, Cell, Section, Sheet, count, interval, number


def record(solver="gen", repeat=0, *, dataset="pima", rho=0.1, problem="np", **columns):
    about = {"solver": solver, "label": solver, "dataset": dataset, "problem": problem, "repeat": repeat}
    about |= {"problem_params": {"rho": rho}, "stored_at": f"2026-01-0{1 + repeat % 9}T10:20:30Z"}
    origin = {"schema_version": 4, "code": '{"npbench":"a"}', "versions": '{"numpy":"2"}', "run_id": "run"}
    return sample_records.record(key=f"{solver} {dataset} {rho} {repeat}", **about, **origin) | columns


def frame(records):
    return conformed(sample_records.frame(records))


USUAL = [one.name for one in registry.installed().metrics.values() if "np" in (one.problems or ("np",))]


def column(sheet, name):
    return [row[sheet.columns.index(name)].strip() for row in sheet.texts]


CHOICES = map(st.sampled_from, (["gen", "uzawa"], [0.01, 0.2], ["ok", "failed"]))


@given(st.lists(st.tuples(*CHOICES, st.none() | st.floats(0, 1)), min_size=1, max_size=20))
def test_means_deviations_and_counts(rows):
    records = frame([record(s, i, rho=rho, status=ok, p_fa=p) for i, (s, rho, ok, p) in enumerate(rows)])
    (section,) = overview.sections(records)
    (sheet,) = section.sheets
    found = {(cells["solver"], float(cells["rho"])): cells for cells in sample_records.cells(sheet)}
    assert set(found) == {(solver, rho) for solver, rho, *_ in rows}
    for (solver, rho), cells in found.items():
        same = [(ok, p) for s, r, ok, p in rows if (s, r) == (solver, rho)]
        good = [p for ok, p in same if ok == "ok"]
        assert cells["ok"] == f"{len(good)}/{len(same)}"
        assert cells["time"] == ("1.50 s" if good else "-")
        measured = [p for p in good if p is not None]
        if not measured:
            assert cells.get(P_FA, "-").strip() == "-"
            continue
        mean = statistics.fmean(measured)
        deviation = f"±{statistics.stdev(measured):.3f}" if len(measured) > 1 else ""
        above = mean > rho if abs(mean - rho) > 1e-9 else cells[P_FA].strip().endswith("*")  # rounding may decide
        assert cells[P_FA].strip() == f"{mean:.3f}{deviation}{'*' * above}"


def test_section_per_problem_and_table_per_data_set_with_a_note_on_duplicates():
    records = [record(dataset=d, p_fa=0.0, chosen_params='{"C":1}') for d in ("pima", "breast")]
    records += [record(problem="pauc", problem_params='{"fpr_range":[0,0.1]}', pauc=0.5)]
    np_problem, pauc = overview.sections(frame(records))
    assert [sheet.name for sheet in np_problem.sheets] == [
        "np pima means",
        "np pima chosen",
        "np breast means",
        "np breast chosen",
    ]
    assert all("data" not in sheet.columns for sheet in np_problem.sheets)
    assert pauc.title.startswith("Problem pauc: ")
    assert column(pauc.sheets[0], "pauc") == ["0.500"]
    (section,) = overview.sections(frame([record(repeat=r, n_test_duplicates=n) for r, n in enumerate((0, 3))]))
    assert section.notes == ["In pima, 0 to 3 test rows of a split equal a row used for training or validation."]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, ["p_fa", "p_nd"]),
        (["p_fa", "risk_fa"], ["risk_fa", "p_fa", "p_nd"]),  # in the order of the columns, as typed
        ([*USUAL, "mine"], ["p_fa", "p_nd", "mine"]),
        (["absent", "mine"], ["mine", "p_fa", "p_nd"]),
        ("damaged", ["p_fa", "p_nd"]),
    ],
)
def test_metrics_that_were_asked_for_or_are_a_third_partys_are_shown_everywhere(asked, expected):
    text = asked if isinstance(asked, str) else json.dumps(asked)
    values = {"risk_fa": 0.25, "p_fa": 0.5, "p_nd": 0.125, "accuracy": 0.625, "mine": 0.75}
    records = frame([record(s, r, metrics=text, **values) for s in ("gen", "uzawa") for r in range(6)])
    records = records.with_columns(rho=pl.lit(0.1), seconds=pl.lit(1.0))
    assert metrics.shown_of(records) == expected
    (section,) = overview.sections(records)
    assert section.sheets[0].columns[2:-2] == [metrics.head(name) for name in expected]
    (statistics_of,) = comparison.sections(records)
    assert {f"np-{name}-pairs" for name in expected} <= {sheet.name for sheet in statistics_of.sheets}
    (drawn,) = figures.sections(records)
    titles = {panel.y_title for chart in drawn.charts for panel in chart.panels}
    assert {metrics.axis_title(name) for name in expected} <= titles


def test_tables_of_an_experiment_are_named_by_their_titles(monkeypatch):
    titles = ["pima: P_fa", "pima: P_nd", "Claims", "heart: P_fa"]
    sheets = [Sheet(title, ["a"], [[title]]) for title in titles]
    monkeypatch.setattr(experiment, "resolve", lambda _: lambda *_: sheets)
    (section,) = experiment.sections(Experiment("demo", "Demo", {}, table="any"), frame([record()]))
    names = ["demo pima: P_fa", "demo pima: P_nd", "demo Claims", "demo heart"]
    assert [sheet.name for sheet in section.sheets] == names


def test_failures_are_grouped_by_kind():
    bad = [record("gen", r, status="failed", error=f"Singular at {r}.5e-3\nmore") for r in (0, 1, 2, 5)]
    bad += [record("uzawa", 3, status="timeout", error="The job was stopped after 5 s.")]
    traceback = 'File "/a/run.py", line 3, in x\n  File "/a/b/solver.py", line 17, in fit\nValueError: Singular'
    bad += [record("sgd", 4, status="failed", error="Singular", error_type="ValueError", traceback=traceback)]
    lines = "UserWarning: x 1\nSTOP: a limit\n\n  https://a.b\nMissedBound: y"
    loose = [record("gen", 7, converged=False, solver_status="max_iter", warnings=lines)]
    (section,) = failures.sections(frame([*bad, *loose, record("uzawa", 8, warnings="")]))
    failed, unconverged, warned = section.sheets
    assert section.notes[0].startswith("6 of 8 jobs failed")
    (of_ranking,) = failures.sections(frame([*bad, *loose]), is_ranking=True)
    assert "6 of 7" in of_ranking.notes[0]
    assert "values" in section.notes[0]
    assert "values" not in of_ranking.notes[0]
    assert [row[1:] for row in failed.texts] == [
        ["gen", "failed", "pima", "4", "0-2, 5", "Singular at 0.5e-3"],
        ["sgd", "failed", "pima", "1", "4", "ValueError in solver.py:17: Singular"],
        ["uzawa", "timeout", "pima", "1", "3", "The job was stopped after 5 s."],
    ]
    assert column(unconverged, "solver status") == ["max_iter"]
    assert column(warned, "warning") == ["MissedBound: y", "UserWarning: x 1 STOP: a limit https://a.b"]
    same = [record(solver, 8, warnings=f"UserWarning: {n} of 9") for n, solver in enumerate("abcd")]
    (of_many,) = (section.sheets[0] for section in failures.sections(frame(same)))
    assert [row[1:] for row in of_many.texts] == [["a, b, c and 1 more", "ok", "pima", "4", "8", "UserWarning: 0 of 9"]]
    assert failures.sections(frame([record()])) == []
    vacuous = [record("gen", 0, dataset=name, warnings=f"vacuous at {n}") for n, name in enumerate("dcba")]
    ((only,),) = (section.sheets for section in failures.sections(frame(vacuous)))
    assert [row[3:] for row in only.texts] == [["a, b, c and 1 more", "4", "0", "vacuous at 3"]]  # a property of gen


def environment_notes(*changes):
    (section,) = environment.sections(frame([record(repeat=r, **change) for r, change in enumerate(changes)]))
    return " ".join(section.notes)


def test_equal_environments_are_counted():
    same = environment_notes({}, {})
    for expected in ("2 jobs of 1 run", "2026-01-01 10:20 to 2026-01-02 10:20 UTC", "2 records with a schema older"):
        assert expected in same
    # Another solver or another data set has sources or versions of its own, which is no mixture.
    other_solver = environment_notes({}, {"code": '{"npbench":"a","gen":"c"}'})
    other_data = environment_notes({"dataset": "a"}, {"dataset": "b", "versions": '{"numpy":"3"}'})
    assert all("differ" not in notes for notes in (same, other_solver, other_data))
    holdout = {"protocol": "holdout", "protocol_params": '{"name":"holdout"}'}
    protocols = environment_notes({"dataset": "a"}, {"dataset": "b", **holdout})
    assert "Protocols differ: cv folds=4 test_size=0.25 (a); holdout (b)." in protocols


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"code": '{"npbench":"b"}'}, "Source code of npbench differs"),
        ({"versions": '{"numpy":"3"}'}, "version of numpy differs"),
        ({"data_sha256": "e" * 64}, "data of pima changed"),
        ({"cpu": "two"}, "different machines"),
        ({"n_jobs": 4}, "parallel jobs"),
        ({"git_dirty": True}, "uncommitted"),
    ],
)
def test_mixtures_are_noted(change, expected):
    assert expected in environment_notes({}, change)


@pytest.mark.slow(reason="hashes all sources of each solver; test_equal_environments_are_counted is in every run")
def test_one_commit_is_no_mixture_whatever_the_solvers_and_metrics():
    solvers = registry.installed().solvers.values()
    computed = [metric.compute for metric in registry.installed().metrics.values()]
    shared = [[], computed[:1], computed]
    codes = {json.dumps(provenance.code([one.estimator, *some])): one.name for one in solvers for some in shared}
    assert len(codes) > len(list(solvers))
    assert "differ" not in environment_notes(*({"code": code, "solver": solver} for code, solver in codes.items()))


@pytest.mark.parametrize("change", [{}, {"solver": "other"}])
def test_packages_other_than_npbench_count_for_all_solvers(change):
    texts = ['{"npbench":"a","mine":"1"}', '{"npbench":"b","more":"2","mine":"3"}']
    notes = environment_notes({"code": texts[0]}, {"code": texts[1], **change})
    assert "Source code of mine differs" in notes


TEXTS = st.text(st.sampled_from("aZ09 _-+=@.,;:|\\`*#<>[]{}()~^$%&\"'±≤ρ!\n"), max_size=12)
P_FA = "p_fa (FPR)"
lines = st.integers(1, 4).map(lambda width: st.lists(TEXTS, min_size=width, max_size=width))
SHEETS = lines.flatmap(lambda line: st.builds(Sheet, TEXTS, line, st.lists(line, max_size=4)))


def one_line(text):
    return " ".join(text.split())


@given(SHEETS)
def test_markdown_can_be_read_back(sheet):
    header, rule, *rows = markdown.table(sheet).splitlines()
    assert re.fullmatch(r"\|(---:?\|)+", rule)
    for cells, line in zip([sheet.columns, *sheet.texts], [header, *rows], strict=True):
        found = re.findall(r"((?:\\.|[^|\\])*)\|", line)[1:]
        assert [re.sub(r"\\(.)", r"\1", cell).strip() for cell in found] == [one_line(cell) for cell in cells]


def read_latex(text):
    """Return the text that LaTeX would show, with two apostrophes as quotation marks."""
    text = text.replace("`", "'")
    back = {command: letter for letter, command in escape.LATEX.items()}
    back |= {r"\rlap{*}": "*", "$-$": "-"}
    known = "|".join(re.escape(command) for command in sorted(back, key=len, reverse=True))
    return re.sub(known, lambda match: back[match[0]], text)


@given(SHEETS)
def test_latex_can_be_read_back(sheet):
    lines = latex.table(sheet).splitlines()
    rows = [line.strip().removesuffix(r"\\") for line in lines if line.endswith(r" \\")]
    assert len(rows) == 1 + len(sheet.texts)
    for cells, line in zip([sheet.columns, *sheet.texts], rows, strict=True):
        found = [cell.strip() for cell in re.split(r"(?<!\\)&", line)]
        written = [one_line(cell).replace('"', "''").replace("`", "'") for cell in cells]
        assert [read_latex(cell).strip() for cell in found] == written
    for line in lines:
        unescaped = re.sub(r"\\[{}\\]", "", line)
        assert unescaped.count("{") == unescaped.count("}")


WIDE = st.integers(1, 30).flatmap(lambda n: st.lists(st.integers(1, 60), min_size=n, max_size=n))


@given(WIDE, st.integers(0, 100))
def test_latex_of_any_table_fits_pages_and_keeps_each_cell(widths, n_rows):
    heads = [f"c{column}".ljust(width, "x") for column, width in enumerate(widths)]
    rows = [[f"r{row}c{column}".ljust(width, "y") for column, width in enumerate(widths)] for row in range(n_rows)]
    parts = latex.table(Sheet("wide", heads, rows), "wide").split(r"\begin{table}")[1:]
    cells = set()
    for part in parts:
        lines = [line.strip().removesuffix(r" \\").split(" & ") for line in part.splitlines() if line.endswith(r" \\")]
        long = [max(map(len, line)) for line in lines[1:]]
        heights = [-(-length // latex.WORDS_A_LINE) if length > latex.MAX_WORDS else 1 for length in long]
        assert sum(heights) <= latex.MAX_ROWS
        longest = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [(one if one <= latex.MAX_WORDS else latex.WORDS_A_LINE) + latex.GAP for one in longest]
        assert sum(shown) <= latex.MAX_CHARACTERS or len(shown) <= 2
        assert lines[0][0] == heads[0]
        cells.update(cell for line in lines for cell in line)
    assert cells == {*heads, *(cell for row in rows for cell in row)}
    labels = re.findall(r"\\label\{(.*)\}", "".join(parts))
    assert len({*labels}) == len(parts)


def latex_rows(sheet):
    """Return the rows of each part, the head first."""
    parts = latex.table(sheet, "t").split(r"\begin{table}")[1:]
    return [[line[:-3].strip().split(" & ") for line in part.splitlines() if line.endswith(r" \\")] for part in parts]


def test_each_part_of_a_latex_table_identifies_its_rows():
    pairs = [("pima", rho, first, second) for rho in (0.05, 0.1) for first, second in ("ab", "ac", "bc")]
    values = [number(0.5, ".20f")] * 6
    heads = ["data", "bound", "first", "second", *"uvwxyz"]
    parts = latex_rows(Sheet("pairs", heads, [[*pair, *values] for pair in pairs]))
    assert len(parts) > 1
    assert all([row[:4] for row in rows[1:]] == [list(map(str, pair)) for pair in pairs] for rows in parts)
    # Texts that are too long, and measurements, identify nothing.
    for identity in ([("A sentence. " * 9, "Another one. " * 9)] * 3, [(f"{n}", interval((0, 1))) for n in "aab"]):
        parts = latex_rows(Sheet("claims", ["s", "t", *"uvwxyz"], [[*words, *values] for words in identity]))
        assert len(parts) > 1
        assert all([row[0] for row in rows] == [r"\#", "1", "2", "3"] for rows in parts)


@given(st.lists(st.text("ab ", max_size=900), max_size=6))
def test_latex_leaves_room_for_notes(notes):
    text = latex.table(Sheet("one", ["a"], [["b"]], notes))
    share = float(re.search(r"max totalheight=([\d.]+)", text)[1])
    n_lines = sum(-(-len(note) // latex.LINE) for note in notes)
    assert 0.3 <= share <= 0.8
    assert share + 0.02 * n_lines <= 0.9 or share == 0.3


def test_long_tables_have_no_latex(tmp_path):
    names = {"short": files.MAX_PRINTED, "long": files.MAX_PRINTED + 1}
    assert files.tables(tmp_path, [Sheet(name, ["n"], [["gen"]] * n_rows) for name, n_rows in names.items()]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.csv", "short.csv", "short.tex"]


@given(st.lists(SHEETS, max_size=3))
def test_csv_can_be_read_back(sheets):
    with tempfile.TemporaryDirectory() as folder:
        assert files.tables(Path(folder), sheets) == len(sheets)
        assert len(list(Path(folder).glob("*.tex"))) == len(list(Path(folder).glob("*.csv"))) == len(sheets)
        texts = [path.read_bytes().decode() for path in Path(folder).glob("*.csv")]
    read = [list(csv.reader(io.StringIO(text, newline=""))) for text in texts]
    lines = [[[cell.strip() for cell in line] for line in (one.columns, *one.texts)] for one in sheets]
    # What a spreadsheet would take for a formula is quoted.
    expected = [[[re.sub(r"^(?=[=+@]|-.)", "'", cell) for cell in line] for line in table] for table in lines]
    # What is missing is empty.
    expected = [[head, *([cell if cell != "-" else "" for cell in line] for line in rest)] for head, *rest in expected]
    assert sorted(read) == sorted(expected)


def test_csv_holds_each_number_in_a_column_of_its_own(tmp_path):
    rows = [
        [number([0.0123456, 0.5]), interval((-0.25, 1.5)), count(3, 4), "a", MISSING],
        [replace(number(2), flag="above"), MISSING, count(4, 4), number(1e-9), MISSING],
        [number(float("nan")), MISSING, MISSING, "b", MISSING],
    ]
    files.tables(tmp_path, [Sheet("one", ["rate", "limits", "ok", "mixed", "none"], rows)])
    table = pl.read_csv(tmp_path / "one.csv", infer_schema_length=None)
    assert table.columns == [*("rate mean", "rate sd", "limits low", "limits high", "ok", "ok of", "mixed", "none")]
    assert table["rate mean"].to_list() == [0.0123456, 2, None]
    assert table["rate sd"].to_list() == [0.5, None, None]
    assert table.select("limits low", "limits high", "ok", "ok of").rows()[0] == (-0.25, 1.5, 3, 4)
    assert table["mixed"].to_list() == ["a", "1e-09", "b"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_latex_compiles(tmp_path):
    letters = "".join(escape.LATEX) + '"'
    numbers = [Cell("-0.5±10.12", -0.5, "above"), Cell("7", 7.0, "best"), MISSING, Cell("12.25", 12.25)]
    rows = [["a", one, Cell("0.3 s", 0.3, "best")] for one in numbers]
    sheets = [Sheet(letters, ["[a]", letters], [["[1]", "-0.5±0.1*"], [letters, letters]], notes=[letters])]
    sheets.append(Sheet("numbers", ["rho", "p_fa (FPR)", "s"], rows))
    wide = [[f"method_{row}", *[number([0.123, 0.456])] * 25, "A sentence that is long. " * 6] for row in range(100)]
    sheets.append(Sheet("long", ["method", "why"], [["gen", "A sentence that is long. " * 15]] * 100))
    sheets.append(Sheet("tall", ["method"], [["gen"]] * 3000))
    sheets.append(Sheet("wide", ["method", *["p_fa (FPR)"] * 25, "why"], wide, notes=["A note. " * 40]))
    sheets.append(Sheet("noted", ["method"], [["gen"]] * 40, notes=["A note. " * 40] * 4))
    body = "\\clearpage\n".join(latex.table(sheet, f"t{n}") for n, sheet in enumerate(sheets))
    packages = r"\usepackage{booktabs,adjustbox}"
    (tmp_path / "all.tex").write_text(rf"\documentclass{{article}}{packages}\begin{{document}}{body}\end{{document}}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")
    assert re.findall(r"Float too large|Overfull .*", log) == []


def test_markdown_document_order():
    sheet = Sheet("Rates", ["solver", "p_fa"], [["gen", Cell("0.1", 0.1, "above")]], notes=["Two repeats."])
    text = markdown.document([Section("First", [sheet], notes=["A_note"]), Section("Nothing")])
    table = "| solver | p\\_fa |\n|---|---:|\n| gen | 0.1\\* |"
    assert text.strip().split("\n\n") == ["# First", r"A\_note", "Rates", table, "Two repeats."]


def test_terminal_shortens_long_tables():
    rows = [[f"solver{i:03d}", "x" * 100] for i in range(100)]
    console = Console(width=60, record=True, force_terminal=False)
    terminal.show([Section("All", [Sheet("Long", ["a", "b"], rows)]), Section("Empty")], console)
    text = console.export_text()
    assert "x" * 100 in text
    assert f"and {100 - terminal.MAX_TABLE_ROWS} more rows" in text
    assert f"solver{terminal.MAX_TABLE_ROWS - 1:03d}" in text
    assert f"solver{terminal.MAX_TABLE_ROWS:03d}" not in text
    assert "Empty" not in text


def test_lead_counts_and_lists_faults():
    records = frame([record(), record("uzawa", 1, versions='{"numpy":"3"}'), record(problem="pauc", dataset="breast")])
    collection = Collection(records, faults=["A file is broken."], n_older=2)
    jobs, fault, made, problems, older, mixed = lead(collection).notes
    assert jobs == "3 jobs, 3 of them good: 2 settings of 2 solvers on 2 data sets."
    assert made == "Made on a."
    assert "np, pauc" in problems
    assert older.startswith("2 older records")
    assert "How it was run" in mixed
    assert fault == "A file is broken."
    one = record(git_commit="c" * 40, git_dirty=True, cpu=None)
    jobs, made = lead(Collection(frame([one]))).notes
    assert jobs == "1 job, 1 of them good: 1 setting of 1 solver on 1 data set."
    assert made == f"Made by commit {'c' * environment.HASH_DIGITS} with uncommitted changes."
