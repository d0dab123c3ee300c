"""Surfaces of rates: what is read from traces, and what is drawn of it."""

import io
import itertools
import json

import numpy as np
import pytest

import sample_records
from npbench.report.render.drawing import draw_first
from npbench_papers.davenport.surfaces import charts, surfaces

NU = np.linspace(0.25, 1, 4)


def alarms(nu_pos, nu_neg):
    return np.clip(0.4 * nu_pos - 0.2 * nu_neg + 0.1, 0, 1)


def visited(points, gamma=(0.5, 2.0)):
    """Return the trace of a search over these (nu_pos, nu_neg), as records hold it."""
    rows = [(g, p, q, g * alarms(p, q), 1 - g * alarms(p, q), 0.125) for g in gamma for p, q in points]
    names = ["gamma", "nu_pos", "nu_neg", "p_fa", "p_nd", "seconds"]
    return json.dumps(dict(zip(names, zip(*rows, strict=True), strict=True)))


GRID = [(p, q) for p in NU for q in NU]
LINES = [(0.5, q) for q in NU] + [(p, 0.5) for p in NU] + [(p, 1.0) for p in NU]


def record(strategy, trace, **columns):
    about = {"key": strategy, "solver": "two", "dataset": "banana", "rho": 0.1, "protocol_params": "{}"}
    found = {"chosen_params": {"gamma": 0.5, "nu_neg": 0.5, "nu_pos": 0.25}, "trace": trace}
    return sample_records.record(**about, params={"strategy": strategy}, **found) | columns


def frame(*records):
    return sample_records.frame(records)


def figure(records):
    return draw_first(charts(records, ()))


def test_one_row_per_visited_point():
    other = record("sgd", '{"objective":[3,2],"seconds":[0,1]}')
    found = surfaces(frame(record("cd", visited(LINES)), record("gs", None), other, record("none", "{}")))
    assert set(found["key"]) == {"cd"}
    assert found["step"].to_list() == list(range(24))
    assert found.select("nu_pos", "nu_neg").rows() == LINES * 2
    assert found["gamma"].to_list() == [0.5] * 12 + [2.0] * 12
    assert found["p_fa"].to_list() == [g * alarms(p, q) for g in (0.5, 2.0) for p, q in LINES]
    assert found.select("chosen_gamma", "chosen_nu_pos", "chosen_nu_neg").unique().rows() == [(0.5, 0.25, 0.5)]
    assert found.row(0, named=True).keys() >= {"dataset", "solver", "strategy", "rho", "seed", "repeat", "seconds"}


def test_fixed_parameters_count_as_chosen_and_a_gamma_by_name_is_null():
    fixed = record("cd", visited(LINES), params='{"gamma":2.0,"strategy":"cd"}', chosen_params='{"nu_pos":1}')
    assert surfaces(frame(fixed)).select("chosen_gamma", "chosen_nu_pos", "chosen_nu_neg").row(0) == (2.0, 1.0, None)
    chosen = {"params": '{"gamma":"scale"}', "chosen_params": '{"nu_neg":0.5,"nu_pos":0.25}'}
    assert surfaces(frame(record("cd", visited(LINES), **chosen)))["chosen_gamma"].to_list() == [None] * 24
    chosen["params"] = '{"gamma":"scale","strategy":"cd"}'
    assert len(figure(frame(record("cd", visited(GRID, gamma=(0.5,)), **chosen))).axes) == 3


def test_plane_at_the_chosen_gamma():
    records = frame(record("gs", visited(GRID)), record("gs", visited(LINES), repeat=1), record("cd", visited(LINES)))
    (chart,) = charts(records, ())
    assert (chart.name, chart.title) == ("surfaces_banana_rho-0.1", "Validated rates on banana, rho=0.1")
    (row,) = chart.rows
    assert [panel.title for panel in row] == [f"two strategy={s}: {r}" for s in ("cd", "gs") for r in ("P_fa", "P_nd")]
    expected = 0.5 * alarms(*np.meshgrid(NU, NU))  # rows are nu_neg
    for panel, rates in zip(row[2:], (expected, 1 - expected), strict=True):
        np.testing.assert_allclose(panel.surface.z, rates)
        assert panel.surface.x == panel.surface.y == NU.tolist()
        assert panel.surface.chosen == (0.25, 0.5)
        np.testing.assert_allclose(panel.surface.border[0], expected)
        assert panel.surface.border[1] == 0.1
    lines = row[0].surface
    assert lines.border is None  # no line through what was not visited
    seen = {(NU[j], NU[i]) for i, j in itertools.product(range(4), range(4)) if np.isfinite(lines.z[i, j])}
    assert seen == set(LINES)


def test_line_where_false_alarms_equal_the_bound():
    drawn = figure(frame(record("gs", visited(GRID))))
    assert drawn.get_size_inches()[0] == 6.9
    *panels, bar = drawn.axes
    for axes in panels:
        mesh = axes.collections[0]
        np.testing.assert_allclose(mesh.get_coordinates()[0, :, 0], [0.125, 0.375, 0.625, 0.875, 1.125])
        np.testing.assert_allclose(mesh.get_coordinates()[:, 0, 1], [0.125, 0.375, 0.625, 0.875, 1.125])
        ((x,), (y,)) = axes.lines[0].get_data()
        assert (x, y) == (0.25, 0.5)
        (path,) = axes.collections[-1].get_paths()  # where 0.5 P = rho: on a line, as P is linear
        np.testing.assert_allclose(0.5 * alarms(*path.vertices.T), 0.1, atol=1e-12)
    assert bar.get_ylabel() == "validated rate"


@pytest.mark.slow  # draws three figures; larger searches are drawn in every run
def test_smallest_searches_are_drawn():
    kept = [(p, q) for p in (0.1, 0.9) for q in (0.1, 0.2)]  # a grid that keeps rho
    for points in ([(0.5, 0.5)], [(0.5, 0.25), (0.5, 1.0)], kept):
        drawn = figure(frame(record("cd", visited(points, gamma=(0.5,)), rho=0.9)))
        drawn.savefig(io.BytesIO(), dpi=50)
        assert len(drawn.axes) == 3


def test_records_without_traces_give_advice():
    for records in (frame(record("cd", None)), frame(record("cd", None)).clear()):
        assert surfaces(records).is_empty()
        (text,) = figure(records).texts
        assert "execution.trace=true" in text.get_text()
