"""Standings from made-up records, computed by hand."""

import dataclasses
import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from npbench.data import BinaryData
from npbench.evaluation.protocols import CrossValidation
from npbench.numerics.thresholds import RULES
from npbench.records.reading import conformed
from npbench_benchmark.charts import charts
from npbench_benchmark.leaderboard import SURPRISING, Setting, by_dataset, np_scores, pareto, table
from npbench_benchmark.promises import Promise, expected, false_alarms, share_tested, tails
from npbench_benchmark.tables import places, tables
from sample_records import cells, record
from sample_records import frame as as_frame

SIZE = {"n_samples": 768, "n_features": 8, "n_positive": 268, "n_test_positive": 134}
SCORER = "scorer estimator=sgd threshold=empirical"
UMBRELLA = {"delta": 0.05, "estimator": "sgd", "threshold": "umbrella"}
EMPIRICAL = {**UMBRELLA, "threshold": "empirical"}  # promises as little as gen


def result(solver, dataset, repeat, p_fa, p_nd, status="ok", seconds=1.0, solver_status="", **columns):
    measured = {"p_fa": p_fa, "p_nd": p_nd, "np_score": p_nd + max(0.0, p_fa - 0.1) / 0.1}
    measured |= dict.fromkeys(["select_cpu_seconds", "fit_cpu_seconds"], seconds / 2)
    about = {"solver": solver, "dataset": dataset, "repeat": repeat, "status": status, "solver_status": solver_status}
    found = measured if status == "ok" else dict.fromkeys(measured)
    return record(**SIZE, **about, rho=0.1, seconds=seconds, **found, **columns)


def frame(records):
    return conformed(as_frame(records))


def standings(records):
    return [one for league in Setting("", records).leagues for one in [*league.standings, *league.broken]]


RECORDS = [
    result("gen", "pima", 0, 0.05, 0.2),
    result("gen", "pima", 1, 0.15, 0.2),  # above rho: scores 0.7
    result("gen", "heart", 0, 0.1, 0.4, seconds=4.0),
    result("gen", "heart", 1, 0.1, 0.2, seconds=4.0),
    *(result("scorer", "pima", n, 0.0, 0.5, params=EMPIRICAL) for n in (0, 1)),
    result("scorer", "heart", 0, 0.0, 0.1, params=EMPIRICAL),
    result("scorer", "heart", 1, 0.0, 0.0, "timeout", 100.0, params=EMPIRICAL),
]
DATA = ("pima", "heart")
NEWCOMER = [result("np_svm", name, repeat, 0.1, 0.1) for name in ("pima", "heart") for repeat in (0, 1)]


def score(rates, misses, n_test=250):
    """The score of one data set: misses, and the mean excess of a normal rate whose variance is beyond the noise."""
    rates = np.array(rates)
    noise = np.mean(rates) * (1 - np.mean(rates)) / n_test
    spread = math.sqrt(max(1e-18, np.var(rates, ddof=1) - noise))
    return min(1.0, np.mean(misses) + norm(np.mean(rates) - 0.1, spread).expect(lambda x: x, lb=0) / 0.1)


