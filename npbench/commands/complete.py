"""Words that the Tab key completes: commands, options, settings and names. Imports neither Hydra nor a solver."""

import contextlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from npbench.commands.catalogue import KINDS
from npbench.config.files import config_dir, content, group_files, merged_choice
from npbench.problem import PROBLEMS
from npbench.registry import installed
from npbench.signature import fields

FLAGS = ("-m", "--cfg", "--config-dir", "--help", "--multirun", "--version")
WITH_SETTINGS = ("fit", "plan", "report", "splits", "verify")
# Words after a command and ``words`` that are neither settings nor options; other commands take files, which the shell
# completes.
WORDS: dict[str, Callable[[Sequence[str]], Iterable[str]]] = {
    "list": lambda words: [f"{kind}s" for kind in KINDS],
    "info": lambda words: [name for kind in KINDS.values() for name in kind.found()],
    "data": lambda words: _names("dataset") if words else ("list", "fetch", "verify", "path", "clean"),
    "new": lambda words: () if words else ("solver", "dataset", "metric"),
    "check": lambda words: _names(words[0]) if words else ("solver", "dataset", "metric", "plugin"),
}


def print_words(shell: str, commands: Mapping[str, str]) -> None:
    """Print what may stand in place of the last word of the line in ``COMP_LINE``; nothing where that is unknown."""
    with contextlib.suppress(Exception):  # an error would be printed into the user's prompt
        found = sorted(words_for(os.environ["COMP_LINE"], {**installed().commands, **commands}))
        print(("\n" if shell == "fish" else " ").join(found))


def words_for(line: str, commands: Mapping[str, str]) -> set[str]:
    """Return the words that complete a line, before the shell filters them; ``commands`` has the module of each."""
    typed = line.split()
    last = "" if line[-1:].isspace() else typed.pop()
    before = typed[next((place + 1 for place, word in enumerate(typed) if Path(word).name == "npbench"), 1) :]
    command = next((word for word in before if word.isidentifier()), None)
    if before[-1:] == ["--experiment"]:
        return set(_names("experiment"))
    if last.startswith("-"):
        return _options(commands[command]) if command else set(FLAGS)
    if command is None or command in WITH_SETTINGS:
        return {*(() if before else commands), *_settings(before, last)}
    return set(WORDS[command](before[before.index(command) + 1 :]) if command in WORDS else ())


def _names(kind: str) -> Iterable[str]:
    return KINDS[kind].found() if kind in KINDS else ()


def _settings(before: Sequence[str], last: str) -> Iterator[str]:
    """Yield settings; after ``=``, the names of a choice, each after those of a sweep that are typed already."""
    key, equals, value = last.partition("=")
    group = key.lstrip("+").rpartition("/")[2]
    if equals:
        names = _names("metric" if group == "metrics" else group) or group_files(group)
        typed = value[: 1 + max(value.rfind(","), value.rfind("["))] or "[" * (group == "metrics")
        yield from (f"{key}={typed}{name}" for name in names)
        return
    plus = "+" * last.startswith("+")
    yield from (f"{plus}{name}=" for name in ("experiment", "solver", "dataset", "problem", "protocol", "execution"))
    chosen = dict(word.lstrip("+").split("=", 1) for word in before if "=" in word)
    yield from (f"{name}=" for name in content(config_dir() / "config.yaml") if name not in ("defaults", "hydra"))
    for group in ("execution", "protocol"):
        nodes = [content(path) for path in group_files(group).values()]
        yield from (f"{group}.{name}=" for node in nodes for name in node if name not in ("name", "defaults"))
    for problem in PROBLEMS.values():
        yield from (f"problem.{name}=" for name in fields(problem))
    section = merged_choice(chosen.get("solver", "np_svm").partition(",")[0], group_files("solver"))[1]
    for name in section.get("search") or ():
        yield from (f"solver.{name}=", f"solver.search.{name}=")
    yield from (f"solver.{name}=" for name in section if name != "search")


def _options(module: str) -> set[str]:
    """Return the options in the source of a command and of the modules beside it: an import takes longer than a Tab."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return set()
    source = Path(spec.origin).read_text(encoding="utf-8")
    beside = (Path(spec.origin).with_name(f"{name}.py") for name in re.findall(r"(?m)^from \S+ import (\w+)$", source))
    texts = [source, *(path.read_text(encoding="utf-8") for path in beside if path.is_file())]
    return {*re.findall(r'"(--[a-z][\w-]*)"', "".join(texts)), "--help"}
