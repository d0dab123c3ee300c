"""Newton's method on many problems at once, against minima in closed form."""

import numpy as np
import pytest

from npbench_papers.bach.theory.newton import minimise


class Sums:
    """Functions ``exp(steepness x) + exp(-x)``, one for each steepness."""

    def __init__(self, steepness):
        self.steepness = np.array(steepness)[:, np.newaxis]

    def value(self, points):
        with np.errstate(over="ignore"):
            return (np.exp(self.steepness * points) + np.exp(-points))[:, 0]

    def derivatives(self, points):
        up, down = np.exp(self.steepness * points), np.exp(-points)
        return self.steepness * up - down, (self.steepness**2 * up + down)[:, :, np.newaxis]


STEEPNESS = [0.01, 1.0, 1000.0]


def test_minima_match_closed_forms():
    found = minimise(Sums(STEEPNESS), np.full((3, 1), -3.0))
    for k, point in zip(STEEPNESS, found.points[:, 0], strict=True):
        assert point == pytest.approx(np.log(1 / k) / (k + 1), abs=1e-9)
    assert found.residual.max() <= 1e-11


def test_steps_into_infinity_are_halved():
    """From -700, a full step lands where the value overflows."""
    found = minimise(Sums([1000.0]), np.array([[-2.0]]))
    assert found.residual[0] <= 1e-11


def test_a_quadratic_takes_one_step():
    class Quadratic:
        def value(self, points):
            return 1.0 + np.sum((points - 2.0) ** 2, axis=1)

        def derivatives(self, points):
            return 2.0 * (points - 2.0), np.tile(2.0 * np.eye(3), (len(points), 1, 1))

    found = minimise(Quadratic(), np.zeros((4, 3)))
    assert found.n_iter == 1
    assert found.points == pytest.approx(np.full((4, 3), 2.0))


def test_residual_shows_an_early_stop():
    found = minimise(Sums([1.0]), np.array([[-30.0]]), max_iter=3)
    assert found.n_iter == 3
    assert found.residual[0] > 0.1


def test_zero_problems():
    assert len(minimise(Sums([]), np.zeros((0, 1))).points) == 0