def test_by_hand():
    gen, scorer = standings(frame(RECORDS))
    assert (gen.label, gen.n_jobs, gen.n_good, gen.above, gen.promise, gen.verdict) == ("gen", 4, 4, 1, "none", "")
    assert gen.p_nd == pytest.approx(0.25)
    assert gen.score == pytest.approx((score([0.05, 0.15], [0.2, 0.2]) + 0.3) / 2)
    assert (gen.seconds, gen.most_alarms) == (pytest.approx(2.0), pytest.approx(1.5))
    assert (gen.rank, gen.is_efficient, gen.place) == (1.0, True, 1)
    assert (scorer.label, scorer.n_good, scorer.above, scorer.promise) == (SCORER, 3, 0, "none")
    # the lost job accepts nothing, in each column
    assert scorer.p_nd == scorer.score == pytest.approx((0.5 + (0.1 + 1.0) / 2) / 2)
    assert (scorer.p_fa, scorer.share, scorer.p_nd_common) == (0.0, 0.0, pytest.approx(0.5))
    assert gen.p_nd_common == pytest.approx(0.2)  # on pima: heart has a job without an answer
    assert scorer.seconds == pytest.approx(math.sqrt(1.0 * 10.0))
    assert (scorer.rank, scorer.is_efficient) == (2.0, False)


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_the_score_is_that_of_endless_test_parts(spread):
    """The noise of a test part is not an excess, the spread of true rates is."""
    random = np.random.default_rng(0)
    true = np.clip(random.normal(0.1, spread, (2000, 5)), 0, 1)
    seen = random.binomial(250, true) / 250
    variance = seen.var(axis=1, ddof=1) - seen.mean(axis=1) * (1 - seen.mean(axis=1)) / 250
    found = pl.DataFrame({"p_nd": 0.3, "p_fa": seen.mean(axis=1), "rho": 0.1, "variance": variance, "n_test": 250})
    endless = np.mean(0.3 + np.maximum(0, true - 0.1) / 0.1)
    each = np.mean(0.3 + np.maximum(0, seen - 0.1) / 0.1)
    assert abs(np.mean(np_scores(found)) - endless) < 0.7 * abs(each - endless)
    assert np.max(np_scores(found.with_columns(p_fa=0.9))) == 1.0
    of_one_split = found.head(1).with_columns(p_fa=0.1, variance=None)
    assert np_scores(of_one_split).tolist() == [0.3]  # a rate of rho is no excess


FOREST = {"estimator": "sklearn.ensemble.RandomForestClassifier"}


@pytest.mark.parametrize(
    ("params", "rules", "promise"),
    [
        ({}, ["umbrella", "umbrella"], "guaranteed"),
        ({"threshold": "average"}, ["average", "average"], "on average"),
        ({"threshold": "empirical"}, ["empirical", "empirical"], "none"),
        ({"n_splits": 5}, ["umbrella", "umbrella"], "measured"),  # a majority decides
        ({"cv": 4, **FOREST}, ["umbrella", "umbrella"], "measured"),  # scores of other classifiers
        ({"cv": "oob", **FOREST}, ["umbrella", "umbrella"], "measured"),
        ({"cv": 4, "threshold": "empirical", **FOREST}, ["empirical", "empirical"], "none"),
        ({"cv": 4}, ["umbrella", "umbrella"], "none"),  # each fold has its own zero
        ({"threshold": "auto"}, ["umbrella", "umbrella"], "guaranteed"),
        ({"threshold": "auto"}, ["umbrella", "empirical"], "none"),  # too few negatives for the umbrella
        ({"delta": None}, ["umbrella", "umbrella"], "none"),  # a solver of its own
    ],
)
def test_what_a_threshold_promises(params, rules, promise):
    params = {**UMBRELLA, **params}
    made = [result("scorer", "pima", n, 0.1, 0.1, params=params, solver_status=rule) for n, rule in enumerate(rules)]
    (one,) = standings(frame(made))
    assert one.promise == promise
    if params == UMBRELLA:
        assert f"promise: {promise}" in tables(frame(made), [])[0].title


@pytest.mark.parametrize(
    ("more", "n_calibration", "accepted"),
    [
        ({"calibration_size": 0.3}, 75, 2),
        ({"calibration_size": 0.5}, 125, 6),
        ({"calibration_size": "aligned"}, 116, 6),  # the least that allows six
        ({"calibration_size": 0.5, "threshold": "average"}, 125, 11),  # 12 / 126 < .1
        ({"calibration_size": 0.5, "cv": "oob", **FOREST}, 250, 16),  # all
    ],
)
def test_what_a_promise_allows(more, n_calibration, accepted):
    """Of 500 negatives, 250 are in the test part."""
    rule = more.get("threshold", "umbrella")
    if rule == "umbrella":  # as defined
        assert binom.cdf(accepted, n_calibration, 0.1) <= 0.05 < binom.cdf(accepted + 1, n_calibration, 0.1)
    params = {**UMBRELLA, **more}
    records = [result("scorer", "pima", n, 0.0, 0.5, params=params, solver_status=rule) for n in range(2)]
    (one,) = standings(frame(records))
    assert one.allowed == pytest.approx(false_alarms(n_calibration, accepted, 250).sf(25))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rule", ["umbrella", "average"])
