"""Transform of read counts to nearly Gaussian features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from npbench.estimators.parameters import keyword_parameters

WHOM = "AnscombeTransform, which expects counts: if they are already logarithms, leave the transform out"


@keyword_parameters
class AnscombeTransform(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Logarithm of negative binomial counts, shifted so that their variance hardly depends on their mean.

        Z = ln(X + psi / 2)

    has a variance near the trigamma function at psi for every large mean of X.

    Parameters
    ----------
    psi : float or array of shape (n_features,), default=6.0
        Dispersion, common or per feature; positive. A count of mean m has the variance m + m^2 / psi.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    Nothing is estimated. The result is dense, since no count becomes 0; sparse counts are refused.

    References
    ----------
    F. J. Anscombe (1948), The transformation of Poisson, binomial and negative-binomial data, Biometrika 35, 246-254;
    Barlaud, Combettes, Fillatre (2015), hal-01160831, equation 39.

    Examples
    --------
    >>> AnscombeTransform(psi=2.0).fit_transform(np.array([[0.0, 7.0]]))
    array([[0.        , 2.07944154]])
    """

    psi: Any = 6.0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that ``X``, of shape (n_samples, n_features), has non-negative counts, and ``psi`` as many values."""
        X = validate_data(self, X, dtype=np.float64)
        psi = np.asarray(self.psi, dtype=np.float64)
        if not np.all((psi > 0) & np.isfinite(psi)) or psi.shape not in ((), (X.shape[1],)):
            raise ValueError(
                f"psi is {self.psi!r}: expected a positive number, or one for each of the {X.shape[1]} features"
            )
        check_non_negative(X, WHOM)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return ln(X + psi / 2), of the shape of ``X``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        check_non_negative(X, WHOM)
        return np.log(X + 0.5 * np.asarray(self.psi, dtype=np.float64))

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return the counts ``exp(Z) - psi / 2``."""
        check_is_fitted(self)
        return np.exp(np.asarray(Z, dtype=np.float64)) - 0.5 * np.asarray(self.psi, dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
