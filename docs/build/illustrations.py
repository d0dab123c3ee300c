"""Pictures that explain the papers' ideas, computed by the code of the solvers; ``pictures.py`` writes them."""

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from scipy.special import log_ndtr

from npbench.numerics.losses import LOSSES as MARGIN_LOSSES
from npbench.report.render.palette import COLOURS, FOREGROUND
from npbench_datasets.gaussians import load_synthetic
from npbench_papers.axes import panels, tidy
from npbench_papers.bach import asymmetry_figures as figures
from npbench_papers.bach.theory.expected_cost import ERF, HINGE, SQUARE
from npbench_splitting.numerics.calibrated import LOSSES as CALIBRATED_LOSSES
from npbench_splitting.numerics.projection import project
from npbench_svm_path.numerics.path import CostPath

PANEL = 3.4  # inches
MARGINS = np.linspace(-3.0, 2.4, 109)


def losses() -> pl.DataFrame:
    """Return the losses of three papers by margin: columns ``panel``, ``loss``, ``margin`` and ``value``."""
    z, none = MARGINS, np.zeros_like(MARGINS)
    curves = {("Gasso et al., Figure 1", name): loss(z, 1.0) for name, loss in MARGIN_LOSSES.items()}
    curves |= {("Barlaud et al., Figure 1", name): loss.value(z) for name, loss in CALIBRATED_LOSSES.items()}
    bach: dict[str, Any] = {"hinge": HINGE, "erf": ERF, "square": SQUARE}
    curves |= {("Bach et al., Figure 1", name): loss.value(z, none) for name, loss in bach.items()}
    curves["Bach et al., Figure 1", "probit"] = -log_ndtr(z)
    curves["Bach et al., Figure 1", "logistic"] = np.logaddexp(0.0, -z)
    return pl.concat(
        pl.DataFrame({"panel": panel, "loss": name, "margin": z, "value": value})
        for (panel, name), value in curves.items()
    )


def draw_losses() -> Figure:
    """Draw each panel's losses over the 0-1 loss."""
    titles = losses()["panel"].unique(maintain_order=True)
    drawing, (row,) = panels(1, len(titles), (PANEL, PANEL))
    for axes, title in zip(row, titles, strict=True):
        axes.step([-3, 0, 2.4], [1, 1, 0], color=FOREGROUND, linestyle="--", linewidth=1, label="0-1")
        curves = losses().filter(panel=title).group_by("loss", maintain_order=True)
        for colour, ((name,), curve) in zip(COLOURS, curves, strict=False):
            axes.plot(curve["margin"], curve["value"], color=colour, label=name)
        axes.set(title=title, xlabel="margin y f(x)", ylim=(-0.6, 3.2))
        axes.legend(frameon=False)
        tidy(axes)
    return drawing


def synthetic() -> pl.DataFrame:
    """Return the samples of the data set synthetic: columns ``x``, ``y`` and ``positive``."""
    X, y = load_synthetic()
    return pl.DataFrame({"x": X[:, 0], "y": X[:, 1], "positive": y > 0})


def draw_synthetic() -> Figure:
    """Draw both classes of the data set synthetic."""
    drawing, ((axes,),) = panels(1, 1, (PANEL, PANEL))
    classes = synthetic().group_by("positive", maintain_order=True)
    for colour, ((positive,), points) in zip(COLOURS, classes, strict=False):
        label = "positive" if positive else "negative"
        axes.plot(points["x"], points["y"], ".", color=colour, markersize=2, alpha=0.5, label=label)
    axes.legend(frameon=False, markerscale=4)
    tidy(axes, x="first feature", y="second feature")
    return drawing


