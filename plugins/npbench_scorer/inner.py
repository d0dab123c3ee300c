"""Build, seed and fit the classifier inside a Scorer."""

import importlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Solver, resolve
from npbench.errors import RequestError, unknown_name
from npbench.estimators.binary import MissedBound
from npbench.registry import installed
from npbench.signature import signature

ADVICE = "Name a scikit-learn classifier by its import path, as in estimator='sklearn.ensemble.RandomForestClassifier'."


def build(estimator: Any, params: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier; raise a ValueError if it does not exist, or does not take a parameter or value.

    ``estimator`` and ``params`` are those of the Scorer; ``asked`` those of the problem, for a solver that takes them.
    """
    if isinstance(estimator, str):
        is_path = "." in estimator
        target = ":".join(estimator.rpartition(".")[::2]) if is_path else _description(estimator).estimator
        found = _imported(estimator) if is_path else resolve(target)
        if not hasattr(found, "__sklearn_tags__"):  # calling subprocess.Popen, say, would run what params name
            raise ValueError(_not_a_classifier(estimator))
        takes = signature(target)  # LightGBM takes any parameter, for its booster
        if not takes.is_open:
            _check_names(found.__name__, params, takes.defaults)
        # only solvers know what rho and q mean
        of_problem = {} if is_path else {name: value for name, value in asked.items() if name in takes.defaults}
        try:
            model = found(**{**of_problem, **params})
        except Exception as error:  # any class, any error
            raise ValueError(f"{estimator} cannot be built with params={dict(params)}: {error}.") from error
    else:
        # the user's instance stays as it is
        model = clone(estimator)
        _check_names(type(model).__name__, params, model.get_params())
        model.set_params(**params)
    gives_scores = hasattr(model, "decision_function") or hasattr(model, "predict_proba")
    if not (hasattr(model, "__sklearn_tags__") and is_classifier(model) and gives_scores):
        raise ValueError(_not_a_classifier(estimator))
    if hasattr(model, "_parameter_constraints"):  # as scikit-learn does in fit, but before any work
        model._validate_params()
    return model


def has_grid_search(estimator: Any) -> bool:
    """Return whether this is the name of a solver with a grid search of its own."""
    return isinstance(estimator, str) and "." not in estimator and _description(estimator).grid_search is not None


def _description(name: str) -> Solver:
    try:
        return installed().solver(name)
    except RequestError as error:
        raise ValueError(f"estimator={name!r} is neither an import path nor a solver. {ADVICE} {error}") from None


def _imported(path: str) -> type:
    parent, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(parent)
    except (Exception, SystemExit) as error:  # any module, any error; a script may end itself
        reason = f"{type(error).__name__}: {error}"
        package = path.partition(".")[0]
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == package
        hint = f"If it is the package {package}, install it: pip install {package}. " if is_absent else ""
        raise ValueError(f"estimator={path!r} cannot be imported: {reason}. {hint}{ADVICE}") from error
    if isinstance(found := getattr(module, name, None), type):
        return found
    there = [key for key, one in vars(module).items() if isinstance(one, type) and issubclass(one, ClassifierMixin)]
    raise ValueError(f"estimator={path!r}: {unknown_name(f'class of {parent},', name, there)} {ADVICE}")


def _check_names(owner: str, params: Mapping[str, Any], known: Iterable[str]) -> None:
    known = list(known)
    if unknown := [name for name in params if name not in known]:
        raise ValueError(" ".join(unknown_name(f"parameter of {owner},", name, known) for name in unknown))


def _not_a_classifier(estimator: Any) -> str:
    return f"estimator={estimator!r} is not a classifier with a decision_function or predict_proba. {ADVICE}"


def seed(model: Any, random: np.random.RandomState) -> None:
    """Draw a seed for each unset ``random_state`` of the classifier and of those nested in it."""
    for name, value in sorted(model.get_params().items()):
        if value is None and name.rpartition("__")[2] == "random_state":
            model.set_params(**{name: int(random.randint(np.iinfo(np.int32).max))})


def fit(model: Any, X: Any, y: np.ndarray) -> tuple[str | None, bool, bool]:
    """Fit the classifier; return its first convergence warning, whether it is about the bound, and whether others came.

    Those about convergence of the scores come first. Other warnings are passed on.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
    finally:
        unconverged = [warning for warning in caught if issubclass(warning.category, ConvergenceWarning)]
        for warning in caught:
            if warning not in unconverged:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    unconverged.sort(key=lambda warning: issubclass(warning.category, MissedBound))
    first = unconverged[0] if unconverged else None
    of_bound = first is not None and issubclass(first.category, MissedBound)
    return None if first is None else str(first.message), of_bound, len(caught) > len(unconverged)
