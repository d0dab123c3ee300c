"""Experiments: files in ``conf/experiment`` that name what a table of a paper was made of, and what makes it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import TYPE_CHECKING, Any

from hydra.core.config_loader import ConfigLoader
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from npbench.config.compose import compose
from npbench.contracts import resolve
from npbench.errors import RequestError, unknown_name

if TYPE_CHECKING:
    from omegaconf import DictConfig

GROUP = "experiment"
FORMS: dict[str, type] = {"sweeps": dict, "settings": dict, "options": dict, "printed": list}  # the others are texts
WORDS: dict[type, str] = {dict: "keys and values", list: "a list", str: "a text"}


@dataclass(frozen=True)
class Experiment:
    """Sweeps that are run as one, and the table made of their records.

    It has no part in the identity of a job: one that was run by hand counts as done here, and the other way round.

    Parameters
    ----------
    name : str
        Of its file.
    title, paper, note : str
        What it shows; where it is from; what differs from the paper.
    sweeps : mapping of str to mapping
        By a name of its own each, settings as they are written on the command line: ``{"solver": "np_svm,gen"}``
        means one after the other, and every combination of a sweep is run.
    settings : mapping
        Settings common to all sweeps.
    table, figure : str, optional
        ``"module:function"``, called as ``function(records, printed, **options)`` with a Polars frame; the one returns
        a list of :class:`npbench.report.sheet.Sheet`, the other a :class:`matplotlib.figure.Figure`. Without a
        table the ordinary summary is printed.
    options : mapping
        Keywords of these functions.
    printed : sequence of mapping
        The paper's figures, a row each: what it is about (``rho: 0.1``), then figures, alone or as
        ``[mean, standard deviation]``.
    """

    name: str
    title: str
    sweeps: Mapping[str, Mapping[str, Any]]
    paper: str = ""
    note: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    table: str | None = None
    figure: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    printed: Sequence[Mapping[str, Any]] = ()

    def command_lines(self) -> Iterator[list[str]]:
        """Yield the settings of each sweep as they are typed."""
        for sweep in self.sweeps.values():
            yield [f"{key}={typed(value)}" for key, value in {**self.settings, **sweep}.items()]


def typed(value: Any) -> str:
    """Return a value of YAML as it is written on the command line.

    Examples
    --------
    >>> typed("0.01,0.1"), typed(["geomspace", 0.01, 100, 5]), typed(None), typed(True)
    ('0.01,0.1', '[geomspace,0.01,100,5]', 'null', 'true')
    >>> typed({"C": [0.1, 1], "dual": None})
    '{C:[0.1,1],dual:null}'
    """
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{typed(part)}' for key, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(typed, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def split_off(settings: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the name of the experiment that ``settings`` choose, if any, and the other settings.

    Raises
    ------
    RequestError
        If they choose several.

    Examples
    --------
    >>> split_off(["+experiment=gasso_table3", "repeats=2"])
    ('gasso_table3', ['repeats=2'])
    """
    chosen = [s for s in settings if s.removeprefix("+").startswith(f"{GROUP}=")]
    names = [name for setting in chosen for name in setting.partition("=")[2].split(",")]
    if len(names) > 1:
        raise RequestError(f"{' '.join(chosen)} names {len(names)} experiments: run one after the other.")
    return (names[0] if names else None), [s for s in settings if s not in chosen]


def compose_experiment(
    loader: ConfigLoader, name: str, settings: Sequence[str], config_name: str = "config"
) -> tuple[list[DictConfig], Experiment | None, list[str]]:
    """Return the configuration of every combination of an experiment's sweeps.

    Parameters
    ----------
    loader : ConfigLoader
        Hydra's, with the search path in place.
    name : str
        Of the experiment.
    settings : sequence of str
        As typed; they win over those of the experiment, and may list several values.
    config_name : str
        Name of the primary configuration.

    Returns
    -------
    configs, experiment, faults : list of DictConfig, Experiment or None, list of str
        None where the experiment itself is at fault; the settings are looked at nevertheless.
    """
    try:
        experiment = load(loader, name, settings, config_name)
    except RequestError as error:
        _, faults = compose(loader, settings, multirun=True, config_name=config_name)
        return [], None, [*error.faults, *faults]
    configs: list[DictConfig] = []
    faults = []
    for line in experiment.command_lines():
        found, wrong = compose(loader, [*line, *settings], multirun=True, config_name=config_name)
        configs += found
        faults += wrong
    return configs, experiment, list(dict.fromkeys(faults))


def load(loader: ConfigLoader, name: str, settings: Sequence[str] = (), config_name: str = "config") -> Experiment:
    """Read an experiment from Hydra's search path and check its form; its settings are checked when composed.

    Raises
    ------
    RequestError
        If there is none of that name, or its file is malformed: one sentence for each fault.
    """
    search_path = [s for s in settings if s.startswith("hydra.searchpath=")]
    known = loader.get_group_options(GROUP, config_name=config_name, overrides=search_path)
    if name not in known:
        raise RequestError(unknown_name(GROUP, name, known))
    try:
        config = loader.load_configuration(f"{GROUP}/{name}", search_path, run_mode=RunMode.RUN)
        node = OmegaConf.to_container(config, resolve=False).get(GROUP)  # type: ignore[union-attr]
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        reason = " ".join(str(error.__cause__ or error).split())
        raise RequestError(f"The experiment {name!r} cannot be read: {reason}") from error
    return check(name, node)


def check(name: str, node: Any) -> Experiment:
    """Return the experiment that the content of a file describes.

    Raises
    ------
    RequestError
        With a sentence for each fault of its form.
    """
    faults = list(_faults(node)) if isinstance(node, dict) else ["it holds no keys and values"]
    if faults:
        raise RequestError(*(f"The experiment {name!r} is malformed: {fault}." for fault in faults))
    return Experiment(name=name, **{key: value for key, value in node.items() if value is not None})


def _faults(node: Mapping[str, Any]) -> Iterator[str]:
    known = [f.name for f in fields(Experiment) if f.name != "name"]
    yield from (unknown_name("key", str(key), known).removesuffix(".") for key in node if key not in known)
    yield from (f"{key} is missing" for key in ("title", "sweeps") if not node.get(key))
    for key in (key for key in known if node.get(key)):
        form = FORMS.get(key, str)
        if not isinstance(node[key], form):
            yield f"{key} is {node[key]!r}, and must hold {WORDS[form]}"
        elif key in ("table", "figure"):
            yield from _function_faults(key, node[key], node.get("options"))
        elif key in ("sweeps", "printed"):
            parts = node[key].values() if form is dict else node[key]
            wrong = [part for part in parts if not isinstance(part, dict)]
            yield from (f"{key} has {part!r} where keys and values must be" for part in wrong)


def _function_faults(key: str, target: str, options: Any) -> Iterator[str]:
    try:
        function = resolve(target)
        parameters = signature(function)
    except Exception as error:  # whatever importing someone's module raises
        yield f"{key}={target} cannot be used ({type(error).__name__}: {error}); name a function as module:function"
        return
    try:
        parameters.bind([], [], **(options if isinstance(options, dict) else {}))
    except TypeError as error:
        yield f"options do not suit {target}: {error}"
