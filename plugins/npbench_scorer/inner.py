"""The classifier that gives the scores: found, built, seeded, fitted and asked."""

from __future__ import annotations

import difflib
import importlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import resolve
from npbench.errors import RequestError, unknown_name
from npbench.registry import installed

ADVICE = "Name a scikit-learn classifier by its import path, as in estimator='sklearn.ensemble.RandomForestClassifier'."


def build(estimator: Any, params: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier with the given parameters.

    Parameters
    ----------
    estimator : str or classifier
        Import path of a class, name of a solver, or an instance, which is cloned.
    params : mapping
        Parameters of the class, or those that differ from the instance's.
    asked : mapping
        Parameters of the problem, for a solver that takes them.

    Raises
    ------
    ValueError
        If there is no such class, it gives no scores, or takes no such parameter or value; the message says what to do.
    """
    if isinstance(estimator, str):
        found = _imported(estimator) if "." in estimator else _solver(estimator)
        takes = found._get_param_names() if hasattr(found, "_get_param_names") else list(params)
        _check_names(found.__name__, params, takes)
        of_problem = {} if "." in estimator else {name: value for name, value in asked.items() if name in takes}
        try:
            model = found(**{**of_problem, **params})
        except Exception as error:  # whatever someone's class raises
            raise ValueError(f"{estimator} cannot be built with params={dict(params)}: {error}.") from error
    else:
        model = clone(estimator)
        _check_names(type(model).__name__, params, model.get_params())
        model.set_params(**params)
    _check_classifier(model, estimator)
    return model


def _solver(name: str) -> type:
    try:
        found: type = resolve(installed().solver(name).estimator)
    except RequestError as error:
        raise ValueError(f"estimator={name!r} is neither an import path nor a solver. {ADVICE} {error}") from None
    return found


def _imported(path: str) -> type:
    parent, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(parent)
    except Exception as error:  # whatever importing someone's module raises
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"estimator={path!r} cannot be imported: {reason}. {ADVICE}") from error
    if isinstance(found := getattr(module, name, None), type):
        return found
    there = [
        key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, ClassifierMixin)
    ]
    near = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
    hint = f", but {near[0]}" if near else ""
    raise ValueError(f"estimator={path!r}: there is no class {name} in {parent}{hint}. {ADVICE}")


def _check_names(owner: str, params: Mapping[str, Any], known: Iterable[str]) -> None:
    known = list(known)
    if unknown := [name for name in params if name not in known]:
        raise ValueError(" ".join(unknown_name(f"parameter of {owner},", name, known) for name in unknown))


def _check_classifier(model: Any, estimator: Any) -> None:
    gives_scores = hasattr(model, "decision_function") or hasattr(model, "predict_proba")
    if not (hasattr(model, "__sklearn_tags__") and is_classifier(model) and gives_scores):
        raise ValueError(
            f"estimator={estimator!r} is no classifier with a decision_function or predict_proba, which give the "
            f"scores. {ADVICE}"
        )
    if hasattr(model, "_parameter_constraints"):  # what scikit-learn's own do in fit, done before any work
        model._validate_params()


def seed(model: Any, random: np.random.RandomState) -> None:
    """Draw a seed for the classifier, and for each one inside it, that has a ``random_state`` and no value for it."""
    unset = [
        name
        for name, value in sorted(model.get_params().items())
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    model.set_params(**{name: int(random.randint(np.iinfo(np.int32).max)) for name in unset})


def fit(model: Any, X: Any, y: np.ndarray) -> bool:
    """Fit the classifier, pass its warnings on, and return whether none of them was about convergence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def scores(model: Any, X: Any) -> np.ndarray:
    """Return the decision function, or the log-odds of the positive class where there is none.

    Log-odds tell probabilities apart that are nearly 1, where the next number below 1 is 1e-16 away. A probability of
    0, as of a forest whose trees agree, counts as the smallest normal number: their scores are tied, about 708 from 0.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    """
    if hasattr(model, "decision_function"):
        given = np.asarray(model.decision_function(X), dtype=np.float64)
    else:
        chance = np.maximum(np.asarray(model.predict_proba(X), dtype=np.float64), np.finfo(np.float64).tiny)
        given = np.log(chance[:, 1]) - np.log(chance[:, 0])
    if wrong := int(np.sum(~np.isfinite(given))):
        raise ValueError(
            f"{type(model).__name__} gave NaN or infinite scores to {wrong} of {len(given)} samples: scale the "
            "features, or give it other parameters."
        )
    return given
