"""Verdicts on the claims of the papers' texts: functions of the records, changed records change their words."""

import functools
import itertools
import json
from pathlib import Path

import polars as pl
import pytest

import npbench_papers
from npbench.config.experiment import check
from npbench.config.files import content
from npbench.contracts import resolve
from npbench.records.reading import conformed
from npbench.report.sheet import Cell, Sheet
from npbench_papers import claims
from npbench_papers.records import unhindered
from npbench_papers.verdicts import MEANINGS, judge, judge_within, word
from sample_records import cells, frame, record

ROOT = Path(__file__).parents[3]
EXPERIMENTS = Path(npbench_papers.__file__).parent / "conf" / "experiment"


@functools.cache
def described(name):
    """Return the content of an experiment's file over that of the one it inherits from, lists and texts replaced."""
    own = content(EXPERIMENTS / f"{name}.yaml")
    base = described(own.pop("defaults")[0]) if "defaults" in own else {}
    return {**base, **own}


@functools.cache
def published(name):
    names = {name, name.removesuffix("_forced")}  # it is compared with those of the other
    paths = [path for one in names for path in (ROOT / "results" / "published").glob(f"*/records/{one}.parquet")]
    return conformed(pl.concat(map(pl.read_parquet, paths), how="diagonal_relaxed"))


def told(experiment):
    """Return the claims among the printed rows of an experiment."""
    return [row for row in experiment.printed if "claim" in row]


def verdicts(experiment, records, asked):
    """Return the verdicts on some claims, without what is in brackets."""
    sheets = []
    if any("column" in claim for claim in asked):
        sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
    numbers = [row for row in experiment.printed if "claim" not in row]
    return [word(one.verdict) for one in claims.judged(records, [*asked, *numbers], sheets)]


def scaled_trace(records, names, factor, more=0.0):
    """Return the records with some numbers of their traces multiplied and increased."""

    def changed(text):
        trace = json.loads(text)
        return json.dumps({k: [factor * x + more for x in v] if k in names else v for k, v in trace.items()})

    return records.with_columns(trace=pl.Series([text and changed(text) for text in records["trace"]], dtype=pl.String))


def kinds_swapped(records):
    """Yield the records with the roles of the classifiers one, int and all, or of three curves, exchanged."""
    for order in itertools.permutations((0.0, 1.0, 2.0)):
        texts = [json.loads(text) for text in records["trace"]]
        swapped = [json.dumps({**one, "kind": [order[int(kind)] for kind in one["kind"]]}) for one in texts]
        yield records.with_columns(trace=pl.Series(swapped))


def scaled(records, which, *names):
    """Yield the records with some columns three times as large, and a third, where a condition holds."""
    for factor in (3.0, 1 / 3):
        present = [name for name in names if name in records.columns]
        yield records.with_columns(pl.when(which).then(pl.col(present) * factor).otherwise(pl.col(present)))


SECONDS = ("select_seconds", "select_cpu_seconds", "fit_seconds", "fit_cpu_seconds")
RISKS = ("p_fa", "p_nd", "risk_fa", "risk_nd")


def variants(name, records):
    """Yield changed records of an experiment whose claims are judged from its tables."""
    if name.startswith("bach"):
        yield from kinds_swapped(records)
        yield scaled_trace(records, ["test_p_fa", "test_p_nd"], 0.0, 0.5)  # all the same
        yield scaled_trace(records, ["train_asymmetry"], 0.0, 0.99)
    elif name.startswith("barlaud_figure3"):
        yield scaled_trace(records, ["gap"], 1.0, 1.0)
        met = [json.loads(text) for text in records["trace"]]
        for one in met:  # after one step
            one["gap"] = [gap * (step == 0) for gap, step in zip(one["gap"], one["inner"], strict=True)]
        yield records.with_columns(trace=pl.Series(map(json.dumps, met), dtype=pl.String))
    elif name.startswith("barlaud"):
        for risk in RISKS:
            yield scaled_trace(records, [f"train_{risk}"], 1.0, 1.0)
    elif name.startswith("gasso_figure3"):
        usual = pl.col("params").str.contains('"init_seed":null', literal=True)
        yield from scaled(records, usual, "objective", "surrogate_p_nd", "surrogate_p_fa")
    elif name.startswith("gasso_table5"):
        yield from scaled(records, pl.col("solver") == "scorer", "accepted")
    elif name.startswith("davenport"):
        yield from scaled(records, pl.col("solver") == "two_nu_svm", "p_fa_low")


