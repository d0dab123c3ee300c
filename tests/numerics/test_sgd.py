"""Order of the samples in stochastic descent."""

import numpy as np
import pytest

from npbench.numerics.sgd import Draws


@pytest.mark.parametrize("n_positive", [0, 3, 40, 97])
def test_shuffled_epochs_take_each_row_and_balanced_ones_half_of_each_class(n_positive):
    is_positive = np.random.default_rng(0).permutation(97) < n_positive
    shuffled = Draws(is_positive, "shuffle", np.random.default_rng(1))
    first, second = shuffled.epoch().copy(), shuffled.epoch()
    np.testing.assert_array_equal(np.sort(first), np.arange(97))
    assert not np.array_equal(first, second)
    order = Draws(is_positive, "balanced", np.random.default_rng(1)).epoch()
    drawn = np.bincount(order, minlength=97)
    for members, share in ((is_positive, 48), (~is_positive, 49)):
        if members.any():
            assert drawn[members].sum() == share
            assert np.ptp(drawn[members]) <= 1
