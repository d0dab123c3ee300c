"""What a panel shows, as Plotly's traces."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from npbench.report.chart import Panel, Series, Surface
from npbench.report.render.palette import Palette

MARKERS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
FOREGROUND = "#222222"  # of bounds and the like; a dark page puts its own in place of it
CHOSEN = "#D55E00"  # of Okabe and Ito (2008); in no colour of a map
MANY = 25  # points that are not marked one by one any more, and have a band in place of bars
STEPS = 60  # of a bound that is drawn on an uneven scale
LAST = 10**6  # in legends


def literal(text: str) -> str:
    """Return a text such that Plotly shows it as it is, without effect of marks in it.

    Examples
    --------
    >>> literal("<b>P_fa</b> %{x}")
    '&lt;b&gt;P_fa&lt;/b&gt; %&#123;x}'
    """
    return html.escape(text, quote=False).replace("%{", "%&#123;")


def traces(panel: Panel, palette: Palette, told: set[str], colours: tuple[float, float]) -> list[dict[str, Any]]:
    """Return the traces of a panel.

    Parameters
    ----------
    panel : Panel
        What it shows.
    palette : Palette
        Made for the labels of all records of the report.
    told : set of str
        Labels that the legend has from panels before; those of this one are added.
    colours : tuple of float
        The values at both ends of the colours of a map.
    """
    found = [] if panel.surface is None else _surface(panel, panel.surface, colours)
    for series in panel.series:
        found += _band(panel, series, palette)
        found.append(_line(panel, series, palette))
    found += _bounds(panel)
    for trace in found:
        label = trace.get("legendgroup")
        trace["showlegend"] = "legendrank" in trace and label not in told
        if trace["showlegend"]:
            told.add(str(label))
    return found


def _shown(panel: Panel, series: Series) -> list[int]:
    """Return the places of the points that the axes can show."""
    return [
        place
        for place, (x, y) in enumerate(zip(series.x, series.y, strict=True))
        if (x > 0 or not panel.x_log) and (y > 0 or not panel.y_log)
    ]


def _line(panel: Panel, series: Series, palette: Palette) -> dict[str, Any]:
    shown = _shown(panel, series)
    few = len(shown) <= MANY
    parts = [*(["lines"] if series.joined else []), *(["markers"] if few or not series.joined else [])]
    trace = {
        "type": "scatter",
        "x": [series.x[place] for place in shown],
        "y": [series.y[place] for place in shown],
        "name": literal(series.label),
        "legendgroup": series.label,
        "legendrank": palette.labels.index(series.label),
        "mode": "+".join(parts),
        "line": {
            "color": palette.colour(series.label),
            "dash": DASHES[palette.dash(series.label) % len(DASHES)],
            "shape": _shape(series),
            "width": 1.8,
        },
        "marker": {
            "symbol": MARKERS[palette.marker(series.label) % len(MARKERS)],
            "size": 8,
            "color": palette.colour(series.label),
        },
        "hovertemplate": _hover(panel),
    }
    if series.low is not None and series.high is not None:
        rows = [(series.low[place], series.y[place], series.high[place]) for place in shown]
        trace |= _limits(panel, rows, bars=few)
    return trace


def _limits(panel: Panel, rows: Sequence[tuple[float, float, float]], bars: bool) -> dict[str, Any]:
    """Return what a line tells of its limits: when it is pointed at, and as bars."""
    told: dict[str, Any] = {
        "customdata": [[low, high] for low, _, high in rows],
        "hovertemplate": _hover(panel, limits=" (%{customdata[0]:.4g} to %{customdata[1]:.4g})"),
    }
    if bars:
        above, below = [high - y for _, y, high in rows], [y - low for low, y, _ in rows]
        told["error_y"] = {"array": above, "arrayminus": below, "thickness": 1, "width": 3}
    return told


def _band(panel: Panel, series: Series, palette: Palette) -> list[dict[str, Any]]:
    """Return the limits of a line of many points, which bars would hide; none of a line of few."""
    shown = _shown(panel, series)
    if series.low is None or series.high is None or len(shown) <= MANY:
        return []
    look = {
        "type": "scatter",
        "x": [series.x[place] for place in shown],
        "name": literal(series.label),
        "legendgroup": series.label,
        "mode": "lines",
        "line": {"width": 0, "shape": _shape(series)},
        "hoverinfo": "skip",
    }
    red, green, blue = (int(palette.colour(series.label)[start : start + 2], 16) for start in (1, 3, 5))
    fill = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.15)"}
    return [
        look | {"y": [series.low[place] for place in shown]},
        look | {"y": [series.high[place] for place in shown]} | fill,
    ]


def _shape(series: Series) -> str:
    return "hv" if series.steps else "linear"


def _hover(panel: Panel, limits: str = "") -> str:
    x, y = literal(panel.x_title) or "x", literal(panel.y_title) or "y"
    at = "%{x}" if panel.x_labels else "%{x:.4g}"
    return f"%{{fullData.name}}<br>{x}: {at}<br>{y}: %{{y:.4g}}{limits}<extra></extra>"


def _bounds(panel: Panel) -> list[dict[str, Any]]:
    """Return the line y = x and the level of a panel, where it has them."""
    ends = _ends(panel)
    if not ends:
        return []
    found = []
    if panel.identity:
        curve = _between(*ends, geometric=panel.x_log or panel.y_log)
        found.append(_bound(panel.identity, curve, curve))
    if panel.level:
        ends = (-0.5, len(panel.x_labels) - 0.5) if panel.x_labels else ends
        found.append(_bound(panel.level[0], ends, [panel.level[1]] * 2))
    return found


def _bound(label: str, x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": list(x),
        "y": list(y),
        "name": literal(label),
        "legendgroup": label,
        "legendrank": LAST,
        "mode": "lines",
        "line": {"color": FOREGROUND, "dash": "dashdot", "width": 1.2},
        "hoverinfo": "skip",
    }


def _ends(panel: Panel) -> tuple[float, float] | None:
    """Return the least and the largest x that can be drawn."""
    found = [x for series in panel.series for x in series.x if x > 0 or not (panel.x_log or panel.y_log)]
    return (min(found), max(found)) if found else None


def _between(low: float, high: float, geometric: bool) -> list[float]:
    if not geometric:
        return [low, high]
    return [low * (high / low) ** (step / STEPS) for step in range(STEPS + 1)]


def _surface(panel: Panel, surface: Surface, colours: tuple[float, float]) -> list[dict[str, Any]]:
    title = literal(surface.title)
    axes = f"{literal(panel.x_title)}: %{{x:.4g}}<br>{literal(panel.y_title)}: %{{y:.4g}}"
    where = {"x": list(surface.x), "y": list(surface.y)}
    found: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            **where,
            "z": [list(row) for row in surface.z],
            "zmin": colours[0],
            "zmax": colours[1],
            "colorscale": "Cividis",
            "hoverongaps": False,
            "colorbar": {"title": {"text": title, "side": "right"}, "thickness": 12},
            "hovertemplate": f"{axes}<br>{title}: %{{z:.4g}}<extra></extra>",
        }
    ]
    if surface.border is not None:
        figure, level = surface.border
        # White on black, to be seen on light cells and on dark ones.
        for colour, width in (("#000000", 3.5), ("#ffffff", 1.5)):
            found.append(
                {
                    "type": "contour",
                    **where,
                    "z": [list(row) for row in figure],
                    "autocontour": False,
                    "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
                    "line": {"color": colour, "width": width},
                    "showscale": False,
                    "hoverinfo": "skip",
                }
            )
    if surface.chosen is not None:
        found.append(
            {
                "type": "scatter",
                "x": [surface.chosen[0]],
                "y": [surface.chosen[1]],
                "mode": "markers",
                "name": "chosen",
                "marker": {
                    "symbol": "diamond",
                    "size": 11,
                    "color": CHOSEN,
                    "line": {"width": 1.5, "color": "#ffffff"},
                },
                "hovertemplate": f"chosen<br>{axes}<extra></extra>",
            }
        )
    return found


def range_of(surfaces: Sequence[Surface]) -> tuple[float, float]:
    """Return the least and the largest value of maps that share their colours.

    Examples
    --------
    >>> range_of([Surface([1, 2], [1], [[0.25, None]]), Surface([1], [1], [[0.5]])])
    (0.25, 0.5)
    """
    found = [z for surface in surfaces for row in surface.z for z in row if z is not None and math.isfinite(z)]
    return (min(found), max(found)) if found else (0.0, 1.0)