@pytest.mark.parametrize("randomized", [False, True])
@pytest.mark.parametrize(("n", "n_test", "rho", "delta"), [(60, 120, 0.05, 0.05), (300, 100, 0.1, 0.2)])
def test_promises_that_are_kept_seem_broken_on_some_test_parts(rule, randomized, n, n_test, rho, delta):
    draws, rng, coin = 5000, np.random.default_rng(0), np.random.RandomState(0)
    set_on = [rng.random(n) for _ in range(draws)]
    thresholds = [RULES[rule].threshold(one, rho, delta, coin if randomized else None) for one in set_on]
    rates = rng.binomial(n_test, 1 - np.array(thresholds)) / n_test
    sizes = {"rho": rho, "n_samples": 2 * (n + n_test), "n_positive": n + n_test, "n_test_positive": n_test}
    promise = Promise("guaranteed", rule, delta, 1.0, randomized)
    share, noise = expected(promise, [sizes])
    assert abs(np.mean(rates > rho + 1e-9) - share) <= 4 * np.sqrt(share / draws)
    assert np.std(rates) == pytest.approx(noise, rel=0.06)


@pytest.mark.parametrize(("rate", "verdict"), [(0.09, "kept"), (0.104, "kept within noise"), (0.13, "exceeded")])
def test_a_promise_on_average_is_judged_by_the_mean(rate, verdict):
    params = {**UMBRELLA, "threshold": "average", "calibration_size": 0.5}
    (one,) = standings(frame(result("scorer", "pima", n, rate, 0.5, params=params) for n in range(10)))
    assert (one.verdict, one.p_fa) == (verdict, pytest.approx(rate))


def test_the_mean_rate_that_is_shown_is_the_one_that_is_judged():
    params = {**UMBRELLA, "threshold": "average", "calibration_size": 0.5}
    often = [result("scorer", "pima", n, 0.101, 0.5, params=params) for n in range(5)]
    (one,) = standings(frame([*often, result("scorer", "heart", 0, 0.05, 0.5, params=params)]))
    assert (one.verdict, one.p_fa) == ("kept", pytest.approx(0.0925))
    (other,) = standings(frame([*often, result("scorer", "heart", 0, 0.096, 0.5, params=params)]))
    # the mean over data sets is below rho
    assert (other.verdict, other.p_fa) == ("kept within noise", pytest.approx((5 * 0.101 + 0.096) / 6))


def test_the_mean_rate_is_named_where_it_breaks_a_promise():
    params = {**UMBRELLA, "threshold": "average", "calibration_size": 0.5}
    records = frame(result("scorer", "pima", n, 0.13, 0.5, params=params) for n in range(10))
    (note,) = [note for note in tables(records, [])[0].notes if note.startswith("Left out")]
    assert "mean P_fa 0.1300" in note


def test_a_method_without_any_answer_keeps_its_league():
    auto = {**UMBRELLA, "threshold": "auto"}
    lost = [result("scorer", "pima", n, 0.0, 0.0, "timeout", params=auto) for n in (0, 1)]
    (one,) = standings(frame(lost))
    assert (one.promise, one.verdict, one.p_nd) == ("guaranteed", "not measured", 1.0)


def test_of_equal_ranks_the_better_comes_first_then_the_faster():
    """Each wins a data set; heart has the larger difference."""
    misses = {"gen": (0.2, 0.4), "np_svm": (0.3, 0.1)}
    made = [
        result(name, data, 0, 0.0, p_nd) for name, two in misses.items() for data, p_nd in zip(DATA, two, strict=True)
    ]
    assert [(one.label, one.rank) for one in standings(frame(made))] == [("np_svm", 1.5), ("gen", 1.5)]
    alike = [result(name, "pima", 0, 0.0, 0.2, seconds=2.0 if name == "gen" else 1.0) for name in misses]
    assert [one.label for one in standings(frame(alike))] == ["np_svm", "gen"]


def test_few_data_sets_have_no_note_on_what_would_separate_methods():
    for n, n_notes in ((5, 0), (6, 1)):
        made = [
            result(name, f"d{k}", 0, 0.0, 0.1 + 0.1 * (name == "gen") * (k > 0))
            for k in range(n)
            for name in ("gen", "np_svm")
        ]
        notes = tables(frame(made), [])[0].notes
        assert sum(note.startswith("Data sets that would separate") for note in notes) == n_notes


