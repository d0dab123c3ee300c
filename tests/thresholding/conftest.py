"""How much is simulated."""

import pytest

from grids import SLOW


@pytest.fixture(params=[200, pytest.param(1000, marks=SLOW)])
def draws(request):
    """Return the number of samples of a simulation, or a multiple of it: slow tests find smaller faults."""
    return request.param
