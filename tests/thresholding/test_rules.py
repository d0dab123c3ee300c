"""Thresholds for scores: the promise in simulations, counts and limits against SciPy, and what is refused."""

import datetime
import json
import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest, norm

import npbench
from grids import diagonal, slow
from npbench.numerics.thresholds import RULES, fewest_negatives, umbrella
from npbench.thresholding.multiclass import ClassBounds
from npbench.thresholding.threshold import GroupThresholds, Threshold, described, from_json


def simulated(first, *others):
    """Return cases with their number of draws: the first with few in each run, and all with more in slow tests."""
    return [(*first, 200), *(slow((*case, 1000)) for case in (first, *others))]


def not_rejected(violations, draws, delta):
    """Whether an exact test at level 0.001 accepts that the probability of a violation is at most delta."""
    return binomtest(int(violations), draws, delta, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize(("rho", "delta", "n", "draws"), simulated((0.1, 0.1, 40), (0.05, 0.05, 150)))
def test_promise_holds_and_is_not_wasted(rho, delta, n, draws):
    rng = np.random.default_rng(0)
    negatives = rng.normal(size=(draws, n))
    y = np.zeros(n, dtype=int)
    found = [npbench.threshold(scores, y, rho=rho, delta=delta).value for scores in negatives]
    violations = np.sum(norm.sf(found) > rho)
    assert not_rejected(violations, draws, delta)
    exact = RULES["umbrella"].level(n, RULES["umbrella"].accepted(n, rho, delta), rho)
    assert delta / 3 < exact <= delta
    assert binomtest(int(violations), draws, exact).pvalue > 0.001
    empirical = [npbench.threshold(scores, y, rho=rho, rule="empirical").value for scores in negatives]
    assert not not_rejected(np.sum(norm.sf(empirical) > rho), draws, delta)


def test_all_groups_keep_their_bound_at_once(draws):
    rng, rho, delta, sizes = np.random.default_rng(1), 0.1, 0.2, (40, 60)
    spread, by = np.array([1.0, 3.0]), np.repeat([7, 8], sizes)
    scores, y = rng.normal(size=(draws, sum(sizes))) * np.repeat(spread, sizes), np.zeros(sum(sizes))
    found = [npbench.threshold(row, y, rho=rho, delta=delta, by=by) for row in scores]
    values = np.array([[one.value for one in each.groups.values()] for each in found])
    exceeded = norm.sf(values / spread) > rho
    assert not_rejected(np.sum(np.any(exceeded, axis=1)), draws, delta)
    assert all(not_rejected(number, draws, delta / 2) for number in np.sum(exceeded, axis=0))
    for_all = np.array([umbrella(row, rho, delta) for row in scores])
    assert not not_rejected(np.sum(norm.sf(for_all / 3.0) > rho), draws, delta)  # which is why groups have their own
    assert {one.delta for one in found[0].groups.values()} == {delta / 2}
    assert "0.9" in found[0].promise


@pytest.mark.parametrize(
    ("options", "draws"), simulated(({"recall": 0.25, "precision": 0.7},), ({"recall": 0.5},), ({"precision": 0.75},))
)
def test_several_promises_are_kept_at_once(options, draws):
    rng, rho, delta, n = np.random.default_rng(3), 0.1, 0.1, 300
    kept_in, broken = 0, 0
    for _ in range(draws):
        y = (rng.random(n) < 0.4).astype(int)
        try:
            found = npbench.threshold(rng.normal(2.0 * y), y, rho=rho, delta=delta, **options)
        except ValueError:  # refused: nothing is promised
            continue
        fpr, tpr = norm.sf(found.value), norm.sf(found.value - 2)
        precision = 0.4 * tpr / (0.4 * tpr + 0.6 * fpr)
        kept_in += 1
        broken += fpr > rho or tpr < options.get("recall", 0) or precision < options.get("precision", 0)
    assert not_rejected(broken, draws, delta)
    assert kept_in > draws / 2


@pytest.mark.parametrize(
    ("options", "draws"), simulated(({"recall": 0.7},), ({"precision": 0.8},), ({"recall": 0.5, "precision": 0.7},))
)
def test_other_rates_are_promised_without_a_bound_on_false_alarms(options, draws):
    rng, delta, n = np.random.default_rng(8), 0.1, 300
    kept_in, broken, values = 0, 0, []
    for _ in range(draws):
        y = (rng.random(n) < 0.4).astype(int)
        scores = rng.normal(2.0 * y)
        try:
            found = npbench.threshold(scores, y, rho=None, delta=delta, **options)
        except ValueError:
            continue
        fpr, tpr = norm.sf(found.value), norm.sf(found.value - 2)
        kept_in += 1
        broken += tpr < options.get("recall", 0) or 0.4 * tpr / (0.4 * tpr + 0.6 * fpr) < options.get("precision", 0)
        values.append(found.value)
    assert found.guaranteed
    assert found.n_needed == 0
    assert "false-alarm" not in found.promise
    assert from_json(found.to_json()) == found
    assert not_rejected(broken, draws, delta)
    assert kept_in > 0.9 * draws
    if options == {"recall": 0.7}:  # the highest threshold with this recall: the share of delta is used up
        assert broken > draws * delta / 3
        assert found.value == -umbrella(-scores[y == 1], 1 - 0.7, delta)


OPTIONS = (
    {"rho": 0.1, "recall": 0.4},
    {"rho": 0.1, "recall": 0.25, "precision": 0.6},
    {"rho": None, "recall": 0.7},
    {"rho": None, "precision": 0.7},
)


@pytest.mark.filterwarnings("ignore:.*share the largest score")
@pytest.mark.slow(reason="2000 thresholds for each case")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [60, 400, 5000])
@pytest.mark.parametrize("options", OPTIONS)
def test_rates_are_kept_at_any_size_and_with_ties(options, n, ties):
    rng, delta, draws, broken, kept_in = np.random.default_rng(n), 0.1, 2000, 0, 0
    for _ in range(draws):
        y = (rng.random(n) < 0.4).astype(int)
        scores = rng.normal(2.0 * y)
        try:
            value = npbench.threshold(np.round(2 * scores) / 2 if ties else scores, y, delta=delta, **options).value
        except ValueError:
            continue
        above = (math.floor(2 * value) + 0.5) / 2 if ties else value  # scores beyond it are rounded to more than value
        fpr, tpr = norm.sf(above), norm.sf(above - 2)
        kept_in += 1
        broken += fpr > (options["rho"] or 1) or tpr < options.get("recall", 0)
        broken += 0.4 * tpr / (0.4 * tpr + 0.6 * fpr) < options.get("precision", 0)
    assert not_rejected(min(broken, draws), draws, delta)
    assert kept_in > (0 if n == 60 else draws / 2)


