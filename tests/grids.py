"""Grids with too many cases for every run of the tests."""

from collections import Counter

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


def leave_most(items):
    """Mark cases of each test with the mark ``one_in(every)`` as slow: all but one in ``every``.

    Each row of ``every`` cases has its fast one at another place, so that every value of a grid has fast cases.
    """
    places = Counter()
    for item in items:
        if (mark := item.get_closest_marker("one_in")) and not item.get_closest_marker("slow"):
            (every,), test = mark.args, item.nodeid.partition("[")[0]
            row, place = divmod(places[test], every)
            places[test] += 1
            if place != row % every:
                for one in SLOW:
                    item.add_marker(one)
