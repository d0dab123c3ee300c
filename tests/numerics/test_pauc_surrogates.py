"""Surrogates of the partial AUC against all orderings written out, conic and linear programs, and differences."""

import itertools
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.numerics.bundle import Planes, minimise
from npbench.numerics.pauc_metrics import ranks_within
from npbench.numerics.pauc_surrogates import StructuralRisk, threshold_within


def labels(m, n, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat([1, -1], [m, n]))


def over_all_orderings(y, scores, first, last, surrogate):
    """Maximise loss + difference of feature maps over all orderings of all samples; equations 11, 14 and 18.

    An ordering is a permutation of positives and negatives; for the tight surrogate the map is over a subset of
    ``last`` negatives, in any order, and the maximum is over all subsets.
    """
    positives, negatives = scores[y > 0], scores[y < 0]
    m, n, best = len(positives), len(negatives), -np.inf
    subsets = itertools.combinations(range(n), last) if surrogate == "tight" else [tuple(range(n))]
    for subset in subsets:
        some = negatives[list(subset)]
        # Only the places of the positives among the ranked negatives matter; each positive chooses its own.
        scale = 1 / (m * (last - first)) if surrogate == "tight" else 1 / (m * n)
        for order in itertools.permutations(range(len(some))):
            total = 0.0
            for i in range(m):
                values = []
                for r in range(len(some) + 1):
                    above = np.zeros((1, len(some)))
                    above[0, list(order[:r])] = 1.0
                    gained = scale * np.sum(above[0] * (some - positives[i]))
                    loss = above[0, list(order[first:last])].mean()  # 1 - partial AUC
                    values.append(loss / m + gained)
                total += max(values)
            best = max(best, total)
    return best


scores_of = st.sampled_from(["drawn", "coarse", "equal", "wide", "ranked well", "ranked badly"])


def drawn_scores(kind, y, seed):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=len(y))
    return {
        "drawn": s,
        "coarse": np.round(s),
        "equal": np.full(len(y), 0.7),
        "wide": 1e6 * s,
        "ranked well": s + 4.0 * y,
        "ranked badly": s - 4.0 * y,
    }[kind]


@given(st.data(), st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), scores_of)
@pytest.mark.parametrize("surrogate", ["tight", "naive"])
def test_risk_is_the_maximum_over_all_orderings(surrogate, data, seed, m, n, kind):
    y = labels(m, n, seed)
    last = data.draw(st.integers(1, n))
    first = data.draw(st.integers(0, last - 1))
    scores = drawn_scores(kind, y, seed)
    value, _ = StructuralRisk(y, first, last, surrogate)(scores)
    expected = over_all_orderings(y, scores, first, last, surrogate)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.data(), st.integers(0, 10**6), scores_of, scores_of)
@pytest.mark.parametrize("surrogate", ["tight", "naive"])
def test_gradient_is_a_subgradient_everywhere(surrogate, data, seed, kind, other):
    m, n = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 60))
    last = data.draw(st.integers(1, n))
    first = data.draw(st.integers(0, last - 1))
    y = labels(m, n, seed)
    risk = StructuralRisk(y, first, last, surrogate)
    here, there = drawn_scores(kind, y, seed), drawn_scores(other, y, seed + 1)
    (value, gradient), (elsewhere, _) = risk(here), risk(there)
    slack = 1e-9 * (1 + np.abs(gradient).sum() * max(np.abs(here).max(), np.abs(there).max()))
    assert elsewhere >= value + gradient @ (there - here) - slack
    assert gradient.sum() == pytest.approx(0.0, abs=1e-12 * (1 + np.abs(gradient).sum()))
    assert np.all(gradient[y > 0] <= 0)
    assert np.all(gradient[y < 0] >= 0)


def hinge_over_pairs(y, scores, first, last):
    ranked = np.sort(scores[y < 0])[::-1]
    return np.maximum(1 - scores[y > 0][:, None] + ranked[None, first:last], 0).mean()


@pytest.mark.parametrize("n", [20, 600, 3000])
@pytest.mark.parametrize(("first", "last"), [(0, 2), (0, 15), (1, 12), (0, 20)])
def test_tied_negatives_are_ranked_by_their_place_on_any_processor(n, first, last):
    """Sorting algorithms for other processors order ties differently."""
    y = np.tile([-1, -1, 1], n)[: n + n // 2 + 1]
    negative = np.flatnonzero(y < 0)
    for scores in (np.zeros(len(y)), np.where(np.arange(len(y)) % 7 == 0, -3.0, 1.0)):
        _, gradient = StructuralRisk(y, first, last)(scores)
        tied = negative[scores[negative] == scores[negative].max()]
        if len(tied) >= last:
            np.testing.assert_array_equal(np.flatnonzero(gradient * (y < 0)), tied[-last:])


@given(st.data(), st.integers(0, 10**6), scores_of)
def test_bounds_and_identities_of_the_paper(data, seed, kind):
    m, n = data.draw(st.integers(1, 30)), data.draw(st.integers(2, 50))
    last = data.draw(st.integers(1, n))
    first = data.draw(st.integers(0, last - 1))
    y = labels(m, n, seed)
    scores = drawn_scores(kind, y, seed)
    tight, naive = (StructuralRisk(y, first, last, name)(scores)[0] for name in ("tight", "naive"))
    hinge = hinge_over_pairs(y, scores, first, last)
    ranked, positives = np.sort(scores[y < 0])[::-1], scores[y > 0][:, None]
    penalty = np.maximum(ranked[None, :first] - positives, 0).sum() / (m * (last - first))
    slack = 1e-9 * (1 + n * np.abs(scores).max())
    # The surrogate bounds an area that counts ties as errors.
    strict = np.mean(positives > ranked[None, first:last])
    assert 1 - strict - slack <= tight <= hinge + penalty + slack
    assert 1 - strict - slack <= naive
    if first == 0:
        assert tight == pytest.approx(hinge, rel=1e-9, abs=slack)
    if first == 0 and last == n:
        assert naive == pytest.approx(tight, rel=1e-9, abs=slack)


def programme(X, y, first, last, C, surrogate):
    """Return min 1/2 ||w||^2 + C R by a program with a constraint for the largest sum of each number of scores."""
    w = cvxpy.Variable(X.shape[1])
    positives, negatives = X[y > 0] @ w, X[y < 0] @ w
    m, n = int(np.sum(y > 0)), int(np.sum(y < 0))
    most, weight, margin = (last, last - first, 1.0) if surrogate == "tight" else (n, n, n / (last - first))
    worst = cvxpy.Variable(m, nonneg=True)
    limits = []
    for r in range(1, most + 1):
        gain = margin * np.clip(r - first, 0, last - first)
        limits.append(worst >= gain + cvxpy.sum_largest(negatives, r) - r * positives)
    objective = 0.5 * cvxpy.sum_squares(w) + C / (m * weight) * cvxpy.sum(worst)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), limits)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


