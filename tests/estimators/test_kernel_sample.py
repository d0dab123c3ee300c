"""Rows in the order of folds, and the Gram matrices of folds, against NumPy's indexing."""

import numpy as np
import pytest

from npbench.estimators.kernel_sample import MAX_RUNS, block, ordered_by_fold
from selection_checks import CV, HOLDOUT


@pytest.mark.parametrize("folds", [CV, HOLDOUT], ids=["folds", "holdout"])
def test_validation_parts_are_consecutive_rows_of_the_same_folds(folds):
    rows, local = ordered_by_fold(folds)
    for (fit, validate), (local_fit, local_validate) in zip(folds, local, strict=True):
        assert set(rows[local_fit]) == set(fit)
        assert set(rows[local_validate]) == set(validate)
        assert np.all(np.diff(local_validate) == 1)
        assert (np.diff(local_fit) != 1).sum() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stride", [1, 2])
def test_blocks_are_those_of_indexing(dtype, stride):
    gram = np.random.default_rng(0).normal(size=(200, 200)).astype(dtype)
    rows = np.r_[3:40:stride, 90:199:stride]
    columns = np.random.default_rng(1).permutation(200)[: MAX_RUNS + 70]
    for some in (rows, columns):
        np.testing.assert_array_equal(block(gram, rows, some), gram[np.ix_(rows, some)])
        np.testing.assert_array_equal(block(gram, some, some), gram[np.ix_(some, some)])