@pytest.mark.filterwarnings("ignore:.*share the largest score")
@pytest.mark.slow(reason="2000 thresholds for each case")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("sizes", [(29, 40), (100, 1000)])
def test_groups_keep_their_bounds_with_ties(sizes, ties):
    rng, rho, delta, draws = np.random.default_rng(4), 0.1, 0.1, 2000
    by, broken = np.repeat([0, 1], sizes), 0
    for _ in range(draws):
        scores = rng.normal(size=len(by))
        found = npbench.threshold(np.round(2 * scores) / 2 if ties else scores, 0 * by, rho=rho, delta=delta, by=by)
        values = [(math.floor(2 * one.value) + 0.5) / 2 if ties else one.value for one in found.groups.values()]
        broken += max(norm.sf(values)) > rho
    assert not_rejected(broken, draws, delta)


def test_a_coin_saves_misses_and_is_seeded():
    rng, y = np.random.default_rng(9), np.repeat([0, 1], [80, 200])
    scores = rng.normal(1.5 * y)
    sure = npbench.threshold(scores, y)
    tossed = [npbench.threshold(scores, y, randomized=True, random_state=seed) for seed in range(40)]
    assert {one.value for one in tossed} >= {sure.value}
    assert 0 < sum(one.value < sure.value for one in tossed) < 40
    assert tossed[0] == npbench.threshold(scores, y, randomized=True, random_state=0)
    assert all(one.guaranteed and one.misses <= sure.misses for one in tossed)


