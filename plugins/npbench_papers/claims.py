"""Claims of a paper's text, quoted and judged from the records of an experiment.

Rows of ``printed`` with a ``claim``, its quotation, and the ``section`` are claims. docs/experiments.md has an example,
the keys of a claim, and the rule for its verdict.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from math import exp, inf, isfinite, log, nan, nextafter
from statistics import fmean
from typing import Any, NamedTuple

import polars as pl

from npbench.numerics.signed_rank import DIGITS
from npbench.records.fields import COLLAPSED
from npbench.report.sheet import Cell, Row, Sheet, ends
from npbench.report.stats.paired import hodges_lehmann, mean_limits, shift_interval
from npbench.values import canonical
from npbench_papers.records import CPU_SECONDS, MACHINE, Printed, is_stand_in, unhindered
from npbench_papers.verdicts import explained, judge_within, tally

PARAMETERS = ("params", "problem_params", "protocol_params", "dataset_params")
CELLS, UNITS = ["dataset", "problem_params"], ["dataset", "dataset_params", "seed", "repeat"]
NAMES = ("dataset", "data", "algorithm", "curve", "part")  # keys with values that need no explanation
SHOWN = {"cpu_seconds": "cpu_seconds of selection and fit"}
TITLE = "Claims of the paper's text"
COLUMNS = ["section", "verdict", "here", "measured", "the paper"]
Claim = Mapping[str, Any]
Table = Callable[..., list[Sheet]]


class Judged(NamedTuple):
    """A claim, what is measured, what the records say, and the verdict."""

    section: str
    verdict: str
    here: Cell  # the estimate with its limits, and the cases that hold the claim; or why it is not run
    measured: str
    quotation: str


class Entry(NamedTuple):
    """A number to judge, of a record or a cell of a table."""

    about: Mapping[str, Any]  # columns and parameters
    value: float
    cell: str
    unit: str
    dataset: str
    text: str = ""  # of a cell, such as "> 30"
    numbers: Mapping[str, float] = {}  # of a cell, such as its limits


def with_claims(table: Table) -> Table:
    """Let a table function begin with the verdicts on the claims among its printed rows."""

    @wraps(table)
    def both(records: pl.DataFrame, printed: Printed, **options: Any) -> list[Sheet]:
        sheets = table(records, [row for row in printed if "claim" not in row], **options)
        found = list(judged(records, printed, sheets))
        verdicts = [one.verdict for one in found]
        here = "Here: the estimate, its 95 % limits over splits, and the number of cases that hold the claim."
        notes = explained(f"Verdicts: {tally(verdicts)}. {here}", verdicts)
        rows: list[Row] = [[*one[:4], f'"{one.quotation}"'] for one in found]
        return [Sheet(TITLE, COLUMNS, rows, notes), *sheets] if found else sheets

    return both


def judged(records: pl.DataFrame, printed: Printed, sheets: Sequence[Sheet]) -> Iterator[Judged]:
    """Yield the verdict on each claim among printed rows; ``sheets`` are the tables of the experiment."""
    for claim in printed:
        if "not_run" in claim:
            yield Judged(claim["section"], "not run", Cell(claim["not_run"]), "", claim["claim"])
        elif "claim" in claim:
            entries = [*_entries(claim, records, sheets)]
            if base := claim.get("relative_to"):
                entries = _relative(entries, base)
            verdict, here = _judge(claim, entries, printed)
            yield Judged(claim["section"], verdict, here, _measured(claim), claim["claim"])


def _entries(claim: Claim, records: pl.DataFrame, sheets: Sequence[Sheet]) -> Iterator[Entry]:
    """Yield the numbers to judge: stored ones that the claim lists by case, or those of tables or records."""
    if "values" in claim:
        stored = ((str(name), _value(claim, value, None)) for name, value in claim["values"].items())
        return (Entry({}, value, name, "", "") for name, value in stored if value is not None)
    return _of_tables(claim, sheets) if "column" in claim else _of_records(claim, records)


def _judge(claim: Claim, entries: Sequence[Entry], printed: Printed) -> tuple[str, Cell]:
    """Return the verdict, and the estimate with its limits and the number of cases that hold the claim."""
    by_cell, by_unit = defaultdict(list), defaultdict(list)
    for cell, unit, value in _compared(claim, entries):
        by_cell[cell].append(value)
        by_unit[unit].append(value)
    if not by_cell:
        return "not run", Cell("no such records" + " of an idle machine" * _is_timed(claim))
    centre, limits_of = (hodges_lehmann, shift_interval) if claim.get("ranks") else (fmean, mean_limits)
    back, neutral = exp if claim.get("ratio") else float, _neutral(claim)
    low, high = _bounds(claim["within"], neutral)
    cells, units = ([centre(values) for values in found.values()] for found in (by_cell, by_unit))
    limits = None if {"column", "values"} & {*claim} else limits_of(units)
    limits = limits and (back(limits[0]), back(limits[1]))
    alone = entries[0].numbers if len(entries) == 1 else {}
    if {"low", "high", "n"} <= {*alone}:  # a cell with limits, of n splits
        limits = alone["low"], alone["high"]
    # equal up to rounding is equal
    estimate, *of_cells = (back(round(value, DIGITS)) for value in (centre(units), *cells))
    held = sum(low <= value <= high for value in of_cells)
    share, n, hold = held / len(cells), int(alone.get("n", len(units))), claim.get("hold", "all")
    stand_in = all(is_stand_in(printed, one.dataset) for one in entries)
    known = {"stand_in": stand_in, "fallback": _is_fallback(claim, entries)}
    word = judge_within(estimate, (low, high), share, limits=limits, n=n, hold=hold, neutral=neutral, **known)
    shown = entries[0].text if len(entries) == 1 else ""
    span = {"smallest": min(of_cells), "largest": max(of_cells)}
    spans = " ({smallest:.3g} to {largest:.3g})".format_map(span) if len(of_cells) > 1 else ""
    shown = shown or f"{estimate:.3g}" + (f" [{limits[0]:.3g}, {limits[1]:.3g}]" if limits else spans)
    further = {**dict(ends(limits) if limits else ()), **alone, **span, "held": held, "cases": len(cells)}
    return word, Cell(f"{shown}; {held} of {len(cells)}", estimate, further=tuple(further.items()))


def _neutral(claim: Claim) -> float | None:
    """Return the value of no difference, which a claim that something is smaller or larger excludes; None without."""
    of_two = 1.0 if claim.get("ratio") else 0.0 if {"than", "minus"} & {*claim} else None
    neutral: float | None = claim.get("neutral", of_two)
    return neutral


def _bounds(ends: Sequence[float | None], neutral: float | None) -> tuple[float, float]:
    """Return the bounds of a claim; a claim that something is smaller or larger excludes equality."""
    low, high = ends
    if low is None and high == neutral is not None:
        return -inf, nextafter(neutral, -inf)
    if high is None and low == neutral is not None:
        return nextafter(neutral, inf), inf
    return -inf if low is None else low, inf if high is None else high


def _compared(claim: Claim, entries: Sequence[Entry]) -> Iterator[tuple[str, str, float]]:
    """Yield case, unit and value: of each of ``of``, against each of ``than`` if there is any."""
    for who, ours in enumerate(_sides(claim, entries, "of")):
        if "than" not in claim:
            yield from ((f"{cell} {who}", unit, value) for (cell, unit), (value, _) in ours.items())
        for other, theirs in enumerate(_sides(claim, entries, "than")):
            for (cell, unit), (value, _) in ours.items():
                if (cell, unit) in theirs:
                    yield f"{cell} {who} {other}", unit, value - theirs[cell, unit][0]


def _sides(claim: Claim, entries: Sequence[Entry], name: str) -> list[dict[tuple[str, str], tuple[float, ...]]]:
    """Return mean values, and shares of fits that learnt nothing, by case and unit: of each selection, or the best."""
    sides = []
    for asked in _selections(claim, name):
        values = defaultdict(list)
        for one in entries:
            if _is_among(one.about, asked):
                values[one.cell, one.unit].append((one.value, one.about.get("solver_status") == COLLAPSED))
        sides.append({key: tuple(map(fmean, zip(*found, strict=True))) for key, found in values.items()})
    if best := claim.get("best"):
        choose = {"max": max, "min": min}[best]
        return [{key: choose(side[key] for side in sides if key in side) for side in sides for key in side}]
    return sides


def _of_records(claim: Claim, records: pl.DataFrame) -> Iterator[Entry]:
    """Yield the values of successful records; seconds only of fits that did not wait for a processor."""
    units, cells = claim.get("units", UNITS), claim.get("cells", CELLS)
    if _is_timed(claim):
        records, units = unhindered(records), [*units, *MACHINE]
    needed = {claim["measure"], claim.get("minus"), "dataset", "solver", "solver_status", *PARAMETERS}
    asked = [claim.get("where", {}), *_selections(claim, "of"), *_selections(claim, "than")]
    used = {*(key for one in asked for key in one), *cells, *units, *needed}
    good = records.filter(status="ok").with_columns(cpu_seconds=CPU_SECONDS)
    parameters = cache(json.loads)  # records of one setting share them
    for row in good.select(name for name in good.columns if name in used).to_dicts():
        about = described(row, parameters)
        value = _value(claim, *(about.get(claim.get(name)) for name in ("measure", "minus")))
        if value is not None and _is_among(about, claim.get("where", {})):
            case, unit = (repr([about.get(name) for name in names]) for names in (cells, units))
            yield Entry(about, value, case, unit, row["dataset"])


def described(row: Mapping[str, Any], parameters: Callable[[str], Any] = json.loads) -> dict[Any, Any]:
    """Return the columns and parameters of a record, and the start and length of its range of false-positive rates."""
    about = {**row, **{name: value for part in PARAMETERS for name, value in parameters(row[part]).items()}}
    start, end = about.get("fpr_range") or (0.0, 0.0)
    return {**about, "fpr_start": start, "fpr_length": round(end - start, DIGITS)}


def _relative(entries: Sequence[Entry], base: str) -> list[Entry]:
    """Return the entries of other solvers minus those of a base on the same task."""
    tasks = [(one.cell, one.unit, *(one.about[name] for name in PARAMETERS[1:])) for one in entries]
    theirs = {task: one.value for task, one in zip(tasks, entries, strict=True) if one.about["solver"] == base}
    pairs = [(one, theirs[task]) for task, one in zip(tasks, entries, strict=True) if task in theirs]
    return [one._replace(value=one.value - value) for one, value in pairs if one.about["solver"] != base]


def _of_tables(claim: Claim, sheets: Sequence[Sheet]) -> Iterator[Entry]:
    """Yield the values of a column in all tables that have it, except in rows of the paper's own numbers."""
    places = [(one, name) for one in sheets for name in _listed(claim["column"]) if name in one.columns]
    for one, name in places:
        for cells in one.cells if claim.get("table", "") in one.title else ():
            row = dict(zip(one.columns, cells, strict=True))
            about = {column: cell.text for column, cell in row.items()}
            value = _value(claim, row[name].value, row[claim["minus"]].value if "minus" in claim else None)
            if value is not None and "paper" not in about.values() and _is_among(about, claim.get("where", {})):
                case = canonical([one.title, name, *(about[key] for key in claim.get("cells", one.columns[:1]))])
                dataset = about.get("data") or re.split("[:,]", one.title)[0]
                itself = () if "minus" in claim else (about[name], dict(row[name].further))
                yield Entry(about, value, case, "", dataset, *itself)


