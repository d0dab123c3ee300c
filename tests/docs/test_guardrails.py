"""The stored numbers of the guardrails page follow from the data."""

import json
from pathlib import Path

import numpy as np
import pytest

import npbench

DOCS = Path(__file__).parents[2] / "docs"


def test_stored_rows_are_those_of_the_data(raw_dataset, monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import guardrails

    data = npbench.load_dataset(raw_dataset("prompt_injection").name)
    rows = {row["detector"]: row for row in json.loads(guardrails.STORED.read_text(encoding="utf-8"))}
    assert set(rows) == set(data.columns)
    for place, name in enumerate(data.columns):
        chats = data.X[data.y < 0, place]
        assert rows[name]["tied_at_top"] == np.mean(chats == chats.max())
    monkeypatch.setattr(guardrails, "DRAWS", 20)
    place = data.columns.index("wolf_defender_0_3b")
    chats, attacks = data.X[data.y < 0, place], data.X[data.y > 0, place]
    found = guardrails.of_detector(chats, attacks, chats)
    assert found["detected"] == pytest.approx(rows["wolf_defender_0_3b"]["detected"], abs=0.02)
    assert abs(found["wildchat"] - guardrails.RHO) < 0.005  # of the calibration population
