"""The searches of the 2nu-SVM on made-up surfaces of rates: what they visit, what they choose, what breaks ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench_two_nu_svm.candidates import Candidate, Grid, Plane, Rates, by_constraint, by_error
from npbench_two_nu_svm.reduced_hulls import Nu
from npbench_two_nu_svm.search import leave_out_one_each
from npbench_two_nu_svm.strategies import ACROSS, ALONG, STRATEGIES, smoothed

GRID = tuple(k / 20 for k in range(1, 21))
COUNTS = (12, 30)


class Table:
    """An estimate that looks rates up, and remembers what it was asked."""

    def __init__(self, p_fa, p_nd, nu_pos=GRID, nu_neg=GRID, counts=COUNTS):
        self.p_fa, self.p_nd, self.nu_pos, self.nu_neg = p_fa, p_nd, list(nu_pos), list(nu_neg)
        self.counts, self.asked = [counts], []

    def __call__(self, caps):
        self.asked.append(caps)
        if isinstance(caps, Nu):
            i = j = self.nu_pos.index(caps.nu)
        else:
            i, j = self.nu_pos.index(caps.nu_pos), self.nu_neg.index(caps.nu_neg)
        return Rates(float(self.p_fa[i, j]), float(self.p_nd[i, j]), True)


def run(strategy, table, rank, gamma=1.0):
    plane = Plane(table, table.counts, Grid(np.array(table.nu_pos), np.array(table.nu_neg)), gamma, 0.0)
    return STRATEGIES[strategy](plane, rank)


@st.composite
def tables(draw):
    """Rates that are counts, so that many are equal, on grids of any two sizes."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = draw(st.sampled_from([1, 3, 12]))
    p_fa, p_nd = (rng.integers(0, most + 1, shape) / most for _ in range(2))
    return Table(p_fa, p_nd, np.linspace(1 / shape[0], 1, shape[0]), np.linspace(1 / shape[1], 1, shape[1]))


rhos = st.sampled_from([0.001, 0.1, 1 / 3, 0.5, 0.999])


def all_candidates(table, p_fa, p_nd):
    for i, nu_pos in enumerate(table.nu_pos):
        for j, nu_neg in enumerate(table.nu_neg):
            yield Candidate(1.0, nu_pos, nu_neg, p_fa[i, j], p_nd[i, j])


def is_as_good(one, other, rho):
    """The definition: P_nd among those that keep rho, the NP score among those that do not; then P_fa, then nu."""
    keeps = [c.p_fa <= rho + 1e-9 for c in (one, other)]
    if keeps[0] != keeps[1]:
        return keeps[0]
    value = [c.p_nd if keeps[0] else c.p_nd + (c.p_fa - rho) / rho for c in (one, other)]
    if abs(value[0] - value[1]) > 1e-8:
        return value[0] < value[1]
    if abs(one.p_fa - other.p_fa) > 1e-8:
        return one.p_fa < other.p_fa
    if abs(one.nu_pos + one.nu_neg - other.nu_pos - other.nu_neg) > 1e-8:
        return one.nu_pos + one.nu_neg > other.nu_pos + other.nu_neg
    return one.nu_pos >= other.nu_pos


@given(tables(), rhos)
def test_the_full_grid_gives_the_least_of_all(table, rho):
    best = run("gs", table, by_constraint(rho))
    assert best in set(all_candidates(table, table.p_fa, table.p_nd))
    assert all(is_as_good(best, one, rho) for one in all_candidates(table, table.p_fa, table.p_nd))
    assert len(table.asked) == len(table.nu_pos) * len(table.nu_neg)


def by_hand(rates, reach):
    """Means of neighbours up to ``reach`` steps away along each axis, weights exp(-distance^2 / 2) that sum to one."""
    places = np.array(list(np.ndindex(rates.shape)))
    steps = np.abs(places[:, None] - places)
    weights = np.exp(-0.5 * np.sum(steps**2, axis=-1)) * np.all(steps <= reach, axis=-1)
    return (weights @ rates.ravel() / weights.sum(axis=1)).reshape(rates.shape)