def moved(claim, records):
    """Yield the records with what a claim measures made much larger, and much smaller, for the methods it is about."""
    names = SECONDS if claim["measure"].endswith("seconds") else [claim["measure"]]
    places = []
    for row in records.drop("trace", "roc", strict=False).to_dicts():
        about = claims.described(row)
        places.append(any(claims._is_among(about, one) for one in claims._selections(claim, "of")))
    which = pl.Series(places)
    for factor in (1e4, 1e-4):
        added = 0.0 if claim.get("ratio") else (factor > 1) - (factor < 1)
        change = [pl.col(name) * factor if claim.get("ratio") else pl.col(name) + 1e3 * added for name in names]
        yield records.with_columns(
            pl.when(which).then(one).otherwise(pl.col(name).cast(pl.Float64)).alias(name)
            for name, one in zip(names, change, strict=True)
        )


def part(name, number):
    """Leave three in four claims of an experiment, and all whose tables take long, to the scheduled tests."""
    return [pytest.mark.slow] if name.startswith("bach_table") or number % 4 else []


CLAIMED = [
    pytest.param(name, number, id=f"{name}-{number}", marks=part(name, number))
    for name in sorted(path.stem for path in EXPERIMENTS.glob("*.yaml"))
    for number, claim in enumerate(row for row in described(name).get("printed") or [] if "claim" in row)
    if not {"not_run", "values"} & {*claim} and [*(ROOT / "results" / "published").glob(f"*/records/{name}.parquet")]
]


@functools.cache
def of_paper(name):
    """Return an experiment with its claims alone, none of them of a stand-in, and its records."""
    asked = described(name)
    printed = [row for row in asked.get("printed") or [] if not row.get("stand_in")]
    records = published(name).with_columns(
        pl.col("dataset").str.replace("_like$", ""), solver_status=pl.lit("converged")
    )
    if name.startswith("bach_table"):  # one rule for the total, five data sets: the tables take long
        sets = ["gaussians", "mixtures", "pima", "twonorm", "ionosphere"]
        rules = '"total":2,|"tied_total":"smallest"' if name.endswith("_forced") else '"total":2,'
        records = records.filter(pl.col("dataset").is_in(sets), pl.col("params").str.contains(rules))
    return check(name, {**asked, "printed": printed}), records


@functools.cache
def of_tables(name):
    """Return the verdicts on the claims judged from tables, of the records and of their variants, by claim."""
    experiment, records = of_paper(name)
    asked = [claim for claim in told(experiment) if "column" in claim]
    found = [verdicts(experiment, one, asked) for one in (records, *variants(name, records))]
    return {json.dumps(claim): words for claim, words in zip(asked, zip(*found, strict=True), strict=True)}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("name", "number"), CLAIMED)
def test_changed_records_change_the_word(name, number):
    experiment, records = of_paper(name)
    claim = told(experiment)[number]
    if "column" in claim:
        stored, *changed = of_tables(name)[json.dumps(claim)]
    else:
        (stored,) = verdicts(experiment, records, [claim])
        if stored == "not run" and "seconds" not in claim["measure"]:
            pytest.skip("no records answer it yet")
        if stored == "not run":
            assert len(unhindered(records)) < len(records)
            records = records.with_columns(select_seconds="select_cpu_seconds", fit_seconds="fit_cpu_seconds")
        changed = [verdicts(experiment, one, [claim])[0] for one in moved(claim, records)]
        assert len({*changed}) == 2  # much larger and much smaller are not the same
    assert {*changed} <= {*MEANINGS}
    assert {*changed} - {stored}


def test_claims_are_told_from_printed_numbers_and_quoted():
    rows = [
        {"claim": "it misses less", "section": "5", "measure": "p_nd", "of": "a", "than": "b", "within": [None, 0]},
        {"claim": "it is elegant", "section": "6", "not_run": "no measure of elegance"},
        {"rho": 0.1, "p_nd": 0.3},
    ]
    seen = []

    @claims.with_claims
    def table(records, printed):
        seen.extend(printed)
        return []

    fits = [record(solver=s, repeat=n, p_nd=x + n / 100) for s, x in (("a", 0.1), ("b", 0.2)) for n in range(3)]
    (sheet,) = table(frame(fits), rows)
    assert seen == rows[2:]
    first, second = cells(sheet)
    assert (first["verdict"], first["here"]) == ("agrees", "-0.1 [-0.1, -0.1]; 1 of 1")
    assert (first["measured"], first["the paper"]) == ("p_nd: a - b, below 0", '"it misses less"')
    assert (second["verdict"], second["here"]) == ("not run", "no measure of elegance")
    assert table(frame(fits), rows[2:]) == []


