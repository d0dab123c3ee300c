import itertools

import pytest

from npbench.report.render.palette import COLOURS, Palette

LABELS = ["np_svm C=1", "np_svm C=10", "gen", "two_nu_svm strategy=cd", "two_nu_svm strategy=grid", "scorer"]


def test_a_colour_is_a_solvers_and_no_two_solvers_of_seven_share_one():
    palette = Palette(LABELS)
    by_solver = {}
    for label in LABELS:
        by_solver.setdefault(label.split()[0], set()).add(palette.colour(label))
    assert all(len(colours) == 1 for colours in by_solver.values())
    assert len(set.union(*by_solver.values())) == len(by_solver)
    assert {palette.dash(label) for label in ("gen", "scorer")} == {0}


def test_what_a_label_looks_like_does_not_depend_on_order_or_number():
    looks = [
        {label: (p.colour(label), p.marker(label), p.dash(label)) for label in LABELS}
        for p in (Palette(LABELS), Palette(reversed(LABELS * 3)))
    ]
    assert looks[0] == looks[1]


def test_many_labels_are_told_apart_by_marker_or_dash_where_they_share_a_colour():
    labels = [f"solver{number:02d} C={C}" for number, C in itertools.product(range(20), range(4))]
    palette = Palette(labels)
    assert len({(palette.colour(label), palette.marker(label) % 8, palette.dash(label)) for label in labels}) == 80


def _luminance(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_colours_are_seen_on_white():
    assert all(1.05 / (_luminance(colour) + 0.05) > 2 for colour in COLOURS)


def test_an_unknown_label_is_named():
    with pytest.raises(KeyError, match=r"'knn' is not among the labels .*np_svm C=1"):
        Palette(["np_svm C=1"]).colour("knn")
