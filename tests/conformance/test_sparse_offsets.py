"""Offsets of sparse samples: methods that do not depend on them give the answer for the dense samples without them."""

import numpy as np
import pytest
import scipy.sparse as sp

from class_samples import gaussians
from solver_variants import solver

X, Y = gaussians(60)
INVARIANT = {
    "ac_svm": [{"kernel": "rbf", "C_pos": 10.0}, {"kernel": "rbf", "C_pos": 10.0, "cache_size": 0.01}],
    "gen": [{"kernel": "linear"}, {"kernel": "rbf"}],
    "np_svm": [{"kernel": "linear"}, {"kernel": "rbf"}],
    "q_svm": [{"kernel": "linear"}],
    "splitting": [{"tau": 0.3}],
    "svm_path": [{"total": 1.0, "train_asymmetry": 0.3}, {"total": 1.0, "train_asymmetry": 0.3, "kernel": "rbf"}],
    "two_nu_svm": [{"nu_pos": 0.8, "nu_neg": 0.8, "kernel": kernel} for kernel in ("linear", "rbf")],
    "uzawa": [{"kernel": "linear"}],
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # the Chebyshev bound is vacuous
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("name", "params"), [(name, params) for name, all_ in INVARIANT.items() for params in all_])
def test_offsets_do_not_change_scores(name, params, storage):
    near = solver(name, **params).fit(X, Y).decision_function(X)
    far = storage(X + 1e7)
    model = solver(name, **params).fit(far, Y)
    np.testing.assert_allclose(model.decision_function(far), near, atol=0.01 * np.abs(near).max())
