"""ROC curves and testing against training asymmetry, from densities: Figures 2 and 4 to 8 of Bach et al. (2006)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from npbench.numerics.mixtures import GAUSSIANS, MIXTURES, GaussianMixture
from npbench.report.render.palette import BLUE, FOREGROUND, GREEN, VERMILION
from npbench_papers.axes import SMALL, Axes, Figure, panels, tidy
from npbench_papers.bach.theory.asymmetry import intercept_curves, roc_curve, upper_hull
from npbench_papers.bach.theory.expansions import regime
from npbench_papers.bach.theory.minimisers import Loss, minimisers
from npbench_papers.bach.theory.populations import Population

ASYMMETRIES = np.arange(1, 1000) / 1000
POSITIVE, NEGATIVE, OTHER = BLUE, VERMILION, GREEN
CURVES: Mapping[str, dict[str, Any]] = {
    "by intercept": {"color": NEGATIVE, "linestyle": ":", "linewidth": 1.8},
    "by asymmetry": {"color": POSITIVE, "linestyle": "-", "linewidth": 1.3},
    "by both": {"color": OTHER, "linestyle": "--", "linewidth": 1.3},
}
ELLIPSE_SIGMAS = (1.0, 2.0)
TITLE_SIZE = 9  # points

_STANDARD = GaussianMixture.single([0.0, 0.0], np.eye(2))
_NARROW = [[0.4, 0.3], [0.3, 1.0]]
# The paper draws its four pairs without axes and states only A. The first pair here is the data set `gaussians`. In the
# others negatives are N(0, I) and the positives' mean is (t, 0), so A = (1 - 1 / S_pos[0, 0]) / t^2: a variance decides
# its sign, and distance alone turns -6 into -0.96.
PAIRS: Mapping[str, Population] = {
    "0.12": Population(*GAUSSIANS),
    "-6": Population(GaussianMixture.single([0.5, 0.0], _NARROW), _STANDARD),
    "3": Population(GaussianMixture.single([0.5, 0.0], [[4.0, 1.0], [1.0, 1.0]]), _STANDARD),
    "-0.96": Population(GaussianMixture.single([1.25, 0.0], _NARROW), _STANDARD),
}
HUMPS = Population(*MIXTURES)  # two in each class: the densities of the data set `mixtures`
# Scores whose ROC curve is not concave.
SCORES = Population(
    GaussianMixture(np.array([0.6, 0.4]), np.array([[2.2], [-0.3]]), np.array([[[0.3]], [[0.2]]])),
    GaussianMixture.single([0.0], [[1.0]]),
)


def curves(populations: Mapping[str, Population], loss: Loss) -> pl.DataFrame:
    """Return the points of the ROC curve of each population by training asymmetry, with their testing asymmetries."""
    frames = []
    for name, population in populations.items():
        curve = roc_curve(population, ASYMMETRIES, loss)
        columns = {field: getattr(curve, field) for field in ("gamma", "u", "v", "beta", "consistent")}
        frames.append(pl.DataFrame({"population": name, **columns}))
    return pl.concat(frames)


def three_curves(population: Population, loss: Loss) -> pl.DataFrame:
    """Return the ROC curves of a population by intercept, from the classifier trained at 0.5, by asymmetry, by both."""
    curve = roc_curve(population, ASYMMETRIES, loss)
    fixed = intercept_curves(population, minimisers(population, [0.5], loss).w)
    free = intercept_curves(population, curve.w[np.any(curve.w, axis=1)])
    hull = upper_hull(np.append(curve.u, free[0]), np.append(curve.v, free[1]))
    points = {"by intercept": (fixed[0][0], fixed[1][0]), "by asymmetry": (curve.u, curve.v), "by both": hull}
    return pl.concat([pl.DataFrame({"curve": name, "u": u, "v": v}) for name, (u, v) in points.items()])


def concave_curve() -> pl.DataFrame:
    """Return a ROC curve by intercept that is not concave: columns ``u`` and ``v``, and its hull ``envelope``."""
    (u,), (v,) = intercept_curves(SCORES, np.ones((1, 1)), 200)
    return pl.DataFrame({"u": u, "v": v, "envelope": np.interp(u, *upper_hull(u, v))})


def envelope(left: Axes, right: Axes) -> None:
    """Draw a ROC curve with its convex envelope, and with lines of equal cost (Figure 2)."""
    curve = concave_curve()
    u, v, slope = curve["u"].to_numpy(), curve["v"].to_numpy(), 0.6
    for axes in (left, right):
        axes.plot(u, v, color=POSITIVE, label="by intercept")
        axes.set(xlabel="false alarms", ylabel="hits", xlim=(0, 1), ylim=(0, 1.02))
        tidy(axes)
    left.plot(u, curve["envelope"], color=NEGATIVE, linestyle="--", label="convex envelope")
    for place, name in ((0.02, "a"), (0.25, "b"), (0.75, "c")):  # b lies below the envelope
        at = int(np.abs(u - place).argmin())
        left.plot(u[at], v[at], "o", color=FOREGROUND, markersize=4)
        left.annotate(name, (u[at], v[at]), (6, -12), textcoords="offset points")
    left.legend(frameon=False, loc="lower right")
    left.set_title("Figure 2, left: useful points")
    best = int(np.argmax(v - slope * u))
    for below in (0.0, 0.15, 0.3):
        right.axline((u[best], v[best] - below), slope=slope, color=NEGATIVE, linestyle="--" if below else "-")
    right.plot(u[best], v[best], "o", color=NEGATIVE)
    right.annotate("cheapest", (u[best], v[best]), (8, -14), textcoords="offset points")
    right.set_title("Figure 2, right: lines of equal cost")


def against_training(populations: Mapping[str, Population], loss: Literal["square", "erf"]) -> Figure:
    """Draw a row for each population in the plane: densities, and testing against training asymmetry (Figures 7, 8)."""
    drawing, rows = panels(len(populations), 2, (3.0, 2.6))
    frame = curves(populations, loss)
    for (name, population), (left, right) in zip(populations.items(), rows, strict=True):
        left.set_title(f"$A = {regime(population, loss):.2g}$", size=TITLE_SIZE)
        _densities(left, population)
        _asymmetries(right, frame.filter(population=name))
    _legends(rows[0])
    return drawing


def corner(populations: Mapping[str, Population], loss: Literal["square", "erf"], rate: float = 0.2) -> Figure:
    """Draw a row for each population: asymmetries, and the ROC curve up to a rate (Figures 5 and 6)."""
    drawing, rows = panels(len(populations), 2, (3.0, 2.8))
    frame = curves(populations, loss)
    for (name, population), (left, right) in zip(populations.items(), rows, strict=True):
        _asymmetries(left, frame.filter(population=name))
        left.set_title(f"$A = {regime(population, loss):.2g}$", size=TITLE_SIZE)
        _by_hull(right, *frame.filter(population=name)["u", "v", "consistent"])
        _rates(right, rate)
    _legends(rows[0])
    return drawing


def by_intercept_and_asymmetry(population: Population, loss: Loss) -> Figure:
    """Draw the densities in the plane, and ROC curves by intercept, by asymmetry and by both (Figure 4, bottom)."""
    drawing, ((left, right),) = panels(1, 2, (3.5, 3.4))
    _densities(left, population)
    frame = three_curves(population, loss)
    for name, look in CURVES.items():
        one = frame.filter(curve=name)
        right.plot(one["u"], one["v"], label=name, **look)
    _rates(right, 1.0)
    _legends((left, right))
    return drawing


def _densities(axes: Axes, population: Population) -> None:
    """Draw ellipses at one and two standard deviations around each component."""
    circle = np.exp(2j * np.pi * np.linspace(0, 1, 200))
    unit = np.stack([circle.real, circle.imag])
    for colour, line, name in ((POSITIVE, "-", "positive"), (NEGATIVE, "--", "negative")):
        density = getattr(population, name)
        for number, (mean, covariance) in enumerate(zip(density.means, density.covariances, strict=True)):
            root = np.linalg.cholesky(covariance)
            for deviations in ELLIPSE_SIGMAS:
                x, y = mean[:, np.newaxis] + deviations * root @ unit
                labelled = number == 0 and deviations == ELLIPSE_SIGMAS[0]
                axes.plot(x, y, color=colour, linestyle=line, linewidth=1.2, label=name if labelled else None)
    axes.set_aspect("equal", adjustable="datalim")
    tidy(axes)


def _asymmetries(axes: Axes, frame: pl.DataFrame) -> None:
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=0.8, label=r"$\beta = \gamma$")
    _by_hull(axes, frame["gamma"], frame["beta"], frame["consistent"])
    axes.set(xlabel=r"training asymmetry $\gamma$", ylabel=r"testing asymmetry $\beta$")
    tidy(axes)


def _by_hull(axes: Axes, x: pl.Series, y: pl.Series, is_on: pl.Series) -> None:
    """Draw a curve, and over it what is on the hull."""
    axes.plot(x, y, color=NEGATIVE, linestyle=":", linewidth=1.2, label="below the hull")
    axes.plot(x, np.where(is_on, y, np.nan), color=POSITIVE, linewidth=1.6, label="on the hull")


def _rates(axes: Axes, rate: float) -> None:
    """Set the axes to the ROC plane near (0, 0), and draw the line of chance."""
    axes.plot([0, rate], [0, rate], color="0.6", linestyle="--", linewidth=0.8)
    margin = 0.03 * rate  # curves run along the axes
    ends = (-margin, rate + margin)
    axes.set(xlim=ends, ylim=ends, xlabel="false alarms $u$", ylabel="hits $v$", aspect="equal")
    tidy(axes)


def _legends(row: Sequence[Axes]) -> None:
    for axes in row:
        axes.legend(fontsize=SMALL, frameon=False)
