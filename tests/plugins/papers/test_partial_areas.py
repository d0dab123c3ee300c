"""Tables and figures of Narasimhan and Agarwal from records written by hand."""

import io
from statistics import fmean, stdev

import numpy as np
import polars as pl
import pytest

import sample_records
from npbench.report.render.drawing import draw_first
from npbench_papers.narasimhan import iterations, learning_curves, partial_areas, training_times
from sample_records import cells

PRINTED = [
    {"dataset": "pima", "solver": "pauc_struct", "pauc": 0.6},
    {"dataset": "pima", "solver": "auc_svm", "pauc": 0.5},
    {"dataset": "pima", "solver": "greedy_pauc", "pauc": 0.2},
]


def record(solver="pauc_struct", pauc=0.6, repeat=0, fpr_range=(0.02, 0.05), test_size=1 / 3, params=None, **columns):
    asked = {"params": params or {}, "problem_params": {"fpr_range": fpr_range}}
    asked["protocol_params"] = {"test_size": test_size, "folds": 3}
    about = {"solver": solver, "repeat": repeat, "split_sha256": f"split {repeat}", "preprocess": "standardize"}
    cost = {"n_candidates": 6, "select_cpu_seconds": 2.0, "fit_cpu_seconds": 0.5, "cpu": "a processor"}
    found = {"solver_status": "converged", "n_iter": 10, "pauc": pauc}
    return sample_records.record(**{**about, **asked, **cost, **found, **columns})


def frame(*records):
    return sample_records.frame(records)


AREAS = {"pauc_struct": [0.58, 0.62, 0.66], "auc_svm": [0.55, 0.63, 0.56], "greedy_pauc": [0.7, 0.8, 0.9]}


@pytest.fixture
def three_methods():
    return frame(*(record(name, pauc, k) for name, areas in AREAS.items() for k, pauc in enumerate(areas)))


def test_means_next_to_the_papers(three_methods):
    areas, _ = partial_areas.table(three_methods, PRINTED)
    assert areas.title.startswith("pima, pauc in [0.02, 0.05]:")
    assert [row[0] for row in areas.texts] == ["greedy_pauc", "pauc_struct", "auc_svm"]
    struct = cells(areas)[1]
    assert struct["here"] == f"{fmean(AREAS['pauc_struct']):.3f}±{stdev(AREAS['pauc_struct']):.3f}"
    assert (struct["paper"], struct["difference"], struct["verdict"][:18]) == ("0.600", "+0.020", "no difference seen")
    assert (struct["selection"], struct["fit"], struct["splits"]) == ("2.00±0.00", "0.50±0.00", "3/3")
    assert areas.texts[0][4] == "differs: larger"
    assert areas.notes[0] == "The paper's order: pauc_struct > auc_svm > greedy_pauc; here 1 of 3 pairs agree."
    areas, ahead = partial_areas.table(three_methods, [*PRINTED, {"dataset": "pima", "stand_in": True}])
    assert {row[4] for row in areas.texts} == {"stand-in"}
    assert [row[5] for row in ahead.texts] == ["stand-in"]


def test_numbers_of_data_without_records_are_not_run(three_methods):
    elsewhere = [{"dataset": "heart", "solver": name, "pauc": 0.5} for name in AREAS]
    *others, sheet = partial_areas.table(three_methods, [*PRINTED, *elsewhere, {"solver": "auc_svm", "pauc": 0.1}])
    assert len(others) == 2
    assert sheet.texts == [["heart", name, "0.500", "not run"] for name in AREAS]


def test_order_is_compared_for_printed_methods(three_methods):
    areas, _ = partial_areas.table(three_methods.filter(pl.col("solver") != "greedy_pauc"), PRINTED)
    assert areas.notes[0].endswith("here the same.")
    areas, _ = partial_areas.table(three_methods, PRINTED[:1])
    assert not any("order" in note for note in areas.notes)


