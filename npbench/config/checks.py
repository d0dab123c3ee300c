"""Fill a request from a composed configuration: resolve every name and check every value."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from npbench import registry
from npbench.config.run_settings import RunSettings, check_settings
from npbench.config.solver_settings import solver_settings
from npbench.contracts import GIVEN_NAME, Dataset, Metric, Solver
from npbench.data.loading import takes_missing
from npbench.errors import RequestError, collect_errors, unknown_name
from npbench.evaluation.job import CHOICES, Request
from npbench.problem import PROBLEMS, Problem
from npbench.signature import built, signature
from npbench.values import is_whole

T = TypeVar("T")

SECTIONS = ("solver", "dataset", "problem", "protocol", "execution")
KEYS = (*SECTIONS, "seed", "repeats", *CHOICES, "metrics", "results", "method")
MAX_SEED = 2**63 - 1  # the largest that a record can hold
MAX_REPEATS = 10**6
MAX_NAME_LENGTH = 80  # of a data set, in tables and figures


def check_all(configs: Sequence[Mapping[str, Any]]) -> tuple[list[Request], RunSettings]:
    """Check the configurations of one run and the settings they share; raise RequestError with each fault once."""
    known: dict[str, Any] = {}  # settings of a solver that other configurations have too

    def once(*arguments: Any) -> Any:
        if (text := repr(arguments)) not in known:
            known[text] = solver_settings(*arguments)
        return known[text]

    checks: list[Callable[[], Any]] = [partial(check, config, once) for config in configs]
    *requests, settings = collect_errors([*checks, partial(check_settings, configs)])
    measured = {metric.name for request in requests for metric in request.metrics}
    if settings.objective is not None and settings.objective not in measured:
        fault = unknown_name("metric", settings.objective, measured)
        raise RequestError(fault.replace(":", " in execution.objective:", 1))
    return requests, settings


def check(config: Mapping[str, Any], settings_of: Callable[..., Any] = solver_settings) -> Request:
    """Resolve every name of a plain configuration and check every value; raise RequestError with every fault."""
    from npbench.evaluation.protocols import PROTOCOLS

    faults = [unknown_name("setting", str(key), KEYS) for key in config if key not in KEYS]

    def attempt(step: Callable[..., T], *arguments: Any) -> T | None:
        try:
            return step(*arguments)
        except RequestError as error:
            faults.extend(error.faults)
            return None

    found = registry.installed()
    problem: Problem | None = attempt(_built, config, "problem", PROBLEMS)
    solver = attempt(lambda: found.solver(_name(config, "solver")))
    dataset = attempt(lambda: found.dataset(_name(config, "dataset")))
    protocol = attempt(_built, config, "protocol", PROTOCOLS)
    of_problem = problem.parameters() if problem else {}
    divided = solver and attempt(settings_of, solver, _section(config, "solver"), of_problem)
    params, search = divided or ({}, {})
    dataset_params = dataset and attempt(_dataset_params, config, dataset)
    metrics = attempt(_metrics, config, problem)
    attempt(_require_solvable, solver, problem)
    for key, least, most in (("seed", 0, MAX_SEED), ("repeats", 1, MAX_REPEATS)):
        value: Any = config.get(key)
        if not is_whole(value, least) or value > most:
            faults.append(f"{key} is {value!r}: expected a whole number from {least} to {most}.")
    features: dict[str, Any] = {key: config.get(key) for key in CHOICES}
    for key, choices in CHOICES.items():
        if features[key] not in list(choices):
            faults.append(f"{key} is {features[key]!r}: expected {', '.join(choices[:-1])} or {choices[-1]}.")
    if protocol and protocol.name == "official" and features["missing"] == "drop":
        faults.append("protocol=official needs all rows, not missing=drop: use missing=impute or protocol=holdout.")
    if features["missing"] == "keep" and solver and divided:
        faults += _missing_value_faults(solver, params, features["preprocess"])
    if faults or solver is None or dataset is None or problem is None or protocol is None:
        typed = config.get("method", solver.name) if solver else ""
        faults = [fault.replace(f"solver={solver.name}", f"solver={typed}") for fault in faults] if solver else faults
        raise RequestError(*faults)  # none for an unknown choice, reported when it was composed
    return Request(
        solver=solver,
        params=params,
        search=search,
        dataset=dataset,
        dataset_params=dataset_params or {},
        problem=problem,
        protocol=protocol,
        metrics=metrics or [],
        seed=config["seed"],
        repeats=config["repeats"],
        features=features,
        method=config.get("method", ""),
    )


def _section(config: Mapping[str, Any], group: str) -> dict[str, Any]:
    section = config.get(group)
    return section if isinstance(section, dict) else {}


def _name(config: Mapping[str, Any], group: str) -> str:
    if group in config and config[group] is None:
        raise RequestError  # an unknown choice, reported when it was composed
    name = _section(config, group).get("name")
    if not isinstance(name, str):
        raise RequestError(f"No {group} is chosen: add {group}=NAME (`npbench --help` lists the names).")
    return name


def _built(config: Mapping[str, Any], group: str, table: Mapping[str, Any]) -> Any:
    return built(group, table, _name(config, group), _section(config, group))


def _dataset_params(config: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    from npbench.data.loading import parameter_faults

    params = {str(key): value for key, value in _section(config, "dataset").items() if key != "name"}
    name = params.pop(GIVEN_NAME, None)
    if name is not None:
        params[GIVEN_NAME] = name
    faults = parameter_faults(dataset, params)
    if name is not None and not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= MAX_NAME_LENGTH):
        faults.append(f"dataset.name is {name!r}: expected text of up to {MAX_NAME_LENGTH} printable characters.")
    elif name in registry.installed().datasets:
        faults.append(f"dataset.name is {name!r}, which is another data set: choose another name.")
    if faults:
        raise RequestError(*faults)
    return params


def _metrics(config: Mapping[str, Any], problem: Problem | None) -> list[Metric]:
    wanted, found = config.get("metrics"), registry.installed()
    if wanted is None:
        return [m for m in found.metrics.values() if problem and (m.problems is None or problem.name in m.problems)]
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RequestError(f"metrics is {wanted!r}: expected null or a list of names, as in metrics=[p_fa,p_nd].")

    def applicable(name: str) -> Metric:
        metric = found.metric(name)
        if problem and metric.problems is not None and problem.name not in metric.problems:
            only = ", ".join(metric.problems)
            raise RequestError(f"The metric {name!r} applies to {only}, not to {problem.name}: remove it from metrics.")
        return metric

    return collect_errors([partial(applicable, name) for name in dict.fromkeys(names)])


def _require_solvable(solver: Solver | None, problem: Problem | None) -> None:
    if not solver or not problem or _solves(solver, problem):
        return
    others = ", ".join(sorted(s.name for s in registry.installed().solvers.values() if _solves(s, problem)))
    asked = ", ".join(f"{name}={value}" for name, value in problem.parameters().items())
    fault = f"solver={solver.name} does not solve problem={problem.name} with {asked}"
    raise RequestError(f"{fault}. Solvers for it: {others or 'none is installed'}.")


def _solves(solver: Solver, problem: Problem) -> bool:
    """Return whether a solver trains for all parameters of a problem; one that trains for none is a baseline."""
    asked, known = problem.parameters(), problem.name in solver.solves
    return known and (len(asked) == 1 or len(signature(solver.estimator).unknown(asked)) in (0, len(asked)))


def _missing_value_faults(solver: Solver, params: Mapping[str, Any], preprocess: str) -> Iterator[str]:
    if not takes_missing(solver, params):
        yield f"solver={solver.name} takes no missing values: use missing=impute or missing=drop."
    if preprocess == "unit_norm":
        yield "preprocess=unit_norm takes no missing values: use another, or missing=impute."
