"""Prompt-injection detectors at 1 % false alarms: `python docs/guardrails.py` measures, cog writes the table."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import npbench

STORED = Path(__file__).parents[1] / "results" / "published" / "guardrails.json"
RHO, DRAWS = 0.01, 200


def measured() -> list[dict[str, Any]]:
    """Return a row for each detector: thresholds from half of the LMSYS chats, tested on the other half."""
    lmsys = npbench.load_dataset("prompt_injection")
    wildchat = npbench.load_dataset("prompt_injection", benign="wildchat")
    rows = []
    for place, name in enumerate(lmsys.columns or ()):
        chats, attacks = (lmsys.X[lmsys.y == label, place] for label in (-1, 1))
        other = wildchat.X[wildchat.y < 0, place]
        rows.append({"detector": name, **of_detector(chats, attacks, other)})
    return rows


def of_detector(chats: np.ndarray, attacks: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Return how often each rule exceeds 1 %, and what the guarantee detects and does on other chats."""
    random, half = np.random.default_rng(0), len(chats) // 2
    exceeded, detected, elsewhere, flagged = {"empirical": 0, "umbrella": 0}, [], [], 0
    for _ in range(DRAWS):
        order = random.permutation(len(chats))
        for rule in exceeded:
            found = threshold(chats[order[:half]], rule)
            exceeded[rule] += bool(np.mean(found.predict(chats[order[half:]])) > RHO)
        detected.append(float(np.mean(found.predict(attacks))))
        elsewhere.append(float(np.mean(found.predict(other))))
        flagged += not npbench.monitor(other, threshold=found).ok
    return {
        "tied_at_top": float(np.mean(chats == chats.max())),
        **{f"{rule}_exceeds": count / DRAWS for rule, count in exceeded.items()},
        "detected": float(np.mean(detected)),
        "wildchat": float(np.mean(elsewhere)),
        "wildchat_noticed": flagged / DRAWS,
    }


def threshold(chats: np.ndarray, rule: str) -> Any:
    """Return the threshold of a rule; ties at the top are counted in a column of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*share the largest score")
        return npbench.threshold(chats, np.zeros(len(chats)), rho=RHO, rule=rule)


def table() -> None:
    """Write the stored rows as a table, the best detector first."""
    import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs

    rows = sorted(json.loads(STORED.read_text(encoding="utf-8")), key=lambda row: -row["detected"])
    cog.outl("\n| detector | tied at the top | empirical > 1 % | umbrella > 1 % | attacks detected | WildChat alarms |")
    cog.outl("|---|---|---|---|---|---|")
    for row in rows:
        ties = f"{row['tied_at_top']:.1%}" if row["tied_at_top"] > 0.001 else "-"
        shares = f"{row['empirical_exceeds']:.0%} | {row['umbrella_exceeds']:.0%} | {row['detected']:.3f}"
        cog.outl(f"| {row['detector']} | {ties} | {shares} | {row['wildchat']:.2%} |")
    cog.outl("")


def findings() -> None:
    """Write what the rows add up to."""
    import cog

    rows = json.loads(STORED.read_text(encoding="utf-8"))
    loose = [row for row in rows if row["empirical_exceeds"] > 0.3]
    blind = [row for row in rows if row["detected"] < 0.001]
    tied = [row for row in blind if row["tied_at_top"] > RHO]
    low, high = (f"{pick(row['empirical_exceeds'] for row in loose):.0%}" for pick in (min, max))
    least, most = (f"{pick(row['umbrella_exceeds'] for row in loose):.0%}" for pick in (min, max))
    noticed = min(row["wildchat_noticed"] for row in rows)
    cog.outl(
        f"\nThe empirical quantile exceeds 1 % in {low} to {high} of the draws for {len(loose)} detectors, the "
        f"umbrella in {least} to {most}. At a guaranteed 1 %, {len(blind)} of {len(rows)} detect next to nothing, "
        f"{len(tied)} of them because of ties. Monitoring notices WildChat in {noticed:.0%} or more of the draws.\n"
    )


if __name__ == "__main__":
    STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
