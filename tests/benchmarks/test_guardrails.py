"""Prompt-injection detectors at 1 % false alarms: `python tests/benchmarks/test_guardrails.py` stores the numbers."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import npbench

STORED = Path(__file__).parents[2] / "results" / "published" / "guardrails.json"
RHO, DRAWS = 0.01, 200


def measured():
    """Return a row for each detector: thresholds from half of the LMSYS chats, tested on the other half."""
    lmsys = npbench.load_dataset("prompt_injection")
    wildchat = npbench.load_dataset("prompt_injection", benign="wildchat")
    rows = []
    for place, name in enumerate(lmsys.columns or ()):
        chats, attacks = (lmsys.X[lmsys.y == label, place] for label in (-1, 1))
        other = wildchat.X[wildchat.y < 0, place]
        rows.append({"detector": name, **of_detector(chats, attacks, other)})
    return rows


def of_detector(chats, attacks, other, draws=DRAWS):
    """Return how often each rule exceeds 1 %, and what the guarantee detects and does on other chats."""
    random, half = np.random.default_rng(0), len(chats) // 2
    exceeded, detected, elsewhere, flagged = {"empirical": 0, "umbrella": 0}, [], [], 0
    for _ in range(draws):
        order = random.permutation(len(chats))
        for rule in exceeded:
            found = threshold(chats[order[:half]], rule)
            exceeded[rule] += bool(np.mean(found.predict(chats[order[half:]])) > RHO)
        detected.append(float(np.mean(found.predict(attacks))))
        elsewhere.append(float(np.mean(found.predict(other))))
        flagged += not npbench.monitor(other, threshold=found).ok
    return {
        "tied_at_top": float(np.mean(chats == chats.max())),
        **{f"{rule}_exceeds": count / draws for rule, count in exceeded.items()},
        "detected": float(np.mean(detected)),
        "wildchat": float(np.mean(elsewhere)),
        "wildchat_noticed": flagged / draws,
    }


def threshold(chats, rule):
    """Return the threshold of a rule; ties at the top are counted in a column of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*share the largest score")
        return npbench.threshold(chats, np.zeros(len(chats)), rho=RHO, rule=rule)


def test_stored_rows_are_those_of_the_data(raw_dataset):
    data = npbench.load_dataset(raw_dataset("prompt_injection").name)
    rows = {row["detector"]: row for row in json.loads(STORED.read_text(encoding="utf-8"))}
    assert set(rows) == set(data.columns or ())
    for place, name in enumerate(data.columns or ()):
        chats = data.X[data.y < 0, place]
        assert rows[name]["tied_at_top"] == np.mean(chats == chats.max())
    place = list(data.columns or ()).index("wolf_defender_0_3b")
    chats, attacks = data.X[data.y < 0, place], data.X[data.y > 0, place]
    found = of_detector(chats, attacks, chats, draws=20)
    assert found["detected"] == pytest.approx(rows["wolf_defender_0_3b"]["detected"], abs=0.02)
    assert abs(found["wildchat"] - RHO) < 0.005  # of the calibration population


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
