"""Plotly figures against the charts they show."""

import numpy as np
import pytest

from npbench.report.chart import Chart, Panel, Ranking, Series, Surface
from npbench.report.render.palette import Palette

pytest.importorskip("plotly")

from npbench.report.render.plotly_figures import figure
from npbench.report.render.plotly_traces import MANY

LABELS = ("gen", "np_svm C=1", "np_svm C=10")
PALETTE = Palette(LABELS)


def drawn(*panels, **about):
    return figure(Chart("name", "Title", [panels], **about), PALETTE)


def traces(drawing, label):
    return [trace for trace in drawing.data if trace.legendgroup == label]


def test_lines_have_the_points_and_the_looks_of_their_labels():
    lines = [Series(label, [0.1, 0.2], [i, i + 0.5]) for i, label in enumerate(LABELS)]
    drawing = drawn(Panel("one", "x", "y", lines), Panel("two", "x", "y", lines[::-1]))
    assert len(drawing.data) == 6
    for i, label in enumerate(LABELS):
        for trace in traces(drawing, label):
            assert (list(trace.x), list(trace.y)) == ([0.1, 0.2], [i, i + 0.5])
            assert trace.line.color == trace.marker.color == PALETTE.colour(label)
        # The legend has each label once, for the panels together.
        assert [trace.showlegend for trace in traces(drawing, label)] == [True, False]
    one, two = traces(drawing, "gen"), traces(drawing, "np_svm C=1")
    assert one[0].marker.symbol != two[0].marker.symbol


def test_what_a_logarithm_does_not_have_is_left_out():
    series = Series("gen", [0.0, 0.1, 0.2], [1.0, 0.0, 3.0])
    (both,) = drawn(Panel("", "x", "y", [series], x_log=True, y_log=True)).data
    assert (list(both.x), list(both.y)) == ([0.2], [3.0])
    assert len(drawn(Panel("", "x", "y", [series])).data[0].x) == 3


@pytest.mark.parametrize("n", [2, MANY, MANY + 1])
def test_limits_are_bars_of_few_points_and_a_band_of_many(n):
    x = np.linspace(0.1, 1, n).tolist()
    low, high = [value - 0.5 for value in x], [value + 0.25 for value in x]
    *band, line = drawn(Panel("", "x", "y", [Series("gen", x, x, low, high)])).data
    assert line.customdata == pytest.approx(np.column_stack([low, high]))
    if n <= MANY:
        assert not band
        assert list(line.error_y.array) == pytest.approx([0.25] * n)
        assert list(line.error_y.arrayminus) == pytest.approx([0.5] * n)
    else:
        assert line.error_y.array is None
        assert [list(edge.y) for edge in band] == [low, high]


def test_bounds_are_where_they_belong():
    series = Series("gen", [0.01, 0.1], [0.02, 0.1], steps=True)
    drawing = drawn(Panel("", "x", "y", [series], x_log=True, identity="rho", level=("limit", 0.3), window=(0, 0.05)))
    (line,), (identity,), (level,) = traces(drawing, "gen"), traces(drawing, "rho"), traces(drawing, "limit")
    assert line.line.shape == "hv"
    assert list(identity.x) == list(identity.y)
    assert (identity.x[0], identity.x[-1]) == pytest.approx((0.01, 0.1))
    assert list(level.y) == [0.3, 0.3]
    (window,) = drawing.layout.shapes
    assert (window.x0, window.x1) == (0.01, 0.05)  # zero is nowhere on a logarithmic axis


def test_names_stand_in_place_of_numbers():
    series = Series("gen", [0, 1], [0.1, 0.2], joined=False)
    drawing = drawn(Panel("", "", "P_fa", [series], level=("rho", 0.1), x_labels=["pima", "breast"]))
    assert drawing.data[0].mode == "markers"
    assert list(drawing.layout.xaxis.ticktext) == ["pima", "breast"]
    assert list(drawing.data[1].x) == [-0.5, 1.5]


def test_maps_of_one_figure_share_their_colours():
    surfaces = [
        Surface([1, 10], [1, 2], [[0.1, None], [0.3, 0.2]], (10, 2), "loss", ([[0, 1], [1, 2]], 0.5)),
        Surface([1, 10], [1, 2], [[0.5, 0.6], [0.7, 0.9]], title="loss"),
    ]
    drawing = drawn(*(Panel("", "C", "gamma", surface=surface) for surface in surfaces))
    first, second = (trace for trace in drawing.data if trace.type == "heatmap")
    assert [list(row) for row in first.z] == [[0.1, None], [0.3, 0.2]]
    assert {(first.zmin, first.zmax), (second.zmin, second.zmax)} == {(0.1, 0.9)}
    (chosen,) = (trace for trace in drawing.data if trace.type == "scatter")
    assert (list(chosen.x), list(chosen.y)) == ([10], [2])
    assert {trace.contours.start for trace in drawing.data if trace.type == "contour"} == {0.5}


def test_boxes_hold_those_that_are_not_told_apart():
    ranks = list(zip(LABELS, (1.2, 2.0, 2.8), strict=True))
    drawing = figure(Ranking("ranks", "Ranks", ranks, 0.9, [(1.2, 2.0), (2.0, 2.8)]), PALETTE)
    dots, difference = drawing.data[:3], drawing.data[3]
    assert [(dot.name, dot.x[0], dot.y[0]) for dot in dots] == [
        (label, rank, i) for i, (label, rank) in enumerate(ranks)
    ]
    assert difference.x[1] - difference.x[0] == pytest.approx(0.9)
    held = [
        [dot.name for dot in dots if box.x0 <= dot.x[0] <= box.x1 and box.y0 <= dot.y[0] <= box.y1]
        for box in drawing.layout.shapes
    ]
    assert held == [list(LABELS[:2]), list(LABELS[1:])]


def test_panels_that_do_not_fill_a_row_are_numbered_on():
    panel = Panel("P", "x", "y", [Series("gen", [1], [1])])
    drawing = figure(Chart("name", "Title", [[panel, panel], [panel], [panel, panel]]), PALETTE)
    assert drawing.layout.meta["rows"] == [[1, 2], [3], [4, 5]]
    assert len(drawing.layout.annotations) == 5


def test_texts_are_shown_as_they_are():
    panel = Panel("<b>bold</b>", "%{y}", "a & b", [Series("gen", [1], [1])])
    drawing = drawn(panel)
    assert drawing.layout.annotations[0].text == "&lt;b&gt;bold&lt;/b&gt;"
    assert drawing.layout.yaxis.title.text == "a &amp; b"
    assert "%{y}" not in drawing.data[0].hovertemplate.replace("%{y:", "")
