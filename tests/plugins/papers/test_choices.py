"""Tables 1 and 2 and the curves of Figure 4 of Bach et al. from records written by hand, against loops and scipy."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from npbench_papers.bach import roc_curves
from npbench_papers.bach.choices import PAIRS, TRAININGS, acceptance, compared, mismatch, table
from npbench_papers.verdicts import word
from sample_records import cells, record

TIES = {"tied_total": "smallest"}
GAMMAS = np.array([0.2, 0.5, 0.8])


def fold(seed=0, shift=(0.0, 0.0, 0.0)):
    """Return a trace: for each kind and asymmetry, rates that are ``shift`` above random ones shared by the kinds."""
    shared = np.random.default_rng(seed).uniform(0.2, 0.4, (2, len(GAMMAS)))
    kind = np.repeat(range(3), 3)
    columns = {"asymmetry": np.tile(GAMMAS, 3), "kind": kind, "train_asymmetry": np.tile(GAMMAS, 3) + kind * seed / 100}
    columns["test_p_fa"] = np.tile(shared[0], 3) + np.repeat(shift, 3) * (1 + seed / 50)
    columns["test_p_nd"] = np.tile(shared[1], 3)
    return {name: column.tolist() for name, column in columns.items()}


def records(traces, total=2.0, **columns):
    about = {"params": {"total": total, **TIES}, "n_samples": 100, "n_positive": 40, "n_features": 8, **columns}
    rows = [record(**about, key=str(repeat), repeat=repeat, trace=trace) for repeat, trace in enumerate(traces)]
    return pl.DataFrame(rows, schema_overrides={"trace": pl.String})


def test_costs_from_rates_and_shares_in_any_order_of_stages():
    trace, order = fold(1, (0.1, 0.0, 0.2)), np.random.default_rng(0).permutation(9)
    mixed = {name: np.array(column)[order].tolist() for name, column in trace.items()}
    (one,) = compared(records([fold(0), mixed, fold(2)]))
    assert one.asymmetry.tolist() == GAMMAS.tolist()
    assert one.cost.shape == one.train_asymmetry.shape == (3, 3, 3)
    p_fa, p_nd = (np.reshape(trace[f"test_{rate}"], (3, 3)) for rate in ("p_fa", "p_nd"))
    np.testing.assert_allclose(one.cost[1], GAMMAS * 0.4 * p_nd + (1 - GAMMAS) * 0.6 * p_fa)


def test_acceptance_matches_scipy():
    cost = np.random.default_rng(0).normal(size=(10, 3, 60)) + np.array([0.5, 0.0, -0.2])[:, None]
    found = acceptance(cost)
    for pair, share in zip(PAIRS, found, strict=True):
        more, less = (TRAININGS.index(kind) for kind in pair.split(">"))
        p = [stats.wilcoxon(row, alternative="greater").pvalue for row in (cost[:, more] - cost[:, less]).T]
        assert share == pytest.approx(np.mean(np.array(p) <= 0.05))
    assert found[0] > 0.2 > found[1]


@pytest.mark.parametrize(
    ("shift", "expected"), [((0.1, 0.1, 0.0), "all"), ((0.0, 0.0, 0.1), "one"), ((0.0, 0.0, 0.0), "neither")]
)
def test_cheaper_kind_is_ahead(shift, expected):
    (sheet,) = table(records([fold(seed, shift) for seed in range(10)]), [])
    row = cells(sheet)[0]
    assert row["ahead"] == expected
    assert row["folds"] == "10/10"
    assert row["one>all"] == ("100.0" if expected == "all" else "0.0")
    assert row["verdict"] == "-"


@pytest.mark.parametrize(
    ("paper", "expected"),
    [(97.0, "agrees"), (88.0, "agrees in direction"), (2.0, "differs: larger"), (100.0, "agrees")],
)
def test_verdict_is_on_the_difference(paper, expected):
    """At 2 % of the asymmetries neither is ahead."""
    printed = [{"dataset": "pima", **dict.fromkeys(PAIRS, 0.0), "one>all": paper}]
    (sheet,) = table(records([fold(seed, (0.1, 0.1, 0.0)) for seed in range(10)]), printed)
    ours, theirs = cells(sheet)
    assert ours["verdict"] == expected
    assert theirs["one>all"] == f"{paper:.1f}"
    assert theirs["ahead"] == ("all" if paper > 5 else "neither")


def test_unusable_folds_are_left_out_and_settings_are_beside_each_other():
    traces = [fold(0), None, fold(2), {}]
    frame = pl.concat([records(traces), records([fold(4)], status="failed").with_columns(repeat=pl.lit(4, pl.Int64))])
    (sheet,) = table(frame, [])
    assert cells(sheet)[0]["folds"] == "2/5"
    (nothing,) = table(records([None]), [])
    assert cells(nothing)[0]["one>all"] == "-"
    assert cells(mismatch(records([None]), [])[0])[0]["one"] == "-"
    explored = records([fold(1)], total=None).with_columns(key=pl.lit("other"))
    (sheet,) = table(pl.concat([records([fold(0)]), explored]), [])
    assert [row["C_pos + C_neg"] for row in cells(sheet)] == ["2", "explored, smallest of ties", "paper"]


def test_asymmetry_is_chosen_on_first_fold():
    traces = [fold(seed, (0.1, 0.05, 0.0)) for seed in range(4)]
    traces[0]["test_p_fa"][1] = 0.9  # of one, at 0.5
    (sheet,) = mismatch(records(traces), [])
    (one,) = compared(records(traces))
    row = cells(sheet)[0]
    assert row["asymmetry"] == "0.500"
    others = 200 * one.cost[1:, 0, 1]
    assert row["as trained on fold 1"] == row["one"]  # the first fold trains "all" as "one"
    assert row["one"] == f"{others.mean():.2f}±{others.std(ddof=1):.2f}"
    assert row["trained"] == "0.500"
    assert row["trained on the others"] == "0.540 [0.520, 0.560]"


@pytest.mark.parametrize(
    ("p_fa", "printed", "expected"),
    [
        ([0.9] * 5, 0.0, "differs: smaller"),  # a loss, where the paper has no gain
        ([0.0] * 5, 0.0, "differs: larger"),
        ([0.0] * 5, 60.0, "agrees in direction"),
        ([0.0, 0.0, 0.0, 0.9, 0.2], 60.0, "differs: smaller"),  # a gain that may be a loss
        ([0.0, 0.0, 0.0, 0.9, 0.2], 20.0, "no difference seen"),
    ],
)
def test_gain_is_judged_with_its_noise_and_nothing_gained_is_no_direction(p_fa, printed, expected):
    traces = [fold(seed, (0.1, 0.05, 0.0)) for seed in range(6)]
    traces[0]["test_p_fa"][1] = 0.9  # of one, at 0.5
    traces[0]["train_asymmetry"][7] = 0.8  # of all, at 0.5
    for trace, rate in zip(traces[1:], p_fa, strict=True):
        trace["test_p_fa"][2] = rate  # of one, trained at 0.8
    (sheet,) = mismatch(records(traces), [{"dataset": "pima", "one": [9.0 + printed, 1.0], "all": [9.0, 1.0]}])
    assert word(cells(sheet)[0]["verdict"]) == expected


def trace_of(*curves):
    """Return a trace of (P_fa, P_nd) at the points of each kind's curve."""
    rows = [(kind, *point) for kind, curve in enumerate(curves) for point in curve]
    return dict(zip(("kind", "test_p_fa", "test_p_nd"), zip(*rows, strict=True), strict=True))


