"""Davenport's table against figures worked out by hand, by enumeration, or by NumPy and SciPy directly."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

import npbench_papers
import sample_records
from npbench.config.experiment import check
from npbench.evaluation.grids import grid_values
from npbench.report.stats.paired import median_interval
from npbench_papers.davenport import medians
from npbench_papers.davenport.strategies import settings, with_strategy
from sample_records import cells, frame

OPTIONS = {"strategies": ["bs", "gs", "cd"], "ratios": [["gs", "cd"]], "line": {}, "test_part": {}}
SEARCH = {"gamma": [0.5, 1], "nu_pos": [0.25, 0.5, 0.75, 1], "nu_neg": [0.25, 0.5, 0.75, 1]}


def record(strategy, repeat=0, **columns):
    about = {"key": f"{strategy}{repeat}", "solver": "two", "dataset": "heart", "test_part": "drawn", "repeat": repeat}
    asked = {"params": {"strategy": strategy, "tol": 0.1}, "search": SEARCH, "protocol_params": "{}"}
    cost = {"select_seconds": 3.0, "fit_seconds": 1.0, "n_candidates": 32, "n_unconverged": 0, "n_threads": 2}
    rates = {"rho": 0.1, "p_fa": 0.1, "p_nd": 0.2, "np_score": 0.2}
    return sample_records.record(**{**about, **asked, **cost, **rates, **columns})


def tables(records, printed=(), **options):
    return medians.table(frame(records), printed, **(OPTIONS | options))


@pytest.mark.parametrize("n", [6, 10, 25, 100])
def test_median_interval_by_order_statistics(n):
    low, high = median_interval(np.random.default_rng(n).permutation(n) + 1.0)
    below = [sum(math.comb(n, j) for j in range(k)) / 2**n for k in range(n)]  # P(Binomial(n, 1/2) < k)
    k = max(k for k in range(n) if below[k] <= 0.025)
    assert (low, high) == (k, n + 1 - k)


def test_median_interval_of_few_or_equal_values():
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is median_interval([]) is None
    assert median_interval([1.0] * 10) == (1.0, 1.0)


def test_scores_are_above_the_papers():
    scores = [0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 1.0, 0.5]
    records = [
        record("cd", n, np_score=s, p_fa=0.1 * (n % 2), p_fa_low=0.1 + 0.01 * (n < 3), n_candidates=6 + n)
        for n, s in enumerate(scores)
    ]
    records.append(record("cd", 10, status="timeout", np_score=None))
    printed = [{"dataset": "heart", "strategy": "cd", "p_fa": [0.1, 0.02], "np_score": 0.318, "seconds": 169}]
    sheet, *_ = tables(records, [*printed, {"strategy": "cd", "n_candidates": 7}])
    here, paper, apart = cells(sheet)
    assert sheet.title.startswith("heart, rho=0.1: ")
    p_fa, score = f"0.050±{0.05 * math.sqrt(10 / 9):.3f}", "0.550 [0.200, 0.900]"
    assert here.pop("verdict") == "no difference seen (10 pairs, 0.5)"  # sqrt(2) times .35
    assert list(here.values()) == ["cd", "here", p_fa, "0.200±0.000", score, "4", "10", "0.30", "10/11"]
    assert list(paper.values()) == ["", "paper", "0.100±0.020", "-", "0.318", "169", "7", "", "", ""]
    assert list(apart.values()) == ["", "here - paper", "-0.050", "-", "+0.232", "-165", "+3", "", "", ""]


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [(5.44, "differs: larger"), (5.46, "agrees"), (5.56, "differs: smaller"), (None, "-")],
)
def test_verdict_compares_median_with_paper(theirs, verdict):
    records = [record("cd", k, np_score=5.5 + 0.001 * (k - 4.5)) for k in range(10)]
    sheet, *_ = tables(records, [{"strategy": "cd", "np_score": theirs}])
    assert cells(sheet)[0]["verdict"] == verdict
    noisy = [record("cd", k, np_score=k + 1.0) for k in range(10)]  # limits of the median: 2 and 9
    sheet, *_ = tables(noisy, [{"strategy": "cd", "np_score": theirs}])
    assert cells(sheet)[0]["verdict"] == ("-" if theirs is None else "no difference seen (10 pairs, 5)")


def test_speed_ups_are_ratios_on_shared_splits():
    records = [record("gs", n, select_seconds=10.0 * n + 9.0) for n in range(7)]  # 10 to 70 with the fit
    records += [record("cd", n, select_seconds=1.0, n_candidates=16) for n in reversed(range(7))]  # 2 each
    records.append(record("gs", 8))  # without counterpart
    printed = [{"strategy": "gs", "seconds": 2801}, {"strategy": "cd", "seconds": 169}]
    speed = tables(records, printed, line={"nu_pos": 50})[1]
    (row,) = speed.texts
    assert row[:5] == ["heart", "0.1", "gs / cd", "7", "20.00 [5.00, 35.00]"]
    assert row[5:] == ["16.6", f"{2801 / 169 * 4 / 50:.1f}", "differs: larger (same side)", "2.0"]
    assert cells(tables(records, printed)[1])[0]["verdict"] == "no difference seen (7 pairs, 21)"  # 20 beside 16.6
    assert cells(tables(records)[1])[0]["verdict"] == "-"
    assert speed.notes[0] == "Timed on a; parallel jobs: 1, threads of each: 2."


def test_timing_notes_are_of_the_strategies_whose_seconds_are_compared():
    compared = [record(s, n) for s in ("gs", "cd") for n in range(2)]
    other = [record("bs", n, cpu="other", select_seconds=9.0, select_cpu_seconds=1.0) for n in range(2)]
    notes = tables(compared)[1].notes
    assert tables([*compared, *other])[1].notes == notes
    assert tables([*compared, *other], ratios=[["gs", "bs"]])[1].notes != notes


def test_origin_of_splits_is_noted_and_both_tie_rules_have_the_same_printed_value():
    records = [record("cd", 0, n_unconverged=3), record("cd", 1), record("cd", 2, test_part="published")]
    records.append(record("cd", 3, test_part=None))
    sheet, *_ = tables(records, test_part={"drawn": {"heart": "Not those of the paper.", "banana": "no"}})
    assert sheet.notes == [
        "Splits drawn (2 of 4 records). Not those of the paper.",
        "Splits published (1 of 4 records).",
        "3 fits of the selection missed their tolerance.",
    ]
    records = frame([record(s, n) for s in ("bbs", "bbs_narrow") for n in range(2)])
    printed = [{"strategy": "bbs", "np_score": 0.3}]
    sheet, *_ = medians.table(records, printed, **OPTIONS | {"strategies": ["bbs", "bbs_narrow"]})
    assert [row["np_score"] for row in cells(sheet) if row["numbers"] == "paper"] == ["0.300", "0.300"]


def test_settings_exclude_the_strategy_and_other_data_or_seeds_do_not_pair():
    records = [record(s, n) for s in ("gs", "cd") for n in (0, 1)]
    records += [record("cd", dataset="banana"), record("gs", rho=0.2, problem_params='{"rho":0.2}')]
    records += [record("cd", params='{"strategy":"cd","tol":0.2}'), record("cd", solver="other", params="{}")]
    found = {(one.name, one.rho): one.records for one in settings(frame(records), ())}
    names = [("banana", 0.1), ("heart tol=0.1", 0.1), ("heart tol=0.2", 0.1), ("heart tol=0.1", 0.2)]
    assert list(found) == names
    assert sorted(found[names[1]]["strategy"]) == ["cd", "cd", "gs", "gs"]
    for name, value in (("data_sha256", "e"), ("seed", 1)):
        (one,) = settings(frame([record("gs"), record("cd", **{name: value})]), ())
        assert [len(side) for side in one.by_split("np_score", ["gs", "cd"])] == [0, 0]


def test_nothing_to_compare_is_not_measured():
    *_, speed = tables([record("gs", n) for n in range(6)])
    assert cells(speed)[0]["verdict"] == "-"
    sheet, *_ = medians.table(frame([record("cd"), record("bs")]).drop("np_score"), (), **OPTIONS)
    assert {row["verdict"] for row in cells(sheet) if row["numbers"] == "here"} == {"-"}
    for records in (frame([record("cd", params="{}")]), frame([record("cd")]).clear()):
        (speed,) = medians.table(records, (), **OPTIONS)
        assert speed.texts == []
    assert with_strategy(frame([record("cd")]))["params"].to_list() == ['{"tol":0.1}']


def shipped(name):
    return yaml.safe_load((Path(npbench_papers.__file__).parent / "conf" / "experiment" / f"{name}.yaml").read_text())


def test_grids_are_the_papers():
    sweeps, reduced = (shipped(name)["sweeps"] for name in ("davenport_table1_full", "davenport_table1"))
    full, reduced = sweeps["strategies"], reduced["strategies"]
    assert sweeps["full_grids"].items() >= {key: full[key] for key in full if "search" in key}.items()
    gamma = np.sort(1 / (2 * np.geomspace(1e-4, 1e4, 50) ** 2))
    assert grid_values(full["solver.search.gamma"]) == pytest.approx(list(gamma))
    assert grid_values(reduced["solver.search.gamma"]) == pytest.approx(list(gamma[19:31:2]), rel=5e-3)
    for name in ("solver.search.nu_pos", "solver.search.nu_neg"):
        assert grid_values(full[name]) == [k / 50 for k in range(1, 51)]
        assert grid_values(reduced[name]) == [k / 16 for k in range(1, 17)]


def test_printed_table_is_complete():
    experiment = check("davenport_table1", shipped("davenport_table1"))
    sets = experiment.sweeps["strategies"]["dataset"].split(",")
    strategies = experiment.sweeps["strategies"]["solver.strategy"].split(",")
    assert experiment.options["strategies"] == strategies
    records = frame([record(s, dataset=d) for d in sets for s in strategies])
    printed = [row for row in experiment.printed if "claim" not in row]
    *sheets, speed = medians.table(records, printed, **experiment.options)
    assert [len(sheet.texts) for sheet in sheets] == [28] * 4
    for sheet in sheets:
        names = [row[0] for row in sheet.texts]
        unknown = {names[place - 1] for place, row in enumerate(sheet.texts) if row[1] == "paper" and "-" in row}
        assert unknown == {"wbs", "wbbs", "cd", "wcd"}  # no scores of the first two, and no candidates of the others
    ratios = {row["data"]: row["paper"] for row in cells(speed)}
    assert ratios == {"banana": "18.0", "breast_cancer": "17.2", "heart": "16.6", "thyroid": "16.3"}
