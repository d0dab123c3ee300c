"""Markdown tables made of docstrings, hooks and checks."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import operator
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from npbench import contracts, hookspecs, registry, testing

Rows = list[tuple[str, ...]]

PLUGINS = Path(__file__).parents[1] / "plugins"
# Documented once for all solvers.
KERNEL = ("kernel", "gamma", "degree", "coef0")
COMMON_ATTRIBUTES = (
    *("support_", "support_vectors_", "dual_coef_", "n_support_", "coef_"),
    *("classes_", "n_features_in_"),
)
COMMON_FIELDS = ("n_pos, n_neg", "seed")  # of generators
DESCRIPTIONS = (
    contracts.Solver,
    contracts.Dataset,
    contracts.DataFile,
    contracts.Original,
    contracts.Mirror,
    contracts.Wheel,
    contracts.Metric,
)


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table with blank lines around it, or nothing without rows."""
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    heading = f"| {' | '.join(columns)} |".replace("|  |", "| |")
    return "\n".join(["", heading, "|---" * len(columns) + "|", *lines, ""]) if lines else ""


def fenced(language: str, text: str) -> str:
    """Return a fenced block with blank lines around it."""
    return f"\n```{language}\n{text.strip()}\n```\n"


def hooks() -> str:
    """Return the table of hooks."""
    return table(("hook", "returns", ""), (_hook(name, one) for name, one in vars(hookspecs).items() if _is_hook(name)))


def _is_hook(name: str) -> bool:
    return name.startswith("npbench_")


def _hook(name: str, hook: Any) -> tuple[str, ...]:
    signature = inspect.signature(hook)
    call = f"{name}({', '.join(signature.parameters)})"
    return f"`{call}`", f"`{signature.return_annotation}`", _escaped(inspect.getdoc(hook) or "")


def checks() -> str:
    """Return the names and claims of the checks of solvers."""
    claims: dict[str, set[str]] = {}
    for solver in registry.installed().solvers:
        for check in testing.check_solver(solver):
            claims.setdefault(check.claim, set()).add(check.name)
    named = sorted((", ".join(sorted(names)), claim) for claim, names in claims.items())
    return table(("check of a solver", ""), ((_code(names), _escaped(claim)) for names, claim in named))


def estimator(name: str, like: str = "") -> str:
    """Return the parameters of a solver, in Python and on the command line, and the attributes after ``fit``.

    Rows that the page of the solver ``like`` has in the same words become one row with a link.
    """
    solver = registry.installed().solver(name)
    described = contracts.resolve(solver.estimator)
    tags = ", ".join(f"`{tag}`" for tag in sorted(solver.tags)) or "none"
    parameters, attributes = _parameter_rows(name), _attribute_rows(name)
    if like:
        page = f"[`{like}`]({like.replace('_', '-')}.md#parameters)"
        parameters = _linked(parameters, _parameter_rows(like), ("", f"As for {page}, with the same defaults."))
        attributes = _linked(attributes, _attribute_rows(like), (f"As for {page}.",))
    return "\n".join(
        [
            f"\nClass `{described.__name__}`; [tags](api.md#estimators): {tags}.",
            table(("parameter", "default; on the command line", ""), parameters),
            *_variants(name),
            table(("attribute after `fit`", ""), attributes).lstrip(),
        ]
    )


def _parameter_rows(name: str) -> Rows:
    """Return name, default and meaning of each parameter."""
    described, settings = _class(name), yaml.safe_load(_yaml(name).read_text(encoding="utf-8"))
    entries = _parameters(described)
    if set(KERNEL) <= {names for names, _, _ in entries}:
        entries = [entry for entry in entries if entry[0] not in KERNEL]
        entries.append((", ".join(KERNEL), "", "As in `sklearn.svm.SVC`, without sigmoid."))
    return [
        (_code(names), _settings(names, described, settings), _escaped(_choices(kind) + _short(meaning)))
        for names, kind, meaning in entries
    ]


def _linked(rows: Rows, known: Rows, link: tuple[str, ...]) -> Rows:
    """Return the rows that are not known, and one row with the names of the others."""
    names = ", ".join(row[0] for row in rows if row in known)
    return [*(row for row in rows if row not in known), (names, *link)]


def _class(name: str) -> Any:
    return contracts.resolve(registry.installed().solver(name).estimator)


def _settings(names: str, described: Any, settings: dict[str, Any]) -> str:
    """Return the defaults of parameters that share a row, each once."""
    return ", ".join(dict.fromkeys(_setting(name, described, settings) for name in names.split(", ")))


