"""The ideas of the paper in pictures, Figures 1 to 3: the range, two scorers, and bounds on the risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.stats import norm
from sklearn.metrics import roc_curve

from npbench.numerics.pauc_metrics import pairwise
from npbench.numerics.pauc_surrogates import StructuralRisk, ranks_within
from npbench.report.render.palette import COLOURS
from npbench_papers.axes import panels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = 3.4  # inches
# The scores of the worked example of Narasimhan and Agarwal (2016), Figure 2: four positives, then six negatives, of
# which the last counts in neither area.
TWO_SCORERS = {
    "first": ([9.1, 6.8, 6.1, 5.7], [8.5, 8.1, 4.2, 3.6, 2.3, 0.0]),
    "second": ([9.9, 8.7, 3.3, 2.1], [7.6, 5.3, 4.9, 4.4, 0.8, 0.0]),
}
RANGE = (0.0, 1 / 3)  # false-positive rates: two of six negatives


def two_scorers() -> pl.DataFrame:
    """Return the ROC curves and areas of two scorers: ``scorer``, ``fpr``, ``tpr``, ``auc`` and ``pauc``."""
    frames = []
    for name, (positives, negatives) in TWO_SCORERS.items():
        y, s = np.repeat([1, -1], [4, 6]), np.array(positives + negatives)
        fpr, tpr, _ = roc_curve(y, s, drop_intermediate=False)
        auc, pauc = (pairwise(y, s, *between).value for between in ((0.0, 1.0), RANGE))
        frames.append(pl.DataFrame({"scorer": name, "fpr": fpr, "tpr": tpr, "auc": auc, "pauc": pauc}))
    return pl.concat(frames)


def surrogates() -> pl.DataFrame:
    """Return risks of a scorer of one feature by its weight: columns ``weight``, ``risk``, ``value``.

    The risk itself is 1 minus the partial AUC of false-positive rates from 0.1 to 0.4. The naive surrogate averages
    over all negatives instead of those in the range: its weight is scaled so that both have the same margin.
    """
    random = np.random.default_rng(3)
    y = np.repeat([1, -1], [40, 60])
    x = random.normal(size=100) + 1.5 * (y > 0)
    between = (0.1, 0.4)
    first, last = ranks_within(60, *between)
    rows = []
    for weight in np.linspace(-0.975, 3.025, 81):
        s = weight * x
        hinge = _hinge_of_range(y, s, first, last)
        values = {"1 - partial AUC": 1 - pairwise(y, s, *between).value, "hinge": hinge}
        values["structural, tight"] = StructuralRisk(y, first, last, "tight")(s)[0]
        values["structural, naive"] = StructuralRisk(y, first, last, "naive")(s * 60 / (last - first))[0]
        rows += [(weight, name, value) for name, value in values.items()]
    return pl.DataFrame(rows, schema=["weight", "risk", "value"], orient="row")


def _hinge_of_range(y: np.ndarray, s: np.ndarray, first: int, last: int) -> float:
    """Return the mean hinge loss of positives and of the negatives of the range: the surrogate that DC minimises."""
    ranked = np.sort(s[y < 0])[::-1][first:last]
    return float(np.maximum(0.0, 1.0 - s[y > 0][:, np.newaxis] + ranked).mean())


def areas() -> pl.DataFrame:
    """Return the data of the last two panels below each other."""
    return pl.concat([two_scorers(), surrogates()], how="diagonal")


def draw_areas() -> Figure:
    """Draw Figures 1 to 3 of Narasimhan and Agarwal: the range, two scorers that it ranks otherwise, the surrogates."""
    drawing, ((whole, pair, bounds),) = panels(1, 3, (3 * PANEL, PANEL))
    u = np.linspace(0.0, 1.0, 400)
    v = norm.sf(norm.isf(u) - 1.2)  # scores N(0, 1) and N(1.2, 1)
    whole.plot(u, v, color=COLOURS[0])
    inside = (u >= 0.2) & (u <= 0.4)
    whole.fill_between(u[inside], v[inside], color=COLOURS[1], alpha=0.3, linewidth=0)
    whole.set(title="Figure 1: partial AUC", xlabel="false-positive rate", ylabel="true-positive rate")
    for colour, ((name,), curve) in zip(COLOURS, two_scorers().group_by("scorer", maintain_order=True), strict=False):
        label = f"{name}: AUC {curve['auc'][0]:.2f}, partial {curve['pauc'][0]:.2f}"
        pair.plot(curve["fpr"], curve["tpr"], color=colour, label=label)
    pair.axvspan(*RANGE, color="0.92", zorder=0)
    pair.legend(frameon=False, loc="lower right", fontsize=8)
    pair.set(title="Figure 2: two scorers", xlabel="false-positive rate")
    for axes in (whole, pair):
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
    for colour, ((name,), curve) in zip(COLOURS, surrogates().group_by("risk", maintain_order=True), strict=False):
        bounds.plot(curve["weight"], curve["value"], color=colour, label=name)
    bounds.set(title="Figure 3: bounds on the risk", xlabel="weight of the feature", ylim=(0, 4))
    bounds.legend(frameon=False, fontsize=8)
    for axes in (whole, pair, bounds):
        tidy(axes)
    return drawing
