"""Notes on how records were made, against the settings in the records."""

import json

from npbench.report.select import recorded_settings
from sample_records import frame, record


def searched(*sizes, **columns):
    return record(search=json.dumps({f"p{n}": list(range(size)) for n, size in enumerate(sizes)}), **columns)


def test_note_follows_the_settings():
    records = [searched(6, 16, repeat=n) for n in range(10)]
    first, grids = recorded_settings.notes(frame(records))
    assert "repeats: 10;" in first
    assert "gen: 6 p0 x 16 p1" in grids
    overridden = [searched(50, 2, repeat=n, preprocess="standardize") for n in range(3)]
    first, grids = recorded_settings.notes(frame(overridden))
    assert "repeats: 3;" in first
    assert "standardize" in first
    assert "gen: 50 p0 x 2 p1" in grids


def test_note_lists_what_differs():
    records = [searched(2), searched(3, dataset="heart", repeat=0), searched(3, dataset="heart", repeat=1)]
    first, grids = recorded_settings.notes(frame([*records, record(solver="plain")]))
    assert "repeats: 1 to 2;" in first
    assert grids == "Searched: gen: 2 p0 or 3 p0."


def test_note_counts_the_repeats_of_each_solver():
    records = [record(repeat=0), record(repeat=1), record(solver="plain", repeat=0)]
    assert "repeats: 1 to 2;" in recorded_settings.notes(frame(records))[0]


def test_no_records_have_no_note():
    assert recorded_settings.notes(frame([record()]).clear()) == []
