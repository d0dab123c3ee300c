"""ROC curves of population classifiers against finite differences, least costs and closed forms, and their figures."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import ConvexHull
from scipy.special import expit
from scipy.stats import norm

import npbench_papers
from npbench.config.files import content
from npbench.numerics.mixtures import GaussianMixture
from npbench_papers import claims
from npbench_papers.bach import asymmetry_figures as figures
from npbench_papers.bach.asymmetry_figures import PAIRS
from npbench_papers.bach.theory.asymmetry import intercept_curves, on_hull, roc_curve, upper_hull
from npbench_papers.bach.theory.populations import Population

PLANE = Population(
    GaussianMixture([0.5, 0.5], [[-2.0, 3.0], [0.0, -3.0]], [np.eye(2)] * 2),
    GaussianMixture([0.6, 0.4], [[3.0, 1.0], [-3.0, -2.0]], [[[1.5, 0.4], [0.4, 0.8]], [[2.0, 0.0], [0.0, 1.0]]]),
    p_positive=0.3,
)
GAUSSIANS, NARROW, WIDE = replace(PAIRS["0.12"], p_positive=0.6), PAIRS["-6"], PAIRS["3"]
POPULATIONS = {"plane": PLANE, "gaussians": GAUSSIANS, "narrow": NARROW}
GAMMA = np.arange(1, 1000) / 1000
LOSSES = ("square", "erf", "hinge")
STEP = 1e-4


@pytest.mark.one_in(4)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_speeds_and_testing_asymmetry_match_finite_differences(name, loss):
    """Compare beta with equation (1), dv/du being a ratio of differences of the rates."""
    population, logits = POPULATIONS[name], np.linspace(-1.0, 1.5, 11)
    here, before, after = (roc_curve(population, expit(logits + shift), loss) for shift in (0.0, -STEP, STEP))
    du, dv = (after.u - before.u) / (2 * STEP), (after.v - before.v) / (2 * STEP)
    assert here.du == pytest.approx(du, rel=1e-5, abs=1e-7)
    assert here.dv == pytest.approx(dv, rel=1e-5, abs=1e-7)
    clear = (np.abs(here.du) > 1e-3) & (np.abs(here.dv) > 1e-3) & (here.du * here.dv > 0)
    p_pos = population.p_positive
    beta = 1 / (1 + p_pos / (1 - p_pos) * dv[clear] / du[clear])
    assert here.beta[clear] == pytest.approx(beta, abs=1e-4)
    assert np.isnan(here.beta[here.du * here.dv <= 0]).all()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_consistent_classifiers_cost_least_at_their_testing_asymmetry(name, loss):
    """Compare with all classifiers of the curve and the two constant ones, up to the resolution of the grid."""
    population = POPULATIONS[name]
    curve, p_pos = roc_curve(population, GAMMA, loss), population.p_positive
    u, v = np.append(curve.u, [0.0, 1.0]), np.append(curve.v, [0.0, 1.0])
    # Where the curve leaves the hull, the last grid point is near the last point of the curve.
    inner = np.convolve(curve.consistent, np.ones(3), mode="same") == 3
    known = inner & np.isfinite(curve.beta)
    assert known.sum() > 100
    beta = curve.beta[:, np.newaxis]
    cost = beta * p_pos * (1 - v) + (1 - beta) * (1 - p_pos) * u
    own = cost[np.arange(len(GAMMA)), np.arange(len(GAMMA))]
    assert (own - cost.min(axis=1))[known].max() < 1e-5
    # No other classifier away from the hull does.
    below = ~curve.consistent & np.isfinite(curve.beta) & (np.interp(curve.u, *upper_hull(u, v)) - curve.v > 0.01)
    assert (own - cost.min(axis=1))[below].min(initial=1.0) > 0.0


def test_equal_covariances_change_only_the_asymmetry():
    """The best boundary has the same direction at every cost; u and v follow from its intercept."""
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    population = Population(GaussianMixture.single([1.0, 0.0], S), GaussianMixture.single([0.0, 1.0], S))
    direction = np.linalg.solve(S, [1.0, -1.0])
    distance = np.sqrt(direction @ [1.0, -1.0])
    for loss in ("square", "erf"):
        curve = roc_curve(population, GAMMA, loss)
        assert curve.w[:, 0] * direction[1] == pytest.approx(curve.w[:, 1] * direction[0], abs=1e-10)
        assert curve.v == pytest.approx(norm.cdf(norm.ppf(curve.u) + distance), abs=1e-9)
        assert curve.consistent.all()
        # The likelihood ratio at the threshold is the slope.
        clear = (curve.u > 1e-12) & (curve.v < 1 - 1e-12)
        threshold = norm.isf(curve.u[clear])
        ratio = norm.logpdf(threshold - distance) - norm.logpdf(threshold)
        assert curve.log_slope[clear] == pytest.approx(ratio, abs=1e-3)
        assert roc_curve(population, [0.5], loss).beta == pytest.approx([0.5], abs=1e-9)


def test_extreme_asymmetries_are_inconsistent():
    curve = roc_curve(NARROW, [1e-4, 1e-3, 0.01, 0.2, 0.9], "square")
    assert curve.u[:2].tolist() == [0.0, 0.0]
    assert curve.consistent.tolist() == [False, False, False, False, True]
    assert np.isfinite(curve.log_slope).all()
    assert (curve.log_slope[:3] < -1000).all()
    assert curve.beta[:3].tolist() == [1.0, 1.0, 1.0]
    swapped = roc_curve(NARROW.swapped(), 1 - curve.gamma, "square")
    assert swapped.consistent.tolist() == curve.consistent.tolist()
    assert swapped.u == pytest.approx(1 - curve.v, abs=1e-12)


def test_curve_stays_on_the_hull_despite_underflow_and_still_where_the_hinge_loss_has_zero_weights():
    curve = roc_curve(WIDE, np.append(GAMMA[:300], [1e-4, 1e-6]), "square")
    assert curve.u[0] == 0.0 < curve.v[20] < 1e-100
    assert curve.consistent.all()
    curve = roc_curve(PLANE, [1e-3, 0.999], "hinge")
    assert not curve.w.any()
    assert (curve.u.tolist(), curve.v.tolist()) == ([0.0, 1.0], [0.0, 1.0])
    assert np.isnan(curve.beta).all()
    assert curve.consistent.all()


@given(arrays(np.float64, st.tuples(st.just(2), st.integers(1, 12)), elements=st.sampled_from(np.arange(9) / 8)))
def test_hull_matches_qhull(points):
    u, v = points
    left, top = upper_hull(u, v)
    # With the lower right corner, the other side of the hull is the axes.
    everything = np.column_stack([np.append(u, [0.0, 1.0, 1.0]), np.append(v, [0.0, 1.0, 0.0])])
    corners = everything[ConvexHull(everything).vertices]
    expected = {(x, y) for x, y in corners if (x, y) not in {(0.0, 0.0), (1.0, 0.0)}}
    assert {(x, y) for x, y in zip(left, top, strict=True)} - {(0.0, 0.0)} == expected
    assert (np.diff(left) > 0).all()
    assert (np.interp(u, left, top) >= v - 1e-12).all()
    assert on_hull(u, v).tolist() == ((np.abs(np.interp(u, left, top) - v) < 1e-8) | (u == 0)).tolist()


def test_intercept_curve_has_the_points_of_all_thresholds():
    w = np.array([[0.3, -1.0], [1.0, 1.0]])
    u, v = intercept_curves(GAUSSIANS, w, 50)
    assert (np.diff(u, axis=1) >= 0).all()
    assert u[:, [0, -1]] == pytest.approx(np.tile([0.0, 1.0], (2, 1)), abs=1e-12)
    for one, alarms, hits in zip(w, u, v, strict=True):
        m, s = one @ GAUSSIANS.positive.mean, np.sqrt(one @ GAUSSIANS.positive.covariance @ one)
        spread = np.sqrt(one @ GAUSSIANS.negative.covariance @ one)
        inside = (alarms > 1e-12) & (alarms < 1 - 1e-12)
        threshold = norm.isf(alarms[inside]) * spread
        assert hits[inside] == pytest.approx(norm.sf((threshold - m) / s), abs=1e-3)


def test_curves_of_each_population():
    pairs = {name: PAIRS[name] for name in ("3", "-6")}
    frame = figures.curves(pairs, "erf")
    assert frame["population"].unique(maintain_order=True).to_list() == ["3", "-6"]
    expected = roc_curve(pairs["-6"], [0.25], "erf")
    (row,) = frame.filter(population="-6", gamma=0.25).iter_rows(named=True)
    for name in ("u", "v", "beta"):
        assert row[name] == pytest.approx(getattr(expected, name)[0], abs=1e-9)
    assert not row["consistent"]


@pytest.mark.slow  # draws a thousand asymmetries twice; hulls and curves have quick tests
def test_hull_is_the_top_of_three_curves_and_all_are_drawn():
    frame = figures.three_curves(figures.HUMPS, "hinge")
    hull = frame.filter(curve="by both")
    for (_,), one in frame.group_by("curve"):
        assert one["u"].min() == pytest.approx(0.0, abs=1e-9)
        assert one["v"].max() == pytest.approx(1.0, abs=1e-9)
        assert (np.interp(one["u"], hull["u"], hull["v"]) >= one["v"].to_numpy() - 1e-12).all()
    # The paper's remark: varying the asymmetry alone has strong concavities.
    by_asymmetry = frame.filter(curve="by asymmetry")
    assert np.max(np.interp(by_asymmetry["u"], hull["u"], hull["v"]) - by_asymmetry["v"].to_numpy()) > 0.2
    right = figures.by_intercept_and_asymmetry(figures.HUMPS, "hinge").axes[1]
    for line, name in zip(right.lines, figures.CURVES, strict=False):
        assert line.get_label() == name
        assert line.get_xdata().tolist() == frame.filter(curve=name)["u"].to_list()


def test_ellipses_at_one_and_two_deviations():
    axes = figures.against_training({"0.12": PAIRS["0.12"]}, "square").axes[0]
    positive = PAIRS["0.12"].positive
    for line, deviations in zip(axes.lines[:2], (1.0, 2.0), strict=True):
        centred = np.column_stack(line.get_data()) - positive.mean
        distances = np.sqrt(np.sum(centred @ np.linalg.inv(positive.covariance) * centred, axis=1))
        assert distances == pytest.approx(np.full(200, deviations))
    assert axes.get_title() == "$A = 0.12$"


@pytest.mark.parametrize("loss", ["square", "erf"])
def test_thick_lines_mark_useful_classifiers(loss):
    frame = figures.curves(PAIRS, loss)
    rows = figures.against_training(PAIRS, loss).axes[1::2]
    for name, axes in zip(PAIRS, rows, strict=True):
        one = frame.filter(population=name)
        gamma, beta = axes.lines[2].get_data()
        assert gamma.tolist() == one["gamma"].to_list()
        assert (~np.isnan(np.asarray(beta, dtype=float))).tolist() == one["consistent"].to_list()


def test_corner_shows_curve_around_diagonal():
    pairs = {name: PAIRS[name] for name in ("-6", "3")}
    below, above = figures.corner(pairs, "square", rate=0.2).axes[1::2]
    for axes, sign in ((below, -1), (above, 1)):
        u, v = (np.asarray(part, dtype=float) for part in axes.lines[0].get_data())
        near = (u > 1e-6) & (u < 0.05)
        assert near.sum() > 10
        assert (sign * (v - u)[near] > 0).all()
        assert axes.get_xlim()[1] == pytest.approx(0.2, rel=0.05)


def test_docs_page_prints_its_output(capsys):
    page, names = (Path(__file__).parents[3] / "docs" / "asymmetry.md").read_text(encoding="utf-8"), {}
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for code in blocks:
        exec(code, names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)


def of_densities(pairs=PAIRS, humps=figures.HUMPS):
    """Return what the claims of sections 3.2 and 4.2 are about, by the word that tells their measures apart."""
    found = {"distance 1.25": {}, "erf loss / square loss": {}, "less extreme": {}, "more extreme": {}}
    apart = {}
    for loss, (name, population) in itertools.product(("square", "erf"), pairs.items()):
        curve = roc_curve(population, GAMMA, loss)
        gamma, beta = (column[curve.consistent & np.isfinite(curve.beta)] for column in (curve.gamma, curve.beta))
        apart[loss, name] = np.abs(beta - gamma).mean()
        inner = np.abs(beta - 0.5) < 0.4
        less, more = (sign * (np.abs(beta - 0.5) - np.abs(gamma - 0.5))[inner] > 0 for sign in (1, -1))
        found["less extreme"][f"{loss} {name}"], found["more extreme"][f"{loss} {name}"] = (
            100 * side.mean() for side in (less, more)
        )
    for loss in ("square", "erf"):
        found["distance 1.25"][loss] = apart[loss, "-0.96"] / apart[loss, "-6"]
    for name in pairs:
        found["erf loss / square loss"][name] = apart["erf", name] / apart["square", name]
    curves, grid = figures.three_curves(humps, "hinge"), np.linspace(0, 1, 201)
    ends = pl.DataFrame({"u": [0.0, 1.0], "v": [0.0, 1.0]})
    hits = {}
    for (name,), points in curves.group_by("curve"):
        whole = pl.concat([points.select("u", "v"), ends]).sort("u", "v")
        hits[name] = np.interp(grid, whole["u"], whole["v"])
    hull = np.interp(grid, *upper_hull(grid, hits["by asymmetry"]))
    found["misses more"] = {"mixtures": np.sum(hits["by asymmetry"] < hits["by intercept"] - 1e-9)}
    found["from its hull"] = {"mixtures": (hull - hits["by asymmetry"]).max()}
    return found


@pytest.fixture(scope="module")
def stored_and_changed():
    """Return the numbers of the densities, and of equal covariances, for which training and testing asymmetry agree."""
    means = {name: population.positive.means[0] for name, population in PAIRS.items()}
    equal = {name: Population(GaussianMixture.single(mean, np.eye(2)), NARROW.negative) for name, mean in means.items()}
    return of_densities(), of_densities(equal, equal["-0.96"])


def test_claims_on_densities_are_judged_by_computed_numbers_and_other_densities_change_some_words(stored_and_changed):
    experiment = Path(npbench_papers.__file__).parent / "conf" / "experiment" / "bach_figure4.yaml"
    asked = [row for row in content(experiment)["printed"] if "densities" in str(row.get("measure"))]
    stored, changed = stored_and_changed
    assert len(asked) == len(stored) == 6
    words = []
    for claim in asked:
        (of,) = (name for name in stored if name in claim["measure"])
        assert claim["values"] == pytest.approx(stored[of], rel=0.005)
        both = (claim, claim | {"values": {case: float(value) for case, value in changed[of].items()}})
        words.append([found.verdict for found in claims.judged(pl.DataFrame(), both, [])])
    assert [now for now, _ in words] == ["agrees"] * 6
    assert {other for now, other in words if other != now}