def _drawn(seed: int, n_pos: int, n_neg: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of two classes in the plane that overlap, and their labels."""
    y = np.repeat([1.0, -1.0], [n_pos, n_neg])
    return np.random.default_rng(seed).normal(size=(len(y), 2)) + 0.7 * y[:, np.newaxis], y


@functools.cache
def cost_lines() -> pl.DataFrame:
    """Return breakpoints of the entry line and of lines of constant total: ``line``, ``C_pos``, ``C_neg``, ``cost``.

    The cost is that of false alarms, with weight 1, and misses, with weight 2, on other samples.
    """
    path = CostPath.linear(*_drawn(0, 30, 20))
    others, labels = _drawn(1, 600, 400)
    totals = (0.1, 0.2, 0.3, 0.4)
    found = {"entry": path.entry(totals[-1])} | dict(zip(map(str, totals), path.lines(totals), strict=True))
    frames = []
    for name, line in found.items():
        wrong = (line.scores(others) > 0) != (labels > 0)
        cost = 2 * wrong[:, labels > 0].mean(axis=1) + wrong[:, labels < 0].mean(axis=1)
        C_pos, C_neg = line.costs.T
        frames.append(pl.DataFrame({"line": name, "C_pos": C_pos, "C_neg": C_neg, "cost": cost}))
    return pl.concat(frames)


def asymmetry() -> pl.DataFrame:
    """Return the data of the three panels, one below the other, without costs."""
    # Where b jumps, rounding decides on which side a cost falls.
    return pl.concat([figures.concave_curve(), cost_lines().drop("cost")], how="diagonal")


def draw_asymmetry() -> Figure:
    """Draw Figures 2 and 3 of Bach, Heckerman and Horvitz: the envelope, lines of equal cost, lines of the path."""
    drawing, ((envelope, equal, axes),) = panels(1, 3, (PANEL, PANEL))
    figures.envelope(envelope, equal)
    for (name,), line in cost_lines().group_by("line", maintain_order=True):
        colour = FOREGROUND if name == "entry" else COLOURS[0]
        axes.plot(line["C_neg"], line["C_pos"], ".-", color=colour, linewidth=0.8, markersize=3)
    cheapest = cost_lines().filter(pl.col("line") != "entry").group_by("line").agg(pl.all().sort_by("cost").first())
    cheapest = cheapest.sort("line")
    axes.plot(cheapest["C_neg"], cheapest["C_pos"], "o-", color=COLOURS[1], linewidth=2, label="cheapest on other data")
    axes.legend(frameon=False)
    axes.set(title="Figure 3: lines of the path", xlabel="$C_{neg}$", ylabel="$C_{pos}$")
    tidy(axes)
    return drawing


def _ellipse(p: np.ndarray) -> SimpleNamespace:
    weights = np.array([0.25, 1.0])
    return SimpleNamespace(excess=np.array([weights @ p**2 - 1.0]), gradient=lambda _: 2 * weights * p)


def projection() -> pl.DataFrame:
    """Return the points of Haugazeau's method onto an ellipse: columns ``x`` and ``y``, from p_0 on."""
    start, constraints = np.array([2.6, 1.7]), SimpleNamespace(at=_ellipse)
    points = [start] + [project(start, constraints.at, max_steps=k).point for k in (1, 2, 40)]
    return pl.DataFrame(np.array(points), schema=["x", "y"], orient="row")


def draw_projection() -> Figure:
    """Draw Figure 2 of Barlaud, Combettes and Fillatre: an iteration of the projection onto the constraint."""
    drawing, ((axes,),) = panels(1, 1, (1.5 * PANEL, PANEL))
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.fill(2 * np.cos(angle), np.sin(angle), color="0.9")
    points = projection().to_numpy()
    for p, name, place in zip(points, ("$p_0$", "$p_1$", "$p_2$", "projection"), (7, 7, 7, -58), strict=True):
        axes.plot(*p, "o", color=FOREGROUND, markersize=4)
        axes.annotate(name, p, (place, 1), textcoords="offset points")
    p_1, constraint = points[1], _ellipse(points[1])
    u = constraint.gradient(0)
    half = p_1 - constraint.excess[0] * u / (u @ u)
    axes.plot(*half, "s", color=COLOURS[1], markersize=4)
    axes.annotate("$p_{1+1/2}$", half, (8, -4), textcoords="offset points")
    for point, normal, colour, label in (
        (p_1, points[0] - p_1, COLOURS[0], "beyond $p_1$, seen from $p_0$"),
        (half, u, COLOURS[1], "cut by the gradient at $p_1$"),
    ):
        axes.axline(point, point + np.array([-normal[1], normal[0]]), color=colour, linestyle="--", label=label)
    axes.legend(frameon=False, loc="lower left")
    axes.set(xlim=(-0.5, 3), ylim=(-0.3, 2), aspect="equal", title="Figure 2: two half-spaces contain the set")
    tidy(axes)
    return drawing
