"""Fill a request from a composed configuration: resolve every name and check every value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from npbench import registry
from npbench.config.run_settings import RunSettings, check_settings
from npbench.config.solver_settings import solver_settings
from npbench.contracts import Dataset, Metric, Solver, resolve
from npbench.errors import RequestError, collect_errors, unknown_name
from npbench.evaluation.job import CHOICES, Request
from npbench.problem import PROBLEMS, Problem
from npbench.signature import fields
from npbench.values import is_whole

T = TypeVar("T")
SettingsOf: TypeAlias = Callable[[Solver, Mapping[str, Any], Mapping[str, Any]], Any]

SECTIONS = ("solver", "dataset", "problem", "protocol", "execution")
DATASET_DEFAULTS = ("test_rows", "n_train")  # null in a protocol: the value in the description of the data set
MAX_SEED = 2**63 - 1  # the largest that a record can hold
MAX_REPEATS = 10**6


def check(config: Mapping[str, Any], settings_of: SettingsOf = solver_settings) -> Request:
    """Resolve every name of a plain configuration and check every value; raise RequestError with every fault."""
    return _Check(config, settings_of).request()


def check_all(configs: Sequence[Mapping[str, Any]]) -> tuple[list[Request], RunSettings]:
    """Check the configurations of one run and the settings they share; raise RequestError with each fault once."""
    settings_of = _once_each(solver_settings)
    checks = [partial(check, config, settings_of) for config in configs]
    *requests, settings = collect_errors([*checks, partial(check_settings, configs)])
    measured = {metric.name for request in requests for metric in request.metrics}
    if settings.objective is not None and settings.objective not in measured:
        raise RequestError(
            unknown_name("metric", settings.objective, measured).replace(":", " in execution.objective:", 1)
        )
    return requests, settings


def _once_each(settings_of: SettingsOf) -> SettingsOf:
    """Check equal settings of a solver once: combinations of a sweep share most of them."""
    known: dict[str, Any] = {}

    def once(solver: Solver, section: Mapping[str, Any], of_problem: Mapping[str, Any]) -> Any:
        key = repr((solver.name, section, of_problem))
        if key not in known:
            known[key] = settings_of(solver, section, of_problem)
        return known[key]

    return once


@dataclass
class _Check:
    """One configuration and its faults."""

    config: Mapping[str, Any]
    settings_of: SettingsOf
    faults: list[str] = field(default_factory=list)

    def request(self) -> Request:
        config = self.config
        self._known_keys()
        problem = self._attempt(self._problem)
        solver = self._attempt(lambda: registry.installed().solver(self._name("solver")))
        dataset = self._attempt(lambda: registry.installed().dataset(self._name("dataset")))
        protocol = self._attempt(partial(self._protocol, dataset))
        chosen = solver and self._attempt(
            partial(self.settings_of, solver, self._section("solver"), problem.parameters() if problem else {})
        )
        params, search = chosen or ({}, {})
        dataset_params = self._dataset_params(dataset) if dataset else {}
        metrics = self._metrics(problem)
        self._solvable(solver, problem)
        self._whole("seed", 0, MAX_SEED)
        self._whole("repeats", 1, MAX_REPEATS)
        features = {key: self._one_of(key, choices) for key, choices in CHOICES.items()}
        if protocol and protocol.name == "official" and features["missing"] == "drop":
            self.faults.append(
                "protocol=official counts the rows of the whole data set, but missing=drop removes some: use "
                "missing=impute or protocol=holdout."
            )
        if features["missing"] == "keep" and solver and chosen:
            self._takes_missing(solver, params, features["preprocess"])
        if self.faults or solver is None or dataset is None or problem is None or protocol is None:
            raise RequestError(*self.faults)
        return Request(
            solver=solver,
            params=params,
            search=search,
            dataset=dataset,
            dataset_params=dataset_params,
            problem=problem,
            protocol=protocol,
            metrics=metrics,
            seed=config["seed"],
            repeats=config["repeats"],
            features=features,
            method=config.get("method", ""),
        )

    def _attempt(self, step: Callable[[], T]) -> T | None:
        try:
            return step()
        except RequestError as error:
            self.faults += error.faults
            return None

    def _known_keys(self) -> None:
        known = (*SECTIONS, "seed", "repeats", *CHOICES, "metrics", "results", "method")
        self.faults += [unknown_name("setting", str(key), known) for key in self.config if key not in known]

    def _section(self, group: str) -> dict[str, Any]:
        section = self.config.get(group)
        return section if isinstance(section, dict) else {}

    def _name(self, group: str) -> str:
        if group in self.config and self.config[group] is None:
            raise RequestError  # an unknown choice, reported when it was composed
        name = self._section(group).get("name")
        if not isinstance(name, str):
            raise RequestError(f"No {group} is chosen: add {group}=NAME (`npbench --help` lists the names).")
        return name

    def _settings(self, group: str) -> dict[str, Any]:
        return {str(key): value for key, value in self._section(group).items() if key != "name"}

    def _whole(self, key: str, at_least: int, at_most: int) -> None:
        value: Any = self.config.get(key)
        if not is_whole(value, at_least) or value > at_most:
            self.faults.append(f"{key} is {value!r}: expected a whole number from {at_least} to {at_most}.")

    def _one_of(self, key: str, choices: Sequence[str]) -> Any:
        value = self.config.get(key)
        if value not in list(choices):
            self.faults.append(f"{key} is {value!r}: expected {', '.join(choices[:-1])} or {choices[-1]}.")
        return value

    def _problem(self) -> Problem:
        return self._dataclass("problem", PROBLEMS, self._settings("problem"))

    def _protocol(self, dataset: Dataset | None) -> Any:
        from npbench.evaluation.protocols import PROTOCOLS

        settings = self._settings("protocol")
        if dataset:
            missing = [name for name in DATASET_DEFAULTS if name in settings and settings[name] is None]
            settings |= {name: getattr(dataset, name) for name in missing}
        return self._dataclass("protocol", PROTOCOLS, settings)

    def _dataclass(self, group: str, table: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
        """Build the problem or protocol that a section names."""
        name = self._name(group)
        if name not in table:
            raise RequestError(unknown_name(group, name, table))
        known = fields(table[name])
        wrong = [key for key in settings if key not in known]
        if wrong:
            keys = [f"{group}.{name}" for name in known]
            raise RequestError(*(unknown_name("setting", f"{group}.{key}", keys) for key in wrong))
        value = table[name](**settings)
        if value.faults():
            raise RequestError(*value.faults())
        return value

    def _metrics(self, problem: Problem | None) -> list[Metric]:
        wanted, known = self.config.get("metrics"), registry.installed().metrics
        if wanted is None:
            return [m for m in known.values() if problem and (m.problems is None or problem.name in m.problems)]
        names = [wanted] if isinstance(wanted, str) else wanted
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            self.faults.append(f"metrics is {wanted!r}: expected null or a list of names, as in metrics=[p_fa,p_nd].")
            return []
        found = [self._attempt(partial(registry.installed().metric, name)) for name in dict.fromkeys(names)]
        metrics = [metric for metric in found if metric]
        for metric in metrics:
            if problem and metric.problems is not None and problem.name not in metric.problems:
                self.faults.append(
                    f"The metric {metric.name!r} applies to {', '.join(metric.problems)}, not to {problem.name}: "
                    "remove it from metrics."
                )
        return metrics

    def _takes_missing(self, solver: Solver, params: Mapping[str, Any], preprocess: str) -> None:
        from sklearn.utils import get_tags

        estimator = resolve(solver.estimator)(**params)
        if not get_tags(estimator).input_tags.allow_nan:
            self.faults.append(f"solver={solver.name} takes no missing values: use missing=impute or missing=drop.")
        if preprocess == "unit_norm":
            self.faults.append("preprocess=unit_norm takes no missing values: use another, or missing=impute.")

    def _solvable(self, solver: Solver | None, problem: Problem | None) -> None:
        if not solver or not problem or problem.name in solver.solves:
            return
        others = sorted(s.name for s in registry.installed().solvers.values() if problem.name in s.solves)
        self.faults.append(
            f"solver={solver.name} solves {', '.join(solver.solves)}, not {problem.name}. Solvers for {problem.name}: "
            f"{', '.join(others) or 'none is installed'}."
        )

    def _dataset_params(self, dataset: Dataset) -> dict[str, Any]:
        from npbench.data import parameter_faults

        params = self._settings("dataset")
        self.faults += self._attempt(partial(parameter_faults, dataset, params)) or []
        return params