@pytest.mark.one_in(4)
@pytest.mark.parametrize("surrogate", ["tight", "naive"])
@pytest.mark.parametrize(("first", "last"), [(0, 12), (0, 4), (2, 6)])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_svm_matches_a_conic_solver(surrogate, first, last, C):
    rng, y = np.random.default_rng(5), labels(8, 12, 5)
    X = rng.normal(size=(20, 3)) + 0.9 * (y > 0)[:, None]
    X[:4] = X[4:8]  # duplicates
    solution = minimise(X, StructuralRisk(y, first, last, surrogate), C, tol=1e-8, atol=1e-9, max_iter=5000)
    assert solution.status == "converged"
    assert solution.objective == pytest.approx(programme(X, y, first, last, C, surrogate), rel=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_bounds_match_dual_values_with_many_planes(C, monkeypatch):
    """Recompute each bound in fractions: weak duality needs only shares of sum 1 and planes below the risk."""
    rng, y = np.random.default_rng(7), labels(30, 200, 7)
    X = rng.normal(size=(230, 3)) + 1.2 * (y > 0)[:, None]
    risk, counts, minimiser = StructuralRisk(y, 4, 20), [], Planes.minimiser

    def checked(self, C, accuracy):
        w, bound = minimiser(self, C, accuracy)
        shares = [Fraction(share) for share in self._shares[: self.count]]
        assert min(shares) >= 0
        offset = sum(share * Fraction(e) for share, e in zip(shares, self.offsets, strict=True)) / sum(shares)
        slope = [sum(s * Fraction(g) for s, g in zip(shares, column, strict=True)) for column in self.slopes.T]
        exact = Fraction(C) * offset - Fraction(C) ** 2 * sum(g * g for g in slope) / sum(shares) ** 2 / 2
        assert float(Fraction(bound) - exact) <= 1e-12 * C
        counts.append(self.count)
        return w, bound

    monkeypatch.setattr(Planes, "minimiser", checked)
    solution = minimise(X, risk, C, tol=1e-9)
    assert solution.status == "converged"
    assert max(counts) > 4 * X.shape[1]
    planes = solution.planes
    for w in [solution.w, *(rng.normal(size=(200, 3)) * rng.choice([1e-3, 1.0, 30.0], (200, 1)))]:
        value = risk(X @ w)[0]
        assert np.max(planes.offsets + planes.slopes @ w) <= value + 1e-12 * max(1.0, value)
        assert solution.bound <= (0.5 * w @ w + C * value) * (1 + 1e-14)


@pytest.mark.parametrize(
    ("n", "lo", "hi", "expected"),
    [(100, 0.07, 0.29, (7, 29)), (9000, 0.02, 0.05, (180, 450)), (7, 0, 1, (0, 7)), (30, 0.02, 0.05, (1, 1))],
)
def test_ranks_of_a_range(n, lo, hi, expected):
    if expected[0] < expected[1]:
        assert ranks_within(n, lo, hi) == expected
    else:
        with pytest.raises(ValueError, match=r"No negative is ranked in fpr_range=\(0\.02, 0\.05\)"):
            ranks_within(n, lo, hi)


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(0, 2), st.sampled_from([(0, 0.1), (0.2, 0.5), (0, 1)]))
def test_threshold_is_the_best_with_a_rate_in_the_range(seed, n, decimals, span):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < max(1, n // 3), 1, -1)
    scores = np.round(rng.normal(size=n), decimals)
    t = threshold_within(y, scores, *span)
    cuts = [*(np.unique(scores) + 1e-9), np.min(scores) - 1.0]
    rates = [(np.mean(scores[y > 0] > cut), np.mean(scores[y < 0] > cut)) for cut in cuts]
    below = [fpr for _, fpr in rates if fpr <= span[1] + 1e-9]
    allowed = [(tpr, fpr) for tpr, fpr in rates if min(span[0], max(below)) - 1e-9 <= fpr <= span[1] + 1e-9]
    tpr, fpr = np.mean(scores[y > 0] > t), np.mean(scores[y < 0] > t)
    assert (tpr, fpr) in allowed
    assert tpr - fpr == pytest.approx(max(one - other for one, other in allowed))
    assert not np.any(scores == t)


def test_threshold_does_not_split_scores_equal_up_to_rounding():
    y, scores = np.array([1, 1, -1, -1]), np.array([1.0, 1.0 + 1e-16, 1.0 - 2e-16, 0.0])
    assert 0.0 < threshold_within(y, scores, 0.0, 1.0) < 0.999