def test_unlike_promises_have_rankings_of_their_own():
    umbrella = [{**one, "key": f"u{n}"} for n, one in enumerate(RECORDS)]
    umbrella = [dict(one, params=json.dumps(UMBRELLA)) for one in umbrella if one["solver"] == "scorer"]
    apart = standings(frame([*RECORDS, *umbrella]))
    assert [(one.promise, one.place, one.rank) for one in apart] == [
        ("guaranteed", 1, 1.0),
        ("none", 1, 1.0),
        ("none", 2, 2.0),
    ]
    sheets = tables(frame([*RECORDS, *umbrella]), [])
    assert [len(sheet.rows) for sheet in sheets if ": ranking" in sheet.title] == [1, 2]
    (sheet,) = places(frame([*RECORDS, *umbrella]), ["u4"])
    assert [row["place"] for row in cells(sheet)] == ["1 of 1"]


def test_a_promise_is_ranked_by_misses_and_none_by_score():
    """The second misses less and has more false alarms, which a kept promise allows."""
    few, many = (
        [result(solver, name, n, rate, misses, params=params) for name in ("pima", "heart") for n in range(5)]
        for solver, rate, misses, params in (
            ("scorer", 0.02, 0.3, UMBRELLA),
            ("scorer", 0.1, 0.25, {**UMBRELLA, "delta": 0.1}),
        )
    )
    first, second = standings(frame([*few, *many]))
    assert (first.p_nd, first.place, second.place) == (0.25, 1, 2)
    bold = [result("uzawa", name, n, 0.2, 0.1) for name in ("pima", "heart") for n in range(5)]
    timid = [result("gen", name, n, 0.05, 0.3) for name in ("pima", "heart") for n in range(5)]
    assert [one.label for one in standings(frame([*bold, *timid]))] == ["gen", "uzawa"]


def test_values_that_are_equal_up_to_rounding_are_ties():
    for apart, ranks in ((1e-10, [1.5, 1.5]), (1e-4, [1.0, 2.0])):
        pairs = [
            result(solver, name, 0, 0.05, misses, params=UMBRELLA if solver == "gen" else {**UMBRELLA, "delta": 0.1})
            for name in ("pima", "heart")
            for solver, misses in (("gen", 0.3), ("scorer", 0.3 + apart))
        ]
        assert [one.rank for one in standings(frame(pairs))] == ranks


def test_a_broken_promise_leaves_its_league():
    kept = [result("scorer", "pima", n, 0.05, 0.5, params=UMBRELLA) for n in range(10)]
    broken = [result("scorer", "pima", n, 0.3, 0.1, params={**UMBRELLA, "delta": 0.1}) for n in range(10)]
    (league,) = Setting("", frame([*kept, *broken])).leagues
    assert [one.p_nd for one in league.standings] == [0.5]
    assert [(one.verdict, one.rank, one.place) for one in league.broken] == [("exceeded", 0, 0)]
    ranking, *sheets = tables(frame([*kept, *broken]), [])
    assert len(ranking.rows) == 1
    verdicts = [
        (row["verdict"], row["place"]) for row in cells(sheet_of(sheets, "leaderboard")) if row["kind of data"] == "all"
    ]
    assert verdicts == [("kept", "1"), ("exceeded", "-")]
    assert any(league.broken[0].label in note for note in ranking.notes)
    keys = frame(broken)["key"].to_list()
    (sheet,) = places(frame([*kept, *({**one, "key": f"b{n}"} for n, one in enumerate(broken))]), ["b3"])
    assert keys
    assert cells(sheet)[-1]["place"] == "-"


MEASURED = {**UMBRELLA, **FOREST, "cv": "oob"}


def at_one_percent(rates, misses=0.3, **params):
    """Return records at rho = .01 of a method, with 2500 negatives in each test part and as many for the threshold."""
    made = [result("scorer", f"d{n}", 0, rate, misses, params={**MEASURED, **params}) for n, rate in enumerate(rates)]
    return [{**one, "n_samples": 5268, "rho": 0.01, "problem_params": '{"rho":0.01}'} for one in made]


