"""Groups of rows, such as those of one patient, are on one side of every division, or the division is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.evaluation.protocols import CrossValidation, Holdout, Nested, Official, Permutations

SHARES = st.floats(0.01, 0.9)
DRAWN = (
    st.builds(CrossValidation, SHARES, st.integers(2, 6))
    | st.builds(Holdout, SHARES, SHARES).filter(lambda protocol: not protocol.faults())
    | st.builds(Nested, st.integers(2, 5), st.integers(2, 4))
)


def patients(n_groups=60, largest=6, seed=0):
    """Samples of patients, one to ``largest`` of each, of whom a third is ill."""
    random = np.random.default_rng(seed)
    groups = random.permutation(np.repeat(np.arange(n_groups), random.integers(1, largest + 1, n_groups)))
    y = np.where(groups % 3 == 0, 1, -1)
    return BinaryData.checked(np.arange(len(y), dtype=float)[:, None], y, "patients", groups=groups)


@given(
    DRAWN,
    st.lists(st.integers(0, 40), min_size=4, max_size=60),
    st.randoms(use_true_random=False),
    st.integers(0, 5),
    st.integers(0, 5),
)
@example(CrossValidation(), [k // 5 for k in range(60)], None, 0, 0)
@example(Nested(5, 4), [k // 3 for k in range(120)], None, 0, 3)
def test_no_group_is_on_both_sides_or_the_split_is_refused(protocol, groups, random, seed, repeat):
    y = np.array([1, -1] + [random.choice([1, -1]) if random else (-1) ** (k % 3) for k in range(len(groups) - 2)])
    data = BinaryData.checked(np.zeros((len(y), 1)), y, groups=groups)
    try:
        split = protocol.split(data, seed, repeat)
    except RequestError as error:
        event(error.faults[0][:30])
        return
    labels = np.array(groups)
    tested = ((rows, split.test) for rows in (split.train, *(rows for fold in split.folds for rows in fold)))
    for one, other in (*tested, *split.folds):
        assert not set(one) & set(other)
        assert not set(labels[one]) & set(labels[other])
        assert set(y[one]) == set(y[other]) == {-1, 1}
    parts = [split.test, split.train, *(rows for _, rows in split.folds)]
    assert set(np.concatenate(parts)) == set(range(len(y)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("protocol", [CrossValidation(), Holdout(), CrossValidation(test_size=0.3), Holdout(0.1, 0.2)])
def test_shares_and_classes_are_nearly_those_of_single_rows(protocol):
    data = patients(n_groups=300)
    for repeat in range(3):
        split = protocol.split(data, 0, repeat)
        assert abs(len(split.test) / data.n_samples - protocol.test_size) < 0.02
        for part in (split.test, split.train, *(rows for _, rows in split.folds)):
            assert abs(np.mean(data.y[part] > 0) - np.mean(data.y > 0)) < 0.05
        if isinstance(protocol, Holdout):
            assert abs(len(split.folds[0][1]) / data.n_samples - protocol.validation_size) < 0.03
        else:
            sizes = [len(rows) for _, rows in split.folds]
            assert max(sizes) - min(sizes) < 0.03 * data.n_samples


def test_every_group_is_tested_on_in_its_share_of_the_repeats():
    # The largest groups are the ones that a division begins with; the largest has a tenth of the rows.
    sizes = [10, 9, *[1, 2, 3, 4] * 8]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = np.where(np.arange(len(groups)) % 2, 1, -1)
    data = BinaryData.checked(np.zeros((len(y), 1)), y, groups=groups)
    tested = np.concatenate([np.unique(groups[CrossValidation().split(data, 0, r).test]) for r in range(48)])
    # Each count is about binomial (48, 1/4), of standard deviation 3.
    counts = np.bincount(tested, minlength=len(sizes))
    assert np.abs(counts - 12).max() < 5 * 3


@pytest.mark.parametrize("protocol", [CrossValidation(), Holdout(), Official((0, 6))])
def test_a_split_follows_from_data_protocol_seed_and_repeat_alone(protocol):
    data = patients()
    if isinstance(protocol, Official):  # the groups of the first rows are in those rows only
        data = BinaryData.checked(data.X, np.resize([1, -1, -1], data.n_samples), groups=np.arange(data.n_samples) // 6)
    first = protocol.split(data, 3, 1)
    np.random.seed(99)  # noqa: NPY002 - the state that must not matter
    called_otherwise = dataclasses.replace(data, groups=data.groups.copy(), name="other")
    assert protocol.split(called_otherwise, 3, 1).sha256 == first.sha256
    others = [protocol.split(data, seed, repeat).sha256 for seed, repeat in ((3, 2), (4, 1))]
    assert len({first.sha256, *others}) == 3


@pytest.mark.parametrize("protocol", [Permutations(30), Official((0, 20))])
def test_protocols_that_would_split_groups_are_refused(protocol):
    with pytest.raises(RequestError, match=f"protocol={protocol.name}.*groups"):
        protocol.split(patients(), 0, 0)


def test_too_few_groups_are_refused():
    y = np.tile([1, -1], 30)
    for n_groups, words in ((3, "3 groups of 60 rows .* 4 parts"), (5, "4 groups .* 5 parts")):
        data = BinaryData.checked(np.zeros((60, 1)), y, groups=np.arange(60) // (60 // n_groups))
        with pytest.raises(RequestError, match=words):
            CrossValidation(folds=5).split(data, 0, 0)
    twentieth = BinaryData.checked(np.zeros((36, 1)), y[:36], groups=[0, 0, *range(1, 35)])
    with pytest.raises(RequestError, match="35 groups of 36 rows"):
        CrossValidation(test_size=0.05, folds=2).split(twentieth, 0, 0)
    one_ill = BinaryData.checked(np.zeros((60, 1)), np.repeat([1, -1, -1], 20), groups=np.arange(60) // 20)
    with pytest.raises(RequestError, match="one class only"):
        CrossValidation(test_size=0.5, folds=2).split(one_ill, 0, 0)


def test_the_hash_depends_on_every_part_of_a_split():
    split = CrossValidation().split(patients(), 0, 0)
    moved = [
        dataclasses.replace(split, train=split.train[::-1]),
        dataclasses.replace(split, test=split.test[1:]),
        dataclasses.replace(split, train=np.append(split.train, split.test[0]), test=split.test[1:]),
        dataclasses.replace(split, folds=split.folds[1:]),
        dataclasses.replace(split, folds=split.folds[::-1]),
    ]
    assert len({one.sha256 for one in (split, *moved)}) == 6
    narrow = dataclasses.replace(split, train=split.train.astype(np.int32), test=split.test.astype(">i8"))
    assert narrow.sha256 == split.sha256
