"""Plotly figures against the charts they show, validated by Plotly."""

import numpy as np
import pytest

from npbench.report.chart import MAX_MARKED_POINTS, Chart, Panel, Series, Surface
from npbench.report.render.palette import DASHES, FOREGROUND, MARKERS, Palette
from npbench.report.render.plotly_figures import figure
from npbench.report.sections.ranking import diagram

go = pytest.importorskip("plotly.graph_objects")

LABELS = ("gen", "np_svm C=1", "np_svm C=10")
PALETTE = Palette(LABELS)


def drawn(chart, palette=PALETTE):
    """Return the panels of a chart as figures of Plotly, which checks every property."""
    return [go.Figure(panel.data, panel.layout) for _, row in figure(chart, palette).rows for panel in row]


def drawn_panel(panel):
    (only,) = drawn(Chart("name", "Title", [[panel]]))
    return only


def traces(drawing, label):
    return [trace for trace in drawing.data if trace.legendgroup == label]


def test_lines_have_points_and_look_of_their_label():
    lines = [Series(label, [0.1, 0.2], [i, i + 0.5]) for i, label in enumerate(LABELS)]
    chart = Chart("name", "Title", [[Panel("one", "x", "y", lines), Panel("two", "x", "y", lines[::-1])]])
    for drawing in drawn(chart):
        assert len(drawing.data) == 3
        for i, label in enumerate(LABELS):
            (trace,) = traces(drawing, label)
            assert (list(trace.x), list(trace.y)) == ([0.1, 0.2], [i, i + 0.5])
            assert trace.line.color == trace.marker.color == PALETTE.colour(label)
            assert trace.marker.symbol == MARKERS[PALETTE.marker(label)].plotly
    dashes = {label: traces(drawing, label)[0].line.dash for label in LABELS}
    assert dashes["gen"] == dashes["np_svm C=1"] == "solid" != dashes["np_svm C=10"]


def test_every_look_is_valid():
    labels = [f"solver C={C}" for C in range(len(MARKERS) * len(DASHES))]
    panel = Panel("", "x", "y", [Series(label, [1, 2], [1, 2]) for label in labels])
    (drawing,) = drawn(Chart("name", "Title", [[panel]]), Palette(labels))
    looks = {(trace.marker.symbol, trace.line.dash) for trace in drawing.data}
    assert len(looks) == np.lcm(len(MARKERS), len(DASHES))


def test_legend_has_each_label_once():
    lines = [Series(label, [0.1, 0.2], [0, 1]) for label in LABELS[::-1]]
    chart = Chart("name", "Title", [[Panel("", "x", "y", lines, identity="rho"), Panel("", "x", "y", lines[:1])]])
    legend = figure(chart, PALETTE).legend
    assert [entry.label for entry in legend] == [*LABELS, "rho"]
    assert [entry.look.colour for entry in legend] == [*map(PALETTE.colour, LABELS), FOREGROUND]
    groups = {trace.legendgroup for trace in drawn(chart)[0].data}
    assert groups == {entry.label for entry in legend}


@pytest.mark.parametrize(
    ("x", "y", "log", "shown"),
    [
        ([0.0, 0.1, 0.2], [1.0, 0.0, 3.0], True, ([0.2], [3.0])),  # without a logarithm
        ([0.0, 0.1, 0.2], [1.0, 0.0, 3.0], False, ([0.0, 0.1, 0.2], [1.0, 0.0, 3.0])),
        ([0.1, 0.2, 0.3], [1.0, float("nan"), float("inf")], False, ([0.1], [1.0])),
    ],
)
def test_points_off_the_axes_are_omitted(x, y, log, shown):
    (line,) = drawn_panel(Panel("", "x", "y", [Series("gen", x, y)], x_log=log, y_log=log)).data
    assert (list(line.x), list(line.y)) == shown


@pytest.mark.parametrize("n", [2, MAX_MARKED_POINTS, MAX_MARKED_POINTS + 1])
def test_limits_are_bars_or_a_band(n):
    x = np.linspace(0.1, 1, n).tolist()
    low, high = [value - 0.5 for value in x], [value + 0.25 for value in x]
    *band, line = drawn_panel(Panel("", "x", "y", [Series("gen", x, x, low, high)])).data
    assert line.customdata == pytest.approx(np.column_stack([low, high]))
    if n <= MAX_MARKED_POINTS:
        assert not band
        assert list(line.error_y.array) == pytest.approx([0.25] * n)
        assert list(line.error_y.arrayminus) == pytest.approx([0.5] * n)
    else:
        assert line.error_y.array is None
        assert [list(edge.y) for edge in band] == [low, high]
        assert {edge.legendgroup for edge in band} == {"gen"}


