"""Every benchmark of asv across commits, as a table with a curve in each row: without scripts or other hosts."""

import html
import itertools
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from blocks import PUBLISHED, table

HISTORY = PUBLISHED / "speed" / "history"
COLUMNS = ("benchmark", "unit", "commits", "latest", "latest / best", "course")
SHOWN = 100  # commits of a curve
WORSE = 2.0  # latest / best in bold from here on: the factor of the workflow that compares pull requests
WIDTH, HEIGHT = 120, 24


class Point(NamedTuple):
    """A value at a commit."""

    date: int
    commit: str
    value: float


def history() -> str:
    """Return a table for each machine that has results."""
    parts = []
    for path in sorted(HISTORY.glob("*/machine.json")):
        benchmarks = _json(HISTORY / "benchmarks.json")
        described = "{cpu}, {num_cpu} cores, {ram}".format_map(_json(path))
        rows = (_row(name, benchmarks[key]["unit"], line) for (key, name), line in sorted(courses(path.parent).items()))
        parts += [f"\n## {_text(path.parent.name)}\n\n{_text(described)}.\n", table(COLUMNS, rows)]
    return "\n".join(parts)


def courses(folder: Path) -> dict[tuple[str, str], list[Point]]:
    """Return for each benchmark, and its name with parameters, the values of the current version by date."""
    benchmarks, found = _json(HISTORY / "benchmarks.json"), dict[tuple[str, str], list[Point]]()
    for path in folder.glob("*-*.json"):
        run = _json(path)
        for key, stored in run["results"].items():
            result = dict(zip(run["result_columns"], stored, strict=False))
            if key not in benchmarks or result["version"] != benchmarks[key]["version"]:
                continue  # removed, or measured something else
            for combination, value in zip(itertools.product(*result["params"]), result["result"] or (), strict=False):
                if value is not None and math.isfinite(value):
                    point = Point(run["date"], run["commit_hash"][:8], value)
                    found.setdefault((key, _name(key, combination)), []).append(point)
    return {key: sorted(line) for key, line in found.items()}


def machines(before: str, after: str) -> str:
    """Return how many times as long one machine takes as another, for the fits that both measured at a commit."""
    at = {(name, point.commit): point.value for name, line in _fits(before).items() for point in line}
    measured = [(name, point) for name, line in _fits(after).items() for point in line]
    ratios = [point.value / at[name, point.commit] for name, point in measured if (name, point.commit) in at]
    spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
    return f"\n`{after}` takes {spread} times as long as `{before}` for the same fits and commit.\n"


def last(machine: str) -> str:
    """Return the milliseconds of each fit at the last two commits of a machine, with their ratio."""
    lines = {name: line[-2:] for name, line in _fits(machine).items() if len(line) > 1}
    ((old, new), *_) = lines.values()
    columns = ("solver, samples", f"ms at {old.commit}", f"at {new.commit}", "times as long")
    rows = (
        (name, f"{old.value * 1e3:.4g}", f"{new.value * 1e3:.4g}", f"{new.value / old.value:.2f}")
        for name, (old, new) in lines.items()
    )
    return table(columns, rows)


def largest(machine: str, *benchmarks: str) -> str:
    """Return seconds and peak memory of some benchmarks by size, at the last commit of a machine."""
    found, rows = {name: line[-1] for (_, name), line in courses(HISTORY / machine).items()}, []
    for name, seconds in found.items():
        benchmark, _, size = name.partition(".time_task")
        if benchmark in benchmarks:
            memory = found[f"{benchmark}.peakmem_task{size}"].value / 1e6
            rows.append((f"`{benchmark}`", f"{int(size.strip('()')):,}", f"{seconds.value:.3g}", f"{memory:,.0f} MB"))
    return table(("benchmark", "rows", f"CPU s at {seconds.commit}", "peak memory"), rows)


def _fits(machine: str) -> dict[str, list[Point]]:
    found = courses(HISTORY / machine).items()
    return {name.partition("(")[2].rstrip(")"): line for (key, name), line in found if key.startswith("history.")}


def _name(key: str, combination: tuple[str, ...]) -> str:
    values = ", ".join(value.strip("'") for value in combination)
    return f"{key}({values})" if values else key


def _row(name: str, unit: str, line: list[Point]) -> tuple[str, ...]:
    latest, best = line[-1].value, min(point.value for point in line)
    ratio = latest / best if best > 0 else math.nan
    cell = "-" if math.isnan(ratio) else f"**{ratio:.2f}**" if ratio >= WORSE else f"{ratio:.2f}"
    return f"<code>{_text(name)}</code>", _text(unit), str(len(line)), f"{latest:.3g}", cell, curve(line[-SHOWN:])


def curve(line: list[Point]) -> str:
    """Return values from zero on as SVG; pointing at one shows its commit."""
    top = max(point.value for point in line) or 1.0
    step = WIDTH / max(1, len(line) - 1)
    at = [(f"{i * step:.1f}", f"{HEIGHT * (1 - max(0.0, point.value) / top):.1f}") for i, point in enumerate(line)]
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="2"><title>{_text(_label(point))}</title></circle>'
        for (x, y), point in zip(at, line, strict=True)
    )
    points = " ".join(map(",".join, at))
    return f'<svg class="course" viewBox="-3 -3 {WIDTH + 6} {HEIGHT + 6}"><polyline points="{points}"/>{dots}</svg>'


def _label(point: Point) -> str:
    return f"{point.value:.3g} at {point.commit}, {datetime.fromtimestamp(point.date / 1000, UTC):%Y-%m-%d}"


def _text(text: str) -> str:
    """Return text escaped so that it is not HTML and does not end a cell."""
    return html.escape(text).replace("|", "&#124;")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
