"""Check files of the benchmark against their formats, without npbench: ``python validate.py KIND FILE``.

This file and the JSON files beside it can be copied anywhere. JSON needs only the standard library, Parquet PyArrow.
The formats are JSON Schema (of which only the keywords they use are read here) and, for tables, columns with their
Parquet types. All are version 1; a later version of a format gets a file of its own.
"""

import json
import math
import re
import resource
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MAX_FAULTS = 20
MAX_BYTES = 100_000_000  # of a JSON file
MAX_ROWS = 50_000_000
MAX_MEMORY = 4 << 30  # bytes
TYPES: dict[str, Any] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KINDS = sorted(path.name.removesuffix("-1.json") for path in FOLDER.glob("*-1.json"))


def schema(kind: str) -> dict[str, Any]:
    """Return the format of a kind of file, one of KINDS."""
    text = (FOLDER / f"{kind}-1.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def faults(kind: str, path: Path) -> list[str]:
    """Return what is wrong with a file, at most MAX_FAULTS sentences; none if it has the format."""
    form = schema(kind)
    try:
        found = _of_table(form, path) if "columns" in form else of_json(form, _content(path))
        return list(islice(found, MAX_FAULTS))
    except (OSError, ValueError, RecursionError) as error:
        return [f"cannot be read: {error}"[:500]]


def _content(path: Path) -> Any:
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES:,} bytes")
    return json.loads(content.decode())


def of_json(form: dict[str, Any], value: Any, place: str = "") -> Iterator[str]:
    """Yield what is wrong with a value of JSON, each with its place."""
    where = place or "the file"
    if "anyOf" in form:
        if all(next(of_json(one, value, place), None) for one in form["anyOf"]):
            yield f"{where} is {_shown(value)}: {form.get('description', 'none of the forms allowed')}"
        return
    types = form.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_has_type(value, one) for one in types):
        yield f"{where} is {_shown(value)}: expected {' or '.join(types)}"
    elif "enum" in form and value not in form["enum"]:
        yield f"{where} is {_shown(value)}: expected one of {', '.join(map(str, form['enum']))}"
    elif isinstance(value, dict):
        yield from _of_object(form, value, place)
    elif isinstance(value, list):
        if len(value) < form.get("minItems", 0):
            yield f"{where} is empty"
        for number, one in enumerate(value):
            yield from of_json(form.get("items", {}), one, f"{place}[{number}]")
    elif isinstance(value, str):
        yield from _of_text(form, value, where)
    elif value is not None and not isinstance(value, bool):
        yield from _of_number(form, value, where)


def _of_object(form: dict[str, Any], value: dict[str, Any], place: str) -> Iterator[str]:
    if lacking := [name for name in form.get("required", []) if name not in value]:
        yield f"{place or 'the file'} lacks {', '.join(lacking)}"
    known = form.get("properties", {})
    for name, one in value.items():
        yield from of_json(known.get(name, {}), one, f"{place}.{name[:40]}".lstrip("."))
    # Two keywords beyond JSON Schema, which cannot compare two values.
    for counted, number in form.get("lengths", {}).items():
        if isinstance(value.get(counted), list) and len(value[counted]) != value.get(number):
            yield f"{place}.{counted} has {len(value[counted])} items: expected {number}, {_shown(value.get(number))}"
    for small, large in form.get("ordered", {}).items():
        pair = value.get(small, 0), value.get(large, 0)
        if all(_has_type(one, "number") for one in pair) and pair[0] > pair[1]:
            yield f"{small} is {_shown(pair[0])}: expected {large}, {_shown(pair[1])}, or less"


def _of_text(form: dict[str, Any], value: str, where: str) -> Iterator[str]:
    if "pattern" in form and not re.search(form["pattern"], value):
        yield f"{where} is {_shown(value)}: expected {form.get('description', form['pattern'])}"
    if form.get("contentMediaType") == "application/json":
        try:
            yield from of_json(form["contentSchema"], json.loads(value), where)
        except (ValueError, RecursionError):
            yield f"{where} is {_shown(value)}: expected JSON"