CLAIM = {"claim": "c", "section": "1", "measure": "p_nd", "of": "a", "than": "b", "within": [None, 0]}


def verdict(fits, **claim):
    (found,) = claims.judged(frame(fits), [CLAIM | claim], [])
    return found.verdict, found.here.text


def fits_of(gains, **columns):
    """Return pairs of fits whose misses differ by the gains, a split each."""
    return [
        record(solver=s, repeat=n, p_nd=0.5 + gain * (s == "a"), **columns)
        for n, gain in enumerate(gains)
        for s in ("a", "b")
    ]


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([-0.1, -0.11, -0.12], "agrees"),
        ([0.1, 0.11, 0.12], "differs: larger"),
        ([-0.1, 0.0, 0.1], "undecided"),
        ([0.0, 0.0, 0.0], "differs"),  # equal is not smaller
        ([0.0, 0.0, 0.1], "undecided"),
        ([-0.3], "agrees"),
    ],
)
def test_words_of_a_claim_on_who_is_ahead(gains, expected):
    assert word(verdict(fits_of(gains))[0]) == expected


def test_every_case_must_hold_unless_most_or_some_suffice():
    fits = [*fits_of([-0.3, -0.31]), *fits_of([-0.3, -0.31], dataset="heart"), *fits_of([0.01, 0.02], dataset="liver")]
    assert verdict(fits)[1].endswith("; 2 of 3")
    assert [word(verdict(fits[:8])[0]), word(verdict(fits)[0])] == ["agrees", "agrees in direction"]
    alone = [one for one in fits if one["repeat"] == 0]
    assert verdict(alone)[0] == "undecided (3 pairs, detects 0.64)"
    assert verdict(fits, hold="some")[0] == "agrees"
    assert verdict(fits, hold="some", within=[0.5, None])[0] == "differs"
    assert verdict(fits_of([0.1, 0.1]), best="max", of=["a", "b"], within=[0, None])[0] == "agrees"


@pytest.mark.parametrize(
    ("ratio", "within", "expected"),
    [
        (2.5, [2, 3], "agrees"),
        (4, [2, 3], "agrees in direction"),
        (0.5, [2, 3], "differs: smaller"),
        (4, [None, 1], "differs: larger"),
    ],
)
def test_ratios_of_seconds(ratio, within, expected):
    fits = [record(solver=s, repeat=n, fit_seconds=x) for s, x in (("a", ratio), ("b", 1.0)) for n in range(2)]
    told = {"measure": "fit_cpu_seconds", "ratio": True, "within": within}
    assert verdict(fits, **told)[0] == expected
    other = [one | ({"cpu": "b"} if one["solver"] == "a" else {}) for one in fits]  # a pair has one processor
    busy = [one | {"fit_cpu_seconds": 0.1, "select_cpu_seconds": 0.1} for one in fits]  # or waited for it
    for refused in (other, busy):
        assert verdict(refused, **told) == ("not run", "no such records of an idle machine")


@pytest.mark.parametrize(("ratio", "expected"), [(4, "differs: larger"), (1.5, "differs: smaller"), (2.5, "agrees")])
def test_a_number_that_is_the_point_has_no_direction(ratio, expected):
    fits = [record(solver=s, repeat=n, fit_seconds=x) for s, x in (("a", ratio), ("b", 1.0)) for n in range(2)]
    told = {"measure": "fit_cpu_seconds", "ratio": True, "within": [2, 3]}
    assert verdict(fits, **told, neutral=None)[0] == expected


def speed_ups(small, large):
    """Return fits of solvers a and b: the speed-ups a / b of each repeat at a small bound, and at a large one."""
    found = [(rho, n, x) for rho, ratios in ((0.01, small), (0.2, large)) for n, x in enumerate(ratios)]
    asked = [(s, {"rho": rho, "problem_params": {"rho": rho}, "repeat": n}, x) for rho, n, x in found for s in "ab"]
    return [record(solver=s, fit_seconds=x if s == "a" else 1.0, p_nd=0.0, **more) for s, more, x in asked]