def test_methods_are_compared_with_base_on_matched_splits(three_methods):
    shuffled = three_methods.sample(fraction=1, shuffle=True, seed=0)
    _, ahead = partial_areas.table(shuffled, PRINTED)
    (row,) = ahead.texts
    gains = np.subtract(AREAS["pauc_struct"], AREAS["auc_svm"])
    gain = f"{fmean(gains):.3f}±{stdev(gains):.3f}"
    assert row == ["pima", "pauc_struct", gain, "+0.100", "2 of 3", "no difference seen (3 pairs, 0.2)", gain]
    fewer = three_methods.filter(~((pl.col("solver") == "auc_svm") & (pl.col("repeat") == 1)))
    _, ahead = partial_areas.table(fewer, ())
    assert ahead.texts[0][3:6] == ["-", "2 of 2", "-"]
    _, ahead = partial_areas.table(fewer.filter(pl.col("solver") != "auc_svm"), PRINTED)
    assert ahead.texts[0][4:] == ["-", "not run", "-"]
    assert len(partial_areas.table(fewer.filter(solver="auc_svm"), PRINTED)) == 1


def test_collapsed_and_failed_fits_are_counted():
    found = frame(
        record(pauc=0.5, solver_status="collapsed"),
        record(pauc=0.7, repeat=1),
        record(pauc=None, repeat=2, status="failed", solver_status=None),
    )
    (row,) = partial_areas.table(found, PRINTED)[0].texts
    assert row[1] == "0.600±0.141"
    assert row[-3:] == ["2/3", "1", "0.700"]
    (row,) = partial_areas.table(found.filter(status="failed"), PRINTED)[0].texts
    assert row[1:5] == ["-", "0.600", "-", "not run"]


def test_fits_without_an_optimum_are_fallbacks():
    collapsed = [record(repeat=k, solver_status="collapsed") for k in range(2)]
    base = [record("auc_svm", 0.5, repeat=k) for k in range(3)]
    areas, ahead = partial_areas.table(frame(*collapsed, record(pauc=0.4, repeat=2), *base), PRINTED)
    row = cells(areas)[0]
    assert (row["verdict"], row["w = 0"], row["without these"]) == ("fallback", "2", "0.400")
    assert (cells(ahead)[0]["gain's verdict"], cells(ahead)[0]["without w = 0"]) == ("fallback", "-0.100")
    assert any(note.startswith("w = 0") for note in areas.notes)
    areas, _ = partial_areas.table(frame(*collapsed, *base), PRINTED)
    assert cells(areas)[0]["without these"] == "-"


def test_a_number_that_chose_the_data_is_shown_without_a_verdict(three_methods):
    rows = cells(partial_areas.table(three_methods, [PRINTED[0], PRINTED[1] | {"judged": False}])[0])
    (base,) = (row for row in rows if row["method"] == "auc_svm")
    assert (base["paper"], base["difference"], base["verdict"]) == ("0.500", "+0.080", "-")
    assert rows[1]["verdict"] != "-"
    rows = cells(partial_areas.table(three_methods, PRINTED)[0])
    assert rows[2]["method"] == "auc_svm"
    assert rows[2]["verdict"] != "-"


def test_several_ranges_distinguish_methods():
    of_struct = {(0.0, 0.1): (0.6, 0.61), (0.05, 0.1): (0.5, 0.58)}  # here, printed
    found = [record(repeat=k, fpr_range=span, tpr=tpr) for span, (tpr, _) in of_struct.items() for k in range(2)]
    printed = [{"solver": "pauc_struct", "fpr_range": [*span], "tpr": tpr} for span, (_, tpr) in of_struct.items()]
    found += [record("auc_svm", repeat=k, fpr_range=(0.0, 0.1), tpr=0.55) for k in range(2)]
    rates, ahead = partial_areas.table(frame(*found), [*printed, {"solver": "auc_svm", "tpr": 0.58}], metric="tpr")
    assert [row[:5] for row in rates.texts] == [
        ["pauc_struct [0, 0.1]", "0.600±0.000", "0.610", "-0.010", "agrees"],
        ["auc_svm [0, 0.1]", "0.550±0.000", "0.580", "-0.030", "agrees"],
        ["pauc_struct [0.05, 0.1]", "0.500±0.000", "0.580", "-0.080", "differs: smaller"],
    ]
    assert [row[1:6] for row in ahead.texts] == [
        ["pauc_struct [0, 0.1]", "0.050±0.000", "+0.030", "2 of 2", "agrees"],
        ["pauc_struct [0.05, 0.1]", "-0.050±0.000", "+0.000", "0 of 2", "differs: smaller"],
    ]


