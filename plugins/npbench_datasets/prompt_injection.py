"""Scores that twelve detectors of prompt injections give to the same texts."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from npbench_datasets.ranges import refuse

BENIGN = ("lmsys", "wildchat")  # without attacks
MIXED = ("jailbreakbench", "rogue_security_prompt_injections_benchmark", "s_labs_test", "xtram1_test")


def load_prompt_injection(
    *paths: Path, benign: str = "lmsys", attacks: str = "s_labs_test"
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return a column of scores for each detector, and labels, +1 for attacks, from files ``<detector>__<set>.json``.

    Negatives are the benign texts of the set ``benign``, positives the attacks of the set ``attacks``.
    """
    refuse([f"dataset.benign is {benign!r}: expected {', '.join((*BENIGN, *MIXED))}."] * (benign not in BENIGN + MIXED))
    refuse([f"dataset.attacks is {attacks!r}: expected {', '.join(MIXED)}."] * (attacks not in MIXED))
    negatives, positives = _scores(paths, benign, 0), _scores(paths, attacks, 1)
    X = np.vstack([np.column_stack(list(part.values())) for part in (negatives, positives)])
    sizes = [len(next(iter(part.values()))) for part in (negatives, positives)]
    return X, np.repeat([-1, 1], sizes), {"columns": list(negatives)}


def _scores(paths: tuple[Path, ...], name: str, label: int) -> dict[str, np.ndarray]:
    """Return each detector's scores of the texts of one class in a set."""
    found = {}
    for path in paths:
        detector, _, of_set = path.stem.partition("__")
        if of_set == name:
            stored = json.loads(path.read_text(encoding="utf-8"))
            labels = np.array(stored["labels"] or [0] * len(stored["scores"]))
            found[detector] = np.array(stored["scores"])[labels == label]
    return found