@pytest.mark.parametrize(
    ("small", "large", "expected"),
    [
        ([4.0, 4.1], [2.0, 2.0], "agrees"),
        ([2.0, 2.0], [4.0, 4.1], "differs: smaller"),
        ([9.0, 2.0], [4.0, 3.0], "undecided"),  # higher in the mean
        ([4.0, 4.0], [4.0, 4.0], "differs"),
    ],
)
def test_speed_ups_at_two_bounds_are_compared_with_their_noise(small, large, expected):
    told = {"of": {"solver": "a", "rho": 0.01}, "than": {"solver": "a", "rho": 0.2}, "relative_to": "b"}
    told |= {"cells": ["dataset"], "measure": "fit_cpu_seconds", "ratio": True, "within": [1, None]}
    found, here = verdict(speed_ups(small, large), **told)
    assert word(found) == expected
    assert expected != "agrees" or here.startswith("2.02 [")


@pytest.mark.parametrize(("gain", "expected"), [(0.0, ["agrees", "differs"]), (-0.1, ["differs: smaller", "agrees"])])
def test_finer_grids_are_compared_with_those_of_the_paper_on_the_same_split(gain, expected):
    asked = [one for one in described("gasso_figure5_grids")["printed"] if one["measure"] == "p_nd"]
    grids = {"svm_perf": [(150, 0), (290, gain), (750, gain)], "ac_svm": [(225, 0), (645, gain)]}
    fits = [
        record(solver=solver, repeat=n, n_candidates=size, p_nd=0.5 + n / 10 + more)
        for solver, sizes in grids.items()
        for size, more in sizes
        for n in range(3)
    ]
    words = [word(one.verdict) for one in claims.judged(frame(fits), asked, [])]
    assert words == [expected[0], *expected]
    assert {one.verdict for one in claims.judged(frame(fits[:3]), asked, [])} == {"not run"}


def words(experiment, fits, quoted, **keys):
    """Return the words on those claims of an experiment that have a text in their quotation, and these keys."""
    claimed = [one for one in described(experiment)["printed"] if quoted in one.get("claim", "")]
    asked = [one for one in claimed if all(one.get(key) == value for key, value in keys.items())]
    return [word(one.verdict) for one in claims.judged(frame(fits), asked, [])]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (9.0, ["agrees"] * 3),  # one of ten values of k takes as long as the stochastic method
        (1.0, ["differs: smaller", "differs: smaller", "agrees"]),  # all ten do
        (30.0, ["differs: larger"] * 3),
    ],
)
def test_seconds_of_svm_perf_are_those_of_one_of_ten_k(seconds, expected):
    fits = [
        record(solver=solver, dataset=dataset, repeat=n, select_seconds=x, fit_seconds=more)
        for dataset in ("spambase", "pageblocks", "magic")
        for solver, x, more in (("svm_perf", seconds, 100.0), ("sgd", 1.0, 0.1))
        for n in range(2)
    ]
    assert words("gasso_figure5_full", fits, "exclude the time required to search", ratio=True) == expected
    assert words("gasso_figure6", fits, "scalability issues") == ["agrees" if seconds > 20 else "differs: smaller"]


@pytest.mark.parametrize(
    ("excess", "expected"), [(0.0015, ["agrees"] * 6), (0.005, ["differs: larger"] * 2 + ["agrees"] * 4)]
)
def test_false_alarms_are_tight_to_a_fifth_of_the_bound(excess, expected):
    fits = [
        record(solver="np_svm", repeat=n, rho=rho, problem_params={"rho": rho}, p_fa=rho + excess)
        for rho in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
        for n in range(2)
    ]
    asked = [one for one in described("gasso_figure4_full")["printed"] if {*one.get("where", {})} == {"rho"}]
    assert [word(one.verdict) for one in claims.judged(frame(fits), asked, [])] == expected


@pytest.mark.parametrize(("held", "expected"), [(0.01, "agrees"), (0.02, "differs"), (0.03, "differs: smaller")])
def test_a_fit_overfits_if_more_false_alarms_pass_than_in_training(held, expected):
    fits = [
        record(
            solver="np_svm",
            dataset="pageblocks",
            repeat=n,
            p_fa=0.02,
            surrogate_p_fa=held,
            problem_params={"rho": 0.01},
        )
        for n in range(2)
    ]
    assert words("gasso_figure4_full", fits, "overfits") == [expected]


