"""Charts of records, as data: against slow computations from the same records."""

import itertools
import json
import statistics

import numpy as np
import polars as pl
import pytest

import sample_records
from npbench.numerics.roc_grid import FPR_GRID, true_positive_rates
from npbench.report.escape import file_name
from npbench.report.sections import roc_charts, trace_charts
from npbench.report.sections.figures import sections
from npbench.report.sections.layout import ROWS_PER_PAGE, unique_names
from npbench.report.select.labels import labels

NUMBERS = {"np": "rho", "qvalue": "q", "cost": "asymmetry"}


def record(solver="gen", dataset="pima", repeat=0, rho=0.1, problem="np", params="{}", **columns):
    given = {"fpr_range": [0, rho]} if problem == "pauc" else {NUMBERS[problem]: rho}
    about = {"solver": solver, "params": params, "dataset": dataset, "problem": problem, "repeat": repeat}
    about |= {"problem_params": given, "key": f"{about} {given}"}
    measured = {"chosen_params": "{}", "seconds": 0.5, "roc": None, "trace": None}
    return sample_records.record(**about, **measured) | ({} if problem == "pauc" else given) | columns


def frame(records):
    texts = {"roc": pl.String, "trace": pl.String}
    made = pl.DataFrame(list(records), infer_schema_length=None, schema_overrides=texts)
    return made.with_columns(labels(made))


def charts_of(records):
    return [chart for section in sections(records) for chart in section.charts]


def swept(solvers=("gen", "np_svm"), datasets=("breast", "pima"), rhos=(0.05, 0.2), repeats=3):
    random = np.random.default_rng(0)
    return [
        record(s, d, n, rho, p_fa=random.random(), p_nd=random.random(), seconds=random.random())
        for s, d, rho, n in itertools.product(solvers, datasets, rhos, range(repeats))
    ]


def test_rates_are_means_with_clipped_deviation():
    records = swept()
    (chart,) = charts_of(frame(records))
    assert chart.name == "rates_np"
    assert [[panel.title for panel in row] for row in chart.rows] == [["breast"] * 3, ["pima"] * 3]
    assert [panel.y_title for panel in chart.rows[0]] == ["P_fa", "P_nd", "training time [s]"]
    shown = [pair for row in chart.rows for pair in zip(("p_fa", "p_nd", "seconds"), row, strict=True)]
    for column, panel in shown:
        assert [series.label for series in panel.series] == ["gen", "np_svm"]
        for series in panel.series:
            assert series.x == [0.05, 0.2]
            for rho, *found in zip(series.x, series.y, series.low, series.high, strict=True):
                place = (series.label, panel.title, rho)
                own = [r[column] for r in records if (r["solver"], r["dataset"], r["rho"]) == place]
                mean, deviation = statistics.fmean(own), statistics.stdev(own)
                assert found == pytest.approx([mean, max(mean - deviation, min(own)), min(mean + deviation, max(own))])
    assert [panel.identity for panel in chart.rows[0]] == ["ρ", None, None]
    assert not any(panel.x_log for panel in chart.panels)  # 0.05 to 0.2


@pytest.mark.parametrize("fastest", [0.1, 0.11])
@pytest.mark.parametrize("rhos", [(0.01, 0.1), (0.02, 0.05, 0.2), (0.02, 0.19)])
def test_axes_are_logarithmic_iff_their_values_span_a_decade(rhos, fastest):
    records = [record(rho=rho, repeat=k, p_fa=0.01, p_nd=0.9, seconds=k or fastest) for rho in rhos for k in range(2)]
    (chart,) = charts_of(frame(records))
    assert {panel.x_log for panel in chart.panels} == {max(rhos) >= 10 * min(rhos)}
    assert [panel.y_log for panel in chart.panels] == [False, False, fastest == 0.1]  # a rate may be 0


