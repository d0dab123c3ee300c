"""Figures against the charts they show, and how settings look in them."""

import itertools
import re
import xml.etree.ElementTree as ET
import zlib

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.text import Text

from npbench.report import files
from npbench.report.chart import MAX_MARKED_POINTS, MAX_TITLES, Chart, Panel, Series, Surface
from npbench.report.render import drawing as paper
from npbench.report.render.palette import Palette
from npbench.report.sections.ranking import diagram

LABELS = ["np_svm C=1", "np_svm C=10", "gen", "scorer"]
PALETTE = Palette(LABELS)


def series(label, n=4, **given):
    return Series(label, [0.05 * (k + 1) for k in range(n)], [0.1 * (k + 1) for k in range(n)], **given)


def chart(*panels, columns=1):
    return Chart("figure", "A title", [panels[start : start + columns] for start in range(0, len(panels), columns)])


def saved(what, palette, folder):
    return paper.save_drawing(paper.draw(what, palette), what.name, folder)


@pytest.fixture
def only_svg(monkeypatch):
    """Leave out the other files, which take two thirds of the time."""
    monkeypatch.setattr(paper, "METADATA", {"svg": {}})


def only_axes(*series, palette=PALETTE, **panel):
    """Return the axes of a chart with one panel of these series, laid out."""
    figure = paper.draw(chart(Panel(**{"title": "p", "x_title": "x", "y_title": "y", **panel}, series=series)), palette)
    figure.draw_without_rendering()
    return figure.axes[0]


