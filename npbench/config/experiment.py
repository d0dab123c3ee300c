"""Experiments: YAML files in ``experiment/`` with the sweeps behind a table, and the function that makes it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.types import RunMode
from omegaconf import OmegaConf

from npbench.config.groups import COMPOSITION_ERRORS, reason
from npbench.config.words import as_word
from npbench.contracts import resolve
from npbench.errors import RequestError, unknown_name

GROUP = "experiment"
# the others are texts
FORMS: dict[str, type] = {"sweeps": dict, "crossed": dict, "settings": dict, "options": dict, "printed": list}
FUNCTIONS = ("advice", "table", "figure", "charts", "places")
OWN_FORM = (
    "An experiment of npbench holds title, settings and sweeps, written as on the command line, instead of overrides: "
    "settings: {dataset: heart} and sweeps: {all: {solver: 'gen,np_svm'}}."
)
WORDS: dict[type, str] = {dict: "keys and values", list: "a list", str: "a text"}


@dataclass(frozen=True)
class Experiment:
    """Sweeps that are run as one, and the table made of their records.

    An experiment is not part of a job's identity: jobs run by hand count as done here, and the reverse.

    Parameters
    ----------
    name : str
        Name of its file.
    title, paper, note : str
        Title; source; differences from the paper.
    sweeps : mapping of str to mapping
        Settings of each named sweep, as on the command line: ``{"solver": "np_svm,gen"}`` lists two values. Every
        combination of a sweep runs. In a file, each sweep runs with each mapping in ``crossed``, and null leaves
        out one of the experiment that the file extends.
    settings : mapping
        Settings common to all sweeps.
    advice, table, figure, charts : str, optional
        ``"module:function"``, called as ``function(records, printed, **options)`` with a Polars frame. It returns the
        sentences that a report begins with; a list of :class:`npbench.report.sheet.Sheet`, without which the ordinary
        summary is printed; a :class:`matplotlib.figure.Figure`; or a list of :class:`npbench.report.chart.Chart`.
    places : str, optional
        ``"module:function"``, called as ``function(records, keys, **options)`` with records of a run and of other
        solvers on the same splits, and the keys of the run's. It returns a list of Sheet on where the run stands.
    options : mapping
        Keyword arguments of these functions.
    printed : sequence of mapping
        Rows of the paper's numbers: the case (``rho: 0.1``), then numbers, alone or as ``[mean, standard deviation]``.
    """

    name: str
    title: str
    sweeps: Mapping[str, Mapping[str, Any]]
    paper: str = ""
    note: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    advice: str | None = None
    table: str | None = None
    figure: str | None = None
    charts: str | None = None
    places: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    printed: Sequence[Mapping[str, Any]] = ()

    def command_lines(self, typed: Sequence[str] = ()) -> list[list[str]]:
        """Return the settings of each sweep as words of a command line; those ``typed`` follow, and win."""
        every = [{**self.settings, **sweep} for sweep in self.sweeps.values()]
        lines = [[f"{key}={v if isinstance(v, str) else as_word(v)}" for key, v in one.items()] for one in every]
        for word in typed:
            lines = _with_typed(lines, word)
        return lines


def _with_typed(lines: list[list[str]], word: str) -> list[list[str]]:
    """Append a setting to each sweep; solvers and data that some name run in those, others where none has settings."""
    key, _, value = word.partition("=")
    if key not in ("dataset", "solver"):
        return [[*line, word] for line in lines]
    given = [{name: text for name, _, text in (one.partition("=") for one in line)} for line in lines]
    named = [settings.get(key, "").replace(" ", "").split(",") for settings in given]
    known = set().union(*named)
    bare = [not any(name.startswith(f"{key}.") for name in settings) for settings in given]
    # others may lack the settings that a sweep gives to its own
    others = [one or not any(bare) for one in bare]
    kept = [
        [one for one in value.split(",") if one in names or (fits and one not in known)]
        for names, fits in zip(named, others, strict=True)
    ]
    return [[*line, f"{key}={','.join(some)}"] for line, some in zip(lines, kept, strict=True) if some]


def split_off(settings: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the name of the experiment that ``settings`` choose, if any, and the other settings."""
    chosen = [s for s in settings if s.removeprefix("+").startswith(f"{GROUP}=")]
    names = [name for setting in chosen for name in setting.partition("=")[2].split(",")]
    if len(names) > 1:
        raise RequestError(f"{' '.join(chosen)} names {len(names)} experiments: run one after the other.")
    return (names[0] if names else None), [s for s in settings if s not in chosen]


