"""What to use when: the sentences follow the records, whatever they name."""

import re

import numpy as np
import polars as pl
import pytest

from npbench.records.reading import conformed
from npbench.report.stats.paired import shift_interval
from npbench_benchmark.advice import advice, gains, large, lines, reach
from sample_records import frame, record

UMBRELLA = {"delta": 0.05, "estimator": "sgd", "threshold": "umbrella", "calibration_size": 0.5}
AVERAGE = {**UMBRELLA, "threshold": "average"}
NAMES = [f"keel_set{n}" for n in range(8)]
LOGISTIC = {"estimator": "sklearn.linear_model.LogisticRegression"}


def results(solver, misses, p_fa=0.05, params=None, seconds=1.0, rho=0.1, names=NAMES, status="ok", **columns):
    """Return three repeats on each data set; ``misses`` is a level, or one for each data set."""
    level = np.broadcast_to(np.asarray(misses, dtype=float), len(names))
    rule = (params or {}).get("threshold", "")
    return [
        record(
            **{"solver": solver, "dataset": name, "repeat": n, "params": params or {}, "solver_status": rule},
            **{"rho": rho, "problem_params": {"rho": rho}, "p_fa": p_fa, "p_nd": level[k], "status": status},
            **{"np_score": level[k] + max(0.0, p_fa - rho) / rho, "seconds": seconds},
            **{"select_cpu_seconds": seconds / 2, "fit_cpu_seconds": seconds / 2},
            **{"n_samples": 3000, "n_positive": 500, "n_test_positive": 250, "key": f"{solver}{name}{n}{rho}"},
            **columns,
        )
        for k, name in enumerate(names)
        for n in range(3)
    ]


def made(*parts):
    return conformed(frame(one for part in parts for one in part))


def told(records):
    """Return the advice as a text for each promise."""
    return list(map(" ".join, advice(records)))


def on_large(records):
    return list(map(" ".join, large(records)))


def line(found, start):
    (one,) = [text for text in found if text.startswith(start)]
    return one


def test_two_methods_that_change_their_records_change_places_in_the_sentence():
    good, bad = (results("alpha", 0.2, params=UMBRELLA), results("beta", 0.4, params=UMBRELLA))
    text = line(told(made(good, bad)), "Guaranteed")
    swapped = [{**one, "solver": {"alpha": "beta", "beta": "alpha"}[one["solver"]]} for one in [*good, *bad]]
    swapped = [{**one, "method": one["solver"]} for one in swapped]
    assert "alpha misses 0.20" in text
    assert "beta" not in text
    assert line(told(made(swapped)), "Guaranteed") == text.replace("alpha", "beta")


@pytest.mark.parametrize("params", [UMBRELLA, AVERAGE])
def test_a_method_with_too_many_false_alarms_leaves_the_sentence(params):
    others = results("beta", 0.4, params=params)
    assert "alpha" in told(made(results("alpha", 0.2, params=params), others))[0]
    text = told(made(results("alpha", 0.2, p_fa=0.2, params=params), others))[0]
    assert "alpha" not in text
    assert "beta" in text
    assert "no method" in told(made(results("alpha", 0.2, p_fa=0.2, params=params)))[0]


def test_numbers_are_those_of_the_records():
    text = told(made(results("alpha", 0.3, params=UMBRELLA, p_fa=0.05)))[0]
    assert "misses 0.30 at rho 0.1 (above it on 0 of 24 test parts, 1.6 expected: kept)" in text
    half = results("alpha", 0.3, params=UMBRELLA) + results("alpha", 0.3, p_fa=0.11, names=["a"], params=UMBRELLA)
    assert "above it on 3 of 27 test parts" in told(made(half))[0]
    assert "mean P_fa 0.0500: kept" in told(made(results("alpha", 0.3, params=AVERAGE)))[0]


def test_of_those_that_share_the_place_the_fastest_is_the_cheapest():
    level = np.linspace(0.1, 0.4, 8)
    slow = results("alpha", level, params=UMBRELLA, seconds=3.0)
    wave = level + 0.01 * np.array([1, -1, 1, -1, 1, -1, 1, 1])  # better on three data sets
    fast = results("beta", wave, params=UMBRELLA, seconds=0.5)
    text = told(made(slow, fast))[0]
    assert re.search(r"Cheaper.*beta at 0.1 \(misses 0.25 in 0.5 s, not 3 s; above rho on 0 of 24 test parts\)", text)
    assert re.search(r"alpha misses 0.25 at rho 0.1 \([^)]*first with 1 of 1 others\)", text)
    better = wave - 0.02 * np.eye(8)[1]
    as_fast = results("gamma", better, params=UMBRELLA, seconds=0.5001)
    assert re.search(r"Cheaper.*gamma at 0.1", told(made(slow, fast, as_fast))[0])
    assert "first" not in told(made(slow))[0]  # there is no other
    for seconds in (9.0, 1.6):  # not half of those of the best
        assert "beta" not in told(made(slow, results("beta", wave, params=UMBRELLA, seconds=seconds)))[0]
    worse = results("beta", wave + 0.05 * np.array([-1, 1, 1, 1, 1, 1, -1, 1]), params=UMBRELLA, seconds=0.5)
    assert "beta" not in told(made(slow, worse))[0]  # not to be told apart, but 2 points worse
    assert "beta" not in told(made(slow, results("beta", level + 0.1, params=UMBRELLA, seconds=0.5)))[0]


