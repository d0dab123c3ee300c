"""Charts as Plotly figures, one for each panel, as plain dictionaries that the page draws."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from npbench.report.chart import Chart, Line, Panel, Points, Series, Surface, log_digits, row_title, shortened
from npbench.report.render.palette import CHOSEN, COLOUR_MAP, Look, Palette, band_opacity

PANEL_HEIGHT, ROW_HEIGHT, AXIS_HEIGHT = 280, 34, 90  # pixels
LINE_WIDTH, BOUND_WIDTH, LEGEND_WIDTH = 1.8, 1.2, 2.0  # pixels
MAX_TICKS = 6
LOG_TICKS = {(1, 2, 5): "D2", (1,): 1}
TRANSPARENT = "rgba(0,0,0,0)"
SHADE: Any = {"type": "rect", "fillcolor": "#888888", "opacity": 0.2, "line": {"width": 0}, "layer": "below"}


class PanelFigure(NamedTuple):
    """One panel: plain titles, Plotly's traces and layout. The ``legendgroup`` of a trace is its label."""

    title: str
    y_title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


class LegendEntry(NamedTuple):
    """One entry of the legend: a label, the name shown for it, and its appearance."""

    label: str
    name: str
    look: Look

    @property
    def dashes(self) -> str:
        """Dashes as SVG writes them."""
        return " ".join(f"{LEGEND_WIDTH * length:g}" for length in self.look.dash or ())


class ChartFigure(NamedTuple):
    """A chart for the page: its text, its legend, and its rows of panels with the title that they share."""

    name: str
    title: str
    notes: Sequence[str]
    legend: list[LegendEntry]
    rows: list[tuple[str | None, list[PanelFigure]]]


def figure(chart: Chart, palette: Palette) -> ChartFigure:
    """Return a chart as Plotly figures. Markup in its texts, such as ``<b>``, has no effect."""
    legend = [
        LegendEntry(label, palette.name(label), palette.look(drawn)) for label, drawn in chart.legend(palette.labels)
    ]
    rows = [(row_title(row), [_panel(panel, palette, chart.color_range) for panel in row]) for row in chart.rows]
    return ChartFigure(chart.name, chart.title, chart.notes, legend, rows)


def literal(text: str) -> str:
    """Return text that Plotly shows without interpreting markup.

    Examples
    --------
    >>> literal("<b>P_fa</b> %{x}")
    '&lt;b&gt;P_fa&lt;/b&gt; %&#123;x}'
    """
    return html.escape(text, quote=False).replace("%{", "%&#123;").replace("\n", "<br>")


def _panel(panel: Panel, palette: Palette, color_range: tuple[float, float]) -> PanelFigure:
    data = [] if panel.surface is None else _surface(panel, panel.surface, color_range)
    for series in panel.series:
        points, look = panel.points(series), palette.look(series)
        if points.is_dense and points.low:
            data += _band(series, points, look, len(panel.series))
        data.append(_line(panel, series, points, look) | {"name": literal(palette.name(series.label))})
    data += [_reference(line, palette.look(line)) for line in panel.reference_lines]
    return PanelFigure(shortened(panel.title), panel.y_title, data, _layout(panel))


def _line(panel: Panel, series: Series, points: Points, look: Look) -> dict[str, Any]:
    modes = ["lines"] if series.joined else []
    if not (points.is_dense and series.joined):
        modes.append("markers")
    trace = {
        "type": "scatter",
        "x": points.x,
        "y": points.y,
        "legendgroup": series.label,
        "mode": "+".join(modes),
        "line": _line_style(look, LINE_WIDTH) | {"shape": "hv" if series.steps else "linear"},
        "hovertemplate": _hover(panel, "%{y:.4g}"),
    }
    if look.marker:
        trace["marker"] = {"symbol": look.marker.plotly, "size": 8, "color": look.colour}
    if panel.x_labels:
        trace["text"] = [literal(panel.x_labels[round(x)]) for x in points.x]
    if points.low:
        trace["customdata"] = [list(limits) for limits in zip(points.low, points.high, strict=True)]
        trace["hovertemplate"] = _hover(panel, "%{y:.4g} (%{customdata[0]:.4g} to %{customdata[1]:.4g})")
    if points.low and not points.is_dense:
        trace["error_y"] = {
            "array": [high - y for y, high in zip(points.y, points.high, strict=True)],
            "arrayminus": [y - low for y, low in zip(points.y, points.low, strict=True)],
            "thickness": 1,
            "width": 3,
        }
    return trace


def _line_style(look: Look, width: float) -> dict[str, Any]:
    dash = ",".join(f"{width * length:g}px" for length in look.dash) if look.dash else "solid"
    return {"color": look.colour, "dash": dash, "width": width}


def _hover(panel: Panel, value: str) -> str:
    if panel.y_labels:
        return f"%{{fullData.name}}<br>{literal(panel.x_title)}: %{{x:.4g}}<extra></extra>"
    x = "%{text}" if panel.x_labels else f"{literal(panel.x_title) or 'x'}: %{{x:.4g}}"
    return f"%{{fullData.name}}<br>{x}<br>{literal(panel.y_title) or 'y'}: {value}<extra></extra>"