@given(tables())
def test_windows_are_normalised_gaussians(table):
    np.testing.assert_allclose(
        smoothed(table.p_fa, (ALONG, ACROSS)), by_hand(table.p_fa, (1, 1)), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(smoothed(table.p_fa, (ALONG,)), by_hand(table.p_fa, (0, 1)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(smoothed(np.ones((4, 1)), (ALONG, ACROSS)), 1.0, rtol=1e-15)


@given(tables(), rhos)
def test_the_windowed_grid_gives_the_least_of_the_smoothed_rates(table, rho):
    best = run("wgs", table, by_constraint(rho))
    p_fa, p_nd = by_hand(table.p_fa, (1, 1)), by_hand(table.p_nd, (1, 1))
    assert all(is_as_good(best, one, rho) for one in all_candidates(table, p_fa, p_nd))


def nearest_half(values):
    return int(np.argmin(np.abs(np.array(values) - 0.5)))


@given(tables(), rhos)
def test_coordinate_descent_is_best_of_what_it_visits(table, rho):
    best = run("cd", table, by_constraint(rho))
    visited = {(caps.nu_pos, caps.nu_neg) for caps in table.asked}
    assert (best.nu_pos, best.nu_neg) in visited
    for one in all_candidates(table, table.p_fa, table.p_nd):
        if (one.nu_pos, one.nu_neg) in visited:
            assert is_as_good(best, one, rho)


def searched_lines(table):
    """Return the lines that were visited whole, as (axis, value)."""
    asked = {(caps.nu_pos, caps.nu_neg) for caps in table.asked}
    rows = [(0, value) for value in table.nu_pos if all((value, other) in asked for other in table.nu_neg)]
    return rows + [(1, value) for value in table.nu_neg if all((other, value) in asked for other in table.nu_pos)]


@given(tables(), rhos)
def test_coordinate_descent_ends_where_no_line_is_better(table, rho):
    best, rank = run("cd", table, by_constraint(rho)), by_constraint(rho)
    candidates = list(all_candidates(table, table.p_fa, table.p_nd))
    equal = [one for one in candidates if rank(one)[0] == rank(best)[0]]
    lines = searched_lines(table)
    assert any((0, one.nu_pos) in lines and (1, one.nu_neg) in lines for one in equal)


@pytest.mark.parametrize("strategy", ["cd", "wcd"])
@given(table=tables(), rho=rhos)
def test_lines_are_visited_whole_and_no_point_twice(strategy, table, rho):
    run(strategy, table, by_constraint(rho))
    asked = [(table.nu_pos.index(caps.nu_pos), table.nu_neg.index(caps.nu_neg)) for caps in table.asked]
    assert len(set(asked)) == len(asked)
    seen = np.zeros(table.p_fa.shape, bool)
    seen[tuple(np.transpose(asked))] = True
    whole_rows, whole_columns = seen.all(axis=1), seen.all(axis=0)
    assert whole_rows[nearest_half(table.nu_pos)]
    assert whole_columns[nearest_half(table.nu_neg)]
    assert np.all(seen <= whole_rows[:, None] | whole_columns)


@given(tables(), rhos)
def test_windowed_coordinate_descent_ends_on_the_least_of_a_smoothed_line(table, rho):
    best = run("wcd", table, by_constraint(rho))
    i, j = table.nu_pos.index(best.nu_pos), table.nu_neg.index(best.nu_neg)
    row = [by_hand(rates, (0, 1)) for rates in (table.p_fa, table.p_nd)]
    column = [by_hand(rates, (1, 0)) for rates in (table.p_fa, table.p_nd)]
    along_row = [one for one in all_candidates(table, *row) if one.nu_pos == best.nu_pos]
    along_column = [one for one in all_candidates(table, *column) if one.nu_neg == best.nu_neg]
    ends = []
    for (p_fa, p_nd), line in ((row, along_row), (column, along_column)):
        one = best._replace(p_fa=p_fa[i, j], p_nd=p_nd[i, j])
        ends.append(all(is_as_good(one, other, rho) for other in line))
    assert any(ends)


def test_coordinate_descent_ends_with_a_line_that_changes_ties_only():
    u, v = np.meshgrid(GRID, GRID, indexing="ij")
    table = Table((u + v) / 100, np.full_like(u, 0.2))
    best = run("cd", table, by_constraint(0.1))
    assert (best.nu_pos, best.nu_neg) == (0.05, 0.05)
    assert searched_lines(table) == [(0, 0.5), (1, 0.05), (1, 0.5)]


def test_each_fit_of_a_full_grid_is_beside_the_one_before():
    table = Table(np.zeros((20, 20)), np.zeros((20, 20)))
    run("gs", table, by_constraint(0.1))
    for one, following in zip(table.asked, table.asked[1:], strict=False):
        assert abs(one.nu_pos - following.nu_pos) + abs(one.nu_neg - following.nu_neg) == pytest.approx(0.05)


@given(tables())
def test_balanced_bias_shifting_searches_the_diagonal(table):
    table.nu_neg = table.nu_pos
    n = len(table.nu_pos)
    table.p_fa, table.p_nd = (np.resize(rates, (n, n)) for rates in (table.p_fa, table.p_nd))
    best = run("bbs", table, by_error(COUNTS[0] / sum(COUNTS)))
    errors = (COUNTS[0] * table.p_nd + COUNTS[1] * table.p_fa).diagonal() / sum(COUNTS)
    found = table.nu_pos.index(best.nu_pos)
    assert best.nu_pos == best.nu_neg
    assert errors[found] == pytest.approx(errors.min())
    tied = np.isclose(errors, errors[found])
    assert table.p_fa[found, found] == pytest.approx(table.p_fa.diagonal()[tied].min())


@pytest.mark.parametrize("strategy", ["wbs", "wbbs"])
@given(table=tables())
def test_windowed_bias_shifting_gives_the_least_smoothed_error(strategy, table):
    n, table.nu_neg, table.counts = len(table.nu_pos), table.nu_pos, [(21, 21)]  # any nu is feasible for equal classes
    table.p_fa, table.p_nd = (np.resize(rates, (n, n)) for rates in (table.p_fa, table.p_nd))
    best = run(strategy, table, by_error(0.5))
    p_fa, p_nd = (by_hand(rates.diagonal()[None], (0, 1))[0] for rates in (table.p_fa, table.p_nd))
    found = int(np.argmin(np.abs(np.array(table.nu_pos) - best.nu_pos)))
    assert (best.p_fa, best.p_nd) == pytest.approx((p_fa[found], p_nd[found]))
    assert p_fa[found] + p_nd[found] == pytest.approx(np.min(p_fa + p_nd))


def test_bias_shifting_skips_infeasible_values():
    n = len(GRID)
    p_nd = np.tile(np.linspace(1, 0, n), (n, 1)).T  # the larger nu, the better
    table = Table(np.zeros((n, n)), p_nd)
    table.counts = [(12, 30), (11, 30), (12, 29)]
    best = run("bs", table, by_error(12 / 42))
    most = 2 * 11 / 41  # with a positive left out
    nu = max(value for value in GRID if value <= most)
    assert {caps.nu for caps in table.asked} == {value for value in GRID if value <= most}
    assert (best.nu_pos, best.nu_neg) == pytest.approx((nu * 42 / 24, nu * 42 / 60))


def test_bias_shifting_refuses_infeasible_grids():
    table = Table(np.zeros((2, 2)), np.zeros((2, 2)), [0.8, 0.9], [0.8, 0.9])
    with pytest.raises(ValueError, match=r"12 positives and 30 negatives.* 0\.5714"):
        run("bs", table, by_error(0.3))


def test_leave_one_out_folds_are_recognised():
    rows = np.arange(5)
    one_each = [(np.delete(rows, i), rows[i : i + 1]) for i in rows]
    assert leave_out_one_each(one_each, 5)
    assert leave_out_one_each(one_each[::-1], 5)
    assert not leave_out_one_each(one_each, 6)
    assert not leave_out_one_each(one_each[1:], 5)
    assert not leave_out_one_each([*one_each[:4], one_each[0]], 5)
    assert not leave_out_one_each([(rows[:3], rows[3:]), (rows[2:], rows[:2])], 5)
    assert not leave_out_one_each([(np.append(fit[1:], 9), out) for fit, out in one_each], 5)


def test_ties_at_the_bound_go_to_the_smaller_gamma_up_to_rounding():
    rank = by_constraint(0.1)
    assert rank(Candidate(1.0, 0.5, 0.5, 0.05, 0.1 + 0.2)) < rank(Candidate(2.0, 1.0, 0.5, 0.05, 0.3))


def test_ties_of_errors_go_to_the_wide_or_the_narrow_bandwidth():
    wide, narrow = (Candidate(gamma, 0.5, 0.5, 0.2, 0.1) for gamma in (0.1, 10.0))
    fewer_alarms = Candidate(1.0, 0.5, 0.5, 0.1, 0.4)  # the same error, 0.175
    for narrow_first, first in ((False, [fewer_alarms, wide, narrow]), (True, [narrow, fewer_alarms, wide])):
        rank = by_error(0.25, narrow_first=narrow_first)
        assert sorted([wide, narrow, fewer_alarms], key=rank) == first
    better = Candidate(0.01, 0.5, 0.5, 0.1, 0.1)
    assert min([better, narrow], key=by_error(0.25, narrow_first=True)) == better
