"""Reference tables from docstrings, signatures and hooks; mkdocs writes them for ``<!-- reference: NAME WORDS -->``."""

import functools
import html
import importlib
import inspect
import json
import operator
import re
from collections.abc import Iterator
from typing import Any

from blocks import fenced, table
from measured import ratios  # noqa: F401
from speed_history import history  # noqa: F401

from npbench import contracts, hookspecs, registry, testing
from npbench.config import files
from npbench.estimators.parameters import sections
from npbench.records import fields as record_fields
from npbench.values import plain

DESCRIPTIONS = (
    *(contracts.Solver, contracts.Dataset, contracts.DataFile, contracts.Original),
    *(contracts.Mirror, contracts.Wheel, contracts.Metric),
)
SHARED_GENERATOR_FIELDS = ("n_pos, n_neg", "seed")


def hooks() -> str:
    """Return the table of hooks."""
    rows = []
    for name, hook in vars(hookspecs).items():
        if name.startswith("npbench_"):
            signature = inspect.signature(hook)
            call = f"`{name}({', '.join(signature.parameters)})`"
            returned = _short(inspect.formatannotation(signature.return_annotation))
            rows.append((call, f"`{returned}`", _cell(" ".join((hook.__doc__ or "").split()))))
    return table(("hook", "returns", ""), rows)


def checks() -> str:
    """Return the names and claims of the checks of solvers."""
    claims: dict[str, set[str]] = {}
    for solver in registry.installed().solvers:
        for check in testing.check_solver(solver):
            claims.setdefault(check.claim, set()).add(check.name)
    rows = sorted((_code(", ".join(sorted(names))), _cell(claim)) for claim, names in claims.items())
    return table(("check of a solver", ""), rows)


def estimators() -> str:
    """Return class, problems and tags of every solver, linked to its page."""
    rows = []
    for name, solver in sorted(registry.installed().solvers.items()):
        page, path = f"[`{name}`]({name.replace('_', '-')}.md#parameters)", solver.estimator.replace(":", ".")
        rows.append((page, f"`{path}`", ", ".join(solver.solves), ", ".join(sorted(solver.tags))))
    return table(("solver", "class", "problem", "tags"), rows)


def estimator(name: str) -> str:
    """Return the parameters of a solver, in Python and on the command line, and the attributes after ``fit``."""
    solver = registry.installed().solver(name)
    described: Any = contracts.resolve(solver.estimator)
    defaults, settings = inspect.signature(described).parameters, _settings().get(name, {})
    search = {**solver.search, **settings.get("search", {})}
    parameters = []
    for names, kind, meaning in _described(described, "Parameters"):
        values = dict.fromkeys(_typed(defaults[one].default) for one in names.split(", "))
        grids = (_typed(search[one]) for one in names.split(", ") if one in search)
        cells = (", ".join(f"`{value}`" for value in column) for column in (values, grids))
        parameters.append((_code(names), *cells, _cell(kind + meaning)))
    attributes = [(_code(names), _cell(kind + meaning)) for names, kind, meaning in _described(described, "Attributes")]
    tags = ", ".join(f"`{tag}`" for tag in sorted(solver.tags)) or "none"
    about = f"\nClass `{described.__name__}`; [tags](api.md#estimators): {tags}."
    after_fit = table(("attribute after `fit`", ""), attributes).lstrip()
    return "\n".join([about, table(("parameter", "default", "grid", ""), parameters), *_variants(name), after_fit])


def _described(described: Any, heading: str) -> Iterator[tuple[str, str, str]]:
    """Yield names, allowed values if the type lists them, and meaning."""
    for names, kind, meaning in _entries(described, heading):
        choices = kind.partition(", default=")[0].removesuffix(", optional")
        yield names, f"{choices}: " if kind.startswith("{") else "", meaning


@functools.cache
def _settings() -> dict[str, dict[str, Any]]:
    """Return the settings in the YAML file of each solver and variant that has one."""
    return {name: files.content(path) for name, path in sorted(files.group_files("solver").items())}


def _variants(name: str) -> Iterator[str]:
    """Yield what each variant of a solver changes, from the YAML files based on it."""
    for variant, settings in _settings().items():
        if name in settings.get("defaults", []):
            changed = {one: value for one, value in settings.items() if one not in ("defaults", "search")}
            grids = {f"search.{one}": grid for one, grid in settings.get("search", {}).items() if grid}
            words = " ".join(f"`{one}={_typed(value)}`" for one, value in {**changed, **grids}.items())
            yield f"Variant `solver={variant}`: {words}.\n"


def _typed(value: Any) -> str:
    """Return a value as typed on the command line."""
    return json.dumps(plain(value)).replace('"', "")


def api(*names: str) -> str:
    """Return signature, summary, parameters and examples of objects named "module:name" or "module:Class.method"."""
    parts = []
    for name in names:
        module, _, path = name.partition(":")
        described = operator.attrgetter(path)(importlib.import_module(module))
        summary = " ".join(_section(described, "").partition("\n\n")[0].split())
        signature = _short(str(inspect.signature(described)).replace("self, ", ""))
        parts += [f"\n### {module}.{path}", fenced("text", path + signature), _plain(summary)]
        rows = ((_code(names), _cell(meaning)) for names, _, meaning in _entries(described, "Parameters"))
        parts.append(table(("parameter", ""), rows))
        if examples := _section(described, "Examples"):
            parts.append(fenced("pycon", examples))
    return "\n".join([*parts, ""])


