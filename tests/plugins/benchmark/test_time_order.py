"""The order of time beside shuffled parts: the sentence and the rows follow from the records."""

import pytest

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
            **columns,
            **{"solver": "scorer", "params": UMBRELLA, "dataset": dataset, "repeat": repeat, "rho": 0.1},
            **{"p_fa": p_fa, "p_nd": misses, "np_score": misses, "seconds": 1.0, "key": f"{dataset}{kind}{repeat}"},
            **{"protocol": "time", "protocol_params": f'{{"name":"time","shuffled":{kind}}}'},
        )
        for p_fa, kind, misses in kinds
        for repeat in range(3)
    ]


@pytest.mark.parametrize(
    ("in_time", "shuffled", "p_nd", "words"),
    [
        (
            0.15,
            0.08,
            (0.4, 0.3),
            "1 of 1 methods with a promise exceed it in the order of time, and 0 shuffled. "
            "Time adds +70 % of rho to their P_fa, and +10.0 points to their misses.",
        ),
        (
            0.09,
            0.2,
            (0.2, 0.25),
            "0 of 1 methods with a promise exceed it in the order of time, and 1 shuffled. "
            "Time adds -110 % of rho to their P_fa, and -5.0 points to their misses.",
        ),
    ],
)
def test_the_sentence_follows_from_the_records(in_time, shuffled, p_nd, words):
    (sheet,) = tables(conformed(frame(records(in_time, shuffled, p_nd))), [])
    assert sheet.notes[0] == words
    every, own = cells(sheet)
    assert (every["data set"], own["data set"]) == ("all", "email")
    assert [own[name] for name in ("P_fa/rho", "P_fa/rho, shuffled")] == [
        f"{in_time / 0.1:.3f}",
        f"{shuffled / 0.1:.3f}",
    ]
    assert [own[name] for name in ("P_nd", "P_nd, shuffled")] == [f"{one:.3f}" for one in p_nd]
    assert (own["above rho"], own["verdict, shuffled"] == "exceeded") == (f"{float(in_time > 0.1):.3f}", shuffled > 0.1)


def test_data_sets_and_kinds_that_are_missing():
    both = [*records(0.05, 0.08), *records(0.09, 0.08, dataset="taxi")[:3]]  # taxi in the order of time only
    (sheet,) = tables(conformed(frame(both)), [])
    assert [row["data set"] for row in cells(sheet)] == ["all", "email"]