@pytest.mark.parametrize(("ratio", "expected"), [(2.69, "differs: larger"), (2.1, "agrees"), (1.2, "differs: smaller")])
def test_twice_is_judged_as_any_number(ratio, expected):
    fits = [
        record(solver=s, dataset="spambase", repeat=n, select_seconds=x, fit_seconds=x)
        for s, x in (("ac_svm", ratio), ("np_svm", 1.0))
        for n in range(2)
    ]
    assert words("gasso_figure4_full", fits, "twice faster") == [expected]


@pytest.mark.parametrize(("ratio", "expected"), [(7.3, "agrees"), (1.2, "differs: smaller"), (9.0, "differs: larger")])
def test_gain_of_fewer_pairs_is_that_of_all_pairs_together(ratio, expected):
    fits = [
        record(solver=s, repeat=n, n_candidates=pairs, select_seconds=x, fit_seconds=x)
        for s, x, pairs in (("ac_svm", ratio, 100), ("sgd", 1.0, 36))
        for n in range(2)
    ]
    assert words("gasso_table4", fits, "only 36 pairs") == [expected]
    assert words("gasso_table4", [one | {"n_candidates": 9} for one in fits], "only 36 pairs") == ["not run"]


def test_bias_shifting_with_windows_is_compared_by_means():
    worst = [-3.0, *[0.0] * 9]  # the median and the shift of the signed-rank test are 0
    fits = [
        record(solver="two_nu_svm", params={"strategy": strategy}, repeat=n, np_score=1 + gain * (strategy == windowed))
        for n, gain in enumerate(worst)
        for strategy, windowed in (("bs", "wbs"), ("wbs", "wbs"), ("bbs", "wbbs"), ("wbbs", "wbbs"))
    ]
    assert words("davenport_table1", fits, "Windowing for BS") == ["undecided"] * 2


@pytest.mark.parametrize(
    ("above", "expected"), [([3, 3], "agrees"), ([3, 0], "agrees in direction"), ([2, 0], "differs: smaller")]
)
def test_bounds_are_frequently_exceeded_on_more_than_2_5_percent_of_splits(above, expected):
    fits = [
        record(
            **{"solver": "two_nu_svm", "params": {"strategy": strategy}, "repeat": n, "rho": 0.1, "n_candidates": 1},
            **{"n_unconverged": 0, "test_part": "drawn", "p_fa": 0.2, "p_nd": 0.2, "np_score": 1.2, "search": "{}"},
            p_fa_low=0.11 if n < k else 0.1,
        )
        for strategy, k in zip(("bs", "bbs"), above, strict=True)
        for n in range(100)
    ]
    experiment = check("davenport_table1", described("davenport_table1"))
    asked = [one for one in told(experiment) if "frequently" in one["claim"]]
    assert verdicts(experiment, frame(fits), asked) == [expected]


def test_a_cell_alone_is_shown_as_it_is_and_judged_by_its_own_case():
    rows = [["printed", Cell("> 30", 31)], ["other", Cell("7", 7)]]
    sheets = [Sheet("Steps", ["algorithm", "most"], rows), Sheet("Rates", ["algorithm", "most"], [["printed", "1"]])]
    claim = {"claim": "c", "section": "1", "column": "most", "table": "Steps", "within": [None, 9]}
    for algorithm, expected in (("printed", ("differs: larger", "> 30; 0 of 1")), ("other", ("agrees", "7; 1 of 1"))):
        (found,) = claims.judged(frame([record()]), [claim | {"where": {"algorithm": algorithm}}], sheets)
        assert (found.verdict, found.here.text) == expected
    (both,) = claims.judged(frame([record()]), [claim], sheets)
    assert both.here.text == "19 (7 to 31); 1 of 2"


def test_stand_ins_and_fallbacks_are_not_judged():
    assert verdict(fits_of([-0.1, -0.1], dataset="rcv1_like"))[0] == "stand-in"
    for one in "ab":  # won against a fallback, too
        fits = [fit | {"solver_status": "collapsed"} if fit["solver"] == one else fit for fit in fits_of([-0.1, -0.1])]
        assert verdict(fits)[0] == verdict(fits, hold="some")[0] == "fallback"
    assert verdict([*fits, *fits_of([-0.1] * 3, dataset="heart")])[0] == "agrees"  # most did learn
    assert verdict(fits_of([-0.1, -0.1], solver_status="collapsed"))[0] == "fallback"
    assert verdict(fits_of([-0.1]), of="c") == ("not run", "no such records")


