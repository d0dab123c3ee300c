"""Figures 1 to 3 of Narasimhan and Agarwal (2016): the range, two scorers, and bounds on the risk."""

import numpy as np
import polars as pl
from scipy.stats import norm
from sklearn.metrics import roc_curve

from npbench.numerics.pauc_metrics import pairwise, ranks_within
from npbench.numerics.pauc_surrogates import StructuralRisk
from npbench.report.render.palette import COLOURS
from npbench_papers.axes import SMALL, Figure, panels, tidy

PANEL = 3.4  # inches
# Scores of the paper's example, Figure 2: of four positives, then of six negatives.
TWO_SCORERS = {
    "first": [9.1, 6.8, 6.1, 5.7, 8.5, 8.1, 4.2, 3.6, 2.3, 0.0],
    "second": [9.9, 8.7, 3.3, 2.1, 7.6, 5.3, 4.9, 4.4, 0.8, 0.0],
}
TWO_NEGATIVES = (0.0, 1 / 3)  # range of false-positive rates in that example


def two_scorers() -> pl.DataFrame:
    """Return the ROC curves and areas of two scorers: ``scorer``, ``fpr``, ``tpr``, ``auc`` and ``pauc``."""
    frames, y = [], np.repeat([1, -1], [4, 6])
    for name, scores in TWO_SCORERS.items():
        fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
        auc, pauc = (pairwise(y, np.array(scores), *ends).value for ends in ((0.0, 1.0), TWO_NEGATIVES))
        frames.append(pl.DataFrame({"scorer": name, "fpr": fpr, "tpr": tpr, "auc": auc, "pauc": pauc}))
    return pl.concat(frames)


def surrogates() -> pl.DataFrame:
    """Return 1 minus the partial AUC, and surrogates of it, by the ``weight`` of a single feature.

    The range is [0.1, 0.4]. The naive surrogate averages over all 60 negatives instead of those in the range: its
    scores are scaled so that it has the same margin.
    """
    y = np.repeat([1, -1], [40, 60])
    x = np.random.default_rng(3).normal(size=100) + 1.5 * (y > 0)
    fpr_range = (0.1, 0.4)
    first, last = ranks_within(60, *fpr_range)
    rows = []
    for weight in np.linspace(-0.975, 3.025, 81):
        s = weight * x
        negatives_in_range = np.sort(s[y < 0])[::-1][first:last]
        values = {
            "1 - partial AUC": 1 - pairwise(y, s, *fpr_range).value,
            "hinge": float(np.maximum(0.0, 1.0 - s[y > 0][:, np.newaxis] + negatives_in_range).mean()),
            "structural, tight": StructuralRisk(y, first, last, "tight")(s)[0],
            "structural, naive": StructuralRisk(y, first, last, "naive")(s * 60 / (last - first))[0],
        }
        rows += [(weight, name, value) for name, value in values.items()]
    return pl.DataFrame(rows, schema=["weight", "risk", "value"], orient="row")


def areas() -> pl.DataFrame:
    """Return the data of Figures 2 and 3, one below the other."""
    return pl.concat([two_scorers(), surrogates()], how="diagonal")


def draw_areas() -> Figure:
    """Draw the area of a range, two scorers whose order depends on the range, and the surrogates."""
    drawing, ((whole, pair, bounds),) = panels(1, 3, (PANEL, PANEL))
    u = np.linspace(0.0, 1.0, 400)
    v = norm.sf(norm.isf(u) - 1.2)  # scores N(0, 1) and N(1.2, 1)
    whole.plot(u, v, color=COLOURS[0])
    inside = (u >= 0.2) & (u <= 0.4)
    whole.fill_between(u[inside], v[inside], color=COLOURS[1], alpha=0.3, linewidth=0)
    whole.set(title="Figure 1: partial AUC", xlabel="false-positive rate", ylabel="true-positive rate")
    for colour, ((name,), curve) in zip(COLOURS, two_scorers().group_by("scorer", maintain_order=True), strict=False):
        label = f"{name}: AUC {curve['auc'][0]:.2f}, partial {curve['pauc'][0]:.2f}"
        pair.plot(curve["fpr"], curve["tpr"], color=colour, label=label)
    pair.axvspan(*TWO_NEGATIVES, color="0.92", zorder=0)
    pair.set(title="Figure 2: two scorers", xlabel="false-positive rate")
    for colour, ((name,), curve) in zip(COLOURS, surrogates().group_by("risk", maintain_order=True), strict=False):
        bounds.plot(curve["weight"], curve["value"], color=colour, label=name)
    bounds.set(title="Figure 3: bounds on the risk", xlabel="weight of the feature", ylim=(0, 4))
    for axes in (whole, pair):
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
    for axes in (whole, pair, bounds):
        tidy(axes)
    pair.legend(frameon=False, loc="lower right", fontsize=SMALL)
    bounds.legend(frameon=False, fontsize=SMALL)
    return drawing
