"""The order of time beside shuffled parts: the sentence and the rows follow from the records."""

import numpy as np
import pytest
from scipy import stats

from npbench.records.reading import conformed
from npbench_benchmark.time_order import tables
from sample_records import cells, frame, record

SIZE = {"n_samples": 4000, "n_features": 8, "n_positive": 2000, "n_test_positive": 1000}
UMBRELLA = {"delta": 0.05, "estimator": "sgd", "threshold": "umbrella"}


def records(in_time, shuffled, p_nd=(0.4, 0.3), dataset="email", **columns):
    """Three repeats of each kind, with these false-alarm rates and misses."""
    kinds = zip((in_time, shuffled), ("false", "true"), p_nd, strict=True)
    return [
        record(
            **SIZE,
            **{"solver": "scorer", "params": UMBRELLA, "dataset": dataset, "repeat": repeat, "rho": 0.1, **columns},
            **{"p_fa": p_fa, "p_nd": misses, "np_score": misses, "seconds": 1.0, "key": f"{dataset}{kind}{repeat}"},
            **{"protocol": "time", "protocol_params": f'{{"name":"time","shuffled":{kind}}}'},
        )
        for p_fa, kind, misses in kinds
        for repeat in range(3)
    ]


@pytest.mark.parametrize(
    ("in_time", "shuffled", "p_nd", "counts", "added"),
    [
        (0.15, 0.08, (0.4, 0.3), ("1", "0"), ("+0.70", "+0.100")),
        (0.09, 0.2, (0.2, 0.25), ("0", "1"), ("-1.10", "-0.050")),
    ],
)
def test_costs_follow_from_the_records(in_time, shuffled, p_nd, counts, added):
    costs, sheet = tables(conformed(frame(records(in_time, shuffled, p_nd))), [])
    assert costs.texts == [["rho=0.1", "email", "3", "1", *counts, *added]]
    every, own = cells(sheet)
    assert (every["data set"], own["data set"]) == ("all", "email")
    assert [own[name] for name in ("P_fa/rho", "P_fa/rho, shuffled")] == [
        f"{in_time / 0.1:.3f}",
        f"{shuffled / 0.1:.3f}",
    ]
    assert [own[name] for name in ("P_nd", "P_nd, shuffled")] == [f"{one:.3f}" for one in p_nd]
    assert (own["above rho"], own["verdict, shuffled"] == "exceeded") == (f"{float(in_time > 0.1):.3f}", shuffled > 0.1)


def test_limits_of_what_is_added_are_those_of_simulated_thresholds():
    """Half of 1000 negatives set the threshold and 1000 test it, on three cuts in each order."""
    sized = records(0.15, 0.08, params={**UMBRELLA, "calibration_size": 0.5})
    (row,) = tables(conformed(frame(sized)), [])[0].cells
    numbers, random = row[6].numbers, np.random.default_rng(0)
    accepted = stats.binom.ppf(0.05, 500, 0.1) - 1  # the largest number of alarms that 5 % of thresholds at rho have
    true = random.beta(accepted + 1, 500 - accepted, (20_000, 2, 3))
    means = random.binomial(1000, true).mean(axis=-1) / 1000
    off = 1.96 * np.std(means[:, 0] - means[:, 1]) / 0.1
    assert numbers[""] == pytest.approx(0.7)
    assert numbers["high"] - 0.7 == pytest.approx(off, rel=0.05)
    assert 0.7 - numbers["low"] == pytest.approx(off, rel=0.05)


def test_methods_without_a_promise_are_not_in_the_costs():
    of_no_promise = records(0.15, 0.08, params={**UMBRELLA, "threshold": "empirical"})
    (sheet,) = tables(conformed(frame(of_no_promise)), [])
    assert [row["promise"] for row in cells(sheet)] == ["none", "none"]


def test_data_sets_and_kinds_that_are_missing():
    both = [*records(0.05, 0.08), *records(0.09, 0.08, dataset="taxi")[:3]]  # taxi in the order of time only
    costs, sheet = tables(conformed(frame(both)), [])
    assert [row["data set"] for row in cells(sheet)] == ["all", "email"]
    assert [row[1] for row in costs.texts] == ["email"]
