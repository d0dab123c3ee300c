"""Claims at extreme scales and offsets: false ones are found, true ones, admissions and refusals pass."""

import pytest

from npbench.contracts import Solver
from npbench.testing.solver_answers import honest_claims, same_optimum


def described(name):
    return Solver(name="made_up", estimator=f"npbench_faulty:{name}", solves=("np",))


@pytest.mark.parametrize("name", ["Sound", "Certified", "RefusesHuge", "AdmitsHuge"])
def test_true_claims_admissions_and_refusals_pass(faulty_path, name):
    honest_claims(described(name))
    same_optimum(described(name))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("StaleObjective", r"times 1e\+07, .*objective_ is 0\.[0-9]+, but .* give 0\.[0-9]+"),
        ("StaleRates", r"times 1e\+07, .*surrogate_rates_ is 0\.[0-9]+, 0\.9, but .* give 0\.[0-9]+, 0\.0[0-9]+"),
        ("UnprovedRates", r"times 1, .*P_nd = 0, but .* has 0\.[0-9]+"),
        ("BoundBroken", r"times 1e\+07, .*surrogate P_fa .*rho=0\.05"),
        ("NaNWhenHuge", r"times 1e\+07, .*scores are NaN"),
        ("NaNClaimed", r"times 1, .*duality_gap_ is nan"),
    ],
)
def test_false_claim_is_found(faulty_path, name, sentence):
    with pytest.raises(AssertionError, match=sentence):
        honest_claims(described(name))


def test_true_claims_far_from_the_optimum_are_found(faulty_path):
    honest_claims(described("StopsEarly"))
    with pytest.raises(AssertionError, match=r"times 1e-08.*objective_"):
        same_optimum(described("StopsEarly"))