def _value(claim: Claim, value: float | None, subtracted: float | None) -> float | None:
    """Return the number to judge, a logarithm for quotients; None without one."""
    if value is None or not isfinite(value) or ("minus" in claim and subtracted is None):
        return None
    if claim.get("ratio"):
        value /= 1.0 if subtracted is None else subtracted or nan
        return log(value) if value > 0 else None
    value -= subtracted or 0.0
    return abs(value) if claim.get("absolute") else value


def _selections(claim: Claim, name: str) -> list[Claim]:
    """Return what selects the records of each side; all of them without ``of``, and none without ``than``."""
    given = claim.get(name, {} if name == "of" else [])
    return [{claim.get("by", "solver"): one} if isinstance(one, str) else one for one in _listed(given)]


def _is_among(about: Mapping[str, Any], asked: Claim) -> bool:
    return all(_text(about.get(name)) in map(_text, _listed(value)) for name, value in asked.items())


def _is_timed(claim: Claim) -> bool:
    return str(claim.get("measure")).endswith("seconds")


def _is_fallback(claim: Claim, entries: Sequence[Entry]) -> bool:
    """Return whether most of the compared fits of a method of the claim learnt nothing."""
    ours, theirs = _sides(claim, entries, "of"), _sides(claim, entries, "than")
    for side, others in [*((one, theirs) for one in ours), *((one, ours) for one in theirs)]:
        compared = [share for key, (_, share) in side.items() if not others or any(key in one for one in others)]
        if compared and fmean(compared) > 0.5:
            return True
    return False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def _measured(claim: Claim) -> str:
    """Return in words what is compared, and where the claim puts it."""
    joined, sign = ", " if "best" in claim else " or ", "/" if claim.get("ratio") else "-"
    asked = [_listed(claim.get(name, [])) for name in ("of", "than")]
    of, than = ("the best of " * ("best" in claim and len(one) > 1) + joined.join(map(_named, one)) for one in asked)
    what = " or ".join(SHOWN.get(one, one) for one in _listed(claim.get("measure") or claim["column"]))
    what += f" {sign} {claim['minus']}" if "minus" in claim else ""
    what += " without its sign" if claim.get("absolute") else ""
    if base := claim.get("relative_to"):
        what += f" {'over' if claim.get('ratio') else 'minus'} that of {base}"
    sides = f"{of} {sign} {than}" if than else of
    low, high = claim["within"]
    most, least = ("below", "above") if _neutral(claim) in {low, high} - {None} else ("at most", "at least")
    bounds = f"{most} {high:g}" if low is None else f"{least} {low:g}" if high is None else f"{low:g} to {high:g}"
    bounds += f" in {claim['hold']} cases" if "hold" in claim else ""
    bounds += ", as a number" if claim.get("neutral", 0) is None else ""
    keys = claim.get("where", {}).items()
    values = [("" if name in NAMES else f"{name}=") + " or ".join(map(_text, _listed(one))) for name, one in keys]
    where = ", ".join(filter(None, [claim.get("table"), *values]))
    return ", ".join(filter(None, [f"{what}: {sides}" if sides else what, where, bounds]))


def _named(asked: Any) -> str:
    return (
        asked
        if isinstance(asked, str)
        else ", ".join(f"{name}={' or '.join(map(_text, _listed(value)))}" for name, value in asked.items())
    )
