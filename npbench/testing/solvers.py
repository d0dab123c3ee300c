"""Selection of the checks for a solver's description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from npbench import registry
from npbench.contracts import Solver
from npbench.testing import solver_answers as answers
from npbench.testing import solver_claims as claims
from npbench.testing import solver_descriptions as descriptions
from npbench.testing import solver_inputs as inputs
from npbench.testing.check import Check, checks
from npbench.testing.solver_jobs import job


def check_solver(name: str) -> list[Check]:
    """Return the checks of the solver called ``name``, chosen by its tags.

    Parameters
    ----------
    name : str
        A name from ``npbench list solvers``.
    """
    solver = registry.installed().solver(name)
    return list(checks(_chosen(solver), solver, solver.expected_failures))


def _chosen(solver: Solver) -> Iterator[Callable[[Solver], None]]:
    tags = solver.tags
    yield from (descriptions.description, descriptions.light, descriptions.parameters, descriptions.settings)
    yield from (inputs.any_two_labels, inputs.one_class, inputs.few_samples, inputs.extreme_features, inputs.non_finite)
    yield inputs.unchanged_inputs
    yield from (inputs.sparse_equals_dense, inputs.sparse_forms) if "sparse" in tags else (inputs.sparse_is_refused,)
    yield from (answers.direction, answers.same_seed, answers.pickling, answers.honest_flags)
    yield claims.honest_claims
    if "stochastic" not in tags:
        yield answers.row_order
        if "convex" in tags:
            yield answers.one_optimum
            yield claims.same_optimum
    if "linear" in tags and "kernel" not in tags:
        yield answers.linear_scores
    yield descriptions.scikit_learn
    yield from (partial(job, problem=problem) for problem in solver.solves)