def test_one_repeat_has_no_bars_and_one_rho_no_lines():
    (lines,) = charts_of(frame(swept(repeats=1)))
    assert all(series.low is None for panel in lines.panels for series in panel.series)
    (dots,) = charts_of(frame(swept(rhos=(0.2,))))
    assert dots.name == "dots_np_rho-0.2"
    false_alarms, *_ = dots.panels
    assert false_alarms.level == ("ρ", 0.2)
    assert false_alarms.x_labels == ["breast", "pima"]
    assert not any(series.joined for panel in dots.panels for series in panel.series)
    for series in false_alarms.series:
        assert np.round(series.x).tolist() == [0, 1]  # next to the names
    records = frame([*swept(datasets=("pima",)), *swept(datasets=("breast", "heart"), rhos=(0.1,))])
    lines, dots = charts_of(records)
    assert {panel.title for panel in lines.panels} == {"pima"}
    assert dots.panels[0].x_labels == ["breast", "heart"]


def test_no_section_without_charts():
    one = frame([record(p_fa=0.1)])
    failed = frame([record(p_fa=0.1), record("np_svm", p_fa=0.1)]).with_columns(status=pl.lit("failed"))
    assert sections(one) == sections(failed) == sections(one.clear()) == []


def test_each_problem_has_a_section():
    records = [
        *swept(),
        *(record(s, rho=q, problem="qvalue", accepted=q, p_fa=0.1) for s, q in itertools.product("ab", (0.01, 0.1))),
        *(record(s, rho=a, problem="cost", cost=a, p_fa=0.1) for s, a in itertools.product("ab", (0.5, 0.9))),
        *(record(s, problem="pauc", pauc=0.5, tpr=0.4) for s in "ab"),
    ]
    found = {section.title: section.charts for section in sections(frame(records))}
    assert list(found) == ["Figures: np", "Figures: cost", "Figures: qvalue", "Figures: pauc"]
    (by_q,) = found["Figures: qvalue"]
    assert [panel.y_title for panel in by_q.panels] == ["share accepted", "P_fa", "training time [s]"]
    (areas,) = found["Figures: pauc"]
    assert areas.title == "partial AUC, true-positive rate and training time [s] at fpr_range=[0, 0.1]"


def test_many_settings_are_split_and_too_many_left_out():
    records = [record("gen", params=f'{{"C":{C}}}', rho=rho, p_fa=0.1) for C in range(10, 27) for rho in (0.1, 0.2)]
    charts = charts_of(frame(records))
    shown = [[series.label for series in chart.panels[0].series] for chart in charts]
    assert [len(one) for one in shown] == [6, 6, 5]
    assert list(itertools.chain(*shown)) == sorted(set(frame(records)["label"]))
    assert len({chart.name for chart in charts}) == 3
    assert "Part 3 of 3 of 17 settings: gen C=22 to gen C=26." in charts[-1].notes[-1]
    (whole,) = charts_of(frame(records[:16]))
    assert len(whole.panels[0].series) == 8
    records = frame(record("gen", params=f'{{"C":{C}}}', p_fa=0.1) for C in range(41))
    (section,) = sections(records)
    assert section.charts == []
    assert section.notes[0].startswith("No charts, as 41 settings exceed the limit of 40")
    assert len(charts_of(records.head(40))) == 5


def test_many_data_sets_need_pages_whose_names_are_unique():
    records = frame(swept(datasets=[f"data{n:02d}" for n in range(ROWS_PER_PAGE + 2)], repeats=1))
    first, second = charts_of(records)
    assert (len(first.rows), len(second.rows)) == (ROWS_PER_PAGE, 2)
    assert (first.name, second.title[-8:]) == ("rates_np_1", "(2 of 2)")
    assert unique_names(["roc", "roc_2", "roc"]) == ["roc", "roc_2", "roc_3"]
    assert file_name("roc", "a/b c") == "roc_a-b-c"
    assert len(file_name("roc", 300 * "語").encode()) < 240  # file systems allow 255


def curve(seed):
    y = np.repeat([1, -1], [30, 50])
    return json.dumps(true_positive_rates(y, np.random.default_rng(seed).normal(size=80).round(1) + y).tolist())


def with_curves(problem="np", **columns):
    runs = itertools.product(("gen", "np_svm"), range(3), (0.05, 0.2))
    return [
        record(s, repeat=n, problem=problem, rho=rho, roc=curve(seed), **columns)
        for seed, (s, n, rho) in enumerate(runs)
    ]