def test_the_best_may_be_alone_at_one_bound_and_share_its_place_at_another():
    level = np.linspace(0.1, 0.4, 8)
    noise = 0.01 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    at = {rho: results("alpha", level, rho=rho, p_fa=0.0, params=UMBRELLA) for rho in (0.1, 0.05)}
    near = {rho: results("beta", level + noise, rho=rho, p_fa=0.0, params=UMBRELLA) for rho in at}
    far = results("beta", level + 0.3, rho=0.1, p_fa=0.0, params=UMBRELLA)
    assert re.search(
        r"rho 0.1 \([^)]*first alone\), .*at 0.05 \([^)]*first with 1 of 1\)",
        told(made(*at.values(), near[0.05], far))[0],
    )
    assert "first alone" not in told(made(*at.values(), *near.values()))[0]
    farther = results("beta", level + 0.3, rho=0.05, p_fa=0.0, params=UMBRELLA)
    assert told(made(*at.values(), far, farther))[0].count("first alone") == 2


def test_methods_that_left_are_counted_beside_those_that_keep_their_promise():
    kept = [results("alpha", 0.3, rho=rho, p_fa=0.0, params=UMBRELLA) for rho in (0.1, 0.05)]
    left = [results("beta", 0.1, rho=rho, p_fa=p_fa, params=UMBRELLA) for rho, p_fa in ((0.1, 0.3), (0.05, 0.0))]
    assert "exceed rho beyond what their promise allows: 1 of 2, 0 of 2 methods" in told(made(*kept, *left))[0]
    assert "Left out" not in told(made(*kept, left[1]))[0]


def test_bounds_with_fewer_data_sets_are_also_compared_on_those_that_all_have():
    hard = {"names": NAMES[:6]}
    at_all = [results("alpha", [0.9] * 6 + [0.1] * 2, params=UMBRELLA, rho=0.1)]
    sentences = advice(made(*at_all, results("alpha", 0.95, params=UMBRELLA, rho=0.05, p_fa=0.0, **hard)))[0]
    assert re.search(r"misses 0.70 at rho 0.1 \(.*, 0.95 at 0.05 \(", sentences[0])
    assert "On the 6 data sets that these bounds share: 0.90, 0.95." in sentences
    assert "share" not in told(made(*at_all))[0]


def test_a_bound_on_few_data_sets_stands_beside_the_advice_only_if_another_has_enough():
    def at(rho, n):
        return results("beta", 0.1, p_fa=0.0, rho=rho, names=NAMES[:n], params=UMBRELLA)

    alone = line(told(made(at(0.1, 8))), "Guaranteed")
    assert line(told(made(at(0.1, 8), at(0.01, 5))), "Guaranteed") == alone
    assert "rho=0.01 is on 5 data sets" in reach(made(at(0.1, 8), at(0.01, 5)))
    assert "0.01" in line(told(made(at(0.01, 5))), "Guaranteed")
    assert "0.01" in line(told(made(at(0.1, 8), at(0.01, 6))), "Guaranteed")
    assert "too few" not in reach(made(at(0.1, 8), at(0.01, 6)))


@pytest.mark.parametrize(("above", "word"), [(0, "kept"), (4, "kept within noise")])
def test_a_sentence_has_the_verdict_on_the_promise(above, word):
    found = results("alpha", 0.2, params=UMBRELLA)
    found = [{**one, "p_fa": 0.11 if place < above else 0.05} for place, one in enumerate(found)]
    assert re.search(rf"expected: {word}\)", told(made(found))[0])


def test_bounds_at_which_others_lead_have_clauses_of_their_own():
    at = {rho: [results("alpha", a, rho=rho, p_fa=0.0), results("beta", b, rho=rho, p_fa=0.0)]
          for rho, a, b in ((0.1, 0.2, 0.3), (0.05, 0.2, 0.3), (0.01, 0.5, 0.3))}  # fmt: skip
    text = told(made(*(part for parts in at.values() for part in parts)))[0]
    assert re.search(r"alpha misses 0.20 at rho 0.1 \([^)]*\), 0.20 at 0.05 ", text)
    assert "beta misses 0.30 at 0.01" in text
    assert text.startswith("No promise")