@pytest.mark.parametrize(("worst", "verdict"), [(0.013, "kept within noise"), (0.3, "exceeded")])
def test_one_test_part_far_above_rho_breaks_a_promise(worst, verdict):
    records = at_one_percent([worst, *[0.013] * 3, *[0.005] * 22])
    others = at_one_percent([0.005] * 26, misses=0.2, delta=0.1)
    (league,) = Setting("", frame([*others, *records])).leagues
    one = league.methods[-1]
    assert (one.promise, one.n_jobs, one.above, one.verdict) == ("measured", 26, 4, verdict)
    assert one.worst == pytest.approx(worst / 0.01)
    assert (one in league.broken) == (verdict == "exceeded")
    notes = [note for note in tables(frame([*others, *records]), [])[0].notes if note.startswith("Left out")]
    assert ["30.00" in note for note in notes] == [True] * len(league.broken)


def test_test_parts_of_unknown_sizes_are_no_surprise():
    (one,) = standings(frame(at_one_percent([0.3, *[0.005] * 25], cv=None, calibration_size=None)))
    assert (one.promise, one.verdict) == ("guaranteed", "kept")


@pytest.mark.parametrize(("rule", "n_test"), [("umbrella", 300), ("average", 90)])
def test_methods_that_keep_their_promise_rarely_leave_by_one_test_part(rule, n_test):
    n_leagues, n_parts, n, rho = 600, 260, 300, 0.1
    sizes = {"rho": rho, "n_samples": 2 * (n + n_test), "n_positive": n + n_test, "n_test_positive": n_test}
    rng, accepted = np.random.default_rng(0), RULES[rule].accepted(n, rho, 0.05)
    true = rng.beta(accepted + 1, n - accepted, (n_leagues, n_parts))
    rates = rng.binomial(n_test, true) / n_test
    parts = tails(Promise("measured", rule, 0.05, 1.0), [sizes] * rates.size, rates.ravel().tolist())
    least = np.array([tail for tail, _ in parts]).reshape(rates.shape).min(axis=1)
    assert 0 < np.mean(least * n_parts < SURPRISING) <= SURPRISING


@pytest.mark.parametrize(
    "odd",
    [
        *({"calibration_size": size} for size in ([1], math.nan, 7.0)),
        *({"delta": delta} for delta in (0.0, math.nan, [1])),
        *({"n_splits": n} for n in ("x", None, [2])),
        {"threshold": ["x"]},
        {"randomized": [1]},
    ],
)
def test_odd_parameters_of_a_stranger_harm_no_table(odd):
    made = [result("scorer", "pima", 0, 0.05, 0.5, params={**UMBRELLA, **odd}), *RECORDS]
    assert tables(frame(made), [])


@pytest.mark.parametrize(
    "roc", ["x", "[1]", '["a"]', "{}", "[" * 5000, "null", "[" + "null," * 90 + "1]", str([10**400] * 90)]
)
def test_odd_curves_of_a_stranger_have_no_misses_at_rho(roc):
    odd = result("scorer", "pima", 0, 0.05, 0.5, params=UMBRELLA, roc=roc)
    (found,) = by_dataset(frame([odd]))["at_rho"]
    assert found is None
    assert tables(frame([odd, *RECORDS]), [])


def test_a_record_without_positives_harms_no_table():
    odd = {**result("scorer", "pima", 0, 0.05, 0.5, params=UMBRELLA), "n_positive": 0, "n_test_positive": 0}
    assert tables(frame([odd, *RECORDS]), [])


def test_a_job_without_a_score_is_lost():
    for value in (math.nan, math.inf, None):
        odd = {**RECORDS[0], "np_score": value}
        gen = next(one for one in standings(frame([odd, *RECORDS[1:]])) if one.label == "gen")
        assert (gen.n_good, gen.p_nd) == (3, pytest.approx((1.0 + 0.2 + 0.4 + 0.2) / 4))
        assert gen.rank == 1.5  # it wins heart


def test_another_method_changes_ranks_only():
    compared = ("rank", "rank_limits", "place", "place_limits", "p_nd_common", "is_efficient")
    before, after = (
        {one.label: str(dataclasses.replace(one, **dict.fromkeys(compared))) for one in standings(frame(records))}
        for records in (RECORDS, RECORDS + NEWCOMER)
    )
    assert after.keys() - before.keys() == {"np_svm"}
    assert after | before == after