def test_returned_thresholds_may_break_what_refusals_keep(draws):
    """The recall is out of reach: only a lucky sample lets a threshold through, and most of these break a bound."""
    rng, delta, found = np.random.default_rng(5), 0.1, []
    for _ in range(draws):
        y = (rng.random(300) < 0.4).astype(int)
        try:
            found.append(npbench.threshold(rng.normal(1.5 * y), y, rho=0.1, delta=delta, recall=0.58))
        except ValueError:
            continue
    values = np.array([one.value for one in found])
    broken = np.sum((norm.sf(values) > 0.1) | (norm.sf(values - 1.5) < 0.58))
    assert not_rejected(broken, draws, delta)
    assert broken > len(found) / 2
    assert "no threshold is returned, or" in found[0].promise


def advice(scores, y, options):
    """Return the settings that the refusal of a threshold says will do."""
    try:
        npbench.threshold(scores, y, **options)
    except ValueError as error:
        text = str(error)
        rates = re.findall(r"(rho|delta)=(\S+) or more", text) + re.findall(r"a (\w+) of (\S+) can", text)
        return {name: float(value) for name, value in rates}
    return {}


ASKED = [{"recall": 0.7, "precision": 0.7}, {"rho": 0.01}, {"recall": 0.9}, {"precision": 0.9}]
ASKED += [{"rho": 0.07, "delta": 1e-4}]
ADVISED = [[(asked, grouped) for asked in ASKED] for grouped in (False, True)]


@pytest.mark.parametrize(("asked", "grouped"), [*diagonal(ADVISED, every=5)])
def test_advice_is_accepted_when_it_is_followed(asked, grouped):
    rng, followed = np.random.default_rng(6), 0
    for _ in range(40):
        n = int(rng.integers(30, 400))
        y = np.r_[0, 0, 1, 1, (rng.random(n - 4) < 0.4).astype(int)]
        scores = np.round(rng.normal(1.5 * y), int(rng.integers(1, 6)))
        options = asked | ({"by": np.arange(n) % 2} if grouped else {})
        for name, value in advice(scores, y, options).items():
            followed += 1  # what is refused then, if anything, is something else
            assert name not in advice(scores, y, options | {name: value})
    assert followed > 10


@pytest.mark.parametrize(("n", "is_named"), [(50, True), (18, False)])
def test_the_rule_for_the_mean_is_advised_where_it_has_enough(n, is_named):
    with pytest.raises(ValueError, match="hold out more") as refused:
        npbench.threshold(np.arange(n), np.zeros(n), rho=0.05)
    assert ("'average'" in str(refused.value)) is is_named
    if is_named:
        assert npbench.threshold(np.arange(n), np.zeros(n), rho=0.05, rule="average").n_negatives == n


def test_the_rule_without_a_promise_is_no_advice_for_two_promises():
    for options, is_named in (({}, True), ({"recall": 0.5}, False)):
        with pytest.raises(ValueError, match="hold out") as refused:
            npbench.threshold(np.arange(100.0), np.repeat([0, 1], 50), **options)
        assert ("empirical" in str(refused.value)) is is_named


@pytest.mark.parametrize("n_groups", [1, 2])
def test_printed_rates_are_rounded_to_the_safe_side(n_groups):
    one = Threshold(
        0.5, rho=1.0000004e-3, delta=2e-9, rule="umbrella", n_negatives=9, false_alarms=0, recall=0.29999996
    )
    many = GroupThresholds(dict.fromkeys(range(2), one), 2e-9)
    promise = one.promise if n_groups == 1 else many.promise
    assert "probability 1 or" not in promise
    assert float(re.search(r"at most (\S+\d)", promise)[1]) > one.rho
    assert float(re.search(r"recall at least (\S+\d)", promise)[1]) < one.recall


