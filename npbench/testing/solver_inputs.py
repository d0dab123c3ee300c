"""Checks of the inputs that a solver accepts, and of its errors for others."""

import copy
from typing import Any

import numpy as np
from scipy import sparse

from npbench.contracts import Solver
from npbench.testing.check import require
from npbench.testing.samples import apart, blobs, made, scores
from npbench.testing.solver_answers import SCORE_TOLERANCE

FORMATS = ("coo", "csc", "bsr")  # npbench passes CSR; a solver may refuse these
LABELS = ((0, 1), (1, 2), (-3.0, 7.0), (False, True), ("no", "yes"))


def any_two_labels(solver: Solver) -> None:
    """Any two labels give the same scores; the larger label is positive."""
    X, y = blobs()
    expected = scores(solver, X, y, X)
    for pair in LABELS:
        found = scores(solver, X, np.array(pair)[(y > 0).astype(int)], X)
        require(np.array_equal(found, expected), f"With labels {pair} the scores differ: code them by classes_.")


def few_samples(solver: Solver) -> None:
    """Two samples, or one among twenty, are fitted or refused with a clear message."""
    X, y = blobs(n=42)
    rare = np.concatenate([np.flatnonzero(y < 0)[:20], np.flatnonzero(y > 0)[:1]])
    pair = np.array([np.flatnonzero(y < 0)[0], np.flatnonzero(y > 0)[0]])
    for what, rows in {"2 samples": pair, "1 positive and 20 negatives": rare, "1 negative": rare}.items():
        labels = -y if what == "1 negative" else y
        _finite_or_refused(solver, what, X[rows], labels[rows])


def extreme_features(solver: Solver) -> None:
    """Features that are constant, huge, tiny or repeated give finite scores or a clear message."""
    X, y = blobs(n=60)
    outlier = X.copy()
    outlier[3, 1] = 1e10
    cases = {
        "all features constant": np.ones_like(X),
        "one feature constant": X * [1.0, 1.0, 0.0] + [0.0, 0.0, 5.0],
        "features of size 1e150": X * 1e150,
        "one value of 1e10": outlier,
        "features of size 1e-150": X * 1e-150,
        "one feature a million times the others": X * [1.0, 1.0, 1e6],
        "every row ten times": np.repeat(X[:6], 10, axis=0),
        "more features than samples": np.tile(X[:, :1], (1, 80)) + np.linspace(0.0, 1.0, 80),
    }
    repeated = np.repeat([-1, 1, *y[2:6]], 10)
    for what, features in cases.items():
        _finite_or_refused(solver, what, features, repeated if what == "every row ten times" else y)


def _finite_or_refused(solver: Solver, what: str, X: np.ndarray, y: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        found, _ = _scores_or_refusal(solver, X, y)
    is_good = found is None or np.isfinite(found).all()
    require(is_good, f"With {what} it returns NaN or infinite scores: return finite ones, or raise a ValueError.")


def sparse_equals_dense(solver: Solver) -> None:
    """CSR samples give the same classifier as dense ones (tag sparse)."""
    X, y = blobs()
    X = X * (np.abs(X) > 0.5)
    dense = scores(solver, X, y, X)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        difference = apart(dense, scores(solver, kind(X), y, kind(X)))
        shown = f"{difference:.2g} of their spread, expected at most {SCORE_TOLERANCE}"
        fault = f"Scores of {kind.__name__} samples differ from scores of dense ones by {shown}"
        require(difference <= SCORE_TOLERANCE, f"{fault}: correct fit for CSR samples, or remove the tag sparse.")


def sparse_forms(solver: Solver) -> None:
    """Repeated, unsorted and zero entries, and other sparse formats, mean the same samples (tag sparse)."""
    X, y = blobs()
    plain = sparse.csr_array(X * (np.abs(X) > 0.5))
    expected, parts = scores(solver, plain, y, plain), _in_parts(plain)
    forms = {"repeated, unsorted": parts, "zero": _with_zeros(plain)}
    forms |= {name: parts.asformat(name) for name in FORMATS}
    for what, form in forms.items():
        found, text = _scores_or_refusal(solver, form, y)
        kind = f"{what.upper()} samples" if what in FORMATS else f"CSR samples with {what} entries"
        require(not text or what in FORMATS, f"{kind} are refused ({text}): they are valid.")
        is_same = found is None or apart(expected, found) <= SCORE_TOLERANCE
        remedy = "call sum_duplicates() and eliminate_zeros() of a copy, as npbench.estimators.samples.canonical does"
        require(is_same, f"{kind} give other scores than the same samples in canonical form: {remedy}.")


def _scores_or_refusal(solver: Solver, X: Any, y: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Return the scores, or the text of the ValueError or TypeError that refuses the samples."""
    try:
        return scores(solver, X, y, X), ""
    except (ValueError, TypeError) as error:
        require(len(str(error).split()) > 2, f"The message of {error!r} should say what is wrong.")
        return None, str(error)


def _in_parts(X: Any) -> Any:
    """Return a CSR matrix with each entry as two halves, in descending order of the columns."""
    rows, _ = X.nonzero()
    twice = np.repeat(np.lexsort((-X.indices, rows)), 2)
    return sparse.csr_array((X.data[twice] / 2, X.indices[twice], 2 * X.indptr), shape=X.shape)


def _with_zeros(X: Any) -> Any:
    """Return a CSR matrix that stores all zeros."""
    n, d = X.shape
    return sparse.csr_array((X.toarray().ravel(), np.tile(np.arange(d), n), d * np.arange(n + 1)), shape=X.shape)


def unchanged_inputs(solver: Solver) -> None:
    """The arrays of the caller stay as they are, in fit and in decision_function."""
    X, y = blobs()
    samples: dict[str, Any] = {"X": X}
    if "sparse" in solver.tags:
        samples["the CSR matrix X"] = _in_parts(sparse.csr_array(X * (np.abs(X) > 0.5)))
    for what, given in samples.items():
        arrays = {what: [given.data, given.indices, given.indptr] if sparse.issparse(given) else [given], "y": [y]}
        before = copy.deepcopy(arrays)
        made(solver).fit(given, y).decision_function(given)
        for name, parts in arrays.items():
            is_same = all(np.array_equal(old, new) for old, new in zip(before[name], parts, strict=True))
            require(is_same, f"fit or decision_function changes {name}, which belongs to the caller: use a copy.")


def sparse_is_refused(solver: Solver) -> None:
    """CSR samples are refused with a clear message (no tag sparse)."""
    X, y = blobs()
    found, _ = _scores_or_refusal(solver, sparse.csr_array(X), y)
    require(found is None, "It fits CSR samples, but lacks the tag sparse: add the tag, or refuse them.")
