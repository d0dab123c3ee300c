"""Tables 1 and 2 and the curves of Figure 4 of Bach et al. from records written by hand, against loops and scipy."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import npbench_papers
from npbench.config.files import content
from npbench.records.reading import conformed
from npbench_papers import claims
from npbench_papers.bach import choices, roc_curves
from npbench_papers.bach.choices import PAIRS, TRAININGS, acceptance, compared, mismatch, table
from npbench_papers.verdicts import word
from sample_records import cells, record

TIES = {"tied_total": "smallest"}
GAMMAS = np.array([0.2, 0.5, 0.8])
ROOT = Path(__file__).parents[3]
BACH = ROOT / "results" / "published" / "bach" / "records"
EXPERIMENTS = Path(npbench_papers.__file__).parent / "conf" / "experiment"


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
    [
        *((97.0, "agrees"), (88.0, "agrees in direction"), (2.0, "differs: larger"), (100.0, "agrees")),
        *((52.5, "agrees in direction"), (52.0, "differs: larger (same side)")),  # from 5: 95 is twice 47.5
    ],
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
    sheet, _ = mismatch(records(traces), [])
    (one,) = compared(records(traces))
    row = cells(sheet)[0]
    assert row["asymmetry"] == row["trained"] == "0.500"
    for name, kind in (("one", 0), ("int", 1), ("own", 2)):
        others = 200 * one.cost[1:, kind, 1]
        assert row[name] == f"{others.mean():.2f}±{others.std(ddof=1):.2f}"
    assert row["all"] == row["gain"] == "-"  # no fits with this training asymmetry


def with_fits(traces, p_fa, p_nd=0.3):
    """Return records of all asymmetries, and of fits at 0.5 with the training asymmetry 0.8 of the first fold."""
    traces[0]["test_p_fa"][1] = 0.9  # of one, at 0.5
    traces[0]["train_asymmetry"][7] = 0.8  # of all, at 0.5
    about = {"n_samples": 100, "n_positive": 40, "n_features": 8, "problem_params": {"asymmetry": 0.5}}
    about["params"] = {"shift": None, "total": 2.0, "train_asymmetry": 0.8, **TIES}
    fits = [record(**about, key=f"fit {n}", repeat=n, p_fa=rate, p_nd=p_nd) for n, rate in enumerate(p_fa)]
    return pl.concat([records(traces), pl.DataFrame(fits)], how="diagonal_relaxed")


PRINTED = {"dataset": "pima", "asymmetry": 0.1, "train_asymmetry": 0.2}


@pytest.mark.parametrize(
    ("p_fa", "printed", "expected"),
    [
        ([0.9] * 6, 0, "differs: smaller"),  # a loss, where the paper has no gain
        ([0.0] * 6, 0, "differs: larger"),
        ([0.0] * 6, 90, "agrees in direction"),
        ([0.0] * 6, 20, "differs: larger"),  # same side, but more than twice as much
        ([0.0, 0.2, 0.3, 0.4, 0.5, 0.3], 90, "differs: smaller"),  # a gain that may be a loss
        ([0.0, 0.0, 0.0, 0.0, 0.9, 0.2], 40, "no difference seen"),
        ([0.0] * 5, 90, "not run"),  # a fold is missing
    ],
)
def test_gain_is_judged_with_its_noise_and_nothing_gained_is_no_direction(p_fa, printed, expected):
    traces = [fold(seed, (0.1, 0.05, 0.0)) for seed in range(6)]
    row = PRINTED | {"one": [50.0, 1.0], "all": [50.0 - printed / 2, 1.0]}
    sheet, _ = mismatch(with_fits(traces, p_fa), [row])
    ours, theirs = cells(sheet)
    assert word(ours["verdict"]) == expected
    assert theirs["gain"] == str(printed)
    unjudged, _ = mismatch(with_fits(traces, p_fa), [row | {"train_asymmetry": 0.1}])
    assert cells(unjudged)[0]["verdict"] == "-"  # trained with the testing asymmetry, it can gain nothing


def test_all_has_the_training_asymmetry_of_the_first_fold_on_every_other():
    traces, p_fa = [fold(seed, (0.1, 0.05, 0.0)) for seed in range(4)], [0.9, 0.1, 0.2, 0.3]
    sheet, _ = mismatch(with_fits(traces, p_fa, 0.25), [])
    costs = 200 * (0.5 * 0.4 * 0.25 + 0.5 * 0.6 * np.array(p_fa[1:]))
    row = cells(sheet)[0]
    assert row["all"] == f"{costs.mean():.2f}±{costs.std(ddof=1):.2f}"
    traces = [fold(seed) for seed in range(4)]  # nothing gains on the first fold
    row = cells(mismatch(records(traces), [])[0])[0]
    assert (row["all"], row["gain"]) == (row["one"], "0 [0, 0]")


def test_gain_at_extreme_asymmetries_has_limits_over_folds(monkeypatch):
    traces = [fold(seed, (0.1, 0.05, 0.0)) for seed in range(4)]
    for trace in traces:
        trace["train_asymmetry"][6:] = [0.5, 0.5, 0.9]  # of all: less extreme than 0.2, more than 0.8
    monkeypatch.setattr(choices, "EXTREME", 0.2 + 1e-9)
    _, sheet = mismatch(records(traces), [])
    low, high = cells(sheet)
    assert [row[f"{name} extreme"] for row in (low, high) for name in ("less", "more")] == ["100", "0", "0", "100"]
    gains = [200 * 0.8 * 0.6 * 0.1 * (1 + seed / 50) for seed in range(4)]
    assert [row["less of both"] for row in (low, high)] == ["100 [100, 100]", "0 [0, 0]"]
    ends = stats.t.interval(0.95, 3, np.mean(gains), stats.sem(gains))
    assert low["gain"] == "{:.2f} [{:.2f}, {:.2f}]".format(np.mean(gains), *ends)


def test_loss_is_where_all_is_significantly_worse_than_int():
    (sheet,) = table(records([fold(seed, (0.0, 0.0, 0.1)) for seed in range(10)]), [])
    (one,) = compared(records([fold(seed, (0.0, 0.0, 0.1)) for seed in range(10)]))
    row = cells(sheet)[0]
    assert row["all>int"] == "100.0"
    assert row["loss"] == f"{100 * (one.cost[:, 2].sum() / one.cost[:, 1].sum() - 1):.1f}"
    (sheet,) = table(records([fold(seed) for seed in range(10)]), [])
    assert cells(sheet)[0]["loss"] == "-"


def test_asymmetries_of_table_2_are_those_of_the_largest_gain_in_the_records_of_table_1():
    stored = pl.read_parquet(BACH / "bach_table1.parquet")
    found = {}
    for one in compared(stored.filter(pl.col("params").str.contains('"total":2,', literal=True))):
        gain = one.cost[0, 0] - one.cost[0, 2]
        if gain.max() > 0:
            place = np.argmax(gain)
            found[one.about["dataset"]] = (one.asymmetry[place], one.train_asymmetry[0, 2, place])
    sweeps = content(EXPERIMENTS / "bach_table2.yaml")["sweeps"]
    given = {
        one["dataset"]: (one["problem.asymmetry"], one["solver.train_asymmetry"]) for one in sweeps.values() if one
    }
    assert given == found


def test_all_equals_one_only_where_it_is_trained_with_the_testing_asymmetry():
    """As the columns int and all are printed, six data sets contradict this."""
    printed = [row for row in content(EXPERIMENTS / "bach_table2.yaml")["printed"] if "claim" not in row]
    assert len(printed) == 11
    for row in printed:
        assert (row["all"] == row["one"]) == (row["train_asymmetry"] == row["asymmetry"])
    assert sum(row["int"] == row["one"] != row["all"] for row in printed) == 6


def claims_of(name, key):
    """Return the claims of an experiment that have a key."""
    return [row for row in content(EXPERIMENTS / f"{name}.yaml")["printed"] if key in row and "claim" in row]


def lines_over_fits():
    """Return how many single fits by LIBSVM a line of all asymmetries takes, from the stored speeds."""
    timed = json.loads((ROOT / "results" / "published" / "speed" / "ratios.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in timed if row["peer"] == "SVC (LIBSVM) at 100 of them"]
    return {row["size"].removeprefix("n=800 "): 100 * row["ours"] / row["theirs"] for row in rows}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bach_figure4", ["differs: larger", "differs", "differs: smaller"]),
        ("bach_table2", ["differs: larger", "agrees in direction", "agrees"]),
    ],
)
def test_claims_on_speed_are_judged_by_the_stored_ones(name, expected):
    (claim,) = (row for row in claims_of(name, "values") if "ratios.json" in row["measure"])
    assert claim["values"] == pytest.approx(lines_over_fits(), rel=0.005)
    words = []
    for factor in (1, 0.08, 0.001):
        faster = claim | {"values": {case: factor * value for case, value in lines_over_fits().items()}}
        (found,) = claims.judged(pl.DataFrame(), [faster], [])
        words.append(found.verdict)
    assert words == expected


def test_kinks_are_linear_in_the_samples_if_their_ratio_does_not_grow():
    (claim,) = (row for row in claims_of("bach_table1", "minus") if row.get("measure") == "n_iter")
    stored = conformed(pl.read_parquet(BACH / "bach_table1.parquet"))
    quadratic = pl.col("n_iter") * pl.col("n_samples") // 300
    for records, expected in ((stored, "agrees"), (stored.with_columns(n_iter=quadratic), "differs: larger")):
        (found,) = claims.judged(records, [claim], [])
        assert found.verdict == expected


def settings_of(traces, shifted):
    """Return records of choices that may keep "one", and of forced ones that make more false alarms."""
    kept, forced = ({"params": {"total": 2.0, "level": level, **TIES}} for level in (0.05, 1))
    return pl.concat([records(traces, **kept), records(shifted, **forced)])


@pytest.mark.parametrize(
    ("more", "expected"), [(0.1, ["agrees", "agrees"]), (0.0, ["differs"] * 2), (-0.1, ["differs: smaller"] * 2)]
)
def test_forced_choices_are_compared_with_kept_ones_on_the_same_fold(more, expected):
    plain = [fold(seed) for seed in range(6)]
    *_, sheet = choices.forced(settings_of(plain, [fold(seed, (0.0, 0.0, more)) for seed in range(6)]), [])
    alone, mean = cells(sheet)
    gains = [200 * 0.6 * more * (1 + seed / 50) * np.mean(1 - GAMMAS) for seed in range(6)]
    assert alone["all"].startswith(f"{np.mean(gains) + 0.0:.3f} [")
    assert (alone["int"], mean["all"]) == ("0.000 [0.000, 0.000]", alone["all"])
    asked = [row for row in claims_of("bach_table1_forced", "where") if row["column"] != "int"]
    asked = [row | {"where": {"data": row["where"]["data"], "C_pos + C_neg": "2"}} for row in (asked[0], asked[-1])]
    asked[1]["where"]["data"] = alone["data"]
    assert [found.verdict for found in claims.judged(pl.DataFrame(), asked, [sheet])] == expected


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
    sheet, _ = roc_curves.table(records([*traces, None]), [])
    assert sheet.texts == [
        ["by intercept", "0.300±0.141"],
        ["by asymmetry", "0.300±0.141"],
        ["by both", "0.100±0.000"],
    ]
    assert "2 of 3 splits" in sheet.title


def test_curves_are_compared_at_all_rates():
    """By asymmetry, misses are 0.6 up to a rate of 0.5, and 0 from there; by intercept, they fall evenly."""
    trace = trace_of([(0.0, 0.6), (0.495, 0.6), (0.5, 0.0)], [], [(0.0, 0.6), (0.5, 0.0)])
    _, sheet = roc_curves.table(records([trace, trace]), [])
    rows = {row["curves"]: row for row in cells(sheet)}
    assert rows["by asymmetry - by intercept"]["above 0 at"] == "19 of 201"  # from 0.405 to 0.495
    assert rows["by asymmetry - by intercept"]["below 0 at"] == "180 of 201"
    assert rows["by both - by asymmetry"]["above 0 at"] == "0 of 201"
    assert rows["by asymmetry - its hull"]["largest"] == f"{0.6 * 0.99:.3f}"
    assert rows["by asymmetry - its hull"]["below 0 at"] == "0 of 201"
    assert len(roc_curves.table(records([None]), [])) == 1


@pytest.mark.parametrize("traces", [[fold()], [None], []])
def test_figure_of_any_records(traces):
    frame = records(traces) if traces else records([None]).clear()
    drawing = roc_curves.figure(frame, [])
    assert len(drawing.axes[0].lines) == (3 if traces and traces[0] else 0)
