"""Comparing two runs: what is a regression, what is noise, and what is refused."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sample_records
from npbench.errors import RequestError
from npbench.report.sections.regression import METRIC_TOLERANCE, SLOWER, compare
from npbench.report.stats.paired import hodges_lehmann, shift_interval

N = 10


def record(repeat=0, **columns):
    seconds = 1.0 + 0.1 * repeat
    rates = {"p_fa": 0.08, "p_nd": 0.2 + 0.01 * repeat, "np_score": 0.2, "auc": 0.9}
    cost = {"seconds": seconds, "select_cpu_seconds": seconds, "fit_cpu_seconds": 0.0, "cores": 2}
    about = {"repeat": repeat, "split_sha256": f"s{repeat}", "label": "gen", "npbench_version": "0.1.0"}
    return sample_records.record(**about, **rates, **cost, git_commit="0123456789abcdef") | columns


def run(n=N, **columns):
    """Return records of n repeats; a sequence has a value for each, a function is given what the repeat had."""

    def value(name, given, repeat):
        if callable(given):
            return given(record(repeat)[name])
        return given[repeat] if isinstance(given, list) else given

    if "seconds" in columns:  # of the clock and of the processor
        columns = {"select_cpu_seconds": columns["seconds"]} | columns
    rows = [record(k) | {name: value(name, given, k) for name, given in columns.items()} for k in range(n)]
    return pl.DataFrame(rows, infer_schema_length=None)


def verdicts(ours, other, **options):
    """Return the verdict on each figure, and whether there is a regression."""
    found = compare(ours, other, **options)
    rows = [row for section in found.sections for sheet in section.sheets for row in sample_records.cells(sheet)]
    assert len({row["solver"] for row in rows}) == 1
    return {row["quantity"]: row["verdict"] for row in rows}, found.regressed


def notes(ours, other, **options):
    return compare(ours, other, **options).sections[0].notes


def test_the_same_records_and_noise_are_no_regression():
    found, regressed = verdicts(run(), run(params='{"ridge":0.0001}'))  # its default
    same = dict.fromkeys(["p_fa above rho", "p_nd", "np_score", "auc"], "the same")
    assert found == {**same, "seconds": "no significant difference", "CPU seconds": "no significant difference"}
    assert not regressed
    without = run(missing=None)
    assert not compare(without, without).regressed
    noise = np.random.default_rng(0).normal(0, 0.02, N)
    found, regressed = verdicts(run(p_nd=(0.2 + noise).tolist()), run(p_nd=0.2))
    assert (found["p_nd"], regressed) == ("no significant difference", False)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("word", ["worse", "better"])
@pytest.mark.parametrize(("figure", "sign"), [("p_nd", 1), ("auc", -1)])
def test_which_way_is_worse(figure, sign, word):
    signed = sign if word == "worse" else -sign
    for size, verdict in ((0.02, word), (METRIC_TOLERANCE / 2, f"{word}, within tolerance"), (0.0, "the same")):
        found, regressed = verdicts(run(**{figure: [record(k)[figure] + signed * size for k in range(N)]}), run())
        assert (found[figure], regressed) == (verdict, verdict == "worse")
    for rate, verdict in ((0.1, "the same"), (0.13, "worse")):  # only the excess over the bound counts
        found, regressed = verdicts(run(p_fa=rate), run(p_fa=0.01))
        assert (found["p_fa above rho"], regressed) == (verdict, verdict == "worse")


def test_change_is_paired_shift_with_limits():
    here = np.random.default_rng(3).normal(0.23, 0.01, N)
    found = compare(run(p_nd=here.tolist()), run())
    (sheet,) = found.sections[1].sheets
    row = next(row for row in sheet.texts if "p_nd" in row)
    there = np.array([record(k)["p_nd"] for k in range(N)])
    d = here - there
    means, limits = (f"{there.mean():.4g}", f"{here.mean():.4g}"), "[{:+.3g}, {:+.3g}]".format(*shift_interval(d))
    assert row[:-1] == ["pima", "0.1", "gen", "p_nd", str(N), *means, f"{hodges_lehmann(d):+.3g}", limits]


@pytest.mark.parametrize(("word", "power"), [("slower", 1), ("faster", -1)])
def test_seconds_are_compared_as_ratios(word, power):
    for ratio, verdict in ((2.0, word), (SLOWER * 1.01, word), (SLOWER * 0.99, f"{word}, within tolerance")):
        found, regressed = verdicts(run(seconds=[record(k)["seconds"] * ratio**power for k in range(N)]), run())
        assert (found["seconds"], regressed) == (verdict, verdict == "slower")


TWICE = {"seconds": lambda value: 2 * value}


@pytest.mark.parametrize(
    ("ours", "other", "seconds", "cpu_seconds", "regressed"),
    [
        (TWICE | {"select_cpu_seconds": 0.9}, {"select_cpu_seconds": 0.9}, "slower on the clock only", "no sig", False),
        ({"select_cpu_seconds": 2.0}, {"select_cpu_seconds": 1.0}, "no sig", "more", False),  # more threads, say
        (TWICE | {"select_cpu_seconds": None}, {"select_cpu_seconds": None}, "slower", None, True),
        ({"seconds": 0.004}, {"seconds": 0.001}, "too short", "too short", False),
    ],
)
def test_clock_and_processor_times(ours, other, seconds, cpu_seconds, regressed):
    found, has_regressed = verdicts(run(**ours), run(**other))
    assert found["seconds"].startswith(seconds)
    assert cpu_seconds is None or found["CPU seconds"].startswith(cpu_seconds)
    assert has_regressed == regressed


def test_quality_and_speed_together():
    ours = run(p_nd=lambda value: value - 0.05, **TWICE)
    found, regressed = verdicts(ours, run())
    assert (found["p_nd"], found["seconds"], regressed) == ("better", "slower", True)
    summary, slower, better, *_ = notes(ours, run())
    assert "1 regression" in summary
    assert "x2.00 [2.00, 2.00]" in slower
    assert "-0.05 [-0.05, -0.05]" in better


def test_new_failure_is_a_regression():
    ours = run(status=["ok"] * 8 + ["timeout", "failed"], p_nd=[0.2 + 0.01 * k for k in range(8)] + [None, None])
    found, regressed = verdicts(ours, run())
    assert (found["jobs ok"], regressed) == ("fails", True)
    found, regressed = verdicts(run(), ours)
    assert ("jobs ok" in found, regressed) == (False, False)
    none = run(status="failed", **dict.fromkeys(["p_fa", "p_nd", "np_score", "auc", "seconds"]))
    assert verdicts(none, run()) == ({"jobs ok": "fails"}, True)
    assert not compare(none, none).regressed


def test_slowdown_must_show_in_limits():
    ratios = [0.9, 1.0, 1.1, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 2.0]
    ours = run(seconds=[ratio * record(k)["seconds"] for k, ratio in enumerate(ratios)])
    low, _ = shift_interval(np.log(ratios))
    assert 1 < np.exp(low) < SLOWER < np.exp(hodges_lehmann(np.log(ratios)))
    assert verdicts(ours, run())[0]["seconds"] == "slower, within tolerance"


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [("cpu", "b", "processor"), ("n_jobs", 2, "n_jobs"), ("n_threads", 4, "threads"), ("cores", None, "cores")],
)
def test_seconds_of_other_machines(column, value, what):
    ours = run(seconds=lambda seconds: 3 * seconds, **{column: value})
    found, regressed = verdicts(ours, run())
    assert found["seconds"].startswith("not compared: different")
    assert (found["seconds"].endswith(what), regressed) == (True, False)
    assert verdicts(ours, run(), force=True)[0]["seconds"] == "slower"


def test_few_repeats_are_no_regression():
    for n in (1, 5):
        found, regressed = verdicts(run(n, p_nd=0.9), run(n))
        assert (found["p_nd"], found["seconds"], regressed) == ("too few pairs", "too few pairs", False)
        assert any("run with repeats=10" in note for note in notes(run(n, p_nd=0.9), run(n)))


def test_only_shared_repeats_are_paired():
    ours = run(8, p_nd=[0.3, None, float("nan"), *[0.3 + 0.01 * k for k in range(5)]])
    sheet = compare(ours, run(12)).sections[1].sheets[0]
    others = dict.fromkeys(["p_fa above rho", "np_score", "auc", "seconds", "CPU seconds"], "8")
    assert {row[3]: row[4] for row in sheet.texts} == {**others, "p_nd": "6"}


@pytest.mark.parametrize(
    ("ours", "other"), [(run().drop("auc"), run()), (run(), run().drop("auc")), (run(auc=None), run())]
)
def test_metric_missing_on_one_side_is_left_out(ours, other):
    assert "auc" not in verdicts(ours, other)[0]
    assert any("auc" in note for note in notes(ours, other) if note.startswith("Not compared"))
    assert not any(note.startswith("Not compared") for note in notes(run(), run()))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"data_sha256": "e" * 64}, "eeeeeeeeeeee here, dddddddddddd"),
        ({"split_sha256": "x"}, "The splits of pima differ"),
        ({"protocol_params": '{"folds":5,"name":"cv","test_size":0.25}'}, "another protocol"),
        ({"seed": 1}, "other seeds"),
    ],
)
def test_incomparable_records_are_refused(columns, sentence):
    ours = run(p_nd=lambda value: value + 0.1, **columns)
    with pytest.raises(RequestError, match=sentence) as refused:
        compare(ours, run())
    assert all("--force" in fault for fault in refused.value.faults)
    if "seed" in columns:
        with pytest.raises(RequestError, match="No repeat is in both"):
            compare(ours, run(), force=True)
        return
    found, regressed = verdicts(ours, run(), force=True)
    assert (found["p_nd"], regressed) == ("worse", True)
    assert any(sentence in note for note in notes(ours, run(), force=True))


@pytest.mark.parametrize(("column", "what"), [("split_sha256", "splits"), ("data_sha256", "data")])
def test_older_record_without_hash_is_noted(column, what):
    other = run(**{column: lambda value: None if value in ("s0", "s1", "d" * 64) else value})
    assert verdicts(run(), other)[1] is False
    n = 2 if what == "splits" else N
    (sentence,) = (note for note in notes(run(), other) if "assumed to be equal" in note)
    assert sentence.startswith(f"In {n} of {N} pairs of jobs the {what} are assumed")
    assert not any("assumed to be equal" in note for note in notes(run(), run()))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"problem": "pauc"}, "no problem in common"),
        ({"problem": "unknown"}, "no problem in common"),
        ({"dataset": "breast"}, "no dataset in common"),
        ({"solver": "other"}, "no solver in common"),
        ({"params": '{"C":1}'}, "another params there"),
        ({"search": '{"C":[1]}', "missing": "mean"}, "another search, missing"),
    ],
)
def test_nothing_in_common_is_refused(columns, sentence):
    for force in (False, True):
        with pytest.raises(RequestError, match=sentence):
            compare(run(**columns), run(), force=force)


def test_other_bound_needs_force_and_unmatched_settings_are_counted():
    ours = run(problem_params='{"rho":0.2}', p_nd=0.1)
    with pytest.raises(RequestError, match="no problem_params in common"):
        compare(ours, run())
    assert verdicts(ours, run(), force=True)[0]["p_nd"] == "better"
    assert any("other parameters" in note for note in notes(ours, run(), force=True))
    both = pl.concat([ours, run()])
    assert {row[1] for row in compare(both, run(), force=True).sections[1].sheets[0].texts} == {"0.1"}
    ours = [run(git_commit=None), run(solver="a", label="a"), run(solver="b", label="b")]
    ours = pl.concat(ours, how="vertical_relaxed")
    found = "\n".join(notes(ours, pl.concat([run(), run(solver="c", label="c")])))
    for expected in ("only in these records: 2", "only in the other records: 1", "0.1.0 at 012345678"):
        assert expected in found


@pytest.mark.parametrize("n_pairs", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_identical_methods_rarely_regress(n_pairs):
    # Runs of the same method with noise of its own: limits that leave out 0 are few, as 95 % promises.
    random = np.random.default_rng(0)
    pairs = random.normal(0.3, 0.02, (n_pairs, 2, N)).tolist()
    alarms = sum(compare(run(p_nd=here), run(p_nd=there)).regressed for here, there in pairs)
    assert alarms <= stats.binom.ppf(0.999, n_pairs, 0.05)