def test_methods_are_ranked_where_they_were_run_and_without_seconds():
    alone = [*RECORDS, *NEWCOMER[:2]]
    datasets, values = table(by_dataset(frame(alone)), ["gen", "np_svm"], "score")
    assert math.isnan(values[datasets.index("heart"), 1])
    assert [one.label for one in standings(frame(alone))] == ["gen", SCORER, "np_svm"]  # the incomplete one last
    unknown = [{**one, "select_cpu_seconds": None, "fit_cpu_seconds": None, "seconds": None} for one in NEWCOMER]
    best = standings(frame(RECORDS + unknown))[0]
    assert (best.label, best.place, best.is_efficient) == ("np_svm", 1, False)
    assert math.isnan(best.seconds)
    some = [{**one, "seconds": 3.0} if one["dataset"] == "pima" else one for one in unknown]
    assert standings(frame(RECORDS + some))[0].seconds == pytest.approx(3.0)
    slow = [result("gen", data, 0, 0.0, 0.2, seconds=151.4) for data in ("heart", "pima")]
    assert cells(tables(frame(slow), [])[0])[0]["seconds"] == "151"
    assert cells(tables(frame(RECORDS + unknown), [])[0])[0]["seconds"] == "-"


@pytest.mark.parametrize(("above", "verdict"), [(0, "kept"), (1, "kept within noise"), (5, "exceeded")])
def test_verdict_of_a_promise(above, verdict):
    records = [result("scorer", "pima", i, 0.2 if i < above else 0.0, 0.5, params=UMBRELLA) for i in range(10)]
    (one,) = standings(frame(records))
    assert one.verdict == verdict
    assert cells(sheet_of(tables(frame(records), []), "leaderboard"))[0]["verdict"] == verdict


def sheet_of(sheets, part):
    (found,) = (sheet for sheet in sheets if part in sheet.title)
    return found


def test_tables_and_places_of_some_records():
    sheets = tables(frame(RECORDS), [])
    sizes = sheet_of(sheets, "sizes")
    assert [row["data set"] for row in cells(sizes)] == ["heart", "pima"]
    assert "cv folds=4" in sizes.notes[0]
    ranking = cells(sheet_of(sheets, ": ranking"))
    assert [row["method"] for row in ranking] == ["gen", SCORER]
    assert [row["position"] for row in ranking] == ["-", "-"]  # two data sets are too few
    assert cells(sheet_of(sheets, "leaderboard"))[1]["answers"] == "3/4"
    each = sheet_of(sheets, "methods by")
    assert [(row["data set"], row["method"], row["promise"], row["rank"], row["score"]) for row in cells(each)] == [
        ("heart", "gen", "none", "1", "0.300"),
        ("heart", SCORER, "none", "2", "0.550"),  # an answer, and a lost job
        ("pima", "gen", "none", "1", f"{score([0.05, 0.15], [0.2, 0.2]):.3f}"),
        ("pima", SCORER, "none", "2", "0.500"),
    ]
    records = frame({**one, "key": f"{number}"} for number, one in enumerate(RECORDS + NEWCOMER))
    (sheet,) = places(records, records.filter(solver="np_svm")["key"].to_list())
    assert [(row["method"], row["place"], row["data sets"]) for row in cells(sheet)] == [
        ("> np_svm", "1 of 3", "2/2"),
        ("gen", "2 of 3", "2/2"),
    ]
    (sheet,) = places(records, records.filter(solver="scorer")["key"].to_list())
    assert [row["method"] for row in cells(sheet)] == ["np_svm", "gen", f"> {SCORER}"]  # the best, and the neighbour


def test_records_of_older_code_are_repeats_of_the_same_method():
    """Published records lack the parameters that a method has got since, whose defaults new ones state."""
    old = [result("gen", name, 0, 0.05, 0.2) for name in ("pima", "heart")]
    new = [result("gen", name, 1, 0.05, 0.4, params={"device": None}) for name in ("pima", "heart")]
    rows = cells(sheet_of(tables(frame(old + new), []), "leaderboard"))
    assert {(row["method"], row["answers"], row["P_nd"]) for row in rows} == {("gen", "4/4", "0.300")}


