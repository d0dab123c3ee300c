"""Store the seconds measured by the benchmarks of partial AUC, for the tables of a page.

Run `pytest tests/benchmarks/test_pauc.py --benchmark-only --benchmark-json=FILE`, then `python docs/seconds.py FILE`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TABLE = Path(__file__).parents[1] / "results" / "published" / "narasimhan" / "seconds.json"


def kept(measured: str) -> str:
    """Return the parameters, shortest time and notes of each benchmark in a pytest-benchmark file."""
    rows = []
    for one in json.loads(measured)["benchmarks"]:
        about = {"benchmark": one["name"].partition("[")[0], **one["params"]}
        rows.append({**about, **one["extra_info"], "seconds": one["stats"]["min"]})
    return json.dumps(rows, indent=1) + "\n"


if __name__ == "__main__":
    TABLE.write_text(kept(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
