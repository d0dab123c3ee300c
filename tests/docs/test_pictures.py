"""The pictures that explain the papers show what the papers say of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from npbench_papers.narasimhan import ideas


@pytest.fixture
def illustrations(script):
    return script("illustrations")


def test_images_show_the_published_records_and_the_theory(script):
    pictures = script("pictures")
    assert len(pictures.experiments()) > 10
    for name in (*pictures.THEORY, *pictures.RATES, *pictures.experiments()):
        image = (pictures.IMAGES / f"{name}.png").read_bytes()
        assert pictures.digest(name).encode() in image, f"{name}: run python docs/build/pictures.py"
    for name in script("screenshots").SCRIPTS:
        image = (pictures.IMAGES / f"{name}.png").read_bytes()
        assert pictures.digest("gasso_figure4").encode() in image, "run python docs/build/screenshots.py"


def test_partial_area_prefers_the_other_scorer():
    """By counting pairs: 18 and 16 of 24, of which 2 and 4 of 8 with the two highest negatives."""
    shown = ideas.two_scorers().group_by("scorer").first().sort("scorer")
    assert shown["auc"].to_list() == pytest.approx([18 / 24, 16 / 24])
    assert shown["pauc"].to_list() == pytest.approx([2 / 8, 4 / 8])


def test_surrogates_bound_the_risk():
    values = ideas.surrogates().pivot(on="risk", index="weight").drop("weight")
    risk, hinge, tight, naive = (values[name].to_numpy() for name in values.columns)
    assert np.all(hinge >= risk)
    assert np.all(tight >= risk)
    assert np.all(naive >= tight - 1e-12)


def test_envelope_is_the_least_concave_majorant(illustrations):
    curve = illustrations.concave_curve()
    slopes = np.diff(curve["envelope"]) / np.maximum(np.diff(curve["u"]), 1e-300)
    steps = np.diff(curve["u"]) > 1e-6
    assert np.all(np.diff(slopes[steps]) < 1e-6)
    assert (curve["envelope"] >= curve["v"] - 1e-12).all()
    assert curve.filter(pl.col("envelope") > pl.col("v") + 0.05).height > 0


def test_projection_is_the_nearest_point_of_the_ellipse(illustrations):
    start, *_, end = illustrations.projection().to_numpy()
    angle = np.linspace(0, np.pi / 2, 100_001)
    ellipse = np.column_stack([2 * np.cos(angle), np.sin(angle)])
    nearest = ellipse[np.argmin(np.linalg.norm(ellipse - start, axis=1))]
    np.testing.assert_allclose(end, nearest, atol=1e-3)
