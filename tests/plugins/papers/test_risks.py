"""Risks per iteration, and the convergence of projections: what is read from traces, and what is drawn of it."""

import io
import json

import numpy as np
import polars as pl
import pytest

import sample_records
from npbench_papers.barlaud import convergence, projections, risks

STAGES = 5


def course(**changes):
    """Return the trace of a fit with stages, as records hold it."""
    names = [f"{part}_{name}" for part in risks.DATA_PARTS for name in risks.MEASURED]
    columns = {name: [0.5 - 0.1 * k + 0.01 * number for k in range(STAGES)] for number, name in enumerate(names)}
    return json.dumps({"iteration": list(range(STAGES)), **columns, **changes})


def record(key="a", trace=None, **columns):
    about = {"key": key, "dataset": "counts", "rho": 0.1, "trace": trace, "solver_status": "converged"}
    return sample_records.record(**about, params='{"accelerate":"nesterov","step":"spectral"}') | columns


def frame(*records):
    return sample_records.frame(records)


def test_last_iteration_on_both_parts():
    (sheet,) = risks.table(frame(record(trace=course(train_risk_fa=[0.7, 0.4, 0.3, 0.2, 0.1 - 1e-9]))), ())
    assert sheet.title == "counts, rho=0.1, with momentum, features uncentred, 1 fit of at most 4 iterations, converged"
    training, test = sheet.texts
    rates = ["0.1000", "0.1000", "0.1200", "0.1300", "0.1400", "0.1500"]
    assert training == ["training", *rates, "0/1: 1/1, surrogate: 1/1"]
    assert test[:3] == ["test", "0.1600", "0.1700"]
    assert sheet.notes[0] == "On the training part the surrogate type I risk minus rho is -1.0e-09 at most."


@pytest.mark.parametrize(
    ("error", "risk", "kept"), [(0.1, 0.1 + 9e-7, (1, 1)), (0.1, 0.1 + 2e-6, (1, 0)), (0.11, 0.1, (0, 1))]
)
def test_fits_that_keep_the_bound_are_counted(error, risk, kept):
    trace = course(test_p_fa=[error] * 5, test_risk_fa=[risk] * 5)
    (sheet,) = risks.table(frame(record(trace=trace)), ())
    assert sheet.texts[1][-1] == "0/1: {}/1, surrogate: {}/1".format(*kept)


def test_several_samples_share_a_table_and_the_first_is_drawn():
    fits = [record(str(k), course(test_p_fa=[k] * 5), dataset_params=f'{{"seed":{k}}}') for k in range(2)]
    (sheet,) = risks.table(frame(*fits), ())
    assert (sheet.texts[1][1], sheet.texts[1][-1]) == ("0.5000±0.7071", "0/1: 1/2, surrogate: 0/2")
    assert len(risks.plot(frame(*fits), ()).axes) == 3


@pytest.mark.parametrize("trace", [None, "{}", '{"iteration":[0,1],"objective":[3,2]}'])
def test_records_without_stages_are_not_measured(trace):
    records = frame(record(trace=trace))
    (at_end,), (steps,) = risks.table(records, ()), projections.table(records, (), gap=1e-12, steps=9)
    assert at_end.texts == [["training", "-"], ["test", "-"]]
    assert steps.texts == [["counts", "with momentum, features uncentred", "0.1", "1", "0", "0 of 0", "-", "-", "-"]]


def test_one_row_of_panels_per_record():
    drawn = risks.plot(frame(record("b", course(), dataset="tumours"), record("a", course()), record("c")), ())
    assert [axes.get_title().partition("\n")[0] for axes in drawn.axes] == [
        f"{name}: {what}"
        for name in ("counts", "tumours")
        for what in ("risks, training part", "risks, test part", "accuracies")
    ]
    training, _, accuracies = drawn.axes[:3]
    for line, name in zip(training.lines, risks.RISKS, strict=False):
        steps, values = line.get_data()
        assert list(steps) == [1, 2, 3, 4]
        np.testing.assert_allclose(values, json.loads(course())[f"train_{name}"][1:])
    assert len(training.lines) == 5  # and the bound
    assert set(training.lines[-1].get_ydata()) == {0.1}
    assert len(accuracies.lines) == 4
    drawn.savefig(io.BytesIO(), dpi=50)


def projected(*gaps):
    rows = [(i, k, gap) for i, one in enumerate(gaps, start=1) for k, gap in enumerate(one)]
    return json.dumps(dict(zip(projections.COLUMNS, zip(*rows, strict=True), strict=True)))


def test_lengths_leave_out_projections_of_points_within_the_constraint():
    gaps = {"iteration": [1, 1, 2, 3, 3], "inner": [0, 1, 0, 0, 1], "gap": [2.0, 0.0, -1.0, 2.0, 1.0]}
    assert projections.lengths(pl.DataFrame(gaps), 1e-12).rows() == [(1, 1), (3, None)]


def test_steps_until_the_gap_closes():
    some = projected([0.5, 0.1, 1e-13], [-0.2], [0.5, 0.0], [0.5, 0.1, 0.01, 0.0], [0.5, 0.1])
    other = projected([0.5, 0.3, 0.2, 0.0])
    fits = frame(record(trace=some), record("b", trace=other, repeat=1))
    for steps, within in ((2, "2 of 5"), (3, "4 of 5")):
        (row,) = projections.table(fits, (), gap=1e-12, steps=steps)[0].texts
        # one projection ends above the gap after 3 steps, the most that any took
        assert row[2:] == ["0.1", "2", "5", within, "3", "> 3", "3"]


def test_one_line_per_projection():
    trace = projected([0.5, 0.1, -1e-18], [0.4, 0.2, 0.0, 0.0])
    drawn = projections.plot(frame(record(trace=trace), record("b")), (), gap=1e-12, steps=9)
    (axes,) = drawn.axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [0.5, 0.1, projections.SMALLEST_GAP_DRAWN])
    np.testing.assert_allclose(axes.lines[1].get_xdata(), [0, 1, 2, 3])
    assert len(axes.lines) == 4  # and the paper's figures
    drawn.savefig(io.BytesIO(), dpi=50)


def test_figures_without_traces_give_advice():
    for records in (frame(record()), frame(record()).clear()):
        for drawn in (risks.plot(records, ()), projections.plot(records, (), gap=1e-12, steps=9)):
            (text,) = drawn.texts
            assert "execution.trace=true" in text.get_text()


def test_convergence_is_read_from_the_trace():
    trace = {"iteration": list(range(11)), "objective": [1.0] * 11, "surrogate_p_fa": [0.3] * 10 + [0.1]}
    trace["kkt"] = [2.0**-k for k in range(11)]
    records = frame(record(trace=json.dumps(trace)), record("b"))
    sheet, nothing = convergence.table(records, ())
    assert [row[0] for row in sheet.texts] == ["1", "5", "10"]
    assert sheet.texts[-1] == ["10", "1.0000", "0.0e+00", f"{2.0**-10:.1e}"]
    assert nothing.texts == []
    (axes,) = convergence.plot(records, ()).axes
    np.testing.assert_allclose(axes.lines[2].get_ydata(), trace["kkt"][1:])
