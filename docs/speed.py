"""Tables of the speed page: ratios to other software, asv benchmarks and asv output.

To store new ratios, run `pytest tests/benchmarks --benchmark-only --benchmark-json=FILE`, then this file with FILE:
it stores the ratios, the race of ``test_pauc_race.py``, or both, as far as FILE has them.
"""

from __future__ import annotations

import ast
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STORED = ROOT / "results" / "published" / "speed"
SUITE = ROOT / "tests" / "benchmarks" / "asv"
COLUMNS = ("what", "size", "peer", "ours", "theirs", "ratio", "lowest", "highest", "quality")


def comparisons(measured: str, *, of_liquidsvm: bool = False) -> str:
    """Extract the machine and the comparisons with liquidSVM, or all others, from the JSON of pytest-benchmark."""
    session = json.loads(measured)
    compared = [one["extra_info"] for one in session["benchmarks"] if "peer" in one["extra_info"]]
    compared = [row for row in compared if row["peer"].startswith("liquidSVM") == of_liquidsvm]
    rows = [{column: row[column] for column in COLUMNS} for row in compared]
    return json.dumps(_machine(session) | {"rows": rows}, indent=1) + "\n"


def _machine(session: dict[str, Any]) -> dict[str, Any]:
    machine = session["machine_info"]
    return {
        "when": session["datetime"][:10],
        "commit": session["commit_info"]["id"][:8],
        "cpu": machine["cpu"].get("brand_raw", machine["processor"]),
        "python": machine["python_version"],
    }


def ratios() -> str:
    """Return the stored comparisons as a Markdown table, one row per task and peer, ratios below 1 in bold."""
    found = json.loads((STORED / "ratios.json").read_text(encoding="utf-8"))
    groups: dict[tuple[str, str], list[float]] = {}
    for row in found["rows"]:
        task = re.sub(r", \d+ iterations against \d+$", "", row["what"])
        groups.setdefault((task, row["peer"]), []).append(row["ratio"])
    lines = [_measured(found)]
    lines += ["| task | peer | sizes | theirs / ours, median | lowest | highest |", "|---|---|---:|---:|---:|---:|"]
    for (task, peer), values in groups.items():
        numbers = (statistics.median(values), min(values), max(values))
        lines.append(_row(task, peer, str(len(values)), *map(_ratio, numbers)))
    return "\n".join(lines) + "\n"


def races(measured: str) -> str:
    """Extract the seconds of ``test_pauc_race.py``, and the machine, from the JSON of pytest-benchmark."""
    session = json.loads(measured)
    columns = ("raced", "proved", "fpr_range", "correlation", "objective", "area")
    rows = [one["extra_info"] for one in session["benchmarks"] if "raced" in one["extra_info"]]
    return (
        json.dumps(_machine(session) | {"rows": [{key: row[key] for key in columns} for row in rows]}, indent=1) + "\n"
    )


def race() -> str:
    """Return the stored seconds to within 1 % of the optimal partial AUC objective as a Markdown table."""
    found = json.loads((STORED / "pauc_race.json").read_text(encoding="utf-8"))
    cells = {(row["raced"], row["proved"], *row["fpr_range"], row["correlation"]): row for row in found["rows"]}
    problems = sorted({key[2:] for key in cells}, key=lambda problem: (problem[2], problem[1]))
    titles = [f"[{lo:g}, {hi:g}], {'correlated' if correlation else 'independent'}" for lo, hi, correlation in problems]
    lines = [_measured(found), _row("method", "proved", *titles), "|---|---|" + "---:|" * len(titles)]
    for method, proved in dict.fromkeys(key[:2] for key in cells):
        seconds = [cells[method, proved, *problem]["objective"] for problem in problems]
        texts = ["not reached" if value is None else f"{value:.2g}" for value in seconds]
        lines.append(_row(method, "yes" if proved else "no", *texts))
    return "\n".join(lines) + "\n"


def _measured(found: dict[str, Any]) -> str:
    return f"\nMeasured {found['when']} at commit {found['commit']}, {found['cpu']}, Python {found['python']}.\n"


def _ratio(value: float) -> str:
    text = f"{value:.2g}" if value < 100 else f"{value:.0f}"
    return text if value >= 1 else f"**{text}**"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def selections() -> str:
    """Return the seconds of selections beside liquidSVM's as a Markdown table, one row per data set."""
    found = json.loads((STORED / "selections.json").read_text(encoding="utf-8"))
    rows: dict[str, dict[str, str]] = {}
    for row in found["rows"]:
        cells = rows.setdefault(row["size"], {})
        cells["liquidSVM"] = f"{row['theirs']:.2g}"
        cells[row["what"].partition(",")[0]] = f"{row['ours']:.2g}"
    lines = [_measured(found), "| data set | liquidSVM | `ac_svm` | `np_svm` |", "|---|---:|---:|---:|"]
    lines += [_row(size, cells["liquidSVM"], cells["ac_svm"], cells["np_svm"]) for size, cells in rows.items()]
    return "\n".join(lines) + "\n"


def suite() -> str:
    """Return the asv benchmarks as a Markdown table: sizes and quality."""
    lines = ["\n| benchmark | n | quality |", "|---|---|---|"]
    for file in sorted(SUITE.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.bases and node.name != "Benchmark":
                lines.append(_benchmark(file.stem, node))
    return "\n".join(lines) + "\n"


def _benchmark(module: str, node: ast.ClassDef) -> str:
    assigned: dict[str, Any] = {
        ast.unparse(statement.targets[0]): ast.unparse(statement.value)
        for statement in node.body
        if isinstance(statement, ast.Assign)
    }
    sizes = ", ".join(f"{int(n):,}" for n in re.findall(r"\d+", assigned.get("params", ""))[:3])
    quality = assigned.get("unit", "").strip("'")
    return _row(f"`{module}.{node.name}`", sizes or "as above", quality or "as above")


def asv_output(name: str) -> str:
    """Return the stored output of ``asv continuous`` on a branch as a fenced block."""
    text = (STORED / f"{name}.txt").read_text(encoding="utf-8")
    return "\n```text\n" + re.sub(r" +$", "", text, flags=re.MULTILINE).strip() + "\n```\n"


if __name__ == "__main__":
    STORED.mkdir(exist_ok=True)
    measured = Path(sys.argv[1]).read_text(encoding="utf-8")
    found = {
        "ratios": comparisons(measured),
        "selections": comparisons(measured, of_liquidsvm=True),
        "pauc_race": races(measured),
    }
    for name, text in found.items():
        if json.loads(text)["rows"]:
            (STORED / f"{name}.json").write_text(text, encoding="utf-8")