@pytest.mark.parametrize(("rate", "draws"), simulated(("recall",), ("precision",)))
def test_a_rate_on_the_edge_is_rarely_promised(rate, draws):
    """The true rate at the threshold is just below the bound: each promise is a broken one."""
    rng, delta, n, refused = np.random.default_rng(4), 0.2, 200, 0
    for _ in range(draws):
        y = (rng.random(n) < 0.5).astype(int)
        scores = np.where(y == 1, rng.random(n) < 0.58, 0) + rng.random(n) * 0.5  # above 1: 58 % of the positives
        if rate == "precision":
            scores, y = rng.random(n), (rng.random(n) < 0.58).astype(int)  # 58 % at any threshold
        try:
            npbench.threshold(scores, y, rho=0.5, delta=delta, **{rate: 0.8 if rate == "recall" else 0.6})
        except ValueError:
            refused += 1
    assert binomtest(draws - refused, draws, delta / 2, alternative="greater").pvalue > 0.001


def test_second_rates_need_the_samples_to_prove_them():
    scores, y = np.arange(400.0), np.repeat([0, 1], [300, 100])
    of_numpy = npbench.threshold(scores, y, recall=np.float32(0.5), precision=np.float32(0.5))
    assert from_json(of_numpy.to_json()) == of_numpy
    found = npbench.threshold(scores, y, recall=0.8, precision=0.9)
    assert (found.recall, found.precision, found.share) == (0.8, 0.9, pytest.approx(0.05 / 3))
    assert "recall at least 0.8" in found.promise
    assert found.n_needed == fewest_negatives(0.05, 0.05 / 3)
    assert f"{found.n_needed} negatives needed for 0.05 at 0.983333" in str(found)  # with the share of delta
    for options, words in [
        ({"recall": 0.99}, "100 held-out positives"),
        ({"precision": 0.999}, "0.999"),
        ({"recall": 1.0}, "recall is 1.0"),
        ({"recall": 0.5, "rule": "empirical"}, "empirical"),
    ]:
        with pytest.raises(ValueError, match=words):
            npbench.threshold(scores, y, **options)
    with pytest.raises(ValueError, match="can be promised"):
        npbench.threshold(np.sin(scores), y, recall=0.9)


def test_counts_and_limits_are_those_of_the_sample():
    rng = np.random.default_rng(2)
    scores, y = np.r_[rng.normal(size=300), rng.normal(3, size=50)], np.repeat([0, 1], [300, 50])
    found = npbench.threshold(scores, y, rho=0.01)
    assert found.value == umbrella(scores[:300], 0.01, 0.05)
    assert (found.n_negatives, found.n_positives, found.n_needed) == (300, 50, fewest_negatives(0.01, 0.05))
    assert found.misses == np.sum(~found.predict(scores[300:]))
    assert found.false_alarms == np.sum(found.predict(scores[:300])) == 0
    limits = binomtest(found.misses, 50).proportion_ci(method="exact")
    assert (found.p_nd().low, found.p_nd().high) == pytest.approx((limits.low, limits.high))
    assert npbench.threshold(scores[:300], y[:300], rho=0.01).p_nd() is None
    with pytest.raises(AttributeError):
        found.value = 0.0


def test_json_has_what_a_deployment_needs():
    scores, y, by = np.arange(400.0), np.repeat([0, 1], [300, 100]), np.tile(["x", "y"], 200)
    kept = json.loads(npbench.threshold(scores, y, rho=0.05).to_json())
    assert kept["value"] == npbench.threshold(scores, y, rho=0.05).value
    assert (kept["guaranteed"], kept["n_needed"], kept["p_nd"]["value"]) == (True, 59, 0.0)
    groups = json.loads(npbench.threshold(scores, y, by=by).to_json())["groups"]
    assert [(one["group"], one["delta"]) for one in groups] == [("x", 0.025), ("y", 0.025)]
    for options in ({}, {"by": by}, {"recall": 0.5}):
        found = npbench.threshold(scores, y, **options)
        again = from_json(found.to_json())
        assert again == type(found).from_json(found.to_json()) == found
    assert set(Threshold.from_json(npbench.threshold(scores, y, keep_scores=True).to_json()).reference) == {*range(300)}
    many = npbench.threshold(np.arange(5000.0), np.zeros(5000))
    assert many.reference == ()
    assert len(many.quantiles) == 99
    assert all(share == pytest.approx(np.mean(np.arange(5000) <= score)) for share, score in many.quantiles)
    for text in ("[]", "{}", "[" * 100_000, "7", '{"groups": 5}', '{"groups": [{"value": 1}], "delta": 0.1}'):
        with pytest.raises(ValueError, match="JSON"):
            from_json(text)
    with pytest.raises(ValueError, match="groups"):
        type(npbench.threshold(scores, y, by=by)).from_json(many.to_json())


