"""``npbench new``: write a working plugin package as a starting point."""

import importlib.util
import keyword
import re
import shlex
import shutil
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template

from npbench import registry
from npbench.errors import Exit, RequestError, unknown_name

KINDS = ("solver", "dataset", "metric")  # folders of templates for the modules of the package
COMMON_FILES = {"pyproject.toml": "pyproject.toml.txt", "tests/test_$name.py": "test_plugin.py.txt"}


def run(words: Sequence[str]) -> Exit:
    """Write a package, and print how to install and test it."""
    parser = ArgumentParser(
        "npbench new",
        description="Write a working plugin package, with tests that pass, as a starting point for your own.",
    )
    parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("name", metavar="NAME", help="name that users will type, KIND=NAME, in lower case")
    parser.add_argument("--into", metavar="FOLDER", type=Path, default=Path(), help="parent folder (default: here)")
    options = parser.parse_args(list(words) or ["--help"])
    folder = write(options.kind, options.name, options.into)
    print(f"Wrote {folder}. Install and test it:\n  pip install -e {shlex.quote(f'{folder}[test]')}")
    print(f"  npbench check {options.kind} {options.name}\n  pytest {shlex.quote(str(folder))}")
    return Exit.OK


def write(kind: str, name: str, into: Path) -> Path:
    """Write the package of a plugin that provides one solver, data set or metric; return its folder."""
    if kind not in KINDS:
        raise RequestError(unknown_name("kind of plugin", kind, KINDS))
    _require_free(kind, name)
    folder = into / f"npbench-{name.replace('_', '-')}"
    if folder.exists():
        raise RequestError(f"{folder} exists: choose another name, or another folder with --into")
    try:
        _write(kind, name, folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # a partial package would block the next try
        message = f"cannot write {folder} ({error.strerror or error}): choose another place with --into"
        raise RequestError(message) from error
    return folder


def _write(kind: str, name: str, folder: Path) -> None:
    spaced = name.replace("_", " ")
    words = {
        "kind": kind,
        "name": name,
        "package": f"npbench_{name}",
        "distribution": f"npbench-{name.replace('_', '-')}",
        "class_name": spaced.title().replace(" ", ""),
        "title": spaced.capitalize(),
    }
    templates = resources.files("npbench.testing.commands") / "templates"
    files = {path: templates / template for path, template in COMMON_FILES.items()}
    files |= {f"$package/{one.name.removesuffix('.txt')}": one for one in (templates / kind).iterdir()}
    for path, template in files.items():
        target = folder / Template(path).substitute(words)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
    (folder / words["package"] / "py.typed").touch()


def _require_free(kind: str, name: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise RequestError(f"{name!r} is not a valid {kind} name: use a-z, 0-9 and underscores, as in nearest_mean")
    found = registry.installed()
    if name in getattr(found, f"{kind}s"):
        raise RequestError(f"{kind} {name!r} exists already, from {found.providers[kind, name]}: choose another name")
    if importlib.util.find_spec(f"npbench_{name}"):
        raise RequestError(f"package npbench_{name} exists already: choose another name")
