"""Stored iterates of a page: where a fit stops, and that the script reproduces them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def iterates(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import iterates

    return iterates


def test_a_fit_stops_at_the_first_small_slack_or_at_its_last_iterate(iterates):
    slacks = {1.0: [0.5, 0.09, 0.2, 0.01], 10.0: [0.5, 0.4]}
    rows = [
        {"split": 0, "C": C, "iteration": number, "slack": slack, "pauc": 10 * C + number}
        for C, column in slacks.items()
        for number, slack in enumerate(column, start=1)
    ]
    found = iterates.at_slack(pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=0), 0.1)
    assert found.sort("C").select("C", "iteration", "pauc").rows() == [(1.0, 2, 12.0), (10.0, 2, 102.0)]


@pytest.mark.slow
def test_the_script_reproduces_the_stored_iterates(iterates, raw_dataset, monkeypatch):
    """As far as rounding does not lead to another path: the first iterates, and the level of the last."""
    raw_dataset("ijcnn1")
    monkeypatch.setattr(iterates, "COSTS", (0.1,))
    monkeypatch.setattr(iterates, "SPLITS", 1)
    measured, stored = (
        frame.sort("iteration")["pauc"].to_numpy()
        for frame in (iterates.measure(), pl.read_parquet(iterates.TABLE).filter(split=0, C=0.1))
    )
    np.testing.assert_allclose(measured[:3], stored[:3], atol=0.01)
    assert np.median(measured[-10:]) == pytest.approx(np.median(stored[-10:]), abs=0.1)