def test_methods_are_judged_apart_from_one_that_collapsed():
    fits = fits_of([-0.1, -0.1, -0.1])
    fits += [{**fit, "solver": "c", "solver_status": "collapsed"} for fit in fits if fit["solver"] == "a"]
    assert [verdict(fits, of=of)[0] for of in ("a", "c", ["a", "c"])] == ["agrees", "fallback", "fallback"]
    learnt = [fit | {"solver_status": "converged"} for fit in fits]
    assert [verdict(learnt, of=of)[0] for of in ("a", "c", ["a", "c"])] == ["agrees"] * 3


def test_only_compared_fits_count_as_fallbacks_and_the_best_on_each_split_is_compared():
    fits = fits_of([-0.1, -0.1, -0.1])
    elsewhere = [fit | {"dataset": "heart"} for fit in fits if fit["solver"] == "b"] * 2  # of no other method
    collapsed = [fit | {"solver_status": "collapsed"} if fit["solver"] == "b" else fit for fit in fits]
    assert verdict([*collapsed, *elsewhere])[0] == "fallback"
    assert verdict([*fits, *(fit | {"solver_status": "collapsed"} for fit in elsewhere)])[0] == "agrees"
    third = [fit | {"solver": "c", "p_nd": 0.1, "solver_status": "collapsed"} for fit in fits if fit["solver"] == "a"]
    both = {"of": ["a", "c"], "best": "max"}
    assert verdict([*fits, *third], **both)[0] == "agrees"  # a fallback that is never the best does not matter
    assert verdict([*fits, *third], **both | {"best": "min"})[0] == "fallback"
    (found,) = claims.judged(frame([*fits, *third]), [CLAIM | both], [])
    assert found.measured.startswith("p_nd: the best of a, c - b")


@pytest.mark.parametrize(("gain", "expected"), [(-0.3, "agrees"), (0.3, "agrees"), (-0.1, "differs: smaller")])
def test_sizes_of_differences_are_judged_without_their_sign(gain, expected):
    asked = {"of": "a", "minus": "p_fa", "absolute": True, "within": [0.2, None], "neutral": None}
    fits = [fit | {"p_fa": 0.5} for fit in fits_of([gain] * 3)]
    claim = {key: value for key, value in (CLAIM | asked).items() if key != "than"}
    (found,) = claims.judged(frame(fits), [claim], [])
    assert found.verdict == expected
    assert "without its sign" in found.measured
    assert "as a number" in found.measured


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 2, 4], "differs: larger"), ([1, 1, 1.2], "agrees"), ([1], "agrees")]
)
def test_stored_numbers_are_judged_by_case(values, expected):
    stored = {"values": dict(enumerate(values)), "ratio": True, "within": [None, 1.5]}
    claim = {"claim": "c", "section": "1", "measure": "seconds", **stored}
    (found,) = claims.judged(frame([record()]), [claim], [])
    assert found.verdict == expected
    assert len(values) < 3 or f"({min(values):g} to {max(values):g})" in found.here.text


def ranged(steps, **columns):
    """Return fits on three splits with the number of steps of each range of false-positive rates."""
    return [
        record(solver="a", repeat=k, n_iter=n + k, problem_params={"fpr_range": span}, **columns)
        for span, n in steps.items()
        for k in range(3)
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ({(0.0, 0.1): 40, (0.0, 0.3): 20, (0.1, 0.2): 60, (0.1, 0.4): 20, (0.5, 0.6): 1}, ("agrees", "2 of 2")),
        ({(0.0, 0.1): 40, (0.0, 0.3): 20, (0.1, 0.2): 20, (0.1, 0.4): 24}, ("agrees in direction", "1 of 2")),
        ({(0.0, 0.1): 20, (0.0, 0.3): 60, (0.1, 0.2): 20, (0.1, 0.4): 60}, ("differs: smaller", "0 of 2")),
    ],
)
def test_ranges_of_equal_start_are_compared_by_length(steps, expected):
    told = {"of": {"fpr_length": 0.1}, "than": {"fpr_length": 0.3}, "cells": ["fpr_start"]}
    told |= {"measure": "n_iter", "ratio": True, "within": [1, None]}
    found, here = verdict(ranged(steps), **told)
    assert (word(found), here.partition("; ")[2]) == expected
    assert verdict(ranged(steps, solver_status="collapsed"), **told)[0] == "fallback"