def test_curves_are_interpolated_and_averaged_in_a_table(monkeypatch):
    trace = trace_of([(0.2, 0.9), (0.2, 0.4)], [(0.0, 0.5), (1.0, 0.0)], [])
    found = roc_curves.averaged(records([trace, trace]), np.array([0.0, 0.1, 0.6]))
    np.testing.assert_allclose(found["by asymmetry"], [[1.0, 0.7, 0.2]] * 2)
    np.testing.assert_allclose(found["by intercept"], [[0.5, 0.45, 0.2]] * 2)
    np.testing.assert_allclose(found["by both"], [[1.0, 0.9, 0.4]] * 2)
    monkeypatch.setattr(roc_curves, "TABLE_P_FA", np.array([0.1]))
    traces = [trace_of([(0.1, x)], [(0.1, x)], [(0.1, 0.1)]) for x in (0.2, 0.4)]
    (sheet,) = roc_curves.table(records([*traces, None]), [])
    assert sheet.texts == [
        ["by intercept", "0.300±0.141", "0 of 1"],
        ["by asymmetry", "0.300±0.141", "0 of 1"],
        ["by both", "0.100±0.000", "1 of 1"],
    ]
    assert "2 of 3 splits" in sheet.title


@pytest.mark.parametrize("traces", [[fold()], [None], []])
def test_figure_of_any_records(traces):
    frame = records(traces) if traces else records([None]).clear()
    drawing = roc_curves.figure(frame, [])
    assert len(drawing.axes[0].lines) == (3 if traces and traces[0] else 0)
