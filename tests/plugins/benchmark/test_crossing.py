"""Scorers by thresholds from made-up misses that are sums of two effects."""

import numpy as np
import pytest
from scipy import stats

from npbench.records.reading import conformed
from npbench_benchmark.crossing import OWN, crossing, effects, places
from npbench_benchmark.leaderboard import by_dataset
from sample_records import cells, frame, record

HALF = {"delta": 0.05, "threshold": "umbrella", "calibration_size": 0.5}
THRESHOLDS = {
    "umbrella": HALF,
    "aligned": {**HALF, "calibration_size": "aligned"},
    "oob": {**HALF, "cv": "oob"},
}
SCORERS = {"forest": 0.0, "boosting": 0.04}
EFFECT = {"umbrella": 0.0, "aligned": -0.01, "oob": -0.03}
DATASETS = [f"set{n}" for n in range(7)]


def results(label, misses, params, p_fa=0.05, names=DATASETS):
    return [
        record(
            **{"solver": label, "dataset": name, "repeat": n, "params": params, "rho": 0.1, "p_fa": p_fa},
            **{"p_nd": level, "np_score": level, "seconds": 1.0, "key": f"{label}{name}{n}"},
            **{"n_samples": 3000, "n_positive": 500, "n_test_positive": 250},
        )
        for name, level in zip(names, misses, strict=True)
        for n in range(2)
    ]


def crossed(separator="_", without=()):
    level = np.linspace(0.2, 0.5, 7)
    made = [
        one
        for scorer, more in SCORERS.items()
        for threshold, params in THRESHOLDS.items()
        for one in results(
            f"{scorer}{separator}{threshold}",
            level + more + EFFECT[threshold],
            {**params, "estimator": scorer},
            p_fa=0.2 if threshold == "oob" else 0.05,
        )
        if (scorer, threshold) not in without
    ]
    alone = results("gen", level, {})  # its own threshold, crossed with nothing
    return by_dataset(conformed(frame([*made, *alone])))


@pytest.mark.parametrize("separator", ["_", ", "])
def test_effects_of_scorer_and_threshold_are_told_apart(separator):
    sheet, thresholds = crossing("rho=0.1", crossed(separator))
    forest, boosting = cells(sheet)
    assert [forest["scorer"], boosting["scorer"]] == ["forest", "boosting"]  # the one that misses less
    assert boosting["from forest"].startswith("+0.040 [")
    effects = {row["threshold"]: row["from half"].split()[0] for row in cells(thresholds)}
    assert effects == {"all negatives": "-0.030", "aligned": "-0.010"}
    assert (forest["half"], forest["half: above"]) == ("0.350", "0.000")
    assert forest["all negatives: above"] == "1.000"
    assert "7 data sets" in sheet.title


def test_what_is_missing_is_not_compared():
    sheet, _ = crossing("rho=0.1", crossed(without=[("boosting", "aligned")]))
    first, second = cells(sheet)
    assert (first["scorer"], second["scorer"], second["aligned"]) == ("forest", "boosting", "-")
    assert second["from forest"].startswith("+0.040 [")
    _, thresholds = crossing("rho=0.1", crossed(without=[("boosting", "umbrella"), ("forest", "aligned")]))
    assert {row["threshold"]: row["from half"] for row in cells(thresholds)}["aligned"] == "-"  # of no scorer
    only = [("boosting", "aligned"), ("boosting", "umbrella"), ("forest", "oob")]
    assert list(crossing("rho=0.1", crossed(without=[*only, ("forest", "umbrella")]))) == []


def test_methods_without_a_common_data_set_are_not_crossed():
    params = [{**HALF, "estimator": name} for name in ("a", "b")]
    made = results("a_umbrella", [0.2], params[0], names=["x"]) + results("b_umbrella", [0.2], params[1], names=["y"])
    assert list(crossing("rho=0.1", by_dataset(conformed(frame(made))))) == []


def test_names_say_which_scorer_and_parameters_which_threshold():
    found = places(
        {
            "np_svm": '{"C":1}',
            "np_svm_umbrella": '{"estimator":"np_svm","threshold":"umbrella","calibration_size":0.5}',
            "scorer estimator=sgd threshold=average": '{"estimator":"sgd","threshold":"average"}',
            "scorer estimator=sgd cv=4 threshold=average": '{"estimator":"sgd","threshold":"average","cv":4}',
            "uzawa": "{}",
            "uzawa_ranked calibration_size=aligned threshold=umbrella": (
                '{"estimator":"uzawa","threshold":"umbrella","calibration_size":"aligned"}'
            ),
            "gen": "{}",
            "x_oob": '{"estimator":"x","threshold":"umbrella","cv":"oob"}',
        }
    )
    assert found == {
        "np_svm": ("np_svm", OWN),
        "np_svm_umbrella": ("np_svm", "half"),
        "uzawa": ("uzawa", OWN),
        "uzawa_ranked calibration_size=aligned threshold=umbrella": ("uzawa", "aligned"),
        "scorer estimator=sgd threshold=average": ("scorer estimator=sgd", "average"),
        "scorer estimator=sgd cv=4 threshold=average": ("scorer estimator=sgd", "average, all negatives"),
    }


def test_limits_are_those_of_students_t():
    values = np.random.default_rng(0).normal(size=(2, 2, 9))
    _, cell = effects(values, 0)
    difference = (values[1] - values[0]).mean(axis=0)
    expected = stats.ttest_1samp(difference, 0).confidence_interval()
    assert cell.value == pytest.approx(difference.mean())
    assert dict(cell.further) == pytest.approx({"low": expected.low, "high": expected.high})