def test_differences_that_cancel_up_to_rounding_are_no_difference():
    rates = [(3 / 30, 2 / 30), (4 / 30, 2 / 30), (2 / 30, 5 / 30)]
    assert sum(one - other for one, other in rates) != 0
    assert verdict(fits_of([one - other for one, other in rates]), within=[0, None])[1].endswith("0 of 1")


def test_noise_decides_before_cases():
    inf = float("inf")
    assert judge_within(-0.1, (-inf, 0), 1, limits=(-0.2, -0.05), n=9) == "agrees"
    assert judge_within(-0.1, (-inf, 0), 0.6) == judge_within(4.0, (2, 3), 0, neutral=1) == "agrees in direction"
    assert judge_within(0.1, (-inf, 0), 0) == judge_within(4.0, (2, 3), 0) == "differs: larger"
    assert judge_within(0.1, (-inf, 0), 0, limits=(-0.1, 0.3), n=9) == "undecided (9 pairs, detects 0.29)"
    assert judge_within(2.6, (2, inf), 1, limits=(1.7, 3.9), n=9, neutral=1) == "agrees in direction"
    assert judge_within(3, (-2, 2), 0, limits=(1, 5)) == "differs: larger"
    assert judge_within(0.5, (0, 1), 1, limits=(-0.1, 1.1), n=5).startswith("undecided (5 pairs")
    assert judge_within(0.5, (0, 1), 0.4) == "differs"
    assert judge_within(0.5, (0, 1), 0.5) == judge_within(2.0, (0, 1), 0.5) == "agrees in direction"
    assert judge_within(2.0, (0, 1), 0.5, limits=(1.5, 2.5)) == judge_within(2.0, (0, 1), 0.4) == "differs: larger"
    assert judge_within(0.01, (0.02, inf), 0, neutral=0) == "agrees in direction"  # ahead, if by less
    assert judge_within(-0.01, (0.02, inf), 0, neutral=0) == "differs: smaller"
    assert judge_within(0.03, (0.02, inf), 1, limits=(0.01, 0.05), n=5, neutral=0) == "agrees in direction"
    assert judge_within(0.03, (0.02, inf), 1, limits=(-0.01, 0.07), n=5, neutral=0).startswith("undecided")
    assert judge_within(0.01, (0.02, inf), 1, limits=(-0.001, 0.015), n=5, neutral=0) == "differs: smaller"


def test_numbers_on_the_same_side_agree_in_direction_if_none_is_twice_as_far():
    assert judge(-41.0, 0.0, 2.0, neutral=0) == "differs: smaller"
    assert judge(3.0, 9.0, 0.3, neutral=1, limits=(0.5, 5.5), n=3) == "differs: smaller"
    for here, expected in (
        (4.9, "differs: smaller (same side)"),
        (5.1, "agrees in direction"),
        (7, "agrees in direction"),
    ):
        assert judge(here, 9.0, 0.3, neutral=1) == expected
    assert judge(17.1, 9.0, 0.3, neutral=1) == "differs: larger (same side)"


def test_a_claim_is_open_if_the_limits_exclude_equality_and_contain_its_end():
    inf = float("inf")
    found = judge_within(0.656, (0.85, inf), 4 / 9, limits=(0.465, 0.925), n=10, neutral=1)
    assert found == "undecided (10 pairs, detects 0.33)"
    assert judge_within(0.656, (0.85, inf), 4 / 9, limits=(0.465, 0.8), n=10, neutral=1) == "differs: smaller"
    assert judge_within(1.2, (0.85, inf), 1, limits=(0.9, 1.5), n=10, neutral=1) == "agrees"


def test_an_equivalence_fails_where_the_limits_exclude_equality_and_the_estimate_the_margin():
    assert judge_within(0.03, (-0.02, 0.02), 0.6, limits=(0.01, 0.05), n=9) == "differs: larger"
    assert judge_within(0.03, (-0.02, 0.02), 0.6, limits=(-0.01, 0.07), n=9).startswith("undecided")
    assert judge_within(0.01, (-0.02, 0.02), 0.6, limits=(0.001, 0.03), n=9).startswith("undecided")
