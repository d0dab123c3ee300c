"""Features of kinds that solvers find hard, made of Gaussian ones, and Hypothesis strategies for samples of them."""

import numpy as np
from hypothesis import strategies as st

from class_samples import mixed

KINDS = {
    "normal": lambda X, rng: X,
    "duplicates": lambda X, rng: X[rng.integers(0, max(1, len(X) // 3), len(X))],
    "integers": lambda X, rng: np.round(X),
    "binary": lambda X, rng: np.where(X > 0, 1.0, 0.0),
    "constant feature": lambda X, rng: np.column_stack([X, np.ones(len(X))]),
    "zero feature": lambda X, rng: np.column_stack([X, np.zeros(len(X))]),
    "unscaled": lambda X, rng: X * np.geomspace(1e-3, 1e3, X.shape[1]),
    "badly scaled": lambda X, rng: X * np.geomspace(1e-3, 1e6, X.shape[1]),
    "identical": lambda X, rng: np.zeros_like(X),
    "mirrored": lambda X, rng: np.where(rng.random(len(X))[:, None] < 0.5, np.round(X), -np.round(X)),
}


@st.composite
def two_classes(draw, kinds, least=1, most=25):
    """Return features of one of the kinds, and labels."""
    n_pos, n_neg, seed = draw(st.integers(least, most)), draw(st.integers(least, most)), draw(st.integers(0, 10**6))
    X, y = mixed(n_pos, n_neg, draw(st.sampled_from([1, 2, 60])), draw(st.sampled_from([0.0, 1.0, 6.0])), seed)
    return KINDS[draw(st.sampled_from(kinds))](X, np.random.default_rng(seed)), y