def _of_number(form: dict[str, Any], value: float, where: str) -> Iterator[str]:
    low, high = form.get("minimum", -math.inf), form.get("maximum", math.inf)
    above, below = form.get("exclusiveMinimum", -math.inf), form.get("exclusiveMaximum", math.inf)
    if not (low <= value <= high and above < value < below):  # NaN is in no range
        ends = [f"{word} {form[key]}" for key, word in SIGNS.items() if key in form]
        yield f"{where} is {_shown(value)}: expected a number {' and '.join(ends) or 'that is finite'}"


SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def _has_type(value: Any, name: str) -> bool:
    if name in ("number", "integer"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and (name == "number" or isinstance(value, int) or value.is_integer())
    return isinstance(value, TYPES[name])


def _shown(value: Any) -> str:
    return ascii(value)[:60]


def _of_table(form: dict[str, Any], path: Path) -> Iterator[str]:
    """Yield what is wrong with a Parquet file: columns, types, then values."""
    types, columns = _table(path)
    for name, about in form["columns"].items():
        if name not in types:
            yield f"column {name} is missing"
        elif types[name] not in about["parquet"]:
            yield f"column {name} is {types[name]}: expected {' or '.join(about['parquet'])}"
        else:
            yield from of_json({"items": about.get("values", {})}, columns[name], name)
    if others := sorted(types.keys() - form["columns"].keys()):
        about = form.get("others", {})
        wrong = [name for name in others if types[name] not in about.get("parquet", [])]
        yield from (f"column {name[:40]!r} is {types[name]}: unexpected" for name in wrong)
    same = [columns[name] for name in form.get("unique", []) if name in types]
    same += [columns[name] for name in others] if "others" in form else []
    hashable = ([tuple(one) if isinstance(one, list) else one for one in column] for column in same)
    rows = list(zip(*hashable, strict=True))
    if same and len(set(rows)) < len(rows):
        yield f"rows are not unique in {', '.join(form['unique'])}"
    for names in form.get("aligned", []):
        lengths = zip(*([len(one or []) for one in columns.get(name, [])] for name in names), strict=True)
        if any(len(set(row)) > 1 for row in lengths):
            yield f"lists of {', '.join(names)} differ in length"


def _table(path: Path) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Return the Arrow types and the values of the columns of a Parquet file."""
    try:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            if file.metadata.num_rows > MAX_ROWS:
                raise ValueError(f"{file.metadata.num_rows:,} rows: expected at most {MAX_ROWS:,}")
            table = file.read()
        types = {one.name: _named(str(one.type)) for one in table.schema}
        return types, {name: table[name].to_pylist() for name in types}
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise ValueError(str(error).partition("\n")[0]) from error


def _named(dtype: str) -> str:
    """Return the name of a PyArrow type as the formats write it.

    >>> _named("list<element: int32>"), _named("large_string"), _named("double")
    ('list of int32', 'string', 'float64')
    """
    if inner := re.fullmatch(r"(?:large_)?list<\w+: (.+?)(?: not null)?>", dtype):
        return f"list of {_named(inner[1])}"
    name = "string" if dtype.startswith("dictionary") else dtype.removeprefix("large_")
    return {"double": "float64", "float": "float32"}.get(name, name)


def main(words: list[str]) -> int:
    """Print what is wrong with a file; return 1 if anything is, and 2 for wrong arguments."""
    if len(words) != 2 or words[0] not in KINDS:
        print(f"usage: python validate.py {{{','.join(KINDS)}}} FILE", file=sys.stderr)
        return 2
    found = faults(words[0], Path(words[1]))
    for fault in found:
        print(f"{ascii(words[1])[1:-1]}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    # A few kB of Parquet may unpack to more memory than there is; beyond this limit reading fails.
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY if hard < 0 else min(hard, MAX_MEMORY), hard))
    sys.exit(main(sys.argv[1:]))
