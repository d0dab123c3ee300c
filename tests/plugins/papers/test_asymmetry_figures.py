"""Figures of theory: they show the populations and the curves of the library, and the images are up to date."""

import re
from pathlib import Path

import numpy as np
import pytest

from npbench_datasets.gaussians import GAUSSIANS, MIXTURES
from npbench_papers.bach import asymmetry_figures as asymmetry
from npbench_papers.bach.theory.asymmetry import roc_curve

ROOT = Path(__file__).parents[3]


def same(mixture, other):
    fields = ("weights", "means", "covariances")
    return all(np.array_equal(getattr(mixture, field), getattr(other, field)) for field in fields)


def test_populations_match_data_sets():
    for population, (positive, negative) in ((asymmetry.PAIRS["0.12"], GAUSSIANS), (asymmetry.HUMPS, MIXTURES)):
        assert same(population.positive, positive)
        assert same(population.negative, negative)


def test_curves_of_each_population():
    pairs = {name: asymmetry.PAIRS[name] for name in ("3", "-6")}
    frame = asymmetry.curves(pairs, "erf")
    assert frame["population"].unique(maintain_order=True).to_list() == ["3", "-6"]
    expected = roc_curve(pairs["-6"], [0.25], "erf")
    (row,) = frame.filter(population="-6", gamma=0.25).iter_rows(named=True)
    for name in ("u", "v", "beta"):
        assert row[name] == pytest.approx(getattr(expected, name)[0], abs=1e-9)
    assert not row["consistent"]


def test_hull_is_the_top_of_three_curves():
    frame = asymmetry.three_curves(asymmetry.HUMPS, "hinge")
    hull = frame.filter(curve="by both")
    for (_,), one in frame.group_by("curve"):
        assert one["u"].min() == pytest.approx(0.0, abs=1e-9)
        assert one["v"].max() == pytest.approx(1.0, abs=1e-9)
        assert (np.interp(one["u"], hull["u"], hull["v"]) >= one["v"].to_numpy() - 1e-12).all()
    # The paper's remark: varying the asymmetry alone has strong concavities.
    by_asymmetry = frame.filter(curve="by asymmetry")
    assert np.max(np.interp(by_asymmetry["u"], hull["u"], hull["v"]) - by_asymmetry["v"].to_numpy()) > 0.2


def test_ellipses_at_one_and_two_deviations():
    axes = asymmetry.against_training({"0.12": asymmetry.PAIRS["0.12"]}, "square").axes[0]
    positive = asymmetry.PAIRS["0.12"].positive
    for line, deviations in zip(axes.lines[:2], (1.0, 2.0), strict=True):
        centred = np.column_stack(line.get_data()) - positive.mean
        distances = np.sqrt(np.sum(centred @ np.linalg.inv(positive.covariance) * centred, axis=1))
        assert distances == pytest.approx(np.full(200, deviations))
    assert axes.get_title() == "$A = 0.12$"


@pytest.mark.parametrize("loss", ["square", "erf"])
def test_thick_lines_mark_useful_classifiers(loss):
    frame = asymmetry.curves(asymmetry.PAIRS, loss)
    rows = asymmetry.against_training(asymmetry.PAIRS, loss).axes[1::2]
    for name, axes in zip(asymmetry.PAIRS, rows, strict=True):
        one = frame.filter(population=name)
        gamma, beta = axes.lines[2].get_data()
        assert gamma.tolist() == one["gamma"].to_list()
        assert (~np.isnan(np.asarray(beta, dtype=float))).tolist() == one["consistent"].to_list()


def test_corner_shows_curve_around_diagonal():
    pairs = {name: asymmetry.PAIRS[name] for name in ("-6", "3")}
    below, above = asymmetry.corner(pairs, "square", rate=0.2).axes[1::2]
    for axes, sign in ((below, -1), (above, 1)):
        u, v = (np.asarray(part, dtype=float) for part in axes.lines[0].get_data())
        near = (u > 1e-6) & (u < 0.05)
        assert near.sum() > 10
        assert (sign * (v - u)[near] > 0).all()
        assert axes.get_xlim()[1] == pytest.approx(0.2, rel=0.05)


def test_figure_draws_three_curves():
    right = asymmetry.by_intercept_and_asymmetry(asymmetry.HUMPS, "square").axes[1]
    frame = asymmetry.three_curves(asymmetry.HUMPS, "square")
    for line, name in zip(right.lines, asymmetry.CURVES, strict=False):
        assert line.get_label() == name
        assert line.get_xdata().tolist() == frame.filter(curve=name)["u"].to_list()


def test_docs_page_prints_its_output(capsys):
    page, names = (ROOT / "docs" / "asymmetry.md").read_text(encoding="utf-8"), {}
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for code in blocks:
        exec(code, names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
