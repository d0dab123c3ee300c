"""Counts of RNA sequencing: the law of equation (38), gene by gene, and what the two classes share."""

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import chisquare, kstest, nbinom, norm, truncnorm

from npbench import load_dataset

STEADY = 1e-9  # spread of the depth at which all samples are alike


def drawn(**parameters):
    data = load_dataset("negative_binomial", **{"transform": False, **parameters})
    return data.X[data.y > 0], data.X[data.y < 0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("psi", [0.5, 6.0, 1000.0])
def test_counts_of_a_gene_are_negative_binomial(psi):
    """With equal depths, each gene's counts have the law of SciPy with the mean of a sample fifty times as large."""
    parameters = {"n_features": 3, "n_neg": 1, "psi": psi, "depth_spread": STEADY, "median_count": 20.0, "seed": 2}
    many, _ = drawn(n_pos=400_000, **parameters)
    few, _ = drawn(n_pos=8_000, **parameters)
    for counts, mean in zip(few.T, many.mean(axis=0), strict=True):
        law = nbinom(psi, psi / (psi + mean))
        edges = np.unique(law.ppf(np.linspace(0, 1, 21)[1:-1]))
        expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * len(counts)
        observed = np.bincount(np.searchsorted(edges, counts), minlength=len(expected))
        assert chisquare(observed, expected).pvalue > 0.001
    variance = many.mean(axis=0) + many.mean(axis=0) ** 2 / psi
    assert many.var(axis=0) == pytest.approx(variance, rel=0.03)


def test_the_depth_is_a_truncated_gaussian_common_to_all_genes():
    """With many genes of nearly Poisson counts, a sample's total over the mean total is its depth."""
    positive, negative = drawn(n_pos=3000, n_neg=3000, n_features=500, psi=1e5, median_count=1000.0, depth_spread=0.5)
    law = truncnorm(-0.9 / 0.5, np.inf, loc=1, scale=0.5)
    for counts in (positive, negative):
        total = counts.sum(axis=1)
        assert kstest(total / total.mean() * law.mean(), law.cdf).pvalue > 0.001
    assert positive.min() >= 0


def test_a_fifth_of_the_genes_differs_by_gaussian_offsets():
    many = {"n_pos": 2000, "n_neg": 2000, "n_features": 1000, "median_count": 9e4}
    positive, negative = drawn(**many, psi=1e5, depth_spread=STEADY, offset=0.5, seed=3)
    change = np.log(negative.mean(axis=0) / positive.mean(axis=0))
    changed = np.abs(change) > 2e-3
    assert 195 <= changed.sum() <= 200  # of 200, few by less than noise
    assert kstest(change[changed], norm(0, 0.5).cdf).pvalue > 0.001
    assert np.diff(np.flatnonzero(changed)).max() < 60  # scattered over all genes


def test_expression_is_log_normal():
    many = {"n_pos": 200, "n_neg": 1, "n_features": 5000, "median_count": 2e4}
    positive, _ = drawn(**many, psi=1e5, expression_spread=1.2, depth_spread=STEADY)
    spread = np.hypot(1.2, 0.7)  # of expression and of length
    assert kstest(np.log(positive.mean(axis=0)), norm(np.log(2e4), spread).cdf).pvalue > 0.001


def test_anscombes_transform_makes_the_variance_the_trigamma_function():
    """Equation (39) and the line after it, for genes with many reads."""
    many_reads = {"n_pos": 20_000, "n_neg": 1, "n_features": 20, "median_count": 5000.0, "depth_spread": STEADY}
    counts, transformed = (drawn(**many_reads, transform=transform)[0] for transform in (False, True))
    assert np.all(counts == np.floor(counts))
    assert np.allclose(np.exp(transformed), counts + 6.0 / 2)
    assert transformed.var(axis=0) == pytest.approx(np.full(20, polygamma(1, 6.0)), rel=0.06)


def test_extreme_parameters_give_finite_counts():
    wide = {"psi": 0.11, "median_count": 9e4, "expression_spread": 2.9, "offset": 1.9, "depth_spread": 0.99}
    for extreme in (wide, {"median_count": 1e-3, "depth_spread": 1e-9}, {"n_features": 1, "share_changed": 0.01}):
        counts = np.concatenate(drawn(n_pos=200, n_neg=20, **{"n_features": 200, **extreme}))
        assert np.isfinite(counts).all()
        assert counts.min() >= 0
