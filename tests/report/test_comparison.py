"""Statistics of a report, from constructed records with known answers."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import sample_records
from grids import SLOW
from npbench.numerics.binomial_limits import excess_p_values, rate_limits
from npbench.records.fields import SCHEMA
from npbench.report.sections import comparison as statistics
from npbench.report.sections import excess, pairs, summary
from npbench.report.select.pairing import blocks
from npbench.report.stats import paired
from npbench.report.stats.paired import corrected_t_rows, holm
from sample_records import cells, frame

TITLE = "p_nd (lower is better): pairs on the same splits"


def record(label="a", repeat=0, **columns):
    rates = {"p_fa": 0.1, "p_fa_low": 0.06, "p_fa_high": 0.15, "p_nd": 0.2, "np_score": 0.2, "auc": 0.9}
    about = {"label": label, "n_samples": 768, "repeat": repeat, "split_sha256": f"s{repeat}"}
    return sample_records.record(**{**about, **rates, **columns})


def section(records):
    (one,) = statistics.sections(frame(records))
    return one


def sheet(records, title):
    """Return the rows by header of the sheet whose title begins so."""
    (found,) = (sheet for sheet in section(records).sheets if sheet.title.startswith(title))
    return cells(found)


def by_label(figures, **columns):
    """Return records with the p_nd of each label, one for each repeat; None for a repeat that is not there."""
    return [
        record(label, repeat, p_nd=value, **columns)
        for label, values in figures.items()
        for repeat, value in enumerate(values)
        if value is not None
    ]


@pytest.fixture(scope="module")
def figures():
    random = np.random.default_rng(7)
    splits, gains = random.uniform(0.2, 0.4, 12), {"a": 0, "b": 0.1, "c": 0}
    return {label: (splits + random.normal(gain, 0.03, 12)).tolist() for label, gain in gains.items()}


def test_pairs_use_shared_splits(figures):
    rows = sheet(by_label(figures), TITLE)
    assert [(row["first"], row["second"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {(row["data"], row["rho"], row["pairs"]) for row in rows} == {("pima", "0.1", "12")}
    differences = [np.subtract(figures[row["first"]], figures[row["second"]]) for row in rows]
    alone = np.array([stats.wilcoxon(d).pvalue for d in differences])
    p = holm(alone)
    corrected = holm(corrected_t_rows(np.array(differences), 1 / 3))
    for row, d, one, other, level in zip(rows, differences, p, corrected, 0.05 * alone / p, strict=True):
        low, high = paired.shift_interval(d, level)
        assert (low > 0 or high < 0) == (one <= 0.05)  # limits and test agree
        assert row["first - second"] == f"{paired.hodges_lehmann(d):+.3g}"
        assert row["95 % limits"] == f"[{low:+.3g}, {high:+.3g}]"
        assert (row["p"], row["p corrected"]) == (f"{one:.2g}", f"{other:.2g}")
        assert row["effect"] == f"{paired.rank_biserial(d):+.2f}"
    assert [row["verdict"] for row in rows] == ["first better", "no significant difference", "second better"]


def test_verdict_words_follow_direction_and_not_the_order_of_records(figures):
    backwards, forwards = section(by_label(figures)[::-1]), section(by_label(figures))
    assert [s.texts for s in backwards.sheets] == [s.texts for s in forwards.sheets]
    records = [one | {"auc": 1 - one["p_nd"], "p_fa": one["p_nd"]} for one in by_label(figures)]
    assert sheet(records, "auc (higher is better)")[0]["verdict"] == "first better"
    assert sheet(records, "p_fa: pairs")[0]["verdict"] == "first lower"


def test_verdict_holds_on_these_splits_only_or_for_a_fixed_test_part(figures):
    rows = sheet(by_label({"a": [0.2] * 8, "b": [0.2 + 0.01 * k for k in (1, 2, 3, 12, 1.5, 2.5, 3.5, 30)]}), TITLE)
    assert float(rows[0]["p"]) <= 0.05 < float(rows[0]["p corrected"])
    assert rows[0]["verdict"] == "first better on these splits"
    records = by_label(figures, protocol_params='{"name":"official","test_rows":[500,768],"validation_size":0.25}')
    rows = sheet(records, TITLE)
    assert {row["p corrected"] for row in rows} == {"-"}
    assert rows[0]["verdict"] == "first better on these splits"


def test_overlap_follows_protocol(figures):
    halves = '{"folds":4,"name":"cv","test_size":0.5}'
    other = by_label({f"{label} half": values for label, values in figures.items()}, protocol_params=halves)
    rows = sheet([*by_label(figures), *other], TITLE)
    assert len(rows) == 6
    gains = [np.subtract(figures[first], figures[second]) for first, second in itertools.combinations("abc", 2)]
    for has, ratio in ((False, 1 / 3), (True, 1.0)):
        expected = [f"{p:.2g}" for p in holm(corrected_t_rows(np.array(gains), ratio))]
        assert [row["p corrected"] for row in rows if ("half" in row["first"]) == has] == expected


def test_each_protocol_has_a_best_setting():
    random, records = np.random.default_rng(0), []
    for size in (0.25, 0.5):
        values = {f"{label} {size}": random.random(8).tolist() for label in "abcdef"}
        records += by_label(values, protocol_params={"folds": 4, "name": "cv", "test_size": size})
    rows = sheet(records, TITLE)
    assert [row["first"].endswith("0.25") for row in rows] == [True] * 5 + [False] * 5


def test_differences_all_zero_or_few_have_a_verdict():
    (row,) = sheet(by_label({"a": [0.2, 0.3, 0.1], "b": [0.2, 0.3, 0.1 + 1e-15]}), TITLE)
    assert (row["verdict"], row["p"], row["p corrected"], row["effect"]) == ("equal on every split", "1", "1", "-")
    assert row["first - second"] == "+0"
    records = by_label({"a": [0.2, 0.3, 0.1, 0.2, 0.1], "b": [0.3, 0.4, 0.3, 0.5, 0.2]})
    (row,) = sheet(records, TITLE)
    assert (row["verdict"], row["95 % limits"], row["pairs"]) == ("too few pairs", "-", "5")
    assert statistics.FEW_REPEATS in section(records).notes


def test_one_repeat_or_one_setting_gives_advice():
    repeat = section(by_label({"a": [0.2], "b": [0.3]}))
    setting = section(by_label({"a": [0.2, 0.3, 0.1, 0.2, 0.1, 0.5]}))
    assert (repeat.notes, repeat.charts, repeat.sheets) == ([statistics.ONE_REPEAT], [], [])
    assert (setting.notes, setting.charts) == ([statistics.ONE_SETTING], [])
    assert [sheet.title.split()[0] for sheet in setting.sheets] == ["How"]


def test_unshared_splits_are_ignored():
    few, many = [0.2, 0.3, None, 0.1, 0.25, 0.3, 0.2, 0.2], [0.4, None, 0.3, 0.4, 0.35, 0.4, 0.35, 0.4]
    (row,) = sheet(by_label({"a": [*few, *few], "b": many}), TITLE)
    both = np.array([(x, y) for x, y in zip(few, many, strict=True) if x is not None and y is not None])
    assert row["pairs"] == "6"
    assert row["p"] == f"{stats.wilcoxon(both[:, 0] - both[:, 1]).pvalue:.2g}"


@pytest.mark.parametrize("lacking", [{"status": "failed"}, {"p_nd": None}, {"p_nd": float("nan")}])
def test_missing_value_drops_the_pair(figures, lacking):
    records = by_label(figures)
    records[3] |= lacking  # of a
    rows = sheet(records, TITLE)
    assert [row["pairs"] for row in rows] == ["11", "11", "12"]


def test_failed_records_give_no_tables_and_unknown_ones_no_section():
    records = [record(label, status="failed", p_nd=None, p_fa=None) for label in "ab"]
    one = section([one | dict.fromkeys(["np_score", "auc", "p_fa_low", "p_fa_high"]) for one in records])
    assert (one.sheets, one.notes) == ([], [statistics.ONE_SETTING])
    assert statistics.sections(frame([record(problem="later")])) == []
    assert statistics.sections(pl.DataFrame(schema={**SCHEMA, "label": pl.String})) == []


def test_splits_differ_by_data_protocol_seed_and_hash_unless_it_is_missing():
    def n_pairs(**columns):
        a, b = (by_label({label: [0.2, 0.3]}) for label in "ab")
        found = blocks(frame([*a, *(one | columns for one in b)]), "p_nd")
        return max(np.isfinite(block.values).all(axis=1).sum() * (len(block.labels) == 2) for block in found)

    assert n_pairs() == n_pairs(n_samples=768) == 2
    assert n_pairs(data_sha256="e") == n_pairs(seed=1) == n_pairs(split_sha256="other") == 0
    assert n_pairs(protocol_params='{"folds":5,"name":"cv","test_size":0.25}') == n_pairs(repeat=9) == 0
    records = by_label({"a": [0.2, 0.3], "b": [0.3, 0.4]})
    for one in records[:2]:
        one["split_sha256"] = None
    (block,) = blocks(frame(records), "p_nd")
    np.testing.assert_allclose(np.sort(block.values, axis=0), [[0.2, 0.3], [0.3, 0.4]])


def test_many_pairs_show_the_best_only():
    random = np.random.default_rng(0)
    figures = {label: random.normal(0.3 if label != "c" else 0.2, 0.05, 9).tolist() for label in "abcdef"}
    rows = sheet(by_label(figures), TITLE)
    places = list(itertools.combinations("abcdef", 2))
    p = holm([stats.wilcoxon(np.subtract(figures[first], figures[second])).pvalue for first, second in places])
    expected = [(*place, f"{one:.2g}") for place, one in zip(places, p, strict=True) if "c" in place]
    assert [(row["first"], row["second"], row["p"]) for row in rows] == expected


def test_how_often_the_bound_is_exceeded():
    rates = [0.05, 0.1, 0.11, 0.3, 0.09, 0.08, 0.12, 0.02, 0.03, 0.04]
    records = [record("a", n, p_fa=r, p_fa_low=r - 0.04, p_fa_high=r + 0.06) for n, r in enumerate(rates)]
    (row,) = sheet(records, "How often p_fa is above rho")
    low, high = stats.binomtest(3, 10).proportion_ci(0.95, "exact")
    expected = {"data": "pima", "rho": "0.1", "solver": "a", "repeats": "10", "mean": f"{np.mean(rates):.3f}"}
    expected |= {"above": "3", "share": "0.30", "95 % limits": f"[{low:.2f}, {high:.2f}]", "noise": "0.050"}
    assert row == expected | {"surely above": "1", "verdict": "exceeded"}


@pytest.mark.parametrize("draws", [30, pytest.param(300, marks=SLOW)])
def test_true_rates_at_the_bound_are_rarely_called_above(draws):
    random, n, parts = np.random.default_rng(1), 100, 100
    limits = np.array([rate_limits(k, n) for k in range(n + 1)])
    said = 0
    for counts in random.binomial(n, 0.1, (draws, parts)).tolist():
        rates = [{"p_fa": k / n, "p_fa_low": limits[k, 0], "p_fa_high": limits[k, 1]} for k in counts]
        count = next(excess.totals(frame([record("a", part, **rate) for part, rate in enumerate(rates)]), "np"))
        said += "significantly" in str(cells(count)[0]["verdict"])
    assert said <= stats.binom.ppf(0.999, draws, 0.025)


def test_p_values_of_rates_are_those_of_their_counts():
    counted = [
        (k, n, bound) for n in (1, 30, 4000) for k in (0, 1, n // 3, n) if k <= n for bound in (0.001, 0.05, 0.4)
    ]
    rates, low, bounds = np.array([(k / n, rate_limits(k, n)[0], bound) for k, n, bound in counted]).T
    expected = [stats.binomtest(k, n, bound, alternative="greater").pvalue for k, n, bound in counted]
    np.testing.assert_allclose(excess_p_values(rates, low, bounds), expected, rtol=1e-6, atol=1e-12)
    assert np.isnan(excess_p_values(np.array([0.3]), np.array([np.nan]), np.array([0.1])))


@pytest.mark.parametrize(
    ("rates", "low", "verdict"),
    [
        ([0.1, 0.0], 0.0, "kept"),
        ([0.11, 0.0], 0.05, "kept within noise"),
        ([0.11, 0.0], None, "above, noise unknown"),
    ],
)
def test_bound_verdicts(rates, low, verdict):
    records = [record("a", n, p_fa=r, p_fa_low=low, p_fa_high=low and 0.2) for n, r in enumerate(rates)]
    (row,) = sheet(records, "How often")
    assert row["verdict"] == verdict


def over_datasets(means, **columns):
    """Return records with the p_nd of each label on data sets 0, 1, ..., two repeats each, None for none."""
    return [
        record(label, repeat, dataset=f"set{n}", data_sha256=f"d{n}", p_nd=mean + (-1) ** repeat * 0.01, **columns)
        for label, values in means.items()
        for n, mean in enumerate(values)
        for repeat in range(2)
        if mean is not None
    ]


def test_ranks_over_data_sets():
    means = {"a": [0.1, 0.2, 0.3, 0.1] * 2, "b": [0.2, 0.3, 0.4, 0.05] * 2, "c": [0.3, 0.4, 0.35, 0.2] * 2}
    means["d"] = [0.5, None, 0.1, 0] * 2
    two, few, found = (section(over_datasets({one: its[:n] for one, its in means.items()})) for n in (2, 5, 8))
    assert not any("ranks" in one.title for one in two.sheets)
    assert not few.charts
    (chart,) = (chart for chart in found.charts if chart.name == "np-rho-0.1-p_nd-ranks")
    (panel,) = chart.panels
    points = [(x, y) for ranks in panel.series for x, y in zip(ranks.x, ranks.y, strict=True)]
    assert (points, panel.parted) == ([(1.25, 2), (2.0, 1), (2.75, 0)], [0.5])
    assert [len(ranks.x) for ranks in panel.series] == [2, 1]  # two share a place, and a colour
    limits = (zip(ranks.low, ranks.x, ranks.high, strict=True) for ranks in panel.series)
    assert all(low <= x <= high for ranks in limits for low, x, high in ranks)
    (table,) = (sheet for sheet in found.sheets if sheet.title == "p_nd: mean ranks over 8 data sets, rho=0.1")
    assert [(row[0], row[3]) for row in table.texts] == [("a", "1.25"), ("b", "2.00"), ("c", "2.75")]
    assert "Settings missing on some of these: 1." in table.notes
    assert not any("p_fa" in chart.name for chart in found.charts)


def test_settings_that_cannot_be_separated_share_a_place():
    gains = {"a": 0, "b": 0.001, "c": 0.2, "d": 0.3}
    means = {label: (np.arange(30) / 100 + gain).tolist() for label, gain in gains.items()}
    means["b"][::2] = (np.arange(30) / 100 - 0.001)[::2].tolist()
    (table,) = (sheet for sheet in section(over_datasets(means)).sheets if sheet.title.startswith("p_nd: mean ranks"))
    assert [row[1:3] for row in table.texts] == [["1", "1 to 2"], ["1", "1 to 2"], ["3", "3"], ["4", "4"]]


STEPS = st.sampled_from([0.0, 0.0, 0.1, 0.1, 0.2, -0.1, 0.30001])  # with ties and equal pairs


@given(st.integers(6, 16).flatmap(lambda n: st.lists(st.lists(STEPS, min_size=n, max_size=n), min_size=2, max_size=4)))
def test_limits_and_verdict_of_a_row_never_contradict_each_other(steps):
    rates = {label: [0.5 + step for step in own] for label, own in zip("abcd", steps, strict=False)}
    records = [one | {"np_score": one["p_nd"]} for one in by_label(rates)]
    (block,) = blocks(frame(records), "p_nd")
    for pair in pairs.compared(block, "lower"):
        words, (low, high) = pair.verdict("lower"), pair.limits or (0.0, 0.0)
        assert low <= pair.shift <= high or pair.limits is None
        assert (words.startswith("first better"), words.startswith("second better")) == (high < 0, low > 0)
        assert pair.p <= 0.05 or " better" not in words
    (brief,) = summary.sections(frame(records))
    (row,) = next(table for table in brief.sheets if "verdict" in table.columns and "best" in table.columns).cells
    best, verdict, *_, shift = row[2:]
    limits = (shift.numbers["low"], shift.numbers["high"]) if shift.numbers else (0.0, 0.0)
    assert (f"{best} better" in str(verdict)) == (limits[1] < 0)
    assert (" better" in str(verdict)) == (limits[1] < 0 or limits[0] > 0)


def test_problems_and_bounds_are_separate(figures):
    pauc = {"problem": "pauc", "problem_params": '{"fpr_range":[0.02,0.05]}', "pauc": 0.5, "tpr": 0.4}
    records = by_label(figures)
    records += [one | {"problem_params": '{"rho":0.2}', "p_nd": 0.5} for one in by_label(figures)]
    records += [one | pauc | {"p_fa": None, "p_nd": None} for one in by_label(figures)]
    found = statistics.sections(frame(records))
    assert [one.title for one in found] == ["Statistics of problem np", "Statistics of problem pauc"]
    (pairs,) = (sheet for sheet in found[0].sheets if sheet.title == TITLE)
    assert [row[1] for row in pairs.texts] == ["0.1"] * 3 + ["0.2"] * 3
    assert {row[4] for row in pairs.texts[3:]} == {"equal on every split"}
    assert found[1].sheets[0].texts[0][1] == "[0.02, 0.05]"
    assert any("p_fa keeps rho" in note for note in found[0].notes)
    assert not any("p_fa keeps rho" in note for note in found[1].notes)
