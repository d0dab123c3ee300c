"""Average ranks with a critical difference as a Plotly figure: a row for each solver, as a narrow page has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npbench.report.chart import Ranking
from npbench.report.render.palette import Palette
from npbench.report.render.plotly_traces import FOREGROUND, MARKERS, literal

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROW_HEIGHT = 38  # pixels, of a solver
AROUND = 150  # of titles and margins
DIFFERENCE = -0.8  # where the critical difference stands, above the first row


def draw(chart: Ranking, palette: Palette) -> Figure:
    """Return a figure of each solver at its rank, with boxes around those that are not told apart."""
    import plotly.graph_objects as go

    drawing = go.Figure()
    for place, (label, rank) in enumerate(chart.ranks):
        drawing.add_scatter(
            x=[rank],
            y=[place],
            name=literal(label),
            mode="markers",
            marker={
                "symbol": MARKERS[palette.marker(label) % len(MARKERS)],
                "size": 11,
                "color": palette.colour(label),
            },
            showlegend=False,
            hovertemplate="%{fullData.name}<br>average rank %{x:.2f}<extra></extra>",
        )
    for first, last in chart.groups:
        _box(drawing, first, last, [place for place, (_, rank) in enumerate(chart.ranks) if first <= rank <= last])
    _difference(drawing, chart)
    labels = [literal(label) for label, _ in chart.ranks]
    end = max(len(labels), 1 + chart.difference) + 0.3
    drawing.update_xaxes(title_text="average rank, 1 is the best", range=[0.7, end], dtick=1)
    drawing.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, range=[len(labels) - 0.4, -1.6])
    drawing.update_yaxes(automargin=True)
    return drawing.update_layout(height=AROUND + ROW_HEIGHT * len(labels), meta={"rows": []})


def _box(drawing: Figure, first: float, last: float, rows: list[int]) -> None:
    drawing.add_shape(
        type="rect",
        x0=first - 0.06,
        x1=last + 0.06,
        y0=min(rows, default=0) - 0.35,
        y1=max(rows, default=0) + 0.35,
        fillcolor="#888888",
        opacity=0.2,
        line_width=0,
        layer="below",
    )


def _difference(drawing: Figure, chart: Ranking) -> None:
    told = f"critical difference {chart.difference:.2f}"
    drawing.add_scatter(
        x=[1.0, 1.0 + chart.difference],
        y=[DIFFERENCE, DIFFERENCE],
        mode="lines+markers",
        line={"color": FOREGROUND, "width": 2},
        marker={"symbol": "line-ns-open", "size": 9},
        showlegend=False,
        hoverinfo="skip",
    )
    drawing.add_annotation(x=1.0, y=DIFFERENCE, text=told, showarrow=False, xanchor="left", yshift=12)