def load(loader: ConfigLoader, name: str, settings: Sequence[str] = (), config_name: str = "config") -> Experiment:
    """Read an experiment from Hydra's search path and check its form; its settings are checked when composed."""
    search_path = [s for s in settings if s.startswith("hydra.searchpath=")]
    known = loader.get_group_options(GROUP, config_name=config_name, overrides=search_path)
    if name not in known:
        raise RequestError(unknown_name(GROUP, name, known))
    try:
        config = loader.load_configuration(f"{GROUP}/{name}", search_path, run_mode=RunMode.RUN)
    except COMPOSITION_ERRORS as error:
        hint = f" {OWN_FORM}" if "override" in (why := reason(error)) else ""
        raise RequestError(f"The experiment {name!r} cannot be read: {why}{hint}") from error
    if GROUP not in config and len(config) > 1:  # one key is `hydra`
        raise RequestError(f"The experiment {name!r} has `# @package _global_`: remove that line. {OWN_FORM}")
    return check(name, OmegaConf.to_container(config, resolve=False).get(GROUP))  # type: ignore[union-attr]


def check(name: str, node: Any) -> Experiment:
    """Return the experiment described by the content of a file; raise RequestError with every fault of its form."""
    faults = list(_faults(node)) if isinstance(node, dict) else ["expected keys and values"]
    if faults:
        raise RequestError(*(f"The experiment {name!r} is malformed: {fault}." for fault in faults))
    found = {key: value for key, value in node.items() if value is not None}
    parts = [found.pop("sweeps"), found.pop("crossed", {"": {}})]
    used = [[(key, part) for key, part in several.items() if part is not None] for several in parts]
    sweeps = {f"{one} {other}".strip(): {**sweep, **more} for (one, sweep), (other, more) in itertools.product(*used)}
    return Experiment(name=name, sweeps=sweeps, **found)


def _faults(node: Mapping[str, Any]) -> Iterator[str]:
    known = ["crossed", *(f.name for f in fields(Experiment) if f.name != "name")]
    yield from (unknown_name("key", str(key), known).removesuffix(".") for key in node if key not in known)
    yield from (f"{key} is missing" for key in ("title", "sweeps") if not node.get(key))
    for key in (key for key in known if node.get(key)):
        form = FORMS.get(key, str)
        if not isinstance(node[key], form):
            yield f"{key} is {node[key]!r}, expected {WORDS[form]}"
        elif key in FUNCTIONS:
            yield from _unfit(key, node[key], node.get("options"))
        elif key in ("sweeps", "crossed", "printed"):
            parts = node[key].values() if form is dict else node[key]
            wrong = (part for part in parts if not isinstance(part, dict | None))
            yield from (f"{key} has {part!r}, expected keys and values" for part in wrong)


def _unfit(key: str, target: str, options: Any) -> Iterator[str]:
    try:
        parameters = signature(resolve(target))
    except Exception as error:  # whatever importing someone's module raises
        yield f"{key}={target} cannot be used ({type(error).__name__}: {error}); name a function as module:function"
        return
    try:
        parameters.bind([], [], **(options if isinstance(options, dict) else {}))
    except TypeError as error:
        yield f"options do not fit {target}: {error}"