def _attribute_rows(name: str) -> Rows:
    """Return name and meaning of each attribute after ``fit``, those that all solvers share in one row."""
    rows: Rows = []
    shared = []
    for names, kind, meaning in _entries(_section(_class(name), "Attributes")):
        if set(names.split(", ")) <= set(COMMON_ATTRIBUTES):
            shared += names.split(", ")
        else:
            rows.append((_code(names), _escaped(_choices(kind) + _short(meaning))))
    return [*rows, (_code(", ".join(dict.fromkeys(shared))), "As in scikit-learn.")]


def _yaml(name: str) -> Path:
    """Return the file with the settings of a solver."""
    (path,) = PLUGINS.glob(f"*/conf/solver/{name}.yaml")
    return path


def _short(meaning: str) -> str:
    """Return the first sentence of a description, and the one about the default."""
    first, *others = _sentences(meaning)
    return " ".join([first, *(one for one in others if one.startswith(("Default:", "By default")))])


def _choices(kind: str) -> str:
    """Return the values that a type allows, if it lists them."""
    return f"{kind.partition(', default=')[0].removesuffix(', optional')}: " if kind.startswith("{") else ""


def _setting(parameter: str, described: Any, settings: dict[str, Any]) -> str:
    """Return the default of a parameter and, if it differs, its value or grid on the command line."""
    default = inspect.signature(described).parameters[parameter].default
    value = settings.get(parameter, default)
    grid = settings.get("search", {}).get(parameter)
    if value is None and grid:
        return f"`{default}`; grid of {_grid(grid)}"
    same = value is None or value in (default, {}) or (isinstance(default, tuple) and value == list(default))
    return f"`{default}`" if same else f"`{default}`; `{_word(value)}`"


def _grid(grid: Any) -> str:
    """Return a grid in words: its values, or their number and range."""
    if isinstance(grid, dict):
        return ", ".join(f"`{name}` ({_grid(values)})" for name, values in grid.items())
    if grid[0] in ("geomspace", "linspace"):
        kind, first, last, count = grid
        return f"{count} from {first:g} to {last:g}{' (log)' if kind == 'geomspace' else ''}"
    return ", ".join(_word(value) for value in grid)


def _word(value: Any) -> str:
    """Return a value as typed on the command line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_word(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_word, value))}]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _variants(name: str) -> list[str]:
    """Return what each variant of a solver changes, from the YAML files based on it."""
    lines = []
    for path in sorted(_yaml(name).parent.glob("*.yaml")):
        changed = yaml.safe_load(path.read_text(encoding="utf-8"))
        if name not in changed.pop("defaults", []):
            continue
        grids = {parameter: grid for parameter, grid in changed.pop("search", {}).items() if grid}
        values = [f"`{parameter}={_word(value)}`" for parameter, value in changed.items()]
        searched = [f"grid of `{parameter}`: {_grid(grid)}" for parameter, grid in grids.items()]
        lines.append(
            f"Variant `solver={path.stem}`: {'; '.join([' '.join(values), *searched] if values else searched)}.\n"
        )
    return lines


def api(*names: str) -> str:
    """Return signature, summary, parameters and examples of objects named "module:name" or "module:Class.method"."""
    parts = []
    for name in names:
        module, path, described = _named(name)
        parts += [f"\n### {module}.{path}", fenced("text", path + _signature(described)), _summary(described)]
        rows = ((_code(parameters), _escaped(_short(meaning))) for parameters, _, meaning in _parameters(described))
        parts.append(table(("parameter", ""), rows))
        if examples := _section(described, "Examples"):
            parts.append(fenced("pycon", examples))
    return "\n".join([*parts, ""])


def summaries(*names: str) -> str:
    """Return a table of objects named as for ``api``, with their summaries."""
    rows = ((f"`{module}.{path}`", _escaped(_summary(one))) for module, path, one in map(_named, names))
    return table(("name", ""), rows)


def _named(name: str) -> tuple[str, str, Any]:
    module, _, path = name.partition(":")
    return module, path, operator.attrgetter(path)(importlib.import_module(module))


def _summary(described: Any) -> str:
    return _plain(" ".join(_section(described, "").partition("\n\n")[0].split()))


def _parameters(described: Any) -> list[tuple[str, str, str]]:
    return _entries(_section(described, "Parameters"))


def _signature(described: Any) -> str:
    """Return the signature without the quotes around annotations."""
    written = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(described)).replace("self, ", ""))
    return written.removesuffix(" -> None") if inspect.isclass(described) else written


def _section(described: Any, heading: str) -> str:
    """Return the text below a heading of a numpydoc docstring, or the text before the first heading."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(described) or "", flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[0::2], strict=True)).get(heading, "").strip()
    return f"{text}\n" if text else ""


