"""Chart of NP-ROC bands."""

from __future__ import annotations

from collections.abc import Mapping

from npbench.numerics.np_roc import NPROC
from npbench.report.chart import Chart, Panel, Series


def chart(curves: Mapping[str, NPROC], *, most: float = 1.0) -> Chart:
    """Return the share of positives accepted by the umbrella's threshold against the bound on false alarms.

    A curve begins at the smallest bound for which it has enough negatives; ``most`` is the largest bound shown.
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
    accepted, low, high = ((1 - missed[shown]).tolist() for missed in (bands.p_nd, bands.p_nd_high, bands.p_nd_low))
    return Series(label, bands.p_fa_high[shown].tolist(), accepted, low, high, steps=True)
