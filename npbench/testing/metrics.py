"""Checks of metrics: finite values, the declared direction, invariances."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from npbench import registry
from npbench.contracts import Estimate, Metric, resolve
from npbench.problem import PROBLEMS
from npbench.records.fields import SCHEMA
from npbench.testing.check import Check, Skipped, checks, require, require_known
from npbench.testing.importing import light
from npbench.testing.samples import blobs

DIRECTIONS = ("lower", "higher", "none")
TAGS = ("decisions", "ranks")
NOT_APPLICABLE = "It gives NaN, as a metric may for a model without the quantity that it measures."


def check_metric(name: str) -> list[Check]:
    """Return the checks of the metric called ``name`` as in :func:`npbench.testing.check_solver`."""
    metric = registry.installed().metric(name)
    return list(checks(_chosen(metric), metric))


def _chosen(metric: Metric) -> Iterator[Callable[[Metric], None]]:
    yield from (description, light, figure, degenerate_scores, row_order)
    if metric.direction != "none":
        yield direction
    if "ranks" in metric.tags:
        yield ranks_alone
    if "decisions" in metric.tags:
        yield decisions_alone


def description(metric: Metric) -> None:
    """The description names a function that exists, a direction, known problems and tags, and no column of records."""
    require(metric.title, "It has no title: give one line for tables.")
    require(callable(resolve(metric.compute)), f"compute names {metric.compute!r}, which is not callable.")
    require(metric.direction in DIRECTIONS, f"direction is {metric.direction!r}: expected one of {DIRECTIONS}.")
    require_known("problem", metric.problems or (), PROBLEMS)
    require_known("tag", metric.tags, TAGS)
    columns = {metric.name, f"{metric.name}_low", f"{metric.name}_high"} & set(SCHEMA)
    require(not columns, f"{', '.join(columns)} is a column of every record: call the metric something else.")


def figure(metric: Metric) -> None:
    """Ordinary scores give a finite number, within its confidence limits if it has any."""
    value = computed(metric, *_scored())
    if isinstance(value, Estimate):
        require(value.low <= value.value <= value.high, f"It gives {value}: expected low <= value <= high.")
    else:
        is_number = isinstance(value, (float, int, np.number))
        require(is_number, f"It gives {value!r}: expected a float or an npbench.contracts.Estimate.")
    if math.isnan(_number(value)):
        raise Skipped(NOT_APPLICABLE)
    require(math.isfinite(_number(value)), f"It gives {value}: expected a finite number.")


def degenerate_scores(metric: Metric) -> None:
    """Equal, perfect and huge scores give a finite number, or are refused."""
    y, scores = _scored()
    ordinary = _number(computed(metric, y, scores))
    cases = {
        "scores all 0": np.zeros_like(scores),
        "scores all 1": np.ones_like(scores),
        "perfect scores": y.astype(float),
        "reversed scores": -y.astype(float),
        "scores of size 1e300": scores * 1e300,
        "scores in pairs of equal ones": np.round(scores),
    }
    for what, given in cases.items():
        try:
            with np.errstate(all="ignore"):
                value = computed(metric, y, given)
        except ValueError:
            continue
        good = math.isnan(ordinary) or math.isfinite(_number(value))
        require(good, f"For {what} it gives {value}: expected a finite number, or a ValueError that says why not.")
        is_ordered = not isinstance(value, Estimate) or value.low <= value.value <= value.high
        require(is_ordered, f"For {what} it gives {value}: expected low <= value <= high.")


def row_order(metric: Metric) -> None:
    """The order of the samples does not matter."""
    y, scores = _scored()
    order = np.random.default_rng(1).permutation(len(y))
    _require_equal(metric, (y, scores), (y[order], scores[order]), "of the same samples in another order")


def direction(metric: Metric) -> None:
    """Perfect scores are better than reversed ones, in its direction."""
    y, _ = _scored()
    perfect, reverse = (_number(computed(metric, y, sign * y.astype(float))) for sign in (1, -1))
    if math.isnan(perfect):
        raise Skipped(NOT_APPLICABLE)
    is_right = perfect < reverse if metric.direction == "lower" else perfect > reverse
    shown = f"It is {perfect:g} for perfect scores and {reverse:g} for reversed ones"
    require(is_right, f"{shown}, but {metric.direction} is declared better: correct direction, or the sign.")


def ranks_alone(metric: Metric) -> None:
    """An increasing transformation of the scores does not change it (tag ranks)."""
    y, scores = _scored()
    for what, given in {"shifted by 3": scores + 3.0, "cubed": scores**3, "halved": scores / 2}.items():
        _require_equal(metric, (y, scores), (y, given), f"of the scores {what}", "remove the tag ranks")


def decisions_alone(metric: Metric) -> None:
    """Only the signs of the scores matter (tag decisions)."""
    y, scores = _scored()
    other = np.sign(scores) * np.random.default_rng(2).uniform(0.5, 2.0, len(scores))
    _require_equal(metric, (y, scores), (y, other), "of other scores of the same signs", "remove the tag decisions")


def computed(metric: Metric, y: np.ndarray, scores: np.ndarray) -> Any:
    """Return the metric for the first problem that it applies to, with a logistic regression as the model."""
    problem = PROBLEMS[(metric.problems or tuple(PROBLEMS))[0]]()
    return resolve(metric.compute)(y, scores, problem=problem, estimator=_model())


@functools.cache
def _model() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(*blobs())


def _scored() -> tuple[np.ndarray, np.ndarray]:
    X, y = blobs(n=200)
    return y, X.sum(axis=1)


def _number(figure: Any) -> float:
    return float(figure.value if isinstance(figure, Estimate) else figure)


def _require_equal(metric: Metric, first: Any, second: Any, what: str, remedy: str = "correct it") -> None:
    one, other = (_number(computed(metric, *given)) for given in (first, second))
    is_same = np.isclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
    require(is_same, f"It is {one:g}, and {other:g} {what}, expected the same: {remedy}.")
