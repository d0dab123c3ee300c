"""Tables of experiments against figures worked out by hand, by enumeration, or by definition."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import sample_records
from npbench.config.experiment import Experiment
from npbench.report.render.drawing import draw_first
from npbench.report.render.terminal import show_sheet
from npbench.report.run_summary import print_experiment
from npbench.report.select.traces import traces
from npbench.report.sheet import MISSING, Cell, Sheet
from npbench_papers.gasso import accepted, rates, scatter, speedup
from sample_records import cells, frame


def record(solver="fast", repeat=0, *, rho=0.1, params=None, problem="np", **columns):
    asked = {"params": params or {}, "problem_params": {"rho": rho} if problem == "np" else {"q": columns.get("q")}}
    about = {"solver": solver, "repeat": repeat, "rho": rho, "problem": problem, "protocol_params": "{}"}
    measured = {"select_seconds": 0.0, "fit_seconds": 1.0, "gram_seconds": None, "converged": True, "trace": None}
    return sample_records.record(**{**about, **asked, **measured, "p_fa": 0.1, "p_nd": 0.2, **columns})


def compared(records, printed=(), **options):
    return speedup.table(frame(records), printed, **({"base": "slow", "other": "fast"} | options))


def test_pairs_agree_in_varied_parameters():
    settings = list(itertools.product((0.1, 0.2), (0, 1), (1, 10)))
    records = [
        record(solver, repeat, rho=rho, params={"C": C, "max_iter": 200, **more}, fit_seconds=seconds * C)
        for solver, seconds, more in (("fast", 1.0, {}), ("slow", 3.0, {"max_iter": 900, "inner": 5}))
        for rho, repeat, C in settings
    ]
    paired = speedup.pairs(frame(records), "slow", "fast")
    assert sorted(paired.select("rho", "repeat", "params.C").rows()) == sorted((r, n, str(C)) for r, n, C in settings)
    assert paired["speedup"].to_list() == [3.0] * 8
    speed, _ = compared(records)
    assert [row["pairs"] for row in cells(speed)] == ["4", "4"]
    assert speed.notes[0] == "fast and slow also differ in max_iter (200, 900)."
    for name in ("data_sha256", "search"):
        others = [record("fast", 0), record("slow", 0, **{name: '{"C":[1,2]}'})]
        assert speedup.pairs(frame(others), "slow", "fast").is_empty()


def test_fixed_parameters_are_those_that_all_records_of_a_solver_share():
    records = [record("gen", params={"C": C, "tol": 0.1}) for C in (1, 2)]
    assert speedup.fixed(frame(records)) == {"gen": {"tol": "0.1"}}


def test_speed_ups_next_to_the_papers():
    records = [record("fast", n, fit_seconds=1.0) for n in range(3)]
    records += [record("slow", n, fit_seconds=s) for n, s in enumerate([1.0, 2.0, 4.0])]
    printed = [{"rho": 0.1, "speedup": [2.0, 0.5]}, {"rho": 0.2, "speedup": [9.0, 0.5]}]
    records[-1]["converged"] = False
    speed, _ = compared(records, printed)
    assert speed.texts == [
        [
            "0.1",
            "3",
            "2.00±0.50",
            "2.33±1.53",
            "2.00",
            "1.17",
            "no difference seen (3 pairs, 5.4)",
            "1.50±0.71 (2)",
            "2.33±1.53",
            "-",
        ]
    ]
    assert cells(compared(records)[0])[0]["verdict"] == "-"  # nothing is printed
    with_others = [one | {"fit_seconds": 1.25 * one["fit_cpu_seconds"] ** 0.5} for one in records]  # slow ones get more
    (row,) = cells(compared(with_others)[0])
    assert (row["here"], row["wall clock"]) == ("2.33±1.53", "1.47±0.50")
    waited = [one | {"fit_cpu_seconds": one["fit_seconds"] / 5} for one in records[1:2]]
    speed, _ = compared([records[0], *waited, *records[2:]])
    assert cells(speed)[0]["pairs"] == "2"
    assert any(note.startswith("Seconds of 1 of 6 jobs are left out: a busy machine") for note in speed.notes)
    equal = [record("fast", n, fit_seconds=1.0) for n in range(3)] + [
        record("slow", n, fit_seconds=2.0) for n in range(3)
    ]
    for printed, verdict in (
        (2.2, "agrees"),
        (2.9, "agrees in direction"),
        (9.0, "differs: smaller (same side)"),
        (0.5, "differs: larger"),
    ):
        speed, _ = compared(equal, [{"rho": 0.1, "speedup": printed}])
        assert cells(speed)[0]["verdict"] == verdict

    records = [record("fast", n, fit_seconds=2.0, gram_seconds=1.5) for n in range(2)]
    records += [record("slow", n, fit_seconds=s, gram_seconds=1.0) for n, s in enumerate([3.0, 4.0])]
    (row,) = cells(compared(records)[0])
    assert (row["here"], row["solving"]) == ("1.75±0.35", "5.00±1.41")  # (3-1)/.5 = 4, (4-1)/.5 = 6


def test_unfair_pairs_are_noted_and_no_pairs_give_an_empty_table():
    records = [record("fast", 0, converged=False), record("slow", 0, n_jobs=2)]
    more = [record("fast", 1), record("slow", 1, status="timeout"), record("fast", 2), record("slow", 2)]
    speed, _ = compared([*records, *more])
    assert [row["pairs"] for row in cells(speed)] == ["1"]  # not those with other numbers of workers
    unpaired = [f"2 jobs of {solver} have no counterpart" for solver in ("fast", "slow")]
    for expected in (*unpaired, "1 fits of fast did not converge"):
        assert expected in " ".join(speed.notes)
    speed, differences = compared([record("fast", 0), record("slow", 1)])
    assert (speed.texts, differences.texts) == ([], [])
    assert speedup.table(frame([record()]).clear(), (), base="a", other="b") == []


@pytest.mark.parametrize("n_pairs", [10, 11])
def test_differences_are_judged_by_their_limits(n_pairs):
    records = [record("slow", n) for n in range(n_pairs)]
    records += [record("fast", n, p_nd=0.3 + 0.01 * n) for n in range(n_pairs)]
    _, differences = compared(records, [{"rho": 0.1, "p_nd": [-3.6e-4, 31.5e-4]}])
    alarms, misses = cells(differences)
    assert (alarms["rate"], alarms["here"], alarms["verdict"]) == ("p_fa", "0.00000±0.00000", "-")
    assert (misses["paper"], misses["here"][:6]) == ("-0.00036±0.00315", f"{0.1 + 0.005 * (n_pairs - 1):.4f}")
    assert (misses["p"], misses["verdict"]) == (f"{2 / 2**n_pairs:.2g}", "differs: larger")


@pytest.mark.parametrize(("spread", "verdict"), [(0.001, "agrees"), (0.1, "no difference seen (8 pairs, 0.13)")])
def test_a_test_without_power_agrees_with_nothing(spread, verdict):
    records = [record("slow", n) for n in range(8)]
    records += [record("fast", n, p_nd=0.2 + spread * (-1) ** n) for n in range(8)]
    misses = cells(compared(records, [{"rho": 0.1, "p_nd": [0.001, 0.0]}])[1])[1]
    assert float(misses["p"]) > 0.5
    assert misses["verdict"] == verdict


def test_rates_times_and_failures():
    records = [record("a", n, p_fa=p_fa, select_seconds=2.0) for n, p_fa in enumerate([0.05, 0.07])]
    records += [record("b", 0, p_fa=0.3, converged=False), record("b", 1, status="failed", p_fa=None, fit_seconds=None)]
    records += [record("a", 0, rho=0.01, p_fa=0.02)]
    (sheet,) = rates.table(frame(records), [{"solver": "b", "rho": 0.1, "p_nd": 0.25}])
    strict, a, b = cells(sheet)
    assert (strict["rho"], strict["bound"], strict["verdict"]) == ("0.01", "exceeded", "-")
    assert (a["p_fa"], a["p_nd"], a["seconds"]) == ("0.060±0.014", "0.200±0.000", "3.00±0.00")
    assert (a["ok"], a["bound"], a["paper p_nd"]) == ("2/2", "kept", "-")
    assert (b["p_fa"], b["ok"], b["bound"]) == ("0.300", "1/2, 1 unconverged", "exceeded")
    assert (b["paper p_nd"], b["verdict"]) == ("0.250", "undecided (1 pair)")
    (sheet,) = rates.table(frame([record(), record(select_seconds=4.0, select_cpu_seconds=2.0)]), ())
    assert cells(sheet)[0]["seconds"] == "2.00±1.41"  # of a processor: 1 and 3


def test_rates_on_data_that_are_not_the_papers_are_stand_ins():
    printed = [{"rho": 0.1, "solver": "a", "p_nd": 0.2}]  # of the paper's data, without a name, as in Table IV
    for more, dataset in (([], "rcv1_like"), ([{"dataset": "rcv1", "stand_in": True}], "rcv1")):
        found = frame([record("a", dataset=dataset), record("b", dataset=dataset)])
        (sheet,) = rates.table(found, [*printed, *more])
        assert [row["verdict"] for row in cells(sheet)] == ["stand-in", "-"]
    (sheet,) = rates.table(frame([record("a"), record("a", 1)]), printed)
    assert cells(sheet)[0]["verdict"] == "agrees"


@pytest.mark.parametrize(
    ("p_fa", "low", "verdict"),
    [
        ([0.1, 0.1], None, "kept"),
        ([0.09, 0.13], None, "kept within noise"),
        ([0.12, 0.121], 0.09, "exceeded"),
        ([0.1, 0.12, 0.12], 0.2, "kept within noise"),  # with two standard errors it would be exceeded
        ([0.101], 0.09, "kept within noise"),
        ([0.101], 0.1005, "exceeded"),
        ([0.101], None, "exceeded"),
        ([], None, "not measured"),
    ],
)
def test_bound_allows_for_noise(p_fa, low, verdict):
    records = [record("a", n, p_fa=value, p_fa_low=low) for n, value in enumerate(p_fa)]
    records = records or [record("a", status="failed")]
    (sheet,) = rates.table(frame(records), ())
    assert cells(sheet)[0]["bound"] == verdict
    assert "verdict" not in sheet.columns  # nothing is printed


@pytest.mark.parametrize("name", ["search", "dataset_params", "protocol_params"])
def test_other_grids_data_or_protocols_are_separate(name):
    starts = {"search": "search.", "dataset_params": "dataset.", "protocol_params": "protocol."}
    records = [record(repeat=n, **{name: f'{{"x":{x}}}'}) for x in (1, 2) for n in (0, 1)]
    records += [record(dataset="breast", **{name: '{"x":3}'}), record(solver="other")]
    breast, pima = rates.table(frame(records), ())
    assert [row["solver"] for row in cells(breast)] == ["fast"]
    labels = ["fast " + starts[name] + "x=1", "fast " + starts[name] + "x=2", "other"]
    assert [row["solver"] for row in cells(pima)] == labels
    of_pima = frame(records[:4]).with_columns(q=0.1, n_test_positive=10, accepted=0.5)
    (sheet,) = accepted.table(of_pima, (), base="other")
    assert [row["solver"] for row in cells(sheet)] == labels[:2]


def test_figure_shows_means_and_bound():
    records = [record("a", n, rho=rho, p_fa=rho + n * 0.02) for n in (0, 1) for rho in (0.05, 0.1)]
    records += [record("a", 0, rho=0.1, dataset="breast")]
    figure = draw_first(rates.charts(frame(records), ()))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["breast", "", "", "pima", "", ""]
    assert figure.axes[3].get_ylabel() == "$P_{fa}$"
    alarms = figure.axes[3]
    points, bound = alarms.lines[0], alarms.lines[-1]
    assert list(points.get_ydata()) == pytest.approx([0.06, 0.11])
    assert list(bound.get_xdata()) == list(bound.get_ydata()) == [0.05, 0.1]
    (text,) = draw_first(rates.charts(frame(records).clear(), ())).texts
    assert "no job is ok" in text.get_text()


def test_accepted_positives():
    def found(solver, q, shares, **more):
        about = {"problem": "qvalue", "rho": None, "q": q, "n_test_positive": 1000, **more}
        return [record(solver, n, accepted=share, **about) for n, share in enumerate(shares)]

    records = found("ranker", 0.01, [0.4, 0.6]) + found("ours", 0.01, [0.6, 0.6]) + found("ours", 0.1, [None])
    printed = [{"q": 0.01, "solver": "ranker", "accepted": 5000}, {"q": 0.01, "solver": "ours", "accepted": 5500}]
    (sheet,) = accepted.table(frame(records), printed, base="ranker")
    ours, ranker, nothing = cells(sheet)
    assert (ours["number"], ours["paper"], ours["in the paper"]) == ("600±0", "5500", "+10.0 %")
    assert ours["over ranker"] == "+20.0 % [-234.1, 274.1]"  # 40 and 0 per cent of the ranker's mean
    assert ours["verdict"].startswith("no difference seen (2 pairs")
    assert (ranker["number"], ranker["over ranker"], ranker["verdict"]) == ("500±141", "+0.0 %", "-")
    assert (nothing["q"], nothing["number"], nothing["verdict"]) == ("0.1", "-", "-")
    steady = found("ranker", 0.01, [0.4, 0.41, 0.42]) + found("ours", 0.01, [0.6, 0.61, 0.62])
    (sheet,) = accepted.table(frame(steady), printed, base="ranker")
    first = cells(sheet)[0]
    assert (first["over ranker"], first["verdict"]) == ("+48.8 % [48.8, 48.8]", "differs: larger (same side)")
    (sheet,) = accepted.table(frame(records), [{"stand_in": True}, *printed], base="ranker")
    assert cells(sheet)[0]["verdict"] == "stand-in"
    assert accepted.table(frame([record("a", problem="qvalue", q=0.1, n_test_positive=3)]), (), base="a")[0].texts
    none = found("ranker", 0.01, [0.0, 0.0]) + found("ours", 0.01, [0.0, 0.5])
    assert cells(accepted.table(frame(none), (), base="ranker")[0])[0]["over ranker"] == "-"
    variants = [one for n in (0, 5) for one in found("net", 0.1, [0.5], params={"hidden": n})]
    (sheet,) = accepted.table(frame(variants), [{"solver": "net", "hidden": 5, "accepted": 7491}], base="ranker")
    assert [row["paper"] for row in cells(sheet)] == ["-", "7491"]


STARTS = {"start": "start", "by": "C"}


def ended(C, usual, random, repeat=0):
    """Return records of fits from the usual start and from random ones, by the objective that each reached."""
    reached = {None: usual, **dict(enumerate(random))}.items()
    return [record(repeat=repeat, params={"C": C, "start": n}, objective=x, surrogate=np.nan) for n, x in reached]


def test_random_starts():
    figures = {1: (2.0, [1.0, 3.0, 4.0]), 10: (5.0, [5.0, 5.0]), 100: (1.0, [2.0, 3.0]), 1000: (9.0, [1.0])}
    records = [one for C, reached in figures.items() for one in ended(C, *reached)]
    sheets = scatter.table(frame(records), (), **STARTS, values=["objective", "surrogate", "absent"])
    rows = cells(sheets[0])
    assert [row["C"] for row in rows] == ["1", "10", "100", "1000"]
    first = rows[0]
    assert (first["usual start"], first["random: min"], first["median"], first["max"]) == ("2", "1", "3", "4")
    assert [row["rank of usual"] for row in rows] == ["2 of 4", "1 of 3", "1 of 3", "2 of 2"]
    assert [row["largest difference"] for row in rows] == ["2", "0", "2", "8"]
    for sheet in sheets[1:]:
        assert {row["rank of usual"] for row in cells(sheet)} == {"-"}


def test_starts_are_compared_on_one_split_and_drawn():
    first, second = ended(1, 1.0, [2.0, 3.0]), ended(1, 20.0, [9.0, 8.0], repeat=1)
    sheets = scatter.table(frame(first + second), (), **STARTS, values=["objective"])
    assert ["repeat=0" in sheets[0].title, "repeat=1" in sheets[1].title] == [True, True]
    assert [cells(sheet)[0]["rank of usual"] for sheet in sheets] == ["1 of 3", "3 of 3"]
    (alone,) = scatter.table(frame(first), (), **STARTS, values=["objective"])
    assert "repeat" not in alone.title
    records = [record(params={"C": 1, "start": n}, x=1.0 + (n or 0), y=2.0 + (n or 0)) for n in (None, 0, 1)]
    (axes,) = scatter.plot(frame(records), (), **STARTS, values=["x", "y"]).axes
    random, usual = axes.lines
    assert list(random.get_xdata()) == [1.0, 2.0]
    assert (list(usual.get_xdata()), list(usual.get_ydata())) == ([1.0], [2.0])


def test_experiment_heading(capsys):
    made_by = {"table": "npbench_papers.gasso.speedup:table", "options": {"base": "slow", "other": "fast"}}
    experiment = Experiment("demo", title="Speed", sweeps={}, paper="Them (2026)", note="Reduced: [x]", **made_by)
    print_experiment(experiment, frame([record("fast"), record("slow")]), Path())
    text = capsys.readouterr().out
    for expected in ("Speed\nThem (2026)\nReduced: [x]", "signed-rank test"):
        assert expected in text


def test_columns_of_numbers_are_right_aligned():
    console = Console(width=40, record=True)
    rows = [["0 words", Cell("1", 1)], ["b", Cell("-10", -10, "above")], ["c", MISSING]]
    show_sheet(Sheet("t", ["name", "x"], rows, ["A note [with brackets]."]), console)
    lines = ["", "t", "name       x", "0 words    1", "b        -10*", "c          -", "A note [with brackets]."]
    assert [line.rstrip() for line in console.export_text().splitlines()] == lines


def test_one_trace_row_per_iteration():
    texts = ['{"p_fa":[0.5,0.25],"seconds":[0,1]}', None, "{}", '{"objective":[3,null],"seconds":[1,2]}']
    found = traces(frame([record(key=key, trace=text) for key, text in zip("abcd", texts, strict=True)]))
    assert found.columns == ["key", "step", "p_fa", "seconds", "objective"]
    rows = [("a", 0, 0.5, 0.0, None), ("a", 1, 0.25, 1.0, None), ("d", 0, None, 1.0, 3.0), ("d", 1, None, 2.0, None)]
    assert found.rows() == rows
    assert traces(frame([record(trace=None)])).columns == ["key", "step"]
