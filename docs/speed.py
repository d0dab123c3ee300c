"""What the page on speed shows of benchmarks: ratios to peers, and what asv tells of commits made to be told.

`pytest tests/benchmarks --benchmark-only --benchmark-json=FILE`, and then `python docs/speed.py FILE` keeps the ratios.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "published" / "speed"
SUITE = ROOT / "tests" / "benchmarks" / "asv"
COLUMNS = ("what", "size", "peer", "ours", "theirs", "ratio", "lowest", "highest", "quality")


def kept(measured: str) -> str:
    """Return of a file of pytest-benchmark the comparisons with peers, and the machine they were made on."""
    session = json.loads(measured)
    machine = session["machine_info"]
    compared = [one["extra_info"] for one in session["benchmarks"] if "peer" in one["extra_info"]]
    found = {
        "when": session["datetime"][:10],
        "commit": session["commit_info"]["id"][:8],
        "cpu": machine["cpu"].get("brand_raw", machine["processor"]),
        "python": machine["python_version"],
        "rows": [{column: row[column] for column in COLUMNS} for row in compared],
    }
    return json.dumps(found, indent=1) + "\n"


def ratios() -> str:
    """Return the comparisons as a Markdown table, those in which npbench is slower marked."""
    found = json.loads((KEPT / "ratios.json").read_text(encoding="utf-8"))
    lines = [f"\nMeasured {found['when']} at commit {found['commit']}, {found['cpu']}, Python {found['python']}.\n"]
    lines += ["| what | size | peer | ours, s | theirs, s | theirs / ours | quality, ours / theirs |"]
    lines += ["|---|---|---|---:|---:|---:|---|"]
    lines += [_line(row) for row in found["rows"]]
    return "\n".join(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    ratio = f"{row['ratio']:.2g}" if row["ratio"] < 100 else f"{row['ratio']:.0f}"
    cells = [row["what"], row["size"], row["peer"], f"{row['ours']:.3g}", f"{row['theirs']:.3g}"]
    cells += [ratio if row["ratio"] >= 1 else f"**{ratio}**", row["quality"]]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def suite() -> str:
    """Return the benchmarks of the asv suite as a Markdown table: sizes, what bounds them and their quality."""
    lines = ["\n| benchmark | n | what bounds it | quality |", "|---|---|---|---|"]
    for file in sorted(SUITE.glob("*.py")):
        for found in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(found, ast.ClassDef) and found.name != "Benchmark":
                lines.append(_described(file.stem, found))
    return "\n".join(lines) + "\n"


def _described(module: str, found: ast.ClassDef) -> str:
    set_there = {
        ast.unparse(statement.targets[0]): ast.unparse(statement.value)
        for statement in found.body
        if isinstance(statement, ast.Assign)
    }
    sizes = re.findall(r"\d+", set_there.get("params", ""))[:3]
    quality = set_there.get("unit", "").strip("'") or "as above"
    bound = " ".join((ast.get_docstring(found) or "").split())
    return (
        f"| `{module}.{found.name}` | {', '.join(f'{int(n):,}' for n in sizes) or 'as above'} | {bound} | {quality} |"
    )


def told(name: str) -> str:
    """Return what ``asv continuous`` printed of a branch, from its comparison on, as a fenced block."""
    text = (KEPT / f"{name}.txt").read_text(encoding="utf-8")
    return "\n```text\n" + re.sub(r" +$", "", text, flags=re.MULTILINE).strip() + "\n```\n"


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    (KEPT / "ratios.json").write_text(kept(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