def _short(annotated: str) -> str:
    """Return annotations without quotes and modules, as they are typed."""
    unquoted = re.sub(r"(: |-> |^)'([^']*)'", r"\1\2", annotated)
    known = unquoted.replace("numpy.", "np.").replace("polars.dataframe.frame.", "pl.")
    return re.sub(r"\b(?!np\.|pl\.)(?:[a-z_]\w*\.)+(?=[A-Z]\w)", "", known)


def descriptions() -> str:
    """Return the fields of each plugin description."""
    return "\n".join(f"\n### {one.__name__}\n{fields(one)}" for one in DESCRIPTIONS)


def described_fields() -> str:
    """Return the names of the fields of each plugin description."""
    fields_of = {one: ", ".join(names for names, *_ in _entries(one, "Parameters")) for one in DESCRIPTIONS}
    rows = (
        (f"`{one.__name__}`", _code(own) if own else f"as `{one.__mro__[1].__name__}`")
        for one, own in fields_of.items()
    )
    return table(("description", "fields"), rows)


def fields(described: Any) -> str:
    """Return the fields of a class, or the parameters of a function, which may be named as "module:name"."""
    described = contracts.resolve(described) if isinstance(described, str) else described
    entries = _entries(described, "Parameters")
    return table(("field", "type", ""), ((_code(names), _cell(kind), _cell(text)) for names, kind, text in entries))


def generators() -> str:
    """Return the density, defaults and own parameters of each generator, from its docstring and signature."""
    parts = []
    for dataset in _generators():
        loader = contracts.resolve(dataset.load)
        defaults = (f"{one.name}={_typed(one.default)}" for one in inspect.signature(loader).parameters.values())
        entries = _entries(loader, "Parameters")
        rows = ((_code(names), _cell(text)) for names, _, text in entries if names not in SHARED_GENERATOR_FIELDS)
        parts += [f"\n### {dataset.name}\n", fenced("text", _section(loader, "")), f"Defaults: `{' '.join(defaults)}`."]
        parts.append(table(("setting", ""), rows))
    return "\n".join(parts)


def generators_in_brief() -> str:
    """Return the title of each generator."""
    return table(("data set", "draws"), ((f"`{one.name}`", _cell(one.title)) for one in _generators()))


def _generators() -> list[contracts.Dataset]:
    found = sorted(registry.installed().datasets.items())
    return [dataset for _, dataset in found if dataset.source.startswith("drawn")]


def datasets() -> str:
    """Return size and positive class of each data set, except for the tables of the benchmark."""
    rows = (
        (f"`{name}`", _size(dataset), dataset.positive.partition("; negative")[0])
        for name, dataset in sorted(registry.installed().datasets.items())
        if not any(file.wheel for file in dataset.files)
    )
    return table(("data set", "size", "positive class"), rows)


def _size(dataset: contracts.Dataset) -> str:
    known = [str(n) if n else "any" for n in (dataset.n_samples, dataset.n_features)]
    positive = f", {dataset.n_positive} +" if dataset.n_positive else ""
    return "" if known == ["any", "any"] else f"{' x '.join(known)}{positive}"


def columns() -> str:
    """Return the columns of the records, with their meanings."""
    rows = []
    for subject, of_subject in record_fields.SUBJECTS.items():
        rows.append((f"**{subject}**", "", ""))
        rows += [(f"`{field.name}`", field.dtype.__name__, field.about) for field in of_subject]
    return table(("column", "type", ""), rows)


def columns_in_brief() -> str:
    """Return the names of the columns of the records by subject."""
    subjects = record_fields.SUBJECTS.items()
    rows = ((subject, ", ".join(f"`{field.name}`" for field in of_subject)) for subject, of_subject in subjects)
    return table(("subject", "columns"), rows)


def _section(described: Any, heading: str) -> str:
    """Return the text below a heading of a numpydoc docstring, or the text before the first heading."""
    return sections(inspect.getdoc(described)).get(heading, "")


def _entries(described: Any, heading: str) -> list[tuple[str, str, str]]:
    """Return the entries below a heading of a docstring: names, type, meaning in one line."""
    entry = r"^(\*{0,2}\w[^:\n]*?)(?: : (.*))?\n((?:    .*\n?|\n(?=    ))+)"
    found = re.findall(entry, _section(described, heading), re.MULTILINE)
    return [(names, kind, " ".join(meaning.split())) for names, kind, meaning in found]


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def _cell(text: str) -> str:
    """Return the text for a table cell; an unescaped bar would end the cell."""

    def coded(code: re.Match[str]) -> str:
        return f"<code>{html.escape(code[1], quote=False).replace('|', '&#124;')}</code>"

    return re.sub(r"`([^`]*\|[^`]*)`", coded, _plain(text)).replace("|", r"\|")


def _plain(text: str) -> str:
    """Return the text with Sphinx roles and literals as Markdown code."""
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write the tables of a page, each by the function of its name; mkdocs calls this hook for each page."""

    def written(comment: re.Match[str]) -> str:
        return globals()[comment[1]](*comment[2].split())

    return re.sub(r"^<!-- reference: (\w+) ?(.*?) ?-->$", written, markdown, flags=re.MULTILINE)