@pytest.mark.parametrize("rule", ["umbrella", "average", "empirical"])
def test_groups_have_a_kind_of_promise(rule):
    found = npbench.threshold(np.arange(400.0), np.zeros(400), by=np.resize(["a", "b"], 400), rule=rule)
    kind = RULES[rule].promise
    assert (found.promise_kind, found.guaranteed) == (kind, kind == "guaranteed")
    kept = json.loads(found.to_json())
    assert (kept["promise_kind"], kept["guaranteed"]) == (kind, kind == "guaranteed")
    assert "comparison" not in kept  # a reader of one threshold refuses a file without it, rather than find no value
    old = {name: kept[name] for name in ("promise", "delta", "pooled", "groups")}
    assert from_json(json.dumps(old)) == found
    weaker = {**found.groups, "b": replace(found.groups["b"], cross_fitted=True)}
    assert replace(found, groups=weaker).promise_kind == ("none" if kind == "none" else "measured")


def test_json_serves_readers_without_npbench():
    scores, words = np.arange(400.0), np.repeat(["ok", "fraud"], [300, 100])
    kept = json.loads(npbench.threshold(scores, words, pos_label="fraud").to_json())
    assert (kept["comparison"], kept["positive"], kept["negative"]) == (">", "fraud", "ok")
    assert "larger" in kept["score"]
    assert kept["npbench_version"] == npbench.__version__
    assert datetime.date.fromisoformat(kept["date"]).year >= 2026
    assert kept["reference"] == []


def test_small_groups_share_a_threshold_and_keep_the_bound_together(draws):
    """Two small groups of unlike scores: the bound is for both, mixed as in the sample, and not for each."""
    rng, rho, delta = np.random.default_rng(0), 0.1, 0.1
    sizes, means = {"a": 200, "b": 25, "c": 15}, {"a": 0.0, "b": 0.0, "c": 2.0}
    by = np.repeat(list(sizes), list(sizes.values()))
    exceeded = alone = 0
    for _ in range(draws):
        scores = rng.normal([means[name] for name in by])
        found = npbench.threshold(scores, np.zeros(240), by=by, rho=rho, delta=delta, pos_label=1, small="pool")
        own = {name: norm.sf(one.value - means[name]) for name, one in found.groups.items()}
        together = (25 * own["b"] + 15 * own["c"]) / 40
        exceeded += own["a"] > rho or together > rho
        alone += own["c"] > rho
    assert (found.pooled, found.n_parts) == (("c", "b"), 2)
    assert found.groups["b"] == found.groups["c"] != found.groups["a"]
    assert (found.groups["b"].n_negatives, found.groups["a"].delta) == (40, delta / 2)
    assert found.guaranteed
    assert binomtest(exceeded, draws, delta, alternative="greater").pvalue > 0.001
    assert binomtest(alone, draws, delta, alternative="greater").pvalue < 0.001  # not for the smallest alone
    assert from_json(found.to_json()) == found
    assert found.members() == {"a": ["a"], "2 pooled groups": ["c", "b"]}
    with pytest.raises(ValueError, match="new group 'd'"):
        found.predict([1.0], ["d"])


