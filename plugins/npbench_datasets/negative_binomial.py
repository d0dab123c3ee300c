"""Counts of RNA sequencing: negative binomial, over-dispersed by the gene, scaled by the sample's depth."""

from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from npbench_datasets.gaussians import two_classes
from npbench_datasets.ranges import between, integer, refuse, sizes

LENGTH_SPREAD = 0.7  # standard deviation of log lengths: within a factor of four, like those of transcripts
MIN_DEPTH = 0.1


def load_negative_binomial(
    n_pos: int = 3340,
    n_neg: int = 1040,
    n_features: int = 1000,
    psi: float = 6.0,
    share_changed: float = 0.2,
    offset: float = 0.15,
    median_count: float = 100.0,
    expression_spread: float = 1.0,
    depth_spread: float = 0.2,
    transform: bool = True,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw and transform read counts as in section 4.3 of Barlaud, Combettes and Fillatre (2015).

    Gene i of sample j has the count (their equation 38)::

        X_ij ~ NB(m_ij, psi),   m_ij = mu_i L_i D_j,   E X_ij = m_ij,   var X_ij = m_ij + m_ij^2 / psi

    and is drawn as Poisson(m_ij G) with G a Gamma variable of mean 1 and shape psi. The paper gives the sizes, psi and
    the share of the genes that the minority changes. It leaves open the laws of mu, L and D and the size of the
    change; here they are::

        ln(mu_i) ~ N(ln(median_count), expression_spread^2),   for negatives + offset N(0, 1) in the genes changed
        ln(L_i)  ~ N(0, 0.7^2)
        D_j      ~ N(1, depth_spread^2), above 0.1

    Features are ln(X + psi / 2) (equation 39). A gene's standard deviation is then about the root of the trigamma
    function at psi, 0.43, so by default the means of the classes are about 5 standard deviations apart along the
    best direction. With a thousand genes, a logistic regression separates half of the samples without error, and errs
    on 2 to 3 % of the other half.

    Parameters
    ----------
    n_features : int
        Number of genes, at least 1.
    psi : float
        Dispersion, in ]0.1, 1e6[: the larger, the closer the counts are to Poisson counts.
    share_changed : float
        Share of the genes that negatives express differently, in ]0, 1[; their number is rounded to the nearest.
    offset : float
        Standard deviation of the change of ln(mu), in ]0, 2[.
    median_count : float
        Median over genes of the expected count at depth 1, in ]0, 1e5[.
    expression_spread : float
        Standard deviation of ln(mu) over genes, in ]0, 3[.
    depth_spread : float
        Standard deviation of the depth before truncation at 0.1, in ]0, 1[. The depth is independent of the class.
    transform : bool
        Whether to transform the counts.
    """
    faults = sizes(n_pos, n_neg, seed) + integer(1, n_features=n_features) + between(0.1, 1e6, psi=psi)
    faults += between(0, 1, share_changed=share_changed) + between(0, 2, offset=offset)
    faults += between(0, 1e5, median_count=median_count) + between(0, 3, expression_spread=expression_spread)
    faults += between(0, 1, depth_spread=depth_spread)
    untrue = f"dataset.transform is {transform!r}: expected true or false."
    refuse(faults + [untrue] * (not isinstance(transform, bool)))
    means = _means(n_features, share_changed, offset, median_count, expression_spread, seed)
    positive, negative = (partial(_counts, mean=mean, psi=psi, depth_spread=depth_spread) for mean in means)
    X, y = two_classes(positive, negative, n_pos, n_neg, seed)
    return stabilized(X, psi) if transform else X, y


def stabilized(counts: np.ndarray, psi: float) -> np.ndarray:
    """Return ``ln(counts + psi / 2)``, with nearly the same variance for all means if ``psi`` is the dispersion.

    Equation 39 of Barlaud, Combettes and Fillatre (2015), after Anscombe (1948), Biometrika 35, 246-254.
    """
    return np.log(counts + psi / 2)


def _means(
    n_genes: int, share_changed: float, offset: float, median_count: float, expression_spread: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return mu L of each gene, for positives and for negatives."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))  # 0 and 1 belong to the classes
    length = np.exp(LENGTH_SPREAD * random.standard_normal(n_genes))
    mean = median_count * np.exp(expression_spread * random.standard_normal(n_genes)) * length
    changed = random.permutation(n_genes)[: round(share_changed * n_genes)]
    change = np.ones(n_genes)
    change[changed] = np.exp(offset * random.standard_normal(len(changed)))
    return mean, mean * change


def _counts(random: np.random.Generator, n: int, mean: np.ndarray, psi: float, depth_spread: float) -> np.ndarray:
    """Return the counts of ``n`` samples, of shape (n, n_genes)."""
    too_shallow = ndtr((MIN_DEPTH - 1) / depth_spread)
    depth = 1 + depth_spread * ndtri(random.uniform(too_shallow, 1, n))
    rate = random.standard_gamma(psi, (n, len(mean)))
    rate *= mean / psi
    rate *= depth[:, np.newaxis]
    return random.poisson(rate).astype(np.float64)