def test_roc_curves_are_averaged_vertically():
    records = with_curves()
    (chart,) = roc_charts.charts("np", frame(records))
    assert chart.name == "roc_np_pima"
    assert [[panel.title for panel in row] for row in chart.rows] == [
        ["rho=0.05", "rho=0.05, small rates"],
        ["rho=0.2", "rho=0.2, small rates"],
    ]
    for row, rho in zip(chart.rows, (0.05, 0.2), strict=True):
        whole, small = row
        assert whole.window == small.window == (0.0, rho)
        assert (whole.x_log, small.x_log, whole.identity) == (False, True, "chance")
        for series in whole.series:
            own = [json.loads(r["roc"]) for r in records if (r["solver"], r["rho"]) == (series.label, rho)]
            assert len(own) == 3
            columns = list(zip(*own, strict=True))
            assert series.x == FPR_GRID.tolist()
            assert series.y == pytest.approx([statistics.fmean(column) for column in columns])
            deviations = [statistics.stdev(column) for column in columns]
            low = [max(m - d, min(c)) for m, d, c in zip(series.y, deviations, columns, strict=True)]
            assert series.low == pytest.approx(low)


def test_windows_of_problems():
    records = frame(r | {"problem_params": '{"fpr_range":[0.02,0.1]}'} for r in with_curves("pauc"))
    (chart,) = roc_charts.charts("pauc", records)
    assert {panel.window for panel in chart.panels} == {(0.02, 0.1)}
    (chart,) = roc_charts.charts("cost", frame(with_curves("cost")))
    assert [len(row) for row in chart.rows] == [1, 1]
    assert {panel.window for panel in chart.panels} == {None}


def test_records_without_curves_have_none_and_searches_no_course():
    assert roc_charts.charts("np", frame(swept())) == []
    (alone,) = roc_charts.charts("np", frame([record(roc=curve(1)), record(repeat=1)]))
    assert alone.panels[0].series[0].low is None
    search = json.dumps({"seconds": [0.1], "gamma": [1.0], "p_fa": [0.5]})
    steps = json.dumps({"iteration": [0], "inner": [0], "gap": [0.5]})
    assert trace_charts.charts("np", frame([record(trace=search), record("b", trace=steps), record("c")])) == []


def fit(n=4, **figures):
    steps = {"iteration": list(range(n)), "seconds": [0.5 * step for step in range(n)]}
    return json.dumps(steps | {"objective": [2.0**-step for step in range(n)]} | figures)


def test_fits_are_drawn_against_time_and_iterations():
    bounded = fit(bound=[0.0, 0.25, 0.0, 0.125], p_fa=[0.5, None, 0.25, 0.125])
    records = [record("gen", trace=fit(4)), record("np_svm", trace=bounded), record("np_svm", repeat=1, trace=fit(9))]
    (chart,) = trace_charts.charts("np", frame(records))
    assert chart.name == "course_np_pima_rho-0.1"
    assert [[(panel.x_title, panel.y_title) for panel in row] for row in chart.rows] == [
        [(axis, name) for name in ("objective", "P_fa", "gap")] for axis in ("seconds", "iteration")
    ]
    objective, false_alarms, gap = chart.rows[1]
    assert [(series.label, series.x, series.y) for series in objective.series] == [
        (label, [0, 1, 2, 3], [1, 0.5, 0.25, 0.125]) for label in ("gen", "np_svm")
    ]
    (alarms,) = false_alarms.series
    assert (alarms.x, alarms.y, false_alarms.level) == ([0, 2, 3], [0.5, 0.25, 0.125], ("ρ", 0.1))
    (left,) = gap.series
    assert (left.label, left.y, gap.y_log) == ("np_svm", [1, 0.25, 0.25, 0], False)
    assert any("lower bound" in note for note in chart.notes)


def test_long_fits_are_thinned_on_log_axes():
    n = 5000
    (chart,) = trace_charts.charts("np", frame([record(trace=fit(n, objective=list(range(n, 0, -1))))]))
    seconds, iterations = (row[0] for row in chart.rows)
    (series,) = iterations.series
    assert (series.x[0], series.x[-1]) == (0, n - 1)
    assert len(series.x) <= trace_charts.MAX_POINTS_PER_LINE
    assert set(range(20)) <= set(series.x)
    assert iterations.x_log
    assert seconds.x_log
    assert iterations.y_log
    (short,) = trace_charts.charts("np", frame([record(trace=fit(3))]))
    assert not any(panel.x_log or panel.y_log for panel in short.panels)