def lines(axes):
    """Return the lines of data by their label."""
    marked = {container.get_label(): container.lines[0] for container in axes.containers}
    return marked | {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_points_and_bars_are_exact():
    bars = series("gen", low=[0.05, 0.1, 0.2, 0.35], high=[0.2, 0.3, 0.4, 0.65])
    axes = only_axes(bars, series("scorer"))
    np.testing.assert_allclose(lines(axes)["gen"].get_data(), (bars.x, bars.y))
    ends = [[(x, a), (x, b)] for x, a, b in zip(bars.x, bars.low, bars.high, strict=True)]
    np.testing.assert_allclose(axes.containers[0].lines[2][0].get_segments(), ends)
    # All of it is inside the axes, although bars are moved apart by points.
    for (low, high), inside in ((axes.get_xlim(), bars.x), (axes.get_ylim(), [*bars.low, *bars.high])):
        assert low < min(inside) < max(inside) < high


def test_labels_look_the_same_in_every_panel():
    panel = Panel("p", "x", "y", [series(one) for one in LABELS])
    figure = paper.draw(chart(*[panel] * 4, columns=2), PALETTE)
    for axes in figure.axes:
        for label, line in lines(axes).items():
            assert to_hex(line.get_color()).upper() == PALETTE.colour(label)
            assert line.get_marker() == PALETTE.look(series(label)).marker
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == PALETTE.labels


def test_bounds_windows_and_titles_are_drawn():
    first = Panel("pima", "bound ρ", "P_fa", [series("gen")], identity="ρ", window=(0.0, 0.1))
    second = Panel("file_1 costs $5", "bound ρ", "P_nd", [series("gen")], level=("limit", 0.25))
    figure = paper.draw(chart(first, second, columns=2), PALETTE)
    left, right = figure.axes
    texts = {text.get_text() for text in figure.findobj(Text) if text.get_visible()}
    assert texts >= {"pima", "bound ρ", "$P_{fa}$", "$P_{nd}$", r"file_1 costs \$5", "gen", "ρ", "limit"}
    bound = left.lines[-1]
    np.testing.assert_allclose(*bound.get_data())
    assert (min(bound.get_xdata()), max(bound.get_xdata())) == pytest.approx((0.05, 0.2))
    assert left.patches[-1].get_x() + left.patches[-1].get_width() == pytest.approx(0.1)
    assert right.lines[-1].get_ydata() == pytest.approx([0.25, 0.25])
    assert {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()} == {paper.FONT_SIZE}


def test_log_axes_omit_what_is_not_positive_or_finite_and_have_plain_numbers():
    points = Series("gen", [0.0, 0.001, 0.0123456, 0.05, 0.06, 0.1], [0.5, 0.0, 0.5, np.nan, np.inf, 1.0])
    axes = only_axes(points, x_log=True, identity="chance", window=(0.0, 0.01))
    assert lines(axes)["gen"].get_xdata() == pytest.approx([0.001, 0.0123456, 0.1])
    bound = axes.lines[-1]
    np.testing.assert_allclose(*bound.get_data())
    assert len(bound.get_xdata()) > 50  # y = x is a curve
    assert {"0.001", "0.01", "0.1"} <= {text.get_text() for text in axes.get_xticklabels()}
    assert axes.get_xlim()[0] > 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("ends", [(0.3, 0.9), (0.19, 0.65), (12.5, 30.0), (0.01, 1000.0), (2.0, 2.0)])
def test_log_axes_have_few_numbers(ends):
    axes = only_axes(Series("gen", [1, 2], ends), y_log=True)
    low, high = axes.get_ylim()
    places = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    assert 1 <= sum(low <= place <= high and text.get_text() != "" for place, text in places) <= 8


def test_muted_series_are_grey_and_not_in_the_legend():
    axes = only_axes(series("gen"), series("scorer", muted=True))
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["gen"]
    assert len({*lines(axes)["scorer"].get_color()[1:]}) == 1
    assert lines(axes)["gen"].get_color() == PALETTE.colour("gen")


def test_only_the_lowest_panel_has_names_and_many_are_rotated():
    dots = series("gen", 2, joined=False)
    stacked = chart(*(Panel("", "", name, [dots], x_labels=["breast", "pima"]) for name in ("P_fa", "P_nd")))
    figure = paper.draw(stacked, PALETTE)
    figure.draw_without_rendering()
    upper, lower = figure.axes
    assert [text.get_text() for text in lower.get_xticklabels()] == ["breast", "pima"]
    assert not any(text.get_visible() and text.get_text() for text in upper.get_xticklabels())
    assert lines(lower)["gen"].get_linestyle() == "None"
    names = [f"a_long_name_{number}" for number in range(12)]
    figure = paper.draw(chart(Panel("", "", "P_fa", [series("gen", 12, joined=False)], x_labels=names)), PALETTE)
    assert figure.get_figwidth() == 6.9
    assert {text.get_rotation() for text in figure.axes[0].get_xticklabels()} == {30.0}
    assert [text for text in overlaps(figure) if isinstance(text, str)] == []  # cut off


def test_marks_of_mathematics_in_labels_are_literal():
    odd = ["gen path=$A_$^", "gen path=$HOME"]
    palette = Palette(odd)
    (legend,) = only_axes(*map(series, odd), title="$", palette=palette).figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [one.replace("$", r"\$") for one in odd]
    ranked = diagram([*odd, "a", "b"], [1.5] * (len(odd) + 2), [(1.0, 2.0)] * (len(odd) + 2), [1] * (len(odd) + 2))
    paper.draw(chart(ranked), Palette(["place=1"])).draw_without_rendering()


def test_many_points_have_a_band_and_few_markers():
    n = 80
    axes = only_axes(Series("gen", range(n), [0.5] * n, [0.25] * n, [0.75] * n), window=(0, 9))
    (band,) = axes.collections
    assert band.get_zorder() > axes.patches[-1].get_zorder()  # seen within the window
    assert band.get_paths()[0].get_extents().intervaly.tolist() == [0.25, 0.75]
    _, every = lines(axes)["gen"].get_markevery()
    assert n / every < 10


@pytest.mark.usefixtures("only_svg")
@pytest.mark.parametrize("changed", [{"names": [f"m{n}" for n in range(30)]}, {"joined": False}])
def test_all_points_with_names_or_without_a_line_have_markers_and_titles(tmp_path, changed):
    places = [1.0 + n for n in range(30)]
    what = chart(Panel("p", "x", "y", [Series("gen", places, places, **changed)]))
    assert lines(paper.draw(what, PALETTE).axes[0])["gen"].get_markevery() is None
    (svg,) = saved(what, PALETTE, tmp_path)
    assert len(circles(svg)) == 30


def test_maps_share_colours_and_mark_the_chosen_point():
    z = np.array([[0.0, 0.25, np.nan], [0.5, 1.0, 0.75]])
    border = (np.array([[0.0, 0.5, 1.0]] * 2), 0.25)
    x, y = [1, 10, 100], [0.5, 1.0]
    surfaces = Surface(x, y, z, (10, 0.5), "rate", border), Surface(x, y, np.full((2, 3), 0.1))
    panels = [Panel("p", "ν₊", "ν₋", surface=surface, x_log=True) for surface in surfaces]
    first, second, bar = paper.draw(chart(*panels, columns=2), PALETTE).axes
    mesh = first.collections[0]
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), -1)
    np.testing.assert_array_equal(shown, [[0, 0.25, -1], [0.5, 1, 0.75]])
    np.testing.assert_allclose(mesh.get_coordinates()[0, :, 0], 10 ** np.array([-0.5, 0.5, 1.5, 2.5]))
    assert mesh.get_clim() == second.collections[0].get_clim() == (0.0, 1.0)
    assert first.lines[0].get_data() == ([10], [0.5])
    assert bar.get_ylabel() == "rate"
    assert len(first.collections) == 3  # and the border, dark below light