@pytest.mark.parametrize(
    ("counts", "pooled"),
    [
        ([100, 100], set()),
        ([100, 50], {0, 1}),  # the union of all is one group
        ([200, 200, 50], {2, 0}),  # a single small group takes the next smallest with it
        ([200, 200, 60, 60], {2, 3}),
        ([0, 300], {0, 1}),
    ],
)
def test_the_fewest_small_groups_are_pooled(counts, pooled):
    by = np.repeat(np.arange(len(counts)), counts)
    by, y = np.r_[by, np.arange(len(counts))], np.r_[np.zeros(len(by)), np.ones(len(counts))]
    found = npbench.threshold(np.arange(len(y)) / 7, y, by=by, small="pool")
    assert set(found.pooled) == pooled
    needed = fewest_negatives(0.05, 0.05 / found.n_parts)
    assert all(one.n_negatives >= needed for one in found.groups.values())


@pytest.mark.parametrize(
    ("counts", "where"),
    [
        ([200, 200], "all 2 groups|each group:"),
        ([200, 40, 40], "2 small groups count as one"),
        ([200], "the only group"),
        ([50, 50], "all groups together, mixed as here"),
    ],
)
def test_the_promise_for_groups_says_which_count_as_one(counts, where):
    by, n = np.repeat(np.arange(len(counts)), counts), sum(counts)
    found = npbench.threshold(np.arange(n), np.zeros(n), by=by, small="pool")
    for known in ({}, {"cross_fitted": True}, {"rule": "average"}, {"rule": "custom"}):
        promise = described(found, **known).promise
        assert re.search(where, promise)
        assert ("each" in promise) == (found.n_parts > 1)
        assert not re.search(r"[,:] [A-Z]|\b1 groups", promise)


def test_too_few_negatives_cannot_be_pooled():
    scores, by = np.arange(50.0), np.tile(["a", "b"], 25)
    with pytest.raises(ValueError, match="50 held-out negatives"):
        npbench.threshold(scores, np.zeros(50), by=by, small="pool")
    with pytest.raises(ValueError, match="small='pool'"):
        npbench.threshold(scores, np.zeros(50), by=by)
    for options in ({"small": "merge"}, {"small": "pool", "rho": None, "recall": 0.5}):
        with pytest.raises(ValueError, match="small"):
            npbench.threshold(scores, np.zeros(50), **options)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("value", [math.nan, math.inf, "1", None, 10**400, [1]]),
        ("reference", [5, [math.nan], ["a"], {"a": 1}]),
        ("quantiles", [5, [1], [[0.5]], [[0.5, "a"]], [[math.nan, 1.0]], {"a": 1}]),
        *((name, [5, None, ["a"]]) for name in ("score", "date", "npbench_version")),
        ("delta", [2, -1, 0, math.nan, "0.1", None, [0.1]]),
        ("rho", [2, -1, 0, math.nan, "0.1", None, [0.1]]),
        *((name, [2, -1, math.nan, "0.1"]) for name in ("recall", "precision")),
        ("rule", ["none", None, ["umbrella"], {}]),
        *((name, ["yes", 1, None]) for name in ("cross_fitted", "randomized")),
        *((name, [-1, 0.5, "3", None]) for name in ("n_negatives", "false_alarms", "n_positives", "misses")),
        ("false_alarms", [301]),
        ("misses", [101]),
    ],
)
def test_a_stored_threshold_of_a_stranger_is_refused(name, values):
    scores, y = np.arange(400.0), np.repeat([0, 1], [300, 100])
    kept = json.loads(npbench.threshold(scores, y).to_json())
    for value in values:
        text = json.dumps({**kept, name: value})
        for stored in (text, json.dumps({"delta": 0.1, "groups": [{"group": "a", **json.loads(text)}]})):
            with pytest.raises(ValueError, match=name):
                from_json(stored)


