"""Losses that approach the 0-1 loss: Figure 1 of Gasso et al. (2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npbench.numerics.losses import LOSSES
from npbench_papers.axes import SMALL, panels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGINS = np.linspace(-3, 3, 301)
FIGURE_SIZE = (3.5, 2.8)  # inches


def figure(eta: float = 1.0) -> Figure:
    """Draw every loss of the solvers, and the 0-1 loss, against the margin ``y f(x)``."""
    drawing, ((axes,),) = panels(1, 1, FIGURE_SIZE)
    axes.plot(MARGINS, MARGINS <= 0, color="black", linestyle=":", label="0-1")
    for name, loss in LOSSES.items():
        axes.plot(MARGINS, loss(MARGINS, eta), label=name, linewidth=1.3)
    axes.legend(fontsize=SMALL, frameon=False)
    tidy(axes, x="$y f(x)$", y="loss")
    return drawing