def descriptions() -> str:
    """Return the fields of each plugin description."""
    return "\n".join(f"\n### {one.__name__}\n{_fields(one, _short)}" for one in DESCRIPTIONS)


def described_fields() -> str:
    """Return the names of the fields of each plugin description."""
    rows = ((f"`{one.__name__}`", _code(", ".join(names for names, *_ in _parameters(one)))) for one in DESCRIPTIONS)
    return table(("description", "fields"), rows)


def fields(name: str) -> str:
    """Return the fields of the class named "module:Class"."""
    return _fields(contracts.resolve(name))


def _generators() -> list[contracts.Dataset]:
    """Return the data sets that are drawn, by name."""
    found = sorted(registry.installed().datasets.items())
    return [dataset for _, dataset in found if dataset.source.startswith("drawn")]


def generators() -> str:
    """Return the density, defaults and own parameters of each generator, from its docstring and signature."""
    parts = []
    for dataset in _generators():
        loader = contracts.resolve(dataset.load)
        defaults = (f"{one.name}={_word(one.default)}" for one in inspect.signature(loader).parameters.values())
        own = (entry for entry in _parameters(loader) if entry[0] not in COMMON_FIELDS)
        parts += [f"\n### {dataset.name}\n", _markdown(_density(_section(loader, ""))).rstrip()]
        parts.append(f"\nDefaults: `{' '.join(defaults)}`.")
        parts.append(table(("setting", ""), ((_code(names), _escaped(_short(meaning))) for names, _, meaning in own)))
    return "\n".join(parts)


def generators_in_brief() -> str:
    """Return the title of each generator."""
    return table(("data set", "draws"), ((f"`{one.name}`", _escaped(one.title)) for one in _generators()))


def _density(text: str) -> str:
    """Return the summary of a generator, its formulas, and the sentences about densities, the best score and errors."""
    summary, *paragraphs = re.split(r"\n\n(?! )", text.strip())
    kept = [one if "::\n" in one else _main_sentences(one) for one in paragraphs]
    return "\n\n".join([summary, *(list(filter(None, kept)) or paragraphs)]) + "\n\n"


def _main_sentences(paragraph: str) -> str:
    subject = r"\b(misses|errs|best score|best classifier)\b|N\(0"
    return textwrap.fill(" ".join(one for one in _sentences(paragraph) if re.search(subject, one)), 120)


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z`])", " ".join(text.split()))


def _markdown(docstring: str) -> str:
    """Return a docstring as Markdown, with its formulas fenced."""

    def fence(block: re.Match[str]) -> str:
        lead = f"{block[1]}:\n\n" if block[1] else ""
        return f"{lead}```text\n{textwrap.dedent(block[2]).strip()}\n```\n\n"

    return re.sub(r"^(.*)::\n\n((?:    .*\n|\n(?=    ))+)\n", fence, _plain(docstring), flags=re.MULTILINE)


def _fields(described: Any, shorten: Callable[[str], str] = str) -> str:
    """Return a table of the fields of a class or the parameters of a function: names, type, meaning."""
    entries = _parameters(described)
    return table(
        ("field", "type", ""),
        ((_code(names), _escaped(kind), _escaped(shorten(text))) for names, kind, text in entries),
    )


def _entries(section: str) -> list[tuple[str, str, str]]:
    """Return the entries of a section of a docstring: names, type, meaning in one line."""
    found = re.findall(r"^(\*{0,2}\w[^:\n]*?)(?: : (.*))?\n((?:    .*\n?|\n(?=    ))+)", section, re.MULTILINE)
    return [(names, kind, " ".join(meaning.split())) for names, kind, meaning in found]


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def _escaped(text: str) -> str:
    """Return the text for a table cell; an unescaped bar would end the cell."""

    def coded(code: re.Match[str]) -> str:
        return f"<code>{html.escape(code[1], quote=False).replace('|', '&#124;')}</code>"

    return re.sub(r"`([^`]*\|[^`]*)`", coded, _plain(text)).replace("|", r"\|")


def _plain(text: str) -> str:
    """Return the text with Sphinx roles and literals as Markdown code."""
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")