def test_the_first_with_few_negatives_is_named_where_it_is_another():
    few = [{**one, "n_samples": 800} for one in results("alpha", 0.4) + results("beta", 0.2)]
    many = results("alpha", 0.2, names=[f"m{n}" for n in range(30)])
    many += results("beta", 0.3, names=[f"m{n}" for n in range(30)])
    text = told(made(few, many))[0]
    assert "alpha misses 0.24 " in text
    assert re.search(r"fewer than 320 negatives \(8 data sets\) at 0.1: beta \(misses 0.20", text)
    assert "320" not in told(made([{**one, "n_samples": 5000} for one in few], many))[0]


def test_large_data_sets_have_a_line_for_each_promise_with_the_jobs_without_an_answer():
    big = {"names": ["x", "y"]}
    records = results("alpha", 0.2, **big) + results("beta", 0.3, **big) + results("gamma", 0.1, **big)
    sizes = {"n_samples": 200_000, "n_positive": 1000, "n_test_positive": 500}
    records = [{**one, **sizes} for one in records]
    assert on_large(made(results("alpha", 0.2))) == []
    (text,) = on_large(made(records))
    assert "2 data sets, too few" in text
    assert "gamma misses 0.10" in text
    lost = [
        {**one, "status": "timeout"} if one["solver"] == "gamma" and one["dataset"] == "x" else one for one in records
    ]
    (text,) = on_large(made(lost))
    assert "alpha misses 0.20" in text
    assert "1 of all 3 methods" in text
    assert told(made(lost, results("alpha", 0.2)))[-1] == text
    at = {"rho": 0.05, "seconds": 120.0, **big}
    tight = results("alpha", 0.7, **at) + results("beta", 0.6, **at) + results("gamma", 0.8, **at)
    (text,) = on_large(made(lost, [{**one, **sizes} for one in tight]))
    assert (
        "alpha misses 0.20 at rho 0.1 in 1 s (above it on 0 of 6 test parts); beta misses 0.60 at 0.05 in 120 s" in text
    )
    assert "1 of all 3 methods" in text
    kept = [{**one, **sizes} for one in results("delta", 0.3, params=UMBRELLA, **big)]
    guaranteed, free = on_large(made(lost, kept))
    assert "delta misses 0.30" in guaranteed
    assert "kept" not in guaranteed  # two data sets judge no promise
    assert "alpha misses 0.20" in free
    enough = [results(solver, level) for solver, level in (("alpha", 0.2), ("beta", 0.3))]
    (text,) = on_large(made([{**one, **sizes} for part in enough for one in part]))
    assert "too few" not in text


def test_data_sets_that_are_too_few_to_separate_methods_do_not_hide_a_cheaper_one():
    few = {"names": NAMES[:3], "p_fa": 0.0}
    slow = results("alpha", 0.20, seconds=9.0, **few)
    assert re.search(r"(?s)too few.*Cheaper.*beta at 0.1", told(made(slow, results("beta", 0.21, **few)))[0])
    assert "Cheaper" not in told(made(slow, results("beta", 0.25, **few)))[0]
    enough = [results("alpha", 0.20, p_fa=0.0, seconds=9.0), results("beta", 0.21, p_fa=0.0)]
    assert "Cheaper" not in told(made(*enough))[0]


def test_a_method_with_a_promise_that_beats_all_without_one_is_named_with_its_score():
    def free(*parts):
        return line(told(made(*parts)), "No promise")

    loose = results("alpha", 0.2, p_fa=0.12)  # a score of 0.4
    kept = results("beta", 0.3, params=UMBRELLA)
    assert "beta (guaranteed) has 0.30 at 0.1, the lowest here 0.40: giving up" in free(loose, kept)
    assert "giving up" not in free(loose, results("beta", 0.41, params=UMBRELLA))
    assert "giving up" not in free(loose, results("beta", 0.3, p_fa=0.3, params=UMBRELLA))  # leaves its league
    average = results("gamma", 0.25, params=AVERAGE)
    assert "gamma (on average) has 0.25 at 0.1" in free(loose, kept, average)
    easy = results("gamma", 0.1, params=UMBRELLA, names=NAMES[:2])  # elsewhere it was not run
    assert "beta (guaranteed) has 0.30 at 0.1" in free(loose, kept, easy)
    at = {rho: [results("alpha", 0.2, p_fa=0.0, rho=rho), results("beta", level, p_fa=0.0, rho=rho, params=UMBRELLA)]
          for rho, level in ((0.05, 0.1), (0.01, 0.3))}  # fmt: skip
    text = free(loose, kept, *at[0.05], *at[0.01])
    assert "has 0.30 at 0.1, the lowest here 0.40; beta (guaranteed) has 0.10 at 0.05, the lowest here 0.20:" in text
    few = [[one for one in part if one["dataset"] in NAMES[:5]] for part in (loose, kept)]
    assert "giving up" not in free(*few)


