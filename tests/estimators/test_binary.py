"""The template fit of BinaryClassifier, as authors of plugins use it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from npbench.estimators.binary import BinaryClassifier, LinearClassifier
from npbench.estimators.constraints import POSITIVE
from npbench.estimators.parameters import keyword_parameters

X = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 4.0], [5.0, 3.0]])
Y = np.array(["ham", "ham", "spam", "spam"])


@keyword_parameters
class MeanDifference(LinearClassifier):
    """Difference of class means.

    Parameters
    ----------
    scale : float
        Factor of the scores; positive.
    """

    scale: float = 1.0
    converges: bool = True

    _parameter_constraints = {"scale": [POSITIVE], "converges": ["boolean"]}  # noqa: RUF012
    _explanations = {"short": "too few steps."}  # noqa: RUF012

    def _fit(self, X, signs):
        assert set(signs) == {-1.0, 1.0}
        w = self.scale * (X[signs > 0].mean(axis=0) - X[signs < 0].mean(axis=0))
        self.coef_, self.intercept_ = w[None, :], np.array([-float(w @ X.mean(axis=0))])
        self.converged_, self.status_ = self.converges, "converged" if self.converges else "short"


def test_fit_encodes_labels_and_sets_attributes():
    model = MeanDifference().fit(X, Y)
    assert list(model.classes_) == ["ham", "spam"]
    assert model.n_features_in_ == 2
    assert list(model.predict(X)) == list(Y)


def test_unconverged_fit_warns_once_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MeanDifference(converges=False).fit(X, Y)
    (warning,) = caught
    assert (warning.category, warning.filename) == (ConvergenceWarning, __file__)
    assert str(warning.message) == "MeanDifference: too few steps."


@pytest.mark.parametrize(
    ("params", "labels", "match"),
    [({"scale": -1.0}, Y, "'scale'"), ({}, ["a"] * 4, "one class"), ({}, ["a", "b", "c", "a"], "binary")],
)
def test_fit_refuses_invalid_parameters_and_labels(params, labels, match):
    with pytest.raises(ValueError, match=match):
        MeanDifference(**params).fit(X, labels)


def test_subclass_may_still_write_its_own_fit_and_decision_function():
    class FirstFeature(BinaryClassifier):
        def fit(self, X, y):
            X, _ = self._training_set(X, y)
            self.threshold_ = X[:, 0].mean()
            return self

        def decision_function(self, X):
            return self._samples(X)[:, 0] - self.threshold_

    assert list(FirstFeature().fit(X, Y).predict(X)) == list(Y)


def test_missing_methods_are_named():
    class Nothing(BinaryClassifier):
        """Neither fits nor scores."""

    with pytest.raises(TypeError, match="_fit"):
        Nothing().fit(X, Y)
    with pytest.raises(TypeError, match="_scores"):
        Nothing()._scores(X)


def test_docstring_adds_inherited_entries():
    described = MeanDifference.__doc__
    assert described.index("scale : float") < described.index("Attributes")
    for attribute in ("classes_", "n_features_in_", "coef_", "intercept_"):
        assert described.count(f"\n{attribute} : ") == 1
    assert "Notes" not in described  # of scikit-learn's base class


ROWS = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 4.0], [5.0, 3.0]]))
REVERSED = sparse.csr_array((ROWS.data[[0, 1, 3, 2, 5, 4]], ROWS.indices[[0, 1, 3, 2, 5, 4]], ROWS.indptr))
HALVES = sparse.csr_array((np.repeat(ROWS.data / 2, 2), np.repeat(ROWS.indices, 2), 2 * ROWS.indptr))


@pytest.mark.parametrize("form", ["csr", "coo", "csc", "bsr", "lil"])
@pytest.mark.parametrize("same", [HALVES, REVERSED, ROWS], ids=["halves", "reversed", "canonical"])
def test_sparse_samples_reach_the_numerics_in_canonical_form(same, form):
    seen = []

    class Seeing(MeanDifference):
        def _fit(self, X, signs):
            seen.append(X)
            super()._fit(X, signs)

        def _scores(self, X):
            seen.append(X)
            return super()._scores(X)

    given = same.asformat(form)
    data = given.data.copy()
    Seeing().fit(given, Y).predict(given)
    for samples in seen:
        assert samples.format == "csr"
        for part in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(samples, part), getattr(ROWS, part))
    assert np.array_equal(given.data, data)


def test_entries_without_a_type_stay_in_the_docstring():
    class Untyped(MeanDifference):
        """Difference of class means.

        Parameters
        ----------
        scale, converges
            As in the base class.
        """

    assert "scale, converges\n    As in the base class." in keyword_parameters(Untyped).__doc__
