import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.evaluation.grids import combinations, grid_fault, grid_values

positive = st.floats(1e-12, 1e12)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=6,
)


@given(positive, positive, st.integers(1, 30))
def test_a_good_geomspace_expands_to_that_many_finite_values(low, high, count):
    grid = ["geomspace", low, high, count]
    assert grid_fault("C", grid) is None
    values = grid_values(grid)
    assert len(values) == count
    assert np.all(np.isfinite(values))
    assert values[0] == pytest.approx(low)
    assert values[-1] == pytest.approx(high if count > 1 else low)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12), st.integers(1, 30))
def test_a_good_linspace_has_equal_steps(low, high, count):
    grid = ["linspace", low, high, count]
    assert grid_fault("nu", grid) is None
    values = grid_values(grid)
    scale = max(abs(low), abs(high))
    assert len(values) == count
    assert values[0] == pytest.approx(low, rel=1e-11, abs=0)
    if count > 1:
        expected = [low + k * ((high - low) / (count - 1)) for k in range(count)]
        assert values == pytest.approx(expected, rel=1e-11, abs=1e-11 * scale)
    assert grid_values(["linspace", 0.02, 1, 50]) == [k / 50 for k in range(1, 51)]  # the numbers one would type


@given(junk)
def test_what_passes_can_be_expanded_and_what_does_not_is_named(grid):
    fault = grid_fault("C", grid)
    if fault is None:
        assert len(grid_values(grid)) >= 1
    else:
        assert re.match(r"solver\.search\.C(\..*)? is .*: ", fault, re.DOTALL)


def test_bad_grids_are_refused_and_good_ones_pass():
    bad = [
        *([], 5, "0.1,1", {}, [1, "a"], [None], [float("nan")], [[1]], [{"C": 1}, 2]),
        *(["geomspace"], ["geomspace", 0, 1, 3], ["geomspace", 1, 2, 0], ["geomspace", 1, 2, 2.5]),
        *(["geomspace", 1, 2, True], ["linspace", 0, 1], ["linspace", 0, "1", 3], ["linspace", 0, float("inf"), 3]),
        ["linspace", 0, 1, 0],
    ]
    good = [[1], [0.1, -3], ["rbf", "linear"], [True, False], [{}, {"C": 1, "depth": None}]]
    assert [grid for grid in bad if not grid_fault("C", grid)] == []
    assert [grid for grid in good if grid_fault("C", grid)] == []


def test_a_mapping_has_a_grid_for_each_name_and_gives_every_combination():
    grid = {"depth": [1, 2], "C": ["geomspace", 1, 100, 3]}
    assert grid_fault("params", grid) is None
    expected = [{"C": C, "depth": depth} for C in (1, 10, 100) for depth in (1, 2)]
    assert grid_values(grid) == expected
    # Of several parameters, the last one changes first.
    assert combinations({"C": [1.0, 10.0], "gamma": [0.5, 2.0]}) == [
        {"C": C, "gamma": gamma} for C in (1.0, 10.0) for gamma in (0.5, 2.0)
    ]
    assert combinations({}) == [{}]
    assert grid_fault("params", {"C": [1], "depth": []}).startswith("solver.search.params.depth is []: ")
