"""The selection of genes by their score, also after Anscombe's logarithm of counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils._param_validation import InvalidParameterError

from npbench import load_dataset
from npbench_datasets.negative_binomial import stabilized
from npbench_splitting.genes import GeneScore


def by_hand(X, y):
    """Equation (43), feature by feature, with Python's own arithmetic."""
    found = []
    for column in X.T.tolist():
        parts = [[v for v, label in zip(column, y, strict=True) if label == side] for side in (-1, 1)]
        means = [sum(part) / len(part) for part in parts]
        spreads = [(sum((v - m) ** 2 for v in part) / len(part)) ** 0.5 for part, m in zip(parts, means, strict=True)]
        found.append(abs(means[1] - means[0]) / sum(spreads))
    return found


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_scores_are_those_of_equation_43(kind):
    random = np.random.default_rng(0)
    X = random.poisson(2.0, size=(40, 7)) * random.uniform(0.1, 9, 7)
    y = np.where(np.arange(40) % 3, -1, 1)
    selector = GeneScore(n_features_to_select=3).fit(kind(X), y)
    np.testing.assert_allclose(selector.scores_, by_hand(X, y), rtol=1e-10)
    kept = np.sort(np.argsort(by_hand(X, y))[-3:])
    assert selector.get_support(indices=True).tolist() == kept.tolist()
    chosen = selector.transform(kind(X))
    assert np.array_equal(chosen.toarray() if sparse.issparse(chosen) else chosen, X[:, kept])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_constant_features_score_nothing_and_perfect_ones_best(kind):
    y = np.repeat([0, 1], [3, 5])
    noisy = np.array([0.0, 1, 2, 1, 2, 3, 2, 1])
    columns = {"constant": np.full(8, 0.1), "zero": np.zeros(8), "noisy": noisy, "perfect": y + 0.3, "far": 1e9 + noisy}
    selector = GeneScore(n_features_to_select=2).fit(kind(np.column_stack(list(columns.values()))), y)
    scores = dict(zip(columns, selector.scores_, strict=True))
    assert (scores["constant"], scores["zero"], scores["perfect"]) == (0.0, 0.0, np.inf)
    assert scores["far"] == pytest.approx(scores["noisy"], rel=1e-6)
    assert selector.get_support(indices=True).tolist() == [2, 3]


@given(
    arrays(float, (12, 4), elements=st.integers(-50, 50).map(float)),
    st.sampled_from([0.001, 3.0, 1e6]),
    st.sampled_from([0.0, -7.0, 1e3]),
)
def test_scores_depend_on_neither_unit_nor_origin(X, unit, origin):
    y = np.repeat([0, 1], 6)
    one, other = (GeneScore().fit(Z, y).scores_ for Z in (X, X * unit + origin))
    np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9)


def test_best_separated_pair_of_classes_counts():
    X = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 1.0], [2.0, 3.0], [10.0, 0.0], [12.0, 2.0]])
    assert GeneScore().fit(X, list("aabbcc")).scores_ == pytest.approx([10 / 2, 1 / 2])


def test_fewer_features_are_all_kept():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert GeneScore(n_features_to_select=5).fit_transform(X, np.arange(20) % 2).shape == (20, 3)


def test_the_genes_that_the_generator_changed_are_found():
    data = load_dataset("negative_binomial", n_pos=600, n_neg=400, n_features=100, offset=0.5, transform=False)
    logarithm = FunctionTransformer(stabilized, kw_args={"psi": 6.0})
    model = make_pipeline(logarithm, GeneScore(n_features_to_select=10), LogisticRegression())
    model.fit(data.X, data.y)
    top = model[1].get_support(indices=True)
    shifts = np.log(data.X[data.y > 0].mean(axis=0) / data.X[data.y < 0].mean(axis=0))
    assert np.sort(np.abs(shifts))[-20:].min() < 0.1 < np.abs(shifts[top]).min()
    assert np.mean(model.decision_function(data.X) * data.y > 0) > 0.9


def test_invalid_input_is_refused():
    with pytest.raises(InvalidParameterError):
        GeneScore(n_features_to_select=0).fit(np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="only one class"):
        GeneScore().fit(np.ones((2, 3)), [1, 1])
