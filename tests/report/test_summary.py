"""Summary of a report and note on its settings, from constructed records with known answers."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import sample_records
from npbench.report.render import terminal
from npbench.report.sections import summary
from npbench.report.select.recorded_settings import notes
from npbench.report.sheet import Section, Sheet
from npbench.report.stats.paired import shift_interval
from sample_records import cells, frame


def record(label="a", repeat=0, **columns):
    measured = {"n_samples": 768, "split_sha256": f"s{repeat}", "p_fa": 0.05, "p_fa_low": 0.02, "np_score": 0.2}
    return sample_records.record(label=label, repeat=repeat, **measured) | columns


def sheets(records):
    (section,) = summary.sections(frame(records))
    return [cells(sheet) for sheet in section.sheets]


def test_excess_is_counted_over_all_data():
    records = [
        record("a", p_fa=0.3, p_fa_low=0.2),
        record("a", dataset="breast", p_fa=0.3, p_fa_low=0.2, problem_params='{"rho":0.25}'),
        record("a", 1, p_fa=0.1),  # the bound itself keeps it
        record("a", 2, p_fa=None, p_fa_low=None, status="failed"),
        record("b"),
        record("c", p_fa=0.2, p_fa_low=None),
    ]
    (kept, *_) = sheets(records)
    assert [[row[name] for name in ("solver", "test parts", "above", "surely above", "verdict")] for row in kept] == [
        ["a", "3", "2", "1", "exceeded"],
        ["b", "1", "0", "0", "kept"],
        ["c", "1", "1", "-", "above, noise unknown"],
    ]


@pytest.mark.parametrize("best_first", [True, False])
def test_best_two_with_limits_of_shift(best_first):
    random = np.random.default_rng(3)
    splits = random.uniform(0.2, 0.4, 12)
    gains = {"a": 0.0, "b": 0.1, "c": 0.5} if best_first else {"a": 0.5, "b": 0.1, "c": 0.0}
    scores = {label: splits + random.normal(gain, 0.01, 12) for label, gain in gains.items()}
    records = [record(label, i, np_score=x) for label, own in scores.items() for i, x in enumerate(own.tolist())]
    _, (row,), _ = sheets(records)
    best = "a" if best_first else "c"
    # All three of 12 pairs have the smallest p, so that each is tested at a third of 5 %.
    low, high = shift_interval(scores[best] - scores["b"], 0.05 / 3)
    assert (row["data"], row["rho"], row["best"], row["next"]) == ("pima", "0.1", best, "b")
    assert row["best - next"] == f"[{low:+.2g}, {high:+.2g}]"
    assert row["verdict"] == f"{best} better"


@pytest.mark.parametrize("n", [2, 6])
def test_best_and_next_have_the_same_columns_with_few_repeats(n):
    scores = {"a": 0.1, "b": 0.3}
    records = [record(label, i, np_score=score + i / 100) for label, score in scores.items() for i in range(n)]
    (section,) = summary.sections(frame(records))
    table = section.sheets[1]
    assert len(set(table.columns)) == len(table.columns)
    assert set(table.cells[0][-1].numbers) == {"low", "high"}


def test_verdict_keeps_labels_that_contain_its_words():
    named = "ac_svm order=second"
    scores = {named: 0.1, "gen": 0.2}
    _, (row,), _ = sheets(record(one, k, np_score=x + 0.001 * k) for one, x in scores.items() for k in range(8))
    assert (row["best"], row["next"]) == (named, "gen")
    assert row["verdict"].startswith(f"{named} better")


def test_advice_for_few_repeats_or_one_setting():
    (section,) = summary.sections(frame([record("a"), record("a", 1)]))
    assert [sheet.name for sheet in section.sheets] == ["np-p_fa-kept"]
    assert "Run several on the same data" in section.notes[0]
    (section,) = summary.sections(frame([record(label, i) for label in "ab" for i in range(2)]))
    assert "repeats=10" in section.notes[0]


def test_larger_area_is_better_and_nothing_valid_gives_no_summary():
    about = {"problem": "pauc", "problem_params": '{"fpr_range":[0,0.1]}'}
    (row,), _ = sheets([record("a", **about, pauc=0.5), record("b", **about, pauc=0.9)])
    assert (row["best"], row["next"], row["verdict"]) == ("b", "a", "too few pairs")
    assert summary.sections(frame([record(status="failed")])) == []


def test_two_ranges_are_one_setting():
    about = {"problem": "pauc", "problem_params": '{"fpr_range":[0,0.1],"tpr_range":[0.5,1]}'}
    (row,), _ = sheets([record("a", **about, pauc=0.5), record("b", **about, pauc=0.9)])
    assert row["fpr_range"] == "[0, 0.1] x [0.5, 1]"


def test_terminal_omits_details():
    plain, detail = Sheet("Plain", ["a"], [["1"]]), Sheet("Detail", ["a"], [["1"]], detail=True)
    sections = [Section("Both", [plain, detail]), Section("Fine print", [detail]), Section("Notes", notes=["One."])]
    left, omitted = terminal.brief(sections)
    assert [(section.title, [sheet.title for sheet in section.sheets]) for section in left] == [
        ("Both", ["Plain"]),
        ("Notes", []),
    ]
    assert omitted == "Only in the files: 2 tables, including all of: Fine print."
    assert terminal.brief(left)[1] == ""


def test_a_long_report_fits_on_a_screen_or_two():
    notes = ["The same below each table.", "x " * 400]
    long = [Sheet(f"Table {n}", ["a"], [[f"{row}"] for row in range(30)], notes) for n in range(10)]
    left, omitted = terminal.brief([Section("Many", long), Section("Last", long[:1])])
    console = Console(width=80, record=True, file=io.StringIO())
    terminal.show(left, console)
    printed = console.export_text()
    assert 30 < len(printed.splitlines()) <= 50
    assert printed.count(notes[0]) == 1
    assert "and 22 more rows" in printed
    assert "including all of: Last" in omitted


def test_the_first_notes_are_cut_only_if_they_are_very_long():
    advice = ["Use a. " + "It is good. " * 20] * 4
    shown, _ = terminal.brief([Section("What to use when", notes=advice), Section("More", notes=advice)])
    assert shown[0].notes == advice
    assert all(len(note) < len(advice[0]) for note in shown[1].notes)
    heads = [f"{name} misses 0.25 at rho 0.1 ({'very ' * 40}few others)." for name in "abcd"]
    (shown,), _ = terminal.brief([Section("What to use when", notes=[f"{head} {'More. ' * 200}" for head in heads])])
    assert shown.notes == heads
    left, _ = terminal.brief([Section("Incomplete", notes=["Most are missing."]), Section("Use", notes=advice)])
    assert left[1].notes == advice
    (shown,), _ = terminal.brief([Section("What to use when", notes=["word " * 400] * 4)])
    assert all("..." in note for note in shown.notes)


LONG_TEXTS = st.text("abc ", max_size=400)
TABLES = st.builds(
    lambda title, row, n, notes, detail: Sheet(title, ["a"] * len(row), [row] * n, notes, detail=detail),
    LONG_TEXTS.map(lambda text: text[:150]),
    st.lists(LONG_TEXTS, min_size=1, max_size=5),
    st.integers(0, 40),
    st.lists(LONG_TEXTS, max_size=5),
    st.booleans(),
)


@given(st.lists(st.builds(Section, LONG_TEXTS.map(lambda text: text[:80]), st.lists(TABLES, max_size=8)), max_size=8))
def test_any_report_has_at_most_60_lines(tables):
    notes = [f"{number} {'x ' * 60}" for number in range(50)]
    console = Console(width=80, record=True, file=io.StringIO())
    left, omitted = terminal.brief([Section("In brief", notes=notes), *tables, Section("Records", notes=notes)])
    terminal.show(left, console)
    console.print(f"\n{omitted}\n\nIn a folder:" + 5 * "\n  file")
    assert folded(console.export_text()) <= 60


def folded(text, columns=80):
    """Return the number of lines of a terminal that folds longer ones."""
    return sum(-(-len(line) // columns) or 1 for line in text.splitlines())


@pytest.mark.parametrize(("columns", "is_cut"), [(80, True), (190, False)])
def test_a_row_of_long_words_takes_two_lines(columns, is_cut):
    words = ["claim " * 30, "method_with_a_name_of_its_own", "quotation " * 8, *["1.234 [1.1, 1.3]"] * 2]
    (shown,), _ = terminal.brief([Section("", [Sheet("Claims", list("abcde"), [words] * 3)])], columns)
    console = Console(width=columns, record=True, file=io.StringIO())
    terminal.show([shown], console)
    rows = [line for line in console.export_text().splitlines() if "method_with_a_name_of_its_own" in line]
    assert len(rows) == 3
    assert all(folded(row, columns) <= 2 for row in rows)
    assert all(("..." in row) == is_cut for row in rows)


def test_only_rows_that_are_shown_need_room():
    rows = [["method", "kept"]] * 8
    for at, names in ((7, ["method"]), (8, ["method", "verdict"])):
        long = [*rows[:at], ["a_method_with_a_name_of_some_length", "kept"]]
        (shown,), _ = terminal.brief([Section("", [Sheet("Ranks", ["method", "verdict"], long)])], columns=40)
        assert shown.sheets[0].columns == names


def test_values_by_data_set_mark_the_best():
    values = [("a", "pima", 0.1, 0.3), ("b", "pima", 0.4, 0.4), ("b", "breast", 0.5, 0.7), ("c", "pima", 0.2, 0.2)]
    records = [record(label, k, dataset=data, np_score=both[k]) for label, data, *both in values for k in range(2)]
    (section,) = summary.sections(frame([*records, record("a", dataset="breast", status="failed", np_score=None)]))
    table = section.sheets[-1]
    assert (table.name, table.columns) == ("np-rho-0.1-by-data", ["solver", "breast", "pima"])
    assert table.texts == [["a", "-", "0.200±0.141"], ["b", "0.600±0.141", "0.400±0.000"], ["c", "-", "0.200±0.000"]]
    best = [[cell.flag == "best" for cell in row] for row in table.cells]
    assert best == [[False, False, True], [False, True, False], [False, False, True]]


def searched(*sizes, **columns):
    return sample_records.record(search={f"p{n}": list(range(size)) for n, size in enumerate(sizes)}, **columns)


def test_note_on_settings_counts_repeats_and_lists_what_differs():
    first, grids = notes(frame(searched(6, 16, repeat=n, preprocess="standardize") for n in range(10)))
    assert "repeats: 10;" in first
    assert "standardize" in first
    assert "gen: 6 p0 x 16 p1" in grids
    two = [searched(3, dataset="heart", repeat=n) for n in range(2)]
    first, grids = notes(frame([searched(2), *two]))
    assert "repeats: 1 to 2;" in first
    assert grids == "Searched: gen: 2 p0 or 3 p0."
    first, grids = notes(frame([*two, sample_records.record(solver="plain", dataset="heart")]))
    assert "repeats: 1 to 2;" in first  # by solver
    assert grids == "Searched: gen: 3 p0."
    assert notes(frame(two).clear()) == []


def test_thresholds_that_fell_back_are_counted():
    text = "UserWarning: 80 held-out negatives, expected 299. The threshold is empirical and guarantees nothing."
    fallen = [record("forest", repeat, warnings=text, dataset="breast") for repeat in range(2)]
    other = [record("gen", repeat, warnings="UserWarning: odd", dataset="breast") for repeat in range(2)]
    (section,) = summary.sections(frame([*fallen, *other]))
    (note,) = [note for note in section.notes if "guarantee" in note]
    assert "2 jobs" in note
    assert "forest on breast" in note
    assert "gen" not in note
    (section,) = summary.sections(frame(other))
    assert not [note for note in section.notes if "guarantee" in note]