@pytest.mark.parametrize("frame", [pl.DataFrame, "pandas"])
def test_columns_of_frames_are_scores(frame):
    frame = pytest.importorskip("pandas").DataFrame if frame == "pandas" else frame
    scores = [place / 300 + place % 3 for place in range(300)]
    columns = {"s": scores, "y": ["ok", "ok", "attack"] * 100, "g": ["a", "b", "b"] * 100}
    table = frame(columns)
    found = npbench.threshold(table["s"], table["y"], pos_label="attack")
    assert found == npbench.threshold(columns["s"], columns["y"], pos_label="attack")
    by = npbench.threshold(table["s"], table["y"], by=table["g"], pos_label="attack")
    np.testing.assert_array_equal(by.predict(table["s"], table["g"]), table["y"].to_numpy() == "attack")
    for groups in (table["g"][:1], table["g"][:-1]):
        with pytest.raises(ValueError, match="by has"):
            by.predict(table["s"], groups)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [np.nan, *range(299)]}, "1 of 300 scores are NaN"),
        ({"scores": pl.Series([None, *range(299)], dtype=pl.Float64)}, "1 of 300"),
        ({"scores": np.ma.masked_less(np.arange(300.0), 1.0)}, "scores has masked"),
        ({"y": np.ma.masked_array([0, 1, 0] * 100, mask=[0, 0, 1] * 100)}, "y has masked"),
        ({"rule": lambda signs, scores: np.nan}, "NaN"),
        ({"scores": np.arange(300).astype("datetime64[D]")}, "scores"),
        ({"scores": np.arange(300) + 0j}, "scores"),
        ({"scores": 1.0}, "scores"),
        ({"by": 1}, "by is 1"),
        ({"by": "a"}, "by has 1 values"),
        ({"rho": 1e-320}, "rho is 1e-320"),
        ({"rho": 1}, "rho is 1"),
        ({"rho": 0.0}, "rho is 0.0"),
        ({"rho": "0.1"}, "rho is '0.1'"),
        ({"rho": None}, "rho is None"),
        ({"rho": None, "recall": 0.5, "y": [0] * 300}, "0 held-out positives"),
        ({"rho": 0.002, "rule": "average"}, "200 held-out negatives.* 499"),
        ({"randomized": True, "recall": 0.5}, "randomized"),
        ({"rho": 10**400}, "rho is 1000"),
        ({"delta": [0.1, 0.2]}, "delta is"),
        ({"rho": 0.1, "recall": 1j}, "recall is"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"rho": 0.01}, "200 held-out negatives.* 299"),
        ({"y": [1] * 300}, "0 held-out negatives"),
        ({"y": ["ok", "bad", "bad"] * 100}, "pos_label='bad' or pos_label='ok'"),
        ({"y": [1, 2, 2] * 100}, "pos_label=1 or pos_label=2"),
        ({"y": ["ok", "bad", None] * 100, "pos_label": "bad"}, "y has 100 missing"),
        ({"y": [0.0, 1.0, np.nan] * 100}, "y has 100 missing"),
        ({"y": [0, 1, 2] * 100}, "3 labels"),
        ({"pos_label": "attack"}, "'attack'"),
        ({"y": [0, 1]}, "y has 2 values"),
        ({"by": ["a"]}, "by has 1 values"),
        ({"by": ["a", "b", None] * 100}, "by has 100 missing"),
        ({"by": ["a"] * 250 + ["b"] * 50}, "in group 'b'"),
        ({"rule": "median"}, "'median'"),
    ],
)
def test_unusable_samples_are_refused(change, words):
    usual = {"scores": np.arange(300.0), "y": [0, 1, 0] * 100}
    with pytest.raises(ValueError, match=words):
        npbench.threshold(**{**usual, **change})


def test_masked_scores_are_not_predicted():
    found = npbench.threshold(np.arange(300.0), np.zeros(300))
    with pytest.raises(ValueError, match="masked"):
        found.predict(np.ma.masked_greater(np.arange(300.0), 200.0))


def test_numpy_rates_are_written_as_json():
    found = npbench.threshold(np.arange(300.0), np.zeros(300), rho=np.float32(0.25), delta=np.float32(0.5))
    assert json.loads(found.to_json())["rho"] == 0.25


