"""scikit-learn's estimator checks on every solver in this repository, and on the transformers of its plugins."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from grids import diagonal
from npbench import registry
from npbench_splitting.genes import GeneScore
from solver_variants import SLOW_VARIANTS, VARIANTS, estimators

# The checks fit tiny and degenerate samples.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*The threshold is empirical:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*share the largest score:UserWarning"),  # of a forest on few samples
    pytest.mark.filterwarnings("ignore:GenerativeNP. the Chebyshev bound is vacuous:UserWarning"),
]

# A part of the checks of a solver's first settings runs in every suite; other code paths share most of them.
FIRST = {name: several[:1] for name, several in VARIANTS.items()}
FURTHER = {name: several[1:] + SLOW_VARIANTS.get(name, []) for name, several in VARIANTS.items()}


WEIGHTS = [f"check_sample_weight_equivalence_on_{storage}_data" for storage in ("dense", "sparse")]
# Search steps end at a tolerance above that of the check: tests/estimators/test_sample_weight.py has a smaller one.
TOLERANT = {"NPSVM": "tol=1e-3", "QSVM": "tol=1e-3", "UzawaSVM": "tol=1e-3", "StochasticNP": "other random steps"}


def expected(estimator):
    return dict.fromkeys(WEIGHTS, TOLERANT[type(estimator).__name__]) if type(estimator).__name__ in TOLERANT else {}


def checks(estimator):
    """Yield all checks of an estimator, named faster than by scikit-learn's decorator, which prints it for each."""
    shown, failing = repr(estimator), expected(estimator)
    for case, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        marks = [pytest.mark.xfail(reason=failing[name])] if name in failing else []
        yield pytest.param(case, check, marks=marks, id=f"{shown}-{name}")


CHECKS = [*diagonal(map(checks, [*estimators(FIRST), GeneScore()]), every=16)]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.slow  # minutes together
@pytest.mark.parametrize("estimator", [*estimators(FURTHER), GeneScore(n_features_to_select=1)], ids=repr)
def test_scikit_learn_conventions_of_further_variants(estimator):
    # Those that fail at a tolerance may pass with these settings; the test of first settings is strict.
    check_estimator(estimator, expected_failed_checks=expected(estimator), on_fail="raise", on_skip=None)


def test_every_solver_is_checked():
    providers = registry.installed().providers
    shipped = {name for (kind, name), by in providers.items() if kind == "solver" and by.distribution == "npbench"}
    assert set(VARIANTS) == shipped
