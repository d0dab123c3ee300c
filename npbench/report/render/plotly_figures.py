"""Charts as Plotly figures: the same data and colours as on paper, to be pointed at, zoomed and switched off."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from npbench.report.chart import Chart, Panel, Ranking
from npbench.report.render import plotly_ranking as interactive_ranking
from npbench.report.render.palette import Palette
from npbench.report.render.plotly_traces import literal, range_of, traces

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PANEL_HEIGHT = 300  # pixels


def figure(chart: Chart | Ranking, palette: Palette) -> Figure:
    """Return the Plotly figure of a chart.

    Its ``layout.meta["rows"]`` has the numbers of the axes, row by row, so that a page can lay panels out as it has
    room; a ranking has none.

    Parameters
    ----------
    chart : Chart or Ranking
        What to draw. Texts in it are shown as they are: Plotly's marks, such as ``<b>``, have no effect.
    palette : Palette
        Made for the labels of all records, so that a label looks the same in every chart.

    Raises
    ------
    ImportError
        If plotly is not installed.
    """
    drawing = interactive_ranking.draw(chart, palette) if isinstance(chart, Ranking) else _panels(chart, palette)
    return drawing.update_layout(
        template={},  # The page brings its own colours and fonts.
        margin={"l": 60, "r": 16, "t": 56, "b": 48},
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.08},
    )


def _panels(chart: Chart, palette: Palette) -> Figure:
    from plotly.subplots import make_subplots

    n_rows, n_columns = len(chart.rows), max(map(len, chart.rows))
    places = [
        (panel, {"row": row, "col": column})
        for row, panels in enumerate(chart.rows, start=1)
        for column, panel in enumerate(panels, start=1)
    ]
    drawing = make_subplots(
        rows=n_rows,
        cols=n_columns,
        specs=[[{} if column < len(panels) else None for column in range(n_columns)] for panels in chart.rows],
        subplot_titles=[literal(panel.title) or " " for panel, _ in places],
        vertical_spacing=0.3 / n_rows,
        horizontal_spacing=0.24 / n_columns,
    )
    told: set[str] = set()
    for panel, place in places:
        drawing.add_traces(traces(panel, palette, told, _colours(chart, panel)), rows=place["row"], cols=place["col"])
        _dress(drawing, panel, place)
    numbers = count(1)
    rows = [[next(numbers) for _ in panels] for panels in chart.rows]
    return drawing.update_layout(height=n_rows * PANEL_HEIGHT, meta={"rows": rows})


def _colours(chart: Chart, panel: Panel) -> tuple[float, float]:
    """Return the ends of a map's colours, which are those of all maps of the same figure in the chart."""
    maps = [other.surface for row in chart.rows for other in row if other.surface is not None]
    return range_of([surface for surface in maps if panel.surface and surface.title == panel.surface.title])


def _dress(drawing: Figure, panel: Panel, place: dict[str, Any]) -> None:
    """Give a pair of axes its titles, scales and window, and a map's colours their scale beside it."""
    drawing.update_xaxes(title_text=literal(panel.x_title), type="log" if panel.x_log else "linear", **place)
    drawing.update_yaxes(title_text=literal(panel.y_title), type="log" if panel.y_log else "linear", **place)
    if panel.x_labels:
        names = [literal(name) for name in panel.x_labels]
        drawing.update_xaxes(
            tickvals=list(range(len(names))), ticktext=names, range=[-0.5, len(names) - 0.5], showgrid=False, **place
        )
    if panel.surface is not None:
        _grey(drawing, place)
    if panel.window is not None:
        low, high = panel.window
        if panel.x_log and low <= 0:
            low = min([x for series in panel.series for x in series.x if x > 0], default=high)
        drawing.add_vrect(low, high, fillcolor="#888888", opacity=0.18, line_width=0, layer="below", **place)
    axes = drawing.get_subplot(**place)
    bottom, top = axes.yaxis.domain
    scale = {"x": axes.xaxis.domain[1], "xpad": 6, "y": (bottom + top) / 2, "len": top - bottom}
    drawing.update_traces(colorbar=scale, selector={"type": "heatmap"}, **place)


def _grey(drawing: Figure, place: dict[str, Any]) -> None:
    """Put grey behind a map, which shows where it was not looked at."""
    corners = {"xref": "x domain", "yref": "y domain", "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    drawing.add_shape(type="rect", **corners, fillcolor="#888888", opacity=0.3, line_width=0, layer="below", **place)
    drawing.update_xaxes(showgrid=False, **place).update_yaxes(showgrid=False, **place)