def test_dots_and_diamonds(three_methods):
    drawn = partial_areas.figure(three_methods, PRINTED)
    (axes,) = drawn.axes
    dots = {line.get_xdata()[0]: line.get_ydata()[0] for line in axes.lines if line.get_marker() == "o"}
    assert sorted(dots) == pytest.approx(sorted(map(fmean, AREAS.values())))
    assert sorted(line.get_xdata()[0] for line in axes.lines if line.get_marker() == "D") == [0.2, 0.5, 0.6]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["pauc_struct", "greedy_pauc", "auc_svm"]
    drawn.savefig(io.BytesIO(), dpi=50)


def test_empty_figure_without_records():
    failed = frame(record(status="failed", pauc=None))
    for module in (partial_areas, training_times):
        module.figure(failed, ()).savefig(io.BytesIO(), dpi=50)
    assert learning_curves.charts(failed, ()) == iterations.charts(failed, ()) == []


def learning(*paucs, solver="pauc_struct"):
    return [
        record(solver, pauc, fpr_range=(0.0, 0.1), test_size=1 - share * 2 / 3)
        for share, pauc in zip((0.1, 1.0), paucs, strict=True)
    ]


def test_shares_gains_and_a_curve_per_solver():
    ours, others = learning(0.4, 0.7), learning(0.2, 0.65, solver="auc_svm")
    (sheet,) = learning_curves.table(frame(*ours, *others), ())
    assert [row[0] for row in sheet.texts] == ["10 %", "100 %"]
    assert sheet.columns == ["share", "auc_svm", "pauc_struct", "pauc_struct - auc_svm"]
    assert sheet.texts[0] == ["10 %", "0.200", "0.400", "+0.200"]
    (sheet,) = learning_curves.table(frame(*ours, *others[:1]), ())
    assert [row[-1] for row in sheet.texts] == ["+0.200", "-"]
    (sheet,) = learning_curves.table(frame(*ours), ())
    assert {row[-1] for row in sheet.texts} == {"-"}
    drawn = draw_first(learning_curves.charts(frame(*ours, *others), ()))
    curves = [line for line in drawn.axes[0].lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    assert [list(line.get_ydata()) for line in curves] == [[0.2, 0.65], [0.4, 0.7]]
    assert list(curves[0].get_xdata()) == pytest.approx([10, 100])


def counted(counts, lo=0.0, method="plain"):
    """Return records with the iterations of each (length, C), two splits each."""
    return [
        record(repeat=k, fpr_range=(lo, lo + length), n_iter=count + k, params={"C": C, "method": method})
        for (length, C), count in counts.items()
        for k in (0, 2)
    ]


def test_iterations_by_length_and_c():
    found = frame(*counted({(0.1, 1.0): 19, (0.1, 10.0): 39, (1.0, 1.0): 9, (1.0, 10.0): 9}))
    (sheet,) = iterations.table(found, ())
    assert sheet.title == "pima, pauc_struct, method=plain: mean iterations, ranges [0, b] by their length b"
    assert sheet.columns == ["length", "C=1", "C=10", "largest / smallest C"]
    assert sheet.texts == [
        ["0.1", "20.0", "40.0", "2.00"],
        ["1", "10.0", "10.0", "1.00"],
        ["shortest / longest", "2.00", "4.00", ""],
    ]
    drawn = draw_first(iterations.charts(found, ()))
    assert [list(line.get_ydata()) for line in drawn.axes[0].lines] == [[20, 10], [40, 10]]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["C=1", "C=10"]


def test_iterations_by_beginning():
    found = frame(
        *counted({(0.1, 10.0): 19, (0.2, 10.0): 9}, lo=0.02),
        *counted({(0.1, 10.0): 29, (0.2, 10.0): 19}, lo=0.3),
        *counted({(0.1, 10.0): 5}, method="level"),
    )
    level, inner = iterations.table(found, ())
    assert "method=level" in level.title
    assert level.texts[-1] == ["shortest / longest", "1.00", ""]
    assert inner.title.endswith("ranges [a, a + length], C=10")
    assert inner.texts == [
        ["0.1", "20.0", "30.0", "1.50"],
        ["0.2", "10.0", "20.0", "2.00"],
        ["shortest / longest", "2.00", "1.50", ""],
    ]


def test_failed_and_capped_fits_are_noted():
    some = counted({(0.1, 1.0): 10, (1.0, 1.0): 10})
    some[0] |= {"status": "failed", "n_iter": None, "solver_status": None}
    some[1] |= {"solver_status": "max_iter"}
    some[2] |= {"solver_status": "collapsed"}
    (sheet,) = iterations.table(frame(*some), ())
    assert sheet.notes == ["w = 0 is the certified optimum of 1 of 4 fits."]
    assert sheet.title.endswith("; 1 of 4 fits failed; 1 of 4 fits ended at max_iter")
    assert sheet.texts[0] == ["0.1", "12.0", "1.00"]


def test_times_are_compared_with_base():
    found = frame(
        record(fit_cpu_seconds=2.0),
        record(fit_cpu_seconds=4.0, repeat=1),
        record("auc_svm", fit_cpu_seconds=1.5, n_candidates=3),
        record("asvm", fit_cpu_seconds=1.0),
        record("greedy_pauc", fit_cpu_seconds=6.0, select_cpu_seconds=0.0),
        record("pauc_dc", fit_cpu_seconds=None, status="failed"),
    )
    (sheet,) = training_times.table(found, ())
    assert sheet.texts == [
        ["asvm", "2.00", "1.00", "6", "0.33", "1/1"],
        ["auc_svm", "2.00", "1.50", "3", "0.50", "1/1"],
        ["pauc_struct", "2.00±0.00", "3.00±1.41", "6", "1.00", "2/2"],
        ["greedy_pauc", "0.00", "6.00", "6", "2.00", "1/1"],
    ]
    assert sheet.notes[-1] == "Timed on a processor; parallel jobs: 1, threads of each: 1."
    other = frame(record(fit_cpu_seconds=2.0), record("auc_svm", fit_cpu_seconds=1.5, cpu="b"))
    (sheet,) = training_times.table(other, ())
    assert [row[0] for row in sheet.texts] == ["pauc_struct"]
    assert "another processor" in sheet.notes[-1]
    assert "auc_svm" in sheet.notes[-1]
    (axes,) = training_times.figure(found, ()).axes
    assert sorted(bar.get_width() for bar in axes.patches) == [1e-3, 1.0, 1.5, 2.0, 2.0, 2.0, 3.0, 6.0]
    assert len(training_times.table(frame(record(), record(fpr_range=(0.0, 0.1))), ())) == 2


def test_figure_of_times_is_of_fits_that_did_not_wait():
    waited = {"select_seconds": 9.0, "repeat": 1, "fit_cpu_seconds": 4.0}
    (axes,) = training_times.figure(frame(record(fit_cpu_seconds=2.0), record(**waited)), ()).axes
    assert [bar.get_width() for bar in axes.patches] == [2.0, 2.0]
    (text,) = training_times.figure(frame(record(**waited)), ()).texts
    assert "idle" in text.get_text()
