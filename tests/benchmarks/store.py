"""Store what the benchmarks measured, for the tables of the docs.

Run `pytest tests/benchmarks --benchmark-only --benchmark-json=FILE`, then `python tests/benchmarks/store.py FILE`.
It writes each table of which FILE has rows.
"""

import json
import sys
from pathlib import Path

from npbench.records.provenance import facts

STORED = Path(__file__).parents[2] / "results" / "published"
COMPARED = ("what", "size", "peer", "ours", "theirs", "ratio", "lowest", "highest", "quality")
RACED = ("raced", "proved", "fpr_range", "correlation", "objective", "area")


def tables(session):
    """Yield file and content of each table, from a session of pytest-benchmark."""
    machine, notes = about(session), [one["extra_info"] for one in session["benchmarks"]]
    compared = [{name: info[name] for name in COMPARED} for info in notes if "peer" in info]
    liquid_svm = [row for row in compared if row["peer"].startswith("liquidSVM")]
    races = [{name: info[name] for name in RACED} for info in notes if "raced" in info]
    yield "speed/ratios", machine | {"rows": [row for row in compared if row not in liquid_svm]}
    yield "speed/selections", machine | {"rows": liquid_svm}
    yield "speed/pauc_race", machine | {"rows": races}
    yield "narasimhan/seconds", [seconds(one) for one in session["benchmarks"] if "test_pauc.py" in one["fullname"]]


def about(session):
    machine = session["machine_info"]
    return {
        "when": session["datetime"][:10],
        "commit": session["commit_info"]["id"][:8],
        "cpu": machine["cpu"].get("brand_raw", machine["processor"]),
        "python": machine["python_version"],
    }


def here():
    """Return day, commit and processor, for each row that a script of its own measures."""
    found = facts()
    return {"when": found["run_started"][:10], "commit": str(found["git_commit"])[:8], "cpu": found["cpu"]}


def seconds(one):
    """Return the parameters, notes and shortest time of a benchmark."""
    named = {"benchmark": one["name"].partition("[")[0], **one["params"]}
    return {**named, **one["extra_info"], "seconds": one["stats"]["min"]}


if __name__ == "__main__":
    for name, content in tables(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))):
        if content["rows"] if isinstance(content, dict) else content:
            (STORED / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
