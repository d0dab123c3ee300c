"""Tables made of docstrings, hooks and checks, for cog."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import operator
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cog  # type: ignore[import-not-found]  # cogapp provides it while it runs
import yaml
from snippets import fenced

from npbench import contracts, hookspecs, registry, testing

PLUGINS = Path(__file__).parents[1] / "plugins"
# Documented once for all solvers.
KERNEL = ("kernel", "gamma", "degree", "coef0")
COMMON_ATTRIBUTES = (
    *("support_", "support_vectors_", "dual_coef_", "n_support_", "coef_"),
    *("classes_", "n_features_in_"),
)
COMMON_FIELDS = ("n_pos, n_neg", "seed")  # of generators


def hooks() -> None:
    """Write the table of hooks."""
    cog.outl("\n| hook | returns | |\n|---|---|---|")
    for name, hook in vars(hookspecs).items():
        if name.startswith("npbench_"):
            signature = inspect.signature(hook)
            call, returns = f"{name}({', '.join(signature.parameters)})", str(signature.return_annotation)
            cog.outl(f"| `{call}` | `{returns}` | {_escaped(inspect.getdoc(hook) or '')} |")
    cog.outl("")


def checks() -> None:
    """Write the names and claims of the checks of solvers."""
    claims: dict[str, set[str]] = {}
    for solver in registry.installed().solvers:
        for check in testing.check_solver(solver):
            claims.setdefault(check.claim, set()).add(check.name)
    cog.outl("\n| check of a solver | |\n|---|---|")
    for names, claim in sorted((", ".join(sorted(names)), claim) for claim, names in claims.items()):
        cog.outl(f"| {_code(names)} | {_escaped(claim)} |")
    cog.outl("")


def estimator(name: str) -> None:
    """Write the parameters of a solver, in Python and on the command line, and the attributes after ``fit``."""
    solver = registry.installed().solver(name)
    described = contracts.resolve(solver.estimator)
    tags = ", ".join(f"`{tag}`" for tag in sorted(solver.tags)) or "none"
    made = f'`npbench.solver("{name}", ...)` makes a `{described.__name__}`'
    cog.outl(f"\n{made}; its docstring has the details. [Tags](api.md#estimators): {tags}.")
    folder, settings = _command_line(name)
    entries = _entries(_section(described, "Parameters"))
    if set(KERNEL) <= {names for names, _, _ in entries}:
        entries = [entry for entry in entries if entry[0] not in KERNEL]
        entries.append(
            (", ".join(KERNEL), "", "As in `sklearn.svm.SVC`: kernels rbf, linear, poly, precomputed or callable.")
        )
    cog.outl("\n| parameter | default; on the command line | |\n|---|---|---|")
    for names, kind, meaning in entries:
        values = dict.fromkeys(_setting(parameter, described, settings) for parameter in names.split(", "))
        cog.outl(f"| {_code(names)} | {', '.join(values)} | {_escaped(_choices(kind) + _short(meaning))} |")
    _variants(name, folder)
    _attributes(described)


def _attributes(described: Any) -> None:
    """Write the attributes after ``fit``, those that all solvers share in one row."""
    shared = []
    cog.outl("\nAfter `fit`:\n\n| attribute | |\n|---|---|")
    for names, kind, meaning in _entries(_section(described, "Attributes")):
        if set(names.split(", ")) <= set(COMMON_ATTRIBUTES):
            shared.append(names)
        else:
            cog.outl(f"| {_code(names)} | {_escaped(_choices(kind) + _short(meaning))} |")
    cog.outl(f"| {_code(', '.join(shared))} | As in scikit-learn; the positive class is the last one. |")
    cog.outl("")


def _command_line(name: str) -> tuple[Path, dict[str, Any]]:
    """Return the folder of a solver's YAML, and what it says."""
    (path,) = PLUGINS.glob(f"*/conf/solver/{name}.yaml")
    return path.parent, yaml.safe_load(path.read_text(encoding="utf-8"))


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