def test_saturated_scores_are_explained():
    scores = np.r_[np.linspace(0, 0.9, 440), np.ones(60)]
    with pytest.warns(UserWarning, match=r"12 % of the 500 .* logits"):
        found = npbench.threshold(scores, np.zeros(500), rho=0.05)
    assert not np.any(found.predict(scores))
    with_positives = np.r_[scores, 2.0], np.repeat([0, 1], [500, 1])
    assert npbench.threshold(*with_positives, rho=0.05).misses == 0  # no warning: something is accepted
    assert npbench.threshold(scores, np.zeros(500), rho=0.2).false_alarms > 0  # no warning: the ties are below rho
    assert npbench.threshold(np.arange(59.0), np.zeros(59)).false_alarms == 0  # nor here: a single largest score


def test_promise_names_what_is_promised():
    scores, y = np.arange(300.0), np.zeros(300)
    assert npbench.threshold(scores, y).guaranteed
    average = npbench.threshold(scores, y, rule="average")
    assert (average.promise_kind, average.false_alarms, average.n_needed) == ("on average", 14, 19)
    assert "verage" in average.promise
    assert not average.guaranteed
    empirical = npbench.threshold(scores, y, rule="empirical")
    custom = npbench.threshold(scores, np.repeat([0, 1], 150), rule=lambda signs, s: s[signs > 0].min())
    assert (custom.value, custom.rule) == (150.0, "custom")
    for found in (empirical, custom):
        assert not found.guaranteed
        assert found.promise.startswith("No guarantee")


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_promise_is_the_sentence_of_its_rule(rule, monkeypatch):
    scores, y = np.arange(300.0), np.zeros(300)
    found = npbench.threshold(scores, y, rule=rule)
    by_group = npbench.threshold(scores, y, rule=rule, by=np.arange(300) % 2)
    promise = {"umbrella": "guaranteed", "average": "on average", "empirical": "none"}[rule]
    of_classes = ClassBounds({"a": 0.1}, {"a": (0, 9)}, promise, 0.05)
    monkeypatch.setitem(RULES, rule, replace(RULES[rule], sentence="Foretold {kept}"))
    for one in (found, by_group, replace(found, cross_fitted=True), of_classes):
        assert "told " in one.promise
        assert "bound" in one.promise or "at most 0.05" in one.promise
    crossed = replace(found, cross_fitted=True)
    assert ("Measured" in crossed.promise) == (crossed.promise_kind == "measured") == (rule != "empirical")


@pytest.mark.parametrize("rule", ["umbrella", "average"])
def test_a_promise_over_a_coin_says_so(rule):
    scores, y, by = np.arange(300.0), np.zeros(300), np.arange(300) % 2
    for groups in (None, by):
        options = {"rule": rule, "by": groups, "random_state": 0}
        tossed = npbench.threshold(scores, y, randomized=True, **options)
        for one in (tossed, from_json(tossed.to_json())):
            assert "coin" in one.promise
        stored = json.loads(npbench.threshold(scores, y, **options).to_json())
        assert "coin" not in stored["promise"]
        for one in stored.get("groups", [stored]):  # as before there was a coin
            del one["randomized"], one["n_needed_positives"]
        assert "coin" not in from_json(json.dumps(stored)).promise


@pytest.mark.parametrize("abstain", [True, False])
def test_the_positives_that_a_recall_needs_are_counted(abstain):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 400)
    options = {"rho": 0.2 if abstain else None, "recall": 0.6, "abstain": abstain}
    found = npbench.threshold(rng.normal(2.0 * y), y, **options)
    needed = found.n_needed_positives
    assert f"{needed} positives needed for recall 0.6" in str(found)
    assert json.loads(found.to_json())["n_needed_positives"] == needed
    last = 400 + needed
    assert npbench.threshold(rng.normal(2.0 * y)[:last], y[:last], **options).n_positives == needed
    with pytest.raises(ValueError, match=f"at least {needed}"):
        npbench.threshold(rng.normal(2.0 * y)[: last - 1], y[: last - 1], **options)
    assert npbench.threshold(np.arange(300.0), np.zeros(300)).n_needed_positives == 0