def test_ranking_has_a_row_for_each_solver():
    names, ranks, places = ["np_svm C=1", "gen", "scorer", "np_svm C=10"], [1.5, 2.25, 3.75, 4.0], [1, 1, 3, 3]
    limits = [(rank - 0.5, rank + 0.25) for rank in ranks]
    panel = diagram(names, ranks, limits, places)
    figure = paper.draw(chart(panel), Palette(series.label for series in panel.series))
    (axes,) = figure.axes
    figure.draw_without_rendering()
    texts = [text.get_text() for text in axes.get_yticklabels()]
    assert texts == [f"{label}  {rank:.2f}" for label, rank in zip(names[::-1], ranks[::-1], strict=True)]
    assert len({bars.lines[0].get_color() for bars in axes.containers}) == len(axes.containers) == 2  # one a place
    points = np.hstack([bars.lines[0].get_data() for bars in axes.containers])
    np.testing.assert_allclose(points, (ranks, [3, 2, 1, 0]))
    segments = [one for bars in axes.containers for one in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose([one[:, 0] for one in segments], limits)
    parted = [line.get_ydata()[0] for line in axes.lines if line.get_ydata()[0] == line.get_ydata()[-1] == 1.5]
    assert parted == [1.5]  # between the second and the third
    assert not [patch for patch in axes.patches if patch.get_alpha()]  # nothing lies over the points


def test_ticks_are_the_measured_values_unless_they_are_many_or_long():
    measured = Series("gen", [0.01, 0.05, 0.2, 0.1, 0.011], [1] * 5)  # 0.011 would collide with 0.01
    assert [text.get_text() for text in only_axes(measured).get_xticklabels()] == ["0.01", "0.05", "0.1", "0.2"]
    for x in (np.linspace(0, 1, 40).tolist(), [0.0123456, 0.2]):
        assert not Panel("p", "x", "y", [Series("gen", x, [1] * len(x))]).measured_ticks


EVIL = "gen </title><script>window.evil=1</script>&\x1b[2J"


def circles(path):
    """Return place and title of each point of an SVG file that has a title."""
    svg = "{http://www.w3.org/2000/svg}"
    found = ET.fromstring(path.read_bytes()).iter(f"{svg}circle")
    return {one.find(f"{svg}title").text: (float(one.get("cx")), float(one.get("cy"))) for one in found}


@pytest.mark.usefixtures("only_svg")
def test_points_have_titles_with_setting_data_set_and_values(tmp_path):
    bars = Series(EVIL, [0.05, 0.1], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5])
    dots = Series("gen", [0.1, 1.1], [0.25, 0.5], joined=False)
    n = 4 * MAX_MARKED_POINTS
    curve = Series("gen", range(n), [0.5] * n)
    panels = [
        Panel("pima", "bound ρ", "P_fa", [bars]),
        Panel("", "", "P_fa", [dots], x_labels=["breast", "pima"]),
        Panel("rho=0.1", "", "", [curve], dataset="heart"),
    ]
    (svg,) = saved(chart(*panels, columns=3), Palette(["gen", EVIL]), tmp_path)
    found = circles(svg)
    evil = EVIL.replace("\x1b", r"\x1b")
    assert f"{evil}\npima\nbound ρ: 0.05\nP_fa: 0.2 (0.1 to 0.3)" in found
    assert {"gen\nbreast\nP_fa: 0.25", "gen\npima\nP_fa: 0.5"} <= set(found)
    assert sum("heart" in title for title in found) <= MAX_TITLES


@pytest.mark.usefixtures("only_svg")
def test_titles_are_where_points_are_drawn_and_settings_of_matplotlib_stay_as_they_are(tmp_path):
    points = Series("gen", [1.0, 2.0, 4.0], [0.1, 0.4, 0.2])
    before = dict(mpl.rcParams)
    figure = paper.draw(chart(Panel("p", "x", "y", [points])), PALETTE)
    (svg,) = paper.save_drawing(figure, "one", tmp_path)
    assert dict(mpl.rcParams) == before
    figure.set_dpi(72)
    height = figure.get_size_inches()[1] * 72
    x, y = figure.axes[0].transData.transform(np.column_stack([points.x, points.y])).T
    np.testing.assert_allclose(list(circles(svg).values()), np.column_stack([x, height - y]), atol=0.1)


