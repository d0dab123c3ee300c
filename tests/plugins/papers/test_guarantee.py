"""The table and chart of thresholds with a guarantee, from records made up here, and NP-ROC bands as a chart."""

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import npbench
from npbench.config.command_line import parse, requested
from npbench_papers.guarantee import excess as guarantee
from sample_records import cells, record

RHO = 0.05
PRINTED = [{"n": 59, "threshold": "umbrella", "theirs": 0.25}]


def repeats(p_fa, *, threshold="umbrella", test_size=0.99528, n_splits=1, status="ok"):
    params = {"threshold": threshold, "delta": 0.05, "calibration_size": 0.5, "n_splits": n_splits}
    about = {"dataset": "scalable", "solver": "scorer", "n_samples": 50_000, "n_positive": 25_000, "rho": RHO}
    asked = {"params": params, "protocol_params": {"folds": 4, "test_size": test_size}}
    return [record(**about, **asked, repeat=n, status=status, p_fa=p, p_nd=0.5) for n, p in enumerate(p_fa)]


def rows(*groups, printed=()):
    (sheet,) = guarantee.table(pl.DataFrame(list(itertools.chain(*groups))), printed)
    return cells(sheet)


def exact(n, k):
    """Return P(more than rho lies above the k-th smallest of n), in whole numbers."""
    rho = Fraction(1, 20)
    return float(sum(math.comb(n, j) * (1 - rho) ** j * rho ** (n - j) for j in range(k, n + 1)))


def test_row_counts_repeats_above_bound():
    (row,) = rows(repeats([0.06, *[0.03] * 47, 0.05, 0.04]), printed=PRINTED)
    assert (row["n"], row["threshold"], row["above rho"], row["share"]) == ("59", "umbrella", "1 of 50", "0.020")
    low, high = beta.ppf(0.025, 1, 50), beta.ppf(0.975, 2, 49)
    assert row["95 % limits"] == f"[{low:.3f}, {high:.3f}]"
    assert row["by formula"] == f"{exact(59, 59):.3f}" == "0.048"
    assert (row["theirs"], row["bound"], row["verdict"]) == ("0.250", "kept", "agrees")


def test_rows_per_number_of_negatives_and_rule_without_failed_jobs():
    found = rows(
        repeats([0.06, 0.04], threshold="empirical"),
        repeats([0.04, 0.04], test_size=0.984),
        repeats([0.04, 0.04], n_splits=11),
        repeats([0.01, 0.02]),
        printed=PRINTED,
    )
    assert [(row["n"], row["threshold"], row["by formula"], row["theirs"]) for row in found] == [
        ("59", "empirical", f"{exact(59, 57):.3f}", "-"),
        ("59", "umbrella", f"{exact(59, 59):.3f}", "0.250"),
        ("59", "umbrella, 11 splits", "-", "-"),
        ("200", "umbrella", f"{exact(200, 196):.3f}", "-"),
    ]
    (row,) = rows(repeats([0.01, 0.02]), repeats([None, None], status="failed"))
    assert row["above rho"] == "0 of 2"
    assert guarantee.table(pl.DataFrame(repeats([0.01])).clear(), PRINTED) == []


@pytest.mark.parametrize(
    ("above", "bound", "verdict"),
    [(5, "kept", "agrees"), (8, "kept within noise", "agrees"), (20, "exceeded", "differs")],
)
def test_verdict_allows_for_noise(above, bound, verdict):
    (row,) = rows(repeats([0.06] * above + [0.04] * (100 - above)))
    assert (row["bound"], row["verdict"]) == (bound, verdict)


def test_chart_matches_table():
    empirical, more = repeats([0.06, 0.04], threshold="empirical"), repeats([0.06, 0.06], test_size=0.984)
    records = pl.DataFrame([*empirical, *repeats([0.04, 0.04]), *more])
    (chart,) = guarantee.charts(records, PRINTED)
    ((shares, misses),) = chart.rows
    assert shares.level[1] == 0.05
    shown = [(s.label, list(s.x), list(s.y)) for s in shares.series]
    assert shown == [("empirical", [59], [0.5]), ("umbrella", [59, 200], [0.0, 1.0])]
    assert shares.series[0].low[0] == pytest.approx(beta.ppf(0.025, 1, 2))
    assert shares.series[0].high[0] == pytest.approx(beta.ppf(0.975, 2, 1))
    assert [list(s.y) for s in misses.series] == [[0.5], [0.5, 0.5]]
    assert chart.notes


@pytest.mark.slow  # composes ten combinations, as other experiments are in every run
def test_experiment_leaves_out_stated_negatives():
    asked = requested(parse(["+experiment=guarantee", "repeats=1"]))
    requests, experiment = asked.requests, asked.experiment
    data = npbench.load_dataset("scalable", **requests[0].dataset_params)
    left_out = set()
    for request in requests:
        split = request.protocol.split(data, request.seed, 0)
        negatives = int(np.sum(data.y[split.train] < 0))
        rule = request.params["threshold"], request.params["n_splits"]
        left_out.add((math.ceil(request.params["calibration_size"] * negatives), *rule))
        made = pl.DataFrame(repeats([0.0], threshold=rule[0], n_splits=rule[1], test_size=request.protocol.test_size))
        assert guarantee.with_rules(made)["left_out"][0] * 2 == negatives
    sizes = (59, 100, 200, 500, 1000)
    expected = {(n, rule, 1) for n in sizes for rule in ("umbrella", "empirical")}
    assert left_out == expected | {(n, "umbrella", 11) for n in (59, 200, 1000)}
    assert [row["n"] for row in experiment.printed] == list(sizes)
