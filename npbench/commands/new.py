"""``npbench new``: writes the package of a plugin that works, to be changed into one's own."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from npbench import registry
from npbench.errors import Exit, RequestError, unknown_name

# Template by path in the package; the plugin's own files lie in a folder named like its kind.
OF_ALL = {
    "pyproject.toml": "pyproject.toml.txt",
    "tests/test_$name.py": "test_plugin.py.txt",
    "$package/py.typed": None,
}
OF_KIND = {
    "solver": {
        "$package/__init__.py": "solver/__init__.py.txt",
        "$package/estimator.py": "solver/estimator.py.txt",
        "$package/conf/solver/$name.yaml": "solver/settings.yaml.txt",
    },
    "dataset": {
        "$package/__init__.py": "dataset/__init__.py.txt",
        "$package/loader.py": "dataset/loader.py.txt",
    },
    "metric": {
        "$package/__init__.py": "metric/__init__.py.txt",
        "$package/figure.py": "metric/figure.py.txt",
    },
}


def run(words: Sequence[str]) -> Exit:
    """Carry out ``npbench new`` and return the exit code 0.

    Raises
    ------
    RequestError
        If the kind is unknown, the name taken or no name, or the folder exists.
    """
    parser = ArgumentParser(
        "npbench new",
        description="Write the package of a plugin that works and passes its tests, to be changed into your own.",
    )
    parser.add_argument("kind", metavar="KIND", help=", ".join(OF_KIND))
    parser.add_argument("name", metavar="NAME", help="in small letters, as users will type it: KIND=NAME")
    parser.add_argument("--into", metavar="FOLDER", type=Path, default=Path(), help="where (default: here)")
    options = parser.parse_args(list(words) or ["--help"])
    folder = write(options.kind, options.name, options.into)
    print(
        f"Wrote {folder}. To install it and see that it works:\n"
        f'  pip install -e "{folder}[test]"\n'
        f"  npbench check {options.kind} {options.name}\n"
        f'  pytest "{folder}"'
    )
    return Exit.OK


def write(kind: str, name: str, into: Path) -> Path:
    """Write the package of a plugin that provides one thing, and return its folder.

    Parameters
    ----------
    kind : {"solver", "dataset", "metric"}
        What it provides.
    name : str
        What that is called.
    into : Path
        Where the folder ``npbench-<name>`` is made; it is made itself if need be.

    Raises
    ------
    RequestError
        If the kind is unknown, the name taken or no name, or the folder exists or cannot be written.
    """
    if kind not in OF_KIND:
        raise RequestError(unknown_name("kind of plugin", kind, OF_KIND))
    _require_free(kind, name)
    folder = into / f"npbench-{name.replace('_', '-')}"
    if folder.exists():
        raise RequestError(f"{folder} exists: choose another name, or another folder with --into.")
    try:
        _write(kind, _words(kind, name), folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # half of it would be in the way of the next try
        message = f"{folder} cannot be written: {error.strerror or error}. Name another place with --into."
        raise RequestError(message) from error
    return folder


def _write(kind: str, words: Mapping[str, str], folder: Path) -> None:
    templates = resources.files("npbench.commands") / "templates"
    for path, template in {**OF_ALL, **OF_KIND[kind]}.items():
        target = folder / Template(path).substitute(words)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (templates / template).read_text(encoding="utf-8") if template else ""
        target.write_text(Template(text).substitute(words), encoding="utf-8")


def _require_free(kind: str, name: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise RequestError(
            f"{name!r} is no name for a {kind}: use small letters, digits and underscores, as in nearest_mean."
        )
    found = registry.installed()
    if name in getattr(found, f"{kind}s"):
        raise RequestError(
            f"There is a {kind} {name!r} already, from {found.provider(kind, name)}: choose another name."
        )
    if importlib.util.find_spec(f"npbench_{name}"):
        raise RequestError(f"There is a package npbench_{name} already: choose another name.")


def _words(kind: str, name: str) -> Mapping[str, str]:
    spaced = name.replace("_", " ")
    return {
        "kind": kind,
        "name": name,
        "package": f"npbench_{name}",
        "distribution": f"npbench-{name.replace('_', '-')}",
        "class_name": spaced.title().replace(" ", ""),
        "title": spaced.capitalize(),
    }
