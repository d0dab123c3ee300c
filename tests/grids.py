"""Grids with too many cases for every run of the tests."""

import pytest

SLOW = pytest.mark.slow(reason="other cases of the grid run in every suite"), pytest.mark.grid


def diagonal(rows, every):
    """Yield the cases of all rows, tuples or params, of which one in ``every`` is fast and the others are slow.

    Each row begins with another place, so that a column of several rows has fast cases, too.
    """
    for start, row in enumerate(rows):
        for place, case in enumerate(row):
            yield slow(case) if (start + place) % every else case


def slow(case):
    """Return the case marked as slow."""
    if isinstance(case, tuple) and not hasattr(case, "marks"):
        return pytest.param(*case, marks=SLOW)
    return pytest.param(*case.values, marks=[*case.marks, *SLOW], id=case.id)