def tick_labels(axis):
    """Return the visible ones; Matplotlib keeps labels beyond the ends of an axis."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def shown_texts(figure):
    yield from (text for legend in figure.legends for text in legend.get_texts())
    for axes in figure.axes:
        yield from axes.texts
        if axes.axison:
            yield from (axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label)
            yield from (*tick_labels(axes.xaxis), *tick_labels(axes.yaxis))


def overlaps(figure):
    """Return pairs of texts that overlap, and those that are cut off."""
    figure.draw_without_rendering()
    texts = [text for text in shown_texts(figure) if text.get_visible() and text.get_text()]
    boxes = {text: text.get_window_extent() for text in texts}
    width, height = figure.get_size_inches() * figure.dpi
    cut = [t.get_text() for t, b in boxes.items() if b.x0 < -1 or b.y0 < -1 or b.x1 > width + 1 or b.y1 > height + 1]
    pairs = [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in itertools.combinations(boxes.items(), 2)
        if a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8))
    ]
    return cut + pairs


def test_small_numbers_do_not_overlap():
    short = Series("gen", [0.00035, 0.0006, 0.0009, 0.00145], [0.1, 0.2, 0.3, 0.4])
    figure = paper.draw(chart(*[Panel("", "seconds", "objective", [short])] * 3, columns=3), PALETTE)
    assert overlaps(figure) == []


LONG = [f"two_nu_svm strategy=wcd C={C} kernel=rbf gamma=0.001" for C in range(8)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("columns", [1, 3])
def test_no_text_is_cut_off_or_overlaps(columns):
    palette = Palette(LONG)
    panels = [
        Panel("data set", "bound on false alarms ρ", "P_fa", [series(one) for one in LONG]) for _ in range(2 * columns)
    ]
    figure = paper.draw(chart(*panels, columns=columns), palette)
    assert overlaps(figure) == []
    assert figure.get_figwidth() == (3.3 if columns == 1 else 6.9)


NAMED = [f"random_forest_leaves_{n:02d} calibration_size=aligned" for n in range(34)]


@pytest.mark.parametrize("labels", [LONG, ["a", "b", "c"], LABELS, NAMED, [f"{LONG[0]} n_steps={n}" for n in range(9)]])
def test_no_text_of_a_ranking_is_cut_off_or_overlaps(labels):
    ranks = [1.2 + 0.8 * place for place in range(len(labels))]
    limits, places = [(rank - 0.2, rank + 0.2) for rank in ranks], list(range(1, len(labels) + 1))
    drawn = chart(diagram(labels, ranks, limits, places))
    assert overlaps(paper.draw(drawn, Palette(f"place={one}" for one in places))) == []


@pytest.mark.slow(reason="places dozens of names; test_few_points_have_all_names_beside_them is in every run")
@given(
    st.lists(st.tuples(st.floats(0.003, 20), st.floats(0.2, 0.9)), min_size=2, max_size=30, unique=True),
    st.integers(1, 30),
    st.booleans(),
)
def test_names_beside_points_overlap_nothing_and_stay_within_the_axes(points, n_stairs, log):
    names = [f"logistic_regression_{place}" for place in range(len(points))]
    stairs, others = sorted(points[:n_stairs]), points[n_stairs:]
    split = [Series("gen", *zip(*stairs, strict=True), stepped=True, names=names[:n_stairs])]
    if others:
        dots = zip(*others, strict=True)
        split.append(Series("scorer", *dots, joined=False, names=names[n_stairs:], muted=True))
    figure = paper.draw(chart(Panel("rho=0.1", "seconds", "score", split, x_log=log)), PALETTE)
    assert [text for text in overlaps(figure) if isinstance(text, str)] == []  # cut off
    (axes,), renderer = figure.axes, figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]
    assert boxes  # with room for at least one
    for one, other in itertools.combinations(boxes, 2):
        assert not one.shrunk(0.99, 0.99).overlaps(other)
    frame = axes.get_window_extent().expanded(1.001, 1.001)
    assert all(frame.contains(*corner) for box in boxes for corner in (box.min, box.max))
    shown = axes.transData.transform(points)
    assert not any(box.contains(*point) for box in boxes for point in shown)


def test_charts_without_labels_of_records_have_colours_of_their_own():
    leagues = Chart("leagues", "", [[Panel("", "x", "y", [series("guaranteed"), series("none")])]])
    solvers = Chart("solvers", "", [[Panel("", "x", "y", [series("gen"), series("scorer")])]])
    many = [f"solver{n}" for n in range(6)]
    drawn = files._drawn([leagues, solvers], [*LABELS, *many])
    for one, palette in ((leagues, Palette(["guaranteed", "none"])), (solvers, Palette([*LABELS, *many]))):
        for label, line in lines(drawn[one.name]().axes[0]).items():
            assert to_hex(line.get_color()).upper() == palette.colour(label)


def test_few_points_have_all_names_beside_them():
    dots = Series("gen", [0.01, 0.1, 1.0], [0.9, 0.5, 0.1], names=["a", "b", "gen path=$HOME"])
    figure = paper.draw(chart(Panel("", "seconds", "score", [dots], x_log=True)), PALETTE)
    assert [text.get_text() for text in figure.axes[0].texts] == ["a", "b", r"gen path=\$HOME"]


def test_small_bounds_have_room_beside_the_large_ones_and_a_rate_of_0_is_shown():
    rates = Series("gen", [0.01, 0.02, 0.2], [0.0, 0.02, 0.2])
    axes = only_axes(rates, x_log=True, identity="ρ")
    heights = axes.transData.transform(np.column_stack([rates.x, rates.y]))[:, 1]
    assert axes.get_window_extent().y0 < heights[0] < heights[1] < heights[2]
    assert heights[1] - heights[0] > 0.15 * (heights[2] - heights[0])
    assert "0" in {text.get_text() for text in axes.get_yticklabels()}


def test_files_are_reproducible_whatever_a_user_sets_and_embed_fonts(tmp_path):
    what = chart(Panel("pima", "bound ρ", "P_fa", [series("gen")], identity="ρ"))
    first = saved(what, PALETTE, tmp_path / "a")
    with mpl.rc_context({"text.usetex": True, "figure.dpi": 300, "font.family": "serif", "savefig.bbox": "tight"}):
        again = saved(what, PALETTE, tmp_path / "b")
        assert mpl.rcParams["text.usetex"]
    assert [path.name for path in first] == ["figure.pdf", "figure.svg", "figure.png"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    pdf = first[0].read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    objects = pdf + b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x")
    assert b"/FontFile2" in objects  # TrueType
    assert b"/Type3" not in objects
    width, height = (int.from_bytes(first[2].read_bytes()[start : start + 4], "big") for start in (16, 20))
    assert width == pytest.approx(3.3 * 200, abs=1)
    assert height > 200


def test_decades_beside_each_other_have_room():
    wide = Series("gen", [3e-4, 0.1, 5], [0.1, 0.2, 0.3])
    figure = paper.draw(chart(*[Panel("", "seconds", "P_fa", [wide], x_log=True)] * 4, columns=4), PALETTE)
    figure.draw_without_rendering()
    spans = [text.get_window_extent() for text in tick_labels(figure.axes[0].xaxis) if text.get_text()]
    assert len(spans) >= 2
    assert all(left.x1 + 5 < right.x0 for left, right in itertools.pairwise(spans))


def test_bars_of_many_series_stay_inside_the_axes():
    many = [Series(one, [0.05, 0.1], [1, 2], [0, 1], [2, 3]) for one in LONG]
    figure = paper.draw(chart(*[Panel("", "x", "y", many)] * 3, columns=3), Palette(LONG))
    figure.draw_without_rendering()
    inside = figure.axes[0].get_window_extent()
    for points in lines(figure.axes[0]).values():
        assert all(inside.x0 + 1 < x < inside.x1 - 1 for x, _ in points.get_transform().transform(points.get_xydata()))


def look(palette, label):
    return palette.look(series(label))


def test_each_solver_has_its_own_colour_and_looks_do_not_depend_on_order():
    colours = {label: PALETTE.colour(label) for label in LABELS}
    assert colours["np_svm C=1"] == colours["np_svm C=10"]
    assert len(set(colours.values())) == 3
    assert {look(PALETTE, label).dash for label in ("gen", "scorer")} == {()}
    again = Palette(reversed(LABELS * 3))
    assert [look(PALETTE, label) for label in LABELS] == [look(again, label) for label in LABELS]


def test_labels_of_one_colour_differ_in_marker_or_dash():
    labels = [f"solver{number:02d} C={C}" for number, C in itertools.product(range(20), range(4))]
    palette = Palette(labels)
    assert len({look(palette, label) for label in labels}) == 80


def test_labels_are_shortened_unless_they_become_equal_and_unknown_ones_are_named():
    grid, other = "gen search.C=[0.1,1,10,100]", "gen search.C=[0.1,2,20,100]"
    assert Palette([grid, "gen"]).name(grid) == "gen search.C=[0.1…100]"
    palette = Palette([grid, other])
    (legend,) = only_axes(series(grid), series(other), palette=palette).figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [grid, other]
    with pytest.raises(KeyError, match="knn"):
        Palette(["np_svm C=1"]).colour("knn")