def areas(solver, values, params=None, method=None):
    """Return three repeats on each data set, with areas that all of them share."""
    about = {"problem": "pauc", "problem_params": '{"fpr_range":[0.0,0.1]}', "n_samples": 3000, "n_positive": 500}
    return [
        record(
            **{"solver": solver, "method": method or solver, "params": params or {}, "dataset": name, "repeat": n},
            **{
                "pauc": value,
                "p_fa": None,
                "p_nd": None,
                "rho": None,
                "seconds": 1.0,
                "n_test_positive": 250,
                "key": f"{solver}{name}{n}",
                **about,
            },
        )
        for name, value in zip([f"s{n:02d}" for n in range(len(values))], values, strict=True)
        for n in range(3)
    ]


@pytest.mark.parametrize(("gain", "word"), [(0.05, "gains"), (-0.05, "loses"), (0.0, "is not seen to gain")])
def test_what_training_for_the_range_gains_on_logistic_regression(gain, word):
    base = np.linspace(0.5, 0.7, 12)
    noise = 0.01 * (-1.0) ** np.arange(12)
    linear = base + gain + noise
    records = made(
        areas("asvm", linear), areas("scorer", base, LOGISTIC, "logistic_regression"), areas("auc_svm", base)
    )
    (text,) = gains(records)
    low, high = shift_interval(linear - base)
    assert f"asvm {word} at [0.0, 0.1]" in text
    assert f"[{low:+.3f}, {high:+.3f}], 12 data sets" in text
    named = text.partition("split: ")[2]
    expected = {"gains": "none", "loses": "none"}.get(word, "s00, s02, s04, s06, s08 and 1 more")
    assert named.startswith(expected)
    assert ("worse on every split: s01, s03, s05, s07, s09 and 1 more" in text) == (gain == 0.0)
    assert text in told(records)[0]
    assert told(records)[0].startswith("Partial AUC")
    assert list(gains(made(areas("asvm", linear)))) == []
    (of_one_split,) = gains(records.filter(repeat=0))
    better = {"gains": 12, "loses": 0}.get(word, 6)
    assert f"better on {better}, worse on {12 - better})" in of_one_split
    assert "s00" not in of_one_split
    (mixed,) = gains(records.filter((pl.col("repeat") == 0) | (pl.col("dataset") == "s02")))
    assert mixed.partition("split: ")[2].startswith("none" if gain else "s02; worse on every split: none)")


@pytest.mark.parametrize("column", [{"solver_status": "collapsed"}, {"warnings": "X: w = 0 is optimal to within tol."}])
def test_fits_that_learnt_nothing_are_counted(column):
    fits = areas("tau_fpl_ranked", np.linspace(0.5, 0.7, 12))
    rival = areas("scorer", np.linspace(0.5, 0.7, 12) + 0.01, LOGISTIC, "logistic_regression")
    (text,) = gains(made(fits, rival))
    assert "tau_fpl_ranked" in text
    assert "nothing" not in text
    (text,) = gains(made([{**one, **column} if one["repeat"] else one for one in fits], rival))
    assert "learnt nothing in 24 of 36 fits" in text


def test_how_far_the_ranking_carries():
    level = [0.01, 0.02, 0.2, 0.3, 0.4, 0.6, 0.3, 0.3]
    text = reach(made(results("alpha", level)))
    assert text.startswith("Of 8 data sets, 8 are KEEL's")
    assert "minority on 8" in text
    assert "decide ranks: 2, of which 2 are KEEL's" in text
    assert text.endswith("over 50 %: 1, of which 1 are KEEL's.")
    other = results("alpha", 0.3, names=["a", *NAMES[1:]])
    assert reach(made(other)).startswith("Of 8 data sets, 7 are KEEL's")
    assert lines(made(other), [])[-1] == reach(made(other))


def test_areas_say_which_data_sets_are_hard_also_where_a_job_is_lost():
    records = areas("asvm", [0.99, 0.98, 0.3, 0.2]) + areas("auc_svm", [0.98, 0.97, 0.2, 0.3])
    lost = [{**one, "status": "timeout"} if one["repeat"] == 0 and one["dataset"] == "s00" else one for one in records]
    assert "decide ranks: 2," in reach(made(records))
    assert "decide ranks: 1," in reach(made(lost))  # a third of its area
    assert "over 50 %: 2," in reach(made(lost))