def _band(series: Series, points: Points, look: Look, n_series: int) -> list[dict[str, Any]]:
    red, green, blue = (int(look.colour[start : start + 2], 16) for start in (1, 3, 5))
    edge = {
        "type": "scatter",
        "x": points.x,
        "legendgroup": series.label,
        "mode": "lines",
        "line": {"width": 0.5, "color": f"rgba({red},{green},{blue},0.5)", "shape": "hv" if series.steps else "linear"},
        "hoverinfo": "skip",
    }
    fill = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},{band_opacity(n_series):.3g})"}
    return [edge | {"y": points.low}, edge | {"y": points.high} | fill]


def _reference(line: Line, look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": list(line.x),
        "y": list(line.y),
        "legendgroup": line.label,
        "mode": "lines",
        "line": _line_style(look, BOUND_WIDTH),
        "hoverinfo": "skip",
    }


def _surface(panel: Panel, surface: Surface, color_range: tuple[float, float]) -> list[dict[str, Any]]:
    title = literal(surface.title)
    place = f"{literal(panel.x_title)}: %{{x:.4g}}<br>{literal(panel.y_title)}: %{{y:.4g}}"
    grid = {"x": list(surface.x), "y": list(surface.y)}
    cells = {
        "type": "heatmap",
        **grid,
        "z": [[z if z is not None and math.isfinite(z) else None for z in row] for row in surface.z],
        "zmin": color_range[0],
        "zmax": color_range[1],
        "colorscale": COLOUR_MAP.title(),
        "hoverongaps": False,
        "colorbar": {"title": {"text": title, "side": "right"}, "thickness": 12},
        "hovertemplate": f"{place}<br>{title}: %{{z:.4g}}<extra></extra>",
    }
    chosen = {
        "type": "scatter",
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 11, "color": CHOSEN, "line": {"width": 1.5, "color": "#ffffff"}},
        "hovertemplate": f"chosen<br>{place}<extra></extra>",
    }
    found = [cells]
    if surface.border is not None:
        found += _contours(grid, *surface.border)
    if surface.chosen is not None:
        found.append(chosen | {"x": [surface.chosen[0]], "y": [surface.chosen[1]], "legendgroup": "chosen"})
    return found


def _contours(grid: dict[str, Any], heights: Sequence[Sequence[float]], level: float) -> list[dict[str, Any]]:
    contour = {
        "type": "contour",
        **grid,
        "z": [list(row) for row in heights],
        "autocontour": False,
        "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
        "showscale": False,
        "hoverinfo": "skip",
    }
    # White on black is visible on light and on dark cells.
    return [contour | {"line": {"color": colour, "width": width}} for colour, width in (("#000", 3.5), ("#fff", 1.5))]


def _layout(panel: Panel) -> dict[str, Any]:
    has_grid = panel.surface is None
    x = _axis(panel.x_title, panel.x_range if panel.x_log else None, panel.x_labels, has_grid)
    y = _axis(panel.y_title, panel.y_range if panel.y_log else None, panel.y_labels, has_grid)
    for axis, log in ((x, panel.x_log), (y, panel.y_log)):
        axis["type"] = "log" if log else "linear"
    if ticks := panel.measured_ticks:
        x |= {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    return {
        "height": AXIS_HEIGHT + ROW_HEIGHT * len(panel.y_labels) if panel.y_labels else PANEL_HEIGHT,
        "xaxis": x,
        "yaxis": y,
        "shapes": _shapes(panel),
        "margin": {"l": 56, "r": 12, "t": 28, "b": 44},
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        "showlegend": False,
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "font": {"size": 12, "family": "system-ui, sans-serif"},
        "modebar": {"bgcolor": TRANSPARENT},
        "template": {},
    }


def _shapes(panel: Panel) -> list[dict[str, Any]]:
    shapes = [{**SHADE, "x0": x0, "x1": x1, "y0": y0, "y1": y1} for x0, x1, y0, y1 in panel.boxes]
    if window := panel.shaded_range:
        shapes.append({**SHADE, "x0": window[0], "x1": window[1], "y0": 0, "y1": 1, "yref": "y domain"})
    if panel.surface is not None:
        # Grey where nothing was evaluated.
        shapes.append({**SHADE, "x0": 0, "x1": 1, "xref": "x domain", "y0": 0, "y1": 1, "yref": "y domain"})
    return shapes


def _axis(title: str, log_range: tuple[float, float] | None, names: Sequence[str], grid: bool) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "title": {"text": literal(title), "standoff": 8},
        "nticks": MAX_TICKS,
        "tickformat": "~g",
        "automargin": True,
        "showgrid": grid,
        "zeroline": False,
    }
    if log_range and (digits := log_digits(*log_range)):
        axis["dtick"] = LOG_TICKS[digits]
    if names:
        axis |= {
            "tickvals": list(range(len(names))),
            "ticktext": [literal(name) for name in names],
            "range": [-0.5, len(names) - 0.5],
            "showgrid": False,
        }
    return axis