def test_bounds_and_window():
    series = Series("gen", [0.01, 0.1], [0.02, 0.1], steps=True)
    panel = Panel("", "x", "y", [series], x_log=True, identity="rho", level=("limit", 0.3), window=(0, 0.05))
    drawing = drawn_panel(panel)
    (line,), (identity,), (level,) = traces(drawing, "gen"), traces(drawing, "rho"), traces(drawing, "limit")
    assert line.line.shape == "hv"
    assert list(identity.x) == list(identity.y)
    assert (identity.x[0], identity.x[-1]) == pytest.approx((0.01, 0.1))
    assert list(level.y) == [0.3, 0.3]
    (window,) = drawing.layout.shapes
    assert (window.x0, window.x1) == (0.01, 0.05)  # a logarithmic axis has no zero


def test_names_replace_numbers():
    series = Series("gen", [0.07, 1.07], [0.1, 0.2], joined=False)
    drawing = drawn_panel(Panel("", "", "P_fa", [series], level=("rho", 0.1), x_labels=["pima", "breast"]))
    assert drawing.data[0].mode == "markers"
    assert list(drawing.data[0].text) == ["pima", "breast"]
    assert list(drawing.layout.xaxis.ticktext) == ["pima", "breast"]
    assert list(drawing.data[1].x) == [-0.5, 1.5]


def test_ticks_are_the_measured_values():
    series = [Series("gen", [0.01, 0.05, 0.2], [1, 2, 3]), Series("np_svm C=1", [0.1, 0.011], [1, 2])]
    axis = drawn_panel(Panel("", "rho", "P_fa", series)).layout.xaxis
    assert list(axis.tickvals) == [0.01, 0.05, 0.1, 0.2]  # 0.011 would collide with 0.01
    assert list(axis.ticktext) == ["0.01", "0.05", "0.1", "0.2"]
    many = Series("gen", np.linspace(0, 1, 40).tolist(), [1] * 40)
    assert drawn_panel(Panel("", "x", "y", [many])).layout.xaxis.tickvals is None
    odd = Series("gen", [0.0123456, 0.2], [1, 2])
    assert drawn_panel(Panel("", "x", "y", [odd])).layout.xaxis.tickvals is None


def test_maps_share_their_colours():
    surfaces = [
        Surface([1, 10], [1, 2], [[0.1, None], [0.3, 0.2]], (10, 2), "loss", ([[0, 1], [1, 2]], 0.5)),
        Surface([1, 10], [1, 2], [[0.5, 0.6], [0.7, 0.9]], title="loss"),
    ]
    panels = [Panel("", "C", "gamma", surface=surface) for surface in surfaces]
    drawings = drawn(Chart("name", "Title", [panels]))
    first, second = (drawing.data[0] for drawing in drawings)
    assert [list(row) for row in first.z] == [[0.1, None], [0.3, 0.2]]
    assert {(first.zmin, first.zmax), (second.zmin, second.zmax)} == {(0.1, 0.9)}
    (chosen,) = (trace for trace in drawings[0].data if trace.type == "scatter")
    assert (list(chosen.x), list(chosen.y)) == ([10], [2])
    assert {trace.contours.start for trace in drawings[0].data if trace.type == "contour"} == {0.5}


def test_ranking_has_boxes_around_groups():
    ranks = list(zip(LABELS, (1.2, 2.0, 2.8), strict=True))
    ranking = Chart("ranks", "Ranks", [[diagram(ranks, 0.9, [(1.2, 2.0), (2.0, 2.8)])]])
    (drawing,) = drawn(ranking)
    *dots, difference = drawing.data
    assert sorted((dot.legendgroup, dot.x[0]) for dot in dots) == sorted(ranks)
    names = drawing.layout.yaxis.ticktext
    assert all(names[dot.y[0]].startswith(dot.legendgroup) for dot in dots)
    assert max(dots, key=lambda dot: dot.y[0]).legendgroup == "gen"  # the best is on top
    assert difference.x[1] - difference.x[0] == pytest.approx(0.9)
    groups = [
        {dot.legendgroup for dot in dots if box.x0 <= dot.x[0] <= box.x1 and box.y0 <= dot.y[0] <= box.y1}
        for box in drawing.layout.shapes
    ]
    assert groups == [set(LABELS[:2]), set(LABELS[1:])]
    assert figure(ranking, PALETTE).legend == []  # rows are named


def test_markup_in_texts_has_no_effect():
    panel = Panel("<b>bold</b>", "%{y}", "a & b", [Series("gen", [1], [1])])
    drawing = drawn_panel(panel)
    assert drawing.layout.yaxis.title.text == "a &amp; b"
    assert "%{y}" not in drawing.data[0].hovertemplate.replace("%{y:", "")
    odd = "gen <i>x</i>"
    (line,) = drawn(Chart("", "", [[Panel("", "x", "y", [Series(odd, [1], [1])])]]), Palette([odd]))[0].data
    assert line.name == "gen &lt;i&gt;x&lt;/i&gt;"
