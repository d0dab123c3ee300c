"""What pages show of docstrings, hooks and checks, for cog beside ``snippets``: parameters, fields, an API page."""

from __future__ import annotations

import html
import importlib
import inspect
import operator
import re
import textwrap
from typing import Any

import cog  # type: ignore[import-not-found]  # given by cogapp while it runs
from snippets import fenced

from npbench import contracts, hookspecs, registry, testing


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
    """Write the checks of solvers, data sets and metrics: their names and what they claim."""
    found = registry.installed()
    every = {
        "solver": [check for name in found.solvers for check in testing.check_solver(name)],
        "data set": [check for name in found.datasets for check in testing.check_dataset(name)],
        "metric": [check for name in found.metrics for check in testing.check_metric(name)],
    }
    for kind, shipped in every.items():
        cog.outl(f"\n| check of a {kind} | |\n|---|---|")
        for name, claim in sorted({check.name: check.claim for check in shipped}.items()):
            cog.outl(f"| `{name}` | {_escaped(claim)} |")
    cog.outl("")


def estimator(name: str) -> None:
    """Write the parameters and attributes of a solver's estimator, from its docstring."""
    solver = registry.installed().solver(name)
    described = contracts.resolve(solver.estimator)
    tags = ", ".join(f"`{tag}`" for tag in sorted(solver.tags)) or "none"
    made = f'`npbench.solver("{name}", ...)` is a `{described.__name__}`'
    cog.outl(f"\nIn Python, {made}; [tags](api.md#estimators): {tags}.")
    _table("parameter", _section(described, "Parameters"))
    cog.outl("\nAfter `fit`:")
    _table("attribute", _section(described, "Attributes"))
    cog.outl("")


def api(*names: str) -> None:
    """Write the docstrings of what is named as "module:name" or "module:Class.method"."""
    for name in names:
        module, _, path = name.partition(":")
        described = operator.attrgetter(path)(importlib.import_module(module))
        cog.outl(f"\n### {module}.{path}")
        fenced("text", path + _signature(described))
        cog.outl(_markdown(_section(described, "") + "\n").rstrip())
        _table("parameter", _section(described, "Parameters"))
        for heading in ("Returns", "Raises"):
            if entries := _section(described, heading):
                cog.outl(f"\n{heading}:\n")
                for kind, meaning in re.findall(r"^(\w.*)\n((?:    .*\n?)+)", entries, re.MULTILINE):
                    cog.outl(f"- `{kind}`: {_plain(' '.join(meaning.split()))}")
        if examples := _section(described, "Examples"):
            fenced("pycon", examples)
    cog.outl("")


def _signature(described: Any) -> str:
    """Return a signature as it is written, without the quotes of annotations that are not evaluated."""
    written = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(described)).replace("self, ", ""))
    return written.removesuffix(" -> None") if inspect.isclass(described) else written


def _section(described: Any, heading: str) -> str:
    """Return what stands below a heading of a numpydoc docstring, or before the first one."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(described) or "", flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[0::2], strict=True)).get(heading, "").strip()
    return f"{text}\n" if text else ""


def descriptions() -> None:
    """Write the parameters of each description, from their docstrings."""
    for description in (
        contracts.Solver,
        contracts.Dataset,
        contracts.DataFile,
        contracts.Original,
        contracts.Metric,
    ):
        cog.outl(f"\n### {description.__name__}")
        _fields(description)
    cog.outl("")


def fields(name: str) -> None:
    """Write the parameters of the class named as "module:Class"."""
    _fields(contracts.resolve(name))
    cog.outl("")


def generators() -> None:
    """Write the density and the parameters of each data set that is drawn, from the docstring of what draws it."""
    for name, dataset in sorted(registry.installed().datasets.items()):
        if dataset.source.startswith("drawn"):
            loader = contracts.resolve(dataset.load)
            cog.outl(f"\n### {name}\n")
            cog.outl(_markdown((inspect.getdoc(loader) or "").partition("\nParameters\n")[0].strip()))
            cog.outl(f"\nReference: {dataset.citation}. Positive: {dataset.positive}.")
            _fields(loader)
    cog.outl("")


def _markdown(docstring: str) -> str:
    """Return the text of a docstring with its formulas fenced."""

    def fence(block: re.Match[str]) -> str:
        lead = f"{block[1]}:\n\n" if block[1] else ""
        return f"{lead}```text\n{textwrap.dedent(block[2]).strip()}\n```\n\n"

    return re.sub(r"^(.*)::\n\n((?:    .*\n|\n(?=    ))+)\n", fence, _plain(docstring), flags=re.MULTILINE)


def _fields(described: Any) -> None:
    _table("field", _section(described, "Parameters"))


def _table(first: str, entries: str) -> None:
    """Write a table of the entries of a docstring: names, type, meaning."""
    found = re.findall(r"^(\*{0,2}\w[^:\n]*?)(?: : (.*))?\n((?:    .*\n?|\n(?=    ))+)", entries, re.MULTILINE)
    if found:
        cog.outl(f"\n| {first} | type | |\n|---|---|---|")
    for names, kind, meaning in found:
        called = ", ".join(f"`{name}`" for name in names.split(", "))
        cog.outl(f"| {called} | {_escaped(kind)} | {_escaped(' '.join(meaning.split()))} |")


def _escaped(text: str) -> str:
    """Return the text for a cell of a table, where a bar in code would end the cell, or keep its backslash."""

    def coded(code: re.Match[str]) -> str:
        return f"<code>{html.escape(code[1], quote=False).replace('|', '&#124;')}</code>"

    return re.sub(r"`([^`]*\|[^`]*)`", coded, _plain(text)).replace("|", r"\|")


def _plain(text: str) -> str:
    """Return the text with its roles and literals in the marks of Markdown."""
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")
