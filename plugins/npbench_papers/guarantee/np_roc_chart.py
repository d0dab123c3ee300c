"""Chart of NP-ROC bands."""

from __future__ import annotations

from collections.abc import Mapping

from npbench.numerics.np_roc import NPROC
from npbench.report.chart import Chart, Panel, Series


def chart(curves: Mapping[str, NPROC], *, most: float = 1.0) -> Chart:
    """Return the share of positives accepted by the umbrella's threshold against the bound on false alarms.

    A curve begins at the smallest bound for which it has enough negatives; ``most`` is the largest bound shown.

    Examples
    --------
    >>> import numpy as np
    >>> from npbench.numerics.np_roc import np_roc
    >>> random = np.random.default_rng(0)
    >>> panel = chart({"gen": np_roc(random.normal(size=59), random.normal(2, size=59), delta=0.05)}).rows[0][0]
    >>> round(panel.series[0].x[0], 4)
    0.0495
    """
    deltas = ", ".join(sorted({f"{curve.delta:g}" for curve in curves.values()}))
    series = [_series(label, curve, most) for label, curve in curves.items()]
    return Chart(
        "np_roc",
        "NP-ROC bands",
        [[Panel("", "bound on false alarms ρ", "positives accepted", series)]],
        [
            f"Bands: limits of the share. At any single ρ each limit fails with a probability of at most δ = {deltas}, "
            "and so does the bound; this does not hold for all ρ at once."
        ],
    )


def _series(label: str, curve: NPROC, most: float) -> Series:
    bands = curve.bands()
    shown = bands.p_fa_high <= most
    accepted = {
        "y": 1 - bands.p_nd[shown],
        "low": 1 - bands.p_nd_high[shown],
        "high": 1 - bands.p_nd_low[shown],
    }
    limits = {name: values.tolist() for name, values in accepted.items()}
    return Series(label, bands.p_fa_high[shown].tolist(), **limits, steps=True)