def _variants(name: str, folder: Path) -> None:
    """Write what each variant of a solver changes, from the YAML files based on it."""
    for path in sorted(folder.glob("*.yaml")):
        changed = yaml.safe_load(path.read_text(encoding="utf-8"))
        if name not in changed.pop("defaults", []):
            continue
        grids = {parameter: grid for parameter, grid in changed.pop("search", {}).items() if grid}
        values = [f"`{parameter}={_word(value)}`" for parameter, value in changed.items()]
        searched = [f"grid of `{parameter}`: {_grid(grid)}" for parameter, grid in grids.items()]
        cog.outl(f"\nVariant `solver={path.stem}`: {'; '.join([' '.join(values), *searched] if values else searched)}.")


def api(*names: str) -> None:
    """Write signature, summary, parameters and examples of objects named "module:name" or "module:Class.method"."""
    for name in names:
        module, _, path = name.partition(":")
        described = operator.attrgetter(path)(importlib.import_module(module))
        cog.outl(f"\n### {module}.{path}")
        fenced("text", path + _signature(described))
        cog.outl(_plain(_section(described, "").partition("\n\n")[0].strip()))
        entries = _entries(_section(described, "Parameters"))
        if entries:
            cog.outl("\n| parameter | |\n|---|---|")
        for parameters, _, meaning in entries:
            cog.outl(f"| {_code(parameters)} | {_escaped(_short(meaning))} |")
        if examples := _section(described, "Examples"):
            fenced("pycon", examples)
    cog.outl("")


def _signature(described: Any) -> str:
    """Return the signature without the quotes around annotations."""
    written = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(described)).replace("self, ", ""))
    return written.removesuffix(" -> None") if inspect.isclass(described) else written


def _section(described: Any, heading: str) -> str:
    """Return the text below a heading of a numpydoc docstring, or the text before the first heading."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(described) or "", flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[0::2], strict=True)).get(heading, "").strip()
    return f"{text}\n" if text else ""


def descriptions() -> None:
    """Write the fields of each plugin description."""
    for description in (
        contracts.Solver,
        contracts.Dataset,
        contracts.DataFile,
        contracts.Original,
        contracts.Mirror,
        contracts.Wheel,
        contracts.Metric,
    ):
        cog.outl(f"\n### {description.__name__}")
        _fields(description, _short)
    cog.outl("")


def fields(name: str) -> None:
    """Write the fields of the class named "module:Class"."""
    _fields(contracts.resolve(name))
    cog.outl("")


def generators() -> None:
    """Write the density, defaults and own parameters of each generator, from its docstring and signature."""
    for name, dataset in sorted(registry.installed().datasets.items()):
        if not dataset.source.startswith("drawn"):
            continue
        loader = contracts.resolve(dataset.load)
        cog.outl(f"\n### {name}\n")
        cog.outl(_markdown(_density(_section(loader, ""))).rstrip())
        defaults = (f"{one.name}={_word(one.default)}" for one in inspect.signature(loader).parameters.values())
        cog.outl(f"\nDefaults: `{' '.join(defaults)}`.")
        own = [entry for entry in _entries(_section(loader, "Parameters")) if entry[0] not in COMMON_FIELDS]
        if own:
            cog.outl("\n| setting | |\n|---|---|")
        for names, _, meaning in own:
            cog.outl(f"| {_code(names)} | {_escaped(_short(meaning))} |")
    cog.outl("")


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


def _fields(described: Any, shorten: Callable[[str], str] = str) -> None:
    """Write a table of the fields of a class or the parameters of a function: names, type, meaning."""
    cog.outl("\n| field | type | |\n|---|---|---|")
    for names, kind, meaning in _entries(_section(described, "Parameters")):
        cog.outl(f"| {_code(names)} | {_escaped(kind)} | {_escaped(shorten(meaning))} |")


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
