import itertools

import pytest

from npbench.report.chart import Series
from npbench.report.render.palette import Palette

LABELS = ["np_svm C=1", "np_svm C=10", "gen", "two_nu_svm strategy=cd", "two_nu_svm strategy=grid", "scorer"]


def look(palette, label):
    return palette.look(Series(label, [], []))


def test_each_solver_has_its_own_colour():
    palette = Palette(LABELS)
    by_solver = {}
    for label in LABELS:
        by_solver.setdefault(label.split()[0], set()).add(palette.colour(label))
    assert all(len(colours) == 1 for colours in by_solver.values())
    assert len(set.union(*by_solver.values())) == len(by_solver)
    assert {look(palette, label).dash for label in ("gen", "scorer")} == {()}


def test_looks_do_not_depend_on_order():
    looks = [{label: look(p, label) for label in LABELS} for p in (Palette(LABELS), Palette(reversed(LABELS * 3)))]
    assert looks[0] == looks[1]


def test_labels_of_one_colour_differ_in_marker_or_dash():
    labels = [f"solver{number:02d} C={C}" for number, C in itertools.product(range(20), range(4))]
    palette = Palette(labels)
    assert len({look(palette, label) for label in labels}) == 80


def test_an_unknown_label_is_named():
    with pytest.raises(KeyError, match=r"'knn'.*np_svm C=1"):
        Palette(["np_svm C=1"]).colour("knn")


def test_lists_are_shortened_unless_labels_become_equal():
    grid, other = "gen search.C=[0.1,1,10,100]", "gen search.C=[0.1,2,20,100]"
    assert Palette([grid, "gen"]).name(grid) == "gen search.C=[0.1…100]"
    assert Palette([grid, other]).name(grid) == grid
