"""The 2nu-SVM by scikit-learn's NuSVC, whose sample weights make it one."""

import numpy as np
from sklearn.svm import NuSVC


def two_nu_svc(K, y, nu_pos, nu_neg, tol):
    """Return NuSVC fitted to a Gram matrix as the 2nu-SVM with these parameters."""
    n_pos, n_neg = np.sum(y > 0), np.sum(y < 0)
    share = nu_neg * n_neg / (nu_pos * n_pos + nu_neg * n_neg)
    nu = 2 * nu_pos * nu_neg / (nu_pos + nu_neg) * (1 - 1e-9)
    return NuSVC(nu=nu, kernel="precomputed", tol=tol).fit(K, y, sample_weight=np.where(y > 0, share, 1 - share))


def nearest_points(svc, n):
    """Return the signed weights of a fit in the unit of reduced hulls, with sums of one, and the intercept."""
    half = 0.5 * np.abs(svc.dual_coef_).sum()
    x = np.zeros(n)
    x[svc.support_] = svc.dual_coef_[0] / half
    return x, svc.intercept_[0] / half


def gap(K, y, caps, x):
    """Return a bound on the distance of ``x'Kx / 2`` from its minimum over the reduced hulls: the Frank-Wolfe gap."""
    G, least = y * (K @ x), 0.0
    for label, cap in zip((1, -1), caps(int(np.sum(y > 0)), int(np.sum(y < 0))), strict=True):
        ascending = np.sort(G[y == label])
        least += np.clip(1 - cap * np.arange(len(ascending)), 0, cap) @ ascending  # the smallest G first
    return float(x @ K @ x - least)