def test_kinds_of_data_sets():
    """A method that is best on one kind and worst on another; the median decides what is saturated or weak."""
    sizes = {"many": 768, "few": 368, "easy": 768, "hard": 768}
    level = {"many": 0.3, "few": 0.3, "easy": 0.01, "hard": 0.7}
    records = [
        {**result(solver, name, 0, 0.1, level[name] + more * (1 if name != "few" else -1)), "n_samples": n}
        for name, n in sizes.items()
        for solver, more in (("gen", 0.0), ("uzawa", 0.01), ("np_svm", 0.02))
    ]
    also = [{**one, "key": f"s{n}", "rho": 0.05, "problem_params": '{"rho":0.05}'} for n, one in enumerate(records[:3])]
    rows = cells(sheet_of(tables(frame([*records, *also]), []), "leaderboard"))
    found = {(row["kind of data"], row["method"]): row for row in rows if row["setting"] == "rho=0.1"}
    numbers = {kind: row["data sets"] for (kind, method), row in found.items() if method == "np_svm"}
    assert numbers == {
        "all": "4/4",
        "common": "1/1",
        "few": "1/1",
        "many": "3/3",
        "saturated": "1/1",
        "others": "2/2",
    } | {"weak": "1/1"}
    assert [found[kind, "np_svm"]["rank"] for kind in ("few", "weak", "all")] == ["1.00", "3.00", "2.50"]
    assert found["weak", "np_svm"]["P_nd"] == "0.720"


def test_a_bound_on_few_data_sets_does_not_decide_what_is_common():
    n_sets = {0.1: 8, 0.05: 7, 0.01: 5}
    records = [
        {**result("gen", f"d{n}", 0, rho, 0.2), "key": f"{rho}{n}", "rho": rho, "problem_params": f'{{"rho":{rho}}}'}
        for rho, number in n_sets.items()
        for n in range(number)
    ]
    rows = cells(sheet_of(tables(frame(records), []), "leaderboard"))
    common = {row["setting"]: row["data sets"] for row in rows if row["kind of data"] == "common"}
    assert common == {"rho=0.1": "7/7", "rho=0.05": "7/7", "rho=0.01": "5/5"}


def test_a_method_that_leaves_its_league_has_no_place_on_a_part_of_the_data():
    names = [f"s{n}" for n in range(8)]
    alarms = {name: 0.3 if name < "s6" else 0.0 for name in names}
    kept = [result("scorer", name, n, 0.05, 0.3, params=UMBRELLA) for name in names for n in range(2)]
    bold = {**UMBRELLA, "delta": 0.1}
    broken = [result("scorer", name, n, alarms[name], 0.01, params=bold) for name in names for n in range(2)]
    broken = [{**one, "n_samples": 400 if one["dataset"] >= "s6" else 768} for one in broken]
    kept = [{**one, "n_samples": 400 if one["dataset"] >= "s6" else 768} for one in kept]
    rows = cells(sheet_of(tables(frame([*kept, *broken]), []), "leaderboard"))
    assert [(row["place"], row["above"]) for row in rows if row["kind of data"] == "few"] == [
        ("1", "0/4"),
        ("-", "0/4"),
    ]


def test_other_scores_change_the_order():
    """Bold has fewer misses and more false alarms: it leads while these weigh little."""
    bold = [result("uzawa", name, n, 0.15, 0.1) for name in ("pima", "heart") for n in range(3)]
    timid = [result("gen", name, n, 0.09, 0.35) for name in ("pima", "heart") for n in range(3)]
    shown = {row["method"]: row for row in cells(sheet_of(tables(frame([*bold, *timid]), []), "other scores"))}
    leader = {
        column: min(shown, key=lambda name: float(shown[name][column]))
        for column in ("w = 0.25", "w = 5", "1 if above")
    }
    assert leader == {"w = 0.25": "uzawa", "w = 5": "gen", "1 if above": "gen"}


def test_scorers_alone_are_ranked_by_the_curve():
    curve = {name: json.dumps([height] * 78) for name, height in (("gen", 0.9), ("uzawa", 0.6))}
    records = [result(name, "pima", n, 0.1, 0.5, roc=roc) for name, roc in curve.items() for n in range(2)]
    rows = cells(sheet_of(tables(frame(records), []), "scorers alone"))
    assert [(row["method"], row["at rho"]) for row in rows] == [("gen", "0.100"), ("uzawa", "0.400")]


def test_different_protocols_are_named():
    other = '{"folds":5,"name":"cv","test_size":0.25}'
    records = [{**one, "protocol_params": other} if one["dataset"] == "heart" else one for one in RECORDS]
    sizes = tables(frame(records), [])[-1]
    assert "differ" in sizes.notes[0]
    assert not sizes.detail
    assert [row["protocol"] for row in cells(sizes)] == ["cv folds=5 test_size=0.25", "cv folds=4 test_size=0.25"]


def test_partial_auc_is_ranked_upwards():
    problem = {"problem": "pauc", "problem_params": '{"fpr_range":[0,0.1]}', "solver_status": ""}
    areas = {"gen": (0.5, 0.7), "np_svm": (0.6, 0.8)}
    records = frame(
        record(solver=solver, dataset=dataset, pauc=area, seconds=1.0, p_fa=None, p_nd=None, **problem, **SIZE)
        for solver, values in areas.items()
        for dataset, area in zip(("heart", "pima"), values, strict=True)
    )
    best, other = standings(records)
    assert (best.label, best.score) == ("np_svm", pytest.approx(0.3))
    assert (other.label, other.score) == ("gen", pytest.approx(0.4))
    assert tables(records, [])[0].title.partition(": ")[2] == "ranking"
    assert cells(tables(records, [])[0])[0]["pauc"] == "0.700"
    # by pairs with ties one half, constant scores have .5 in any range
    tied = records.with_columns(
        pauc_mcclish=pl.when(solver="gen").then(0.5).otherwise(0.5 + 0.5 * (pl.col("pauc") - 0.05) / 0.95),
        pauc=pl.when(solver="gen").then(0.99).otherwise("pauc"),
    )
    assert [row["pauc"] for row in cells(tables(tied, [])[0])] == ["0.700", "0.050"]
    assert "P_nd" not in tables(records, [])[0].columns


def test_charts():
    made = charts(frame(RECORDS + NEWCOMER), [])
    ((panel,),) = made[0].rows
    stairs = {series.label: series for series in panel.series if not series.muted}
    assert list(stairs["efficient"].x) == [1.0]
    every = [name for series in panel.series for name in series.names]
    assert sorted(every) == sorted({*every})  # each method once
    assert {series.muted for series in panel.series} == {True, False}
    promised = [result("scorer", name, 0, 0.1, 0.1, params=UMBRELLA) for name in DATA]
    by_promise = charts(frame(RECORDS + promised), [])
    assert {one.title.partition("promise: ")[2]: one.rows[0][0].y_title for one in by_promise} == {
        "guaranteed": "misses",
        "none": "score",
    }
    slow = [result("gen", "pima", 0, 0.1, 0.1, seconds=9.0), result("sgd", "pima", 0, 0.1, 0.3, seconds=1.0)]
    ((panel,),) = charts(frame(slow), [])[0].rows
    (stairs,) = (series for series in panel.series if series.stepped and series.joined)
    assert [*zip(stairs.x, stairs.y, stairs.names, strict=True)] == [
        (pytest.approx(1), pytest.approx(0.3), "sgd"),
        (pytest.approx(9), pytest.approx(0.1), "gen"),
    ]
    assert not panel.x_log  # 1 to 9 seconds
    assert len(made) == 1  # ranks over two data sets have no limits
    names = "abcdefg"
    many = [
        result(solver, name, 0, 0.1, level)
        for name in names
        for solver, level in (("gen", 0.1), ("sgd", 0.2), ("uzawa", 0.3))
    ]
    ((ranks,),) = charts(frame(many), [])[1].rows
    assert [label.split()[0] for label in ranks.y_labels] == ["uzawa", "sgd", "gen"]
    assert ([list(one.y) for one in ranks.series], ranks.parted) == ([[2], [1], [0]], [1.5, 0.5])  # a place for each


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_efficient_methods(points):
    score, seconds = np.array(points, float).T
    beaten = [any((s <= a and t <= b) and (s, t) != (a, b) for s, t in points) for a, b in points]
    assert pareto(score, seconds).tolist() == [not one for one in beaten]


@given(st.integers(20, 60), st.integers(40, 3000), st.sampled_from([0.5, 0.25, 0.2]))
def test_negatives_of_a_stratified_part_follow_from_its_positives(n_pos, n_neg, size):
    y = np.repeat(np.array([1, -1], np.int8), [n_pos, n_neg])
    part = y[CrossValidation(size, 2).split(BinaryData(np.arange(len(y))[:, None], y, "made"), 0, 0).test]
    assert abs(share_tested(n_pos, int(np.sum(part > 0))) * n_neg - np.sum(part < 0)) <= 1
