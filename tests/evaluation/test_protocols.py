import dataclasses
import math

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from npbench.data import BinaryData
from npbench.errors import RequestError
from npbench.evaluation.protocols import CrossValidation, Holdout, Nested, Official, Permutations, TimeOrdered

SHARES = st.floats(0.01, 0.6)
PROTOCOLS_DRAWN = st.builds(CrossValidation, SHARES, st.integers(2, 12)) | (
    st.builds(Holdout, SHARES, SHARES).filter(lambda p: not p.faults())
)


def labels(n_pos, n_neg, order_seed=0):
    return np.random.default_rng(order_seed).permutation(np.repeat(np.array([1, -1], dtype=np.int8), [n_pos, n_neg]))


def of(y, published=None):
    return BinaryData(np.zeros((len(y), 1)), y, "toy", published)


def assert_stratified(part, whole):
    """Each class has its exact share of the part, rounded up or down."""
    for label in (1, -1):
        assert abs(np.sum(part == label) - len(part) * np.mean(whole == label)) < 1


def assert_folds_partition(folds, rows):
    """Each row is validated on once, and fitted on in all other folds."""
    assert np.array_equal(np.sort(np.concatenate([validate for _, validate in folds])), np.sort(rows))
    for fit, validate in folds:
        assert np.array_equal(np.sort(np.concatenate([fit, validate])), np.sort(rows))


@given(PROTOCOLS_DRAWN, st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32), st.integers(0, 30))
def test_any_labels_are_split_well_or_refused(protocol, n_pos, n_neg, seed, repeat):
    y = labels(n_pos, n_neg)
    try:
        split = protocol.split(of(y), seed, repeat)
    except RequestError as error:
        event(error.faults[0].split(":")[1][:20])
        return
    rows = set(range(len(y)))
    assert len(split.test) == math.ceil(protocol.test_size * len(y))
    assert_stratified(y[split.test], y)
    for part in (split.test, split.train, *(part for fold in split.folds for part in fold)):
        assert len(set(part)) == len(part)
        assert set(y[part]) == {-1, 1}
    for fit, validate in split.folds:
        assert not set(fit) & set(validate)
        assert not (set(fit) | set(validate)) & set(split.test)
    assert not set(split.train) & set(split.test)
    assert rows == set(split.test).union(split.train, *(validate for _, validate in split.folds))
    if isinstance(protocol, CrossValidation):
        assert len(split.folds) == protocol.folds
        assert_folds_partition(split.folds, split.train)
        for label in (1, -1):
            counts = [np.sum(y[validate] == label) for _, validate in split.folds]
            assert max(counts) - min(counts) <= 1


def test_holdout_is_half_a_quarter_and_a_quarter():
    split = Holdout().split(of(labels(2788, 1813)), 0, 0)
    assert [len(split.train), len(split.folds[0][1]), len(split.test)] == [2300, 1150, 1151]
    assert np.array_equal(split.folds[0][0], split.train)


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 20), st.integers(1, 100), st.integers(0, 3))
def test_official_test_rows_are_kept_apart_and_the_rest_is_divided(n_pos, n_neg, first, count, repeat):
    y = labels(n_pos, n_neg)
    end = first + count
    try:
        split = Official((first, end)).split(of(y), 0, repeat)
    except RequestError as error:
        event(error.faults[0].split(":")[0][:20])
        rest = np.delete(y, slice(first, end))
        few = [np.sum(part == label) < least for part, least in ((y[first:end], 1), (rest, 5)) for label in (1, -1)]
        assert end > len(y) or any(few)
        return
    assert np.array_equal(split.test, np.arange(first, end))
    ((fit, validate),) = split.folds
    assert np.array_equal(fit, split.train)
    assert np.array_equal(np.sort(np.concatenate([split.test, fit, validate])), np.arange(len(y)))
    rest = np.delete(y, slice(first, end))
    assert len(validate) == math.ceil(len(rest) / 4)
    assert_stratified(y[validate], rest)


@given(st.integers(2, 60), st.integers(2, 60), st.integers(2, 5), st.integers(2, 4), st.integers(0, 3))
def test_nested_folds_test_each_row_once_or_are_refused(n_pos, n_neg, outer, folds, seed):
    y = labels(n_pos, n_neg)
    protocol = Nested(outer, folds)
    few = min(n_pos, n_neg)
    if few < outer or few - math.ceil(few / outer) < folds:
        with pytest.raises(RequestError, match=r"protocol\.outer"):
            protocol.split(of(y), seed, 0)
        return
    splits = [protocol.split(of(y), seed, repeat) for repeat in range(outer)]
    for split in splits:
        assert np.array_equal(np.union1d(split.train, split.test), np.arange(len(y)))
        assert not np.intersect1d(split.train, split.test).size
        assert len(split.folds) == folds
        assert_folds_partition(split.folds, split.train)
        assert all(set(y[part]) == {-1, 1} for fold in split.folds for part in fold)
    assert np.array_equal(np.sort(np.concatenate([split.test for split in splits])), np.arange(len(y)))
    assert protocol.split(of(y), seed, outer).sha256 not in {split.sha256 for split in splits}


@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(4, 50),
    st.none() | st.integers(2, 6),
    st.integers(0, 2**32),
    st.integers(0, 200),
)
def test_permutations_train_on_n_rows_and_test_on_the_rest_or_say_why_not(n_pos, n_neg, n_train, folds, seed, repeat):
    y = labels(n_pos, n_neg)
    try:
        split = Permutations(n_train, folds).split(of(y), seed, repeat)
    except RequestError as error:
        event(error.faults[0].split(",")[0][:30])
        return
    assert split.test_part == "drawn"
    assert len(split.train) == n_train
    assert np.array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(len(y)))
    for label in (1, -1):
        assert np.sum(y[split.train] == label) >= max(2, folds or 2)
        assert np.sum(y[split.test] == label) >= 1
    assert_folds_partition(split.folds, split.train)
    assert len(split.folds) == (folds or n_train)


def in_time(time, groups=None, n_pos=40):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, -1], [n_pos, len(time) - n_pos]))
    return BinaryData.checked(np.arange(len(time))[:, None], y, time=rng.permutation(time), groups=groups)


@pytest.mark.parametrize(("time", "cuts"), [(np.arange(200), [44, 72, 100, 128, 156]), (np.arange(200) // 40, None)])
def test_nothing_is_tested_that_is_older_than_a_training_row(time, cuts):
    data, protocol = in_time(time), TimeOrdered(origins=5 if cuts else 3)
    sizes = []
    for repeat in range(protocol.origins):
        split, again = (protocol.split(data, 0, number) for number in (repeat, repeat + protocol.origins))
        assert data.time[split.train].max() < data.time[split.test].min()
        assert np.array_equal(np.sort([*split.train, *split.test]), np.arange(200))
        assert_folds_partition(split.folds, split.train)
        for _, validate in split.folds:
            assert_stratified(data.y[validate], data.y[split.train])
        assert np.array_equal(split.train, again.train)  # the cuts come again, with other folds
        assert split.sha256 != again.sha256
        sizes.append(len(split.train))
    assert sizes == (cuts or [40, 120, 160])


def test_shuffled_parts_have_the_sizes_of_those_in_time_and_keep_groups():
    groups = np.arange(200) // 2
    for data in (in_time(np.arange(200)), in_time(np.arange(200), groups)):
        shuffled = [TimeOrdered(shuffled=True).split(data, 0, repeat) for repeat in range(5)]
        assert [len(split.train) for split in shuffled] == [44, 72, 100, 128, 156]
        for split in shuffled:
            assert data.time[split.train].max() > data.time[split.test].min()
            if data.groups is not None:
                assert not set(data.groups[split.train]) & set(data.groups[split.test])


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (of(labels(40, 160)), "times of rows: .* or use protocol=cv"),
        (in_time(np.arange(200) // 100), "time changes 1 times"),
        (in_time(np.arange(200), np.arange(200) % 100), "groups"),
        (in_time(np.arange(200), n_pos=5), "positive"),
    ],
)
def test_data_that_time_cannot_split_are_refused_in_one_line(data, word):
    with pytest.raises(RequestError, match=word) as refused:
        TimeOrdered().split(data, 0, 0)
    assert len(refused.value.faults) == 1


def test_rows_are_drawn_without_regard_to_their_class():
    one, other = (of(labels(60, 40, order_seed)) for order_seed in (0, 1))
    protocol = Permutations(50)
    assert np.array_equal(protocol.split(one, 3, 1).train, protocol.split(other, 3, 1).train)
    counts = {int(np.sum(one.y[protocol.split(one, 0, repeat).train] > 0)) for repeat in range(20)}
    assert len(counts) > 1


def test_every_row_is_as_likely_to_be_trained_on():
    data = of(labels(60, 60))
    chosen = np.concatenate([Permutations(30).split(data, 0, repeat).train for repeat in range(1000)])
    # Each count is binomial (1000, 1/4), of standard deviation 13.7.
    assert np.abs(np.bincount(chosen, minlength=120) - 250).max() < 5 * 13.7


def test_published_splits_come_in_turn_whatever_the_seed():
    y = labels(6, 6)
    published = np.array([np.sort(np.random.default_rng(k).permutation(12)[:7]) for k in range(3)])
    for repeat in range(3):
        splits = [Permutations(7).split(of(y, published), seed, repeat) for seed in (0, 1)]
        for split in splits:
            assert np.array_equal(split.train, published[repeat])
            assert set(split.test) == set(range(12)) - set(published[repeat])
            assert split.test_part == "published"
    drawn = Permutations(8).split(of(y, published), 0, 3)
    assert (len(drawn.train), drawn.test_part) == (8, "drawn")
    with pytest.raises(RequestError, match="repeats=3"):
        Permutations(7).split(of(y, published), 0, 3)


@pytest.mark.parametrize(
    ("counts", "protocol", "words"),
    [
        ((3, 3), Permutations(6), "n_train is 6"),
        ((3, 3), Permutations(4, 3), "samples, 2 of 4: the 3 folds"),
        ((1, 20), Permutations(15), "positive samples"),
        ((40, 1), Permutations(30), "too few negative samples"),
        ((60, 40), Official((50, 101)), r"test_rows is \[50, 101\]"),
        ((60, 40), Official((0, 20)), "negative samples, 0 of 20: the test part"),
    ],
)
def test_parts_without_enough_of_a_class_are_refused(counts, protocol, words):
    with pytest.raises(RequestError, match=words):
        protocol.split(of(np.repeat([1, -1], counts)), 0, 0)


def test_leaving_out_one_row_at_a_time_of_400_makes_one_array():
    folds = Permutations(400).split(of(labels(300, 300)), 0, 0).folds
    assert len(folds) == 400
    assert len({id(fit.base) for fit, _ in folds}) == 1


@pytest.mark.parametrize("protocol", [CrossValidation(), Holdout(), Nested(), Official((0, 10)), Permutations(50, 4)])
def test_a_split_follows_from_labels_protocol_seed_and_repeat_alone(protocol):
    y = labels(60, 40)
    first = protocol.split(of(y), 3, 1)
    np.random.seed(99)  # noqa: NPY002 - the state that must not matter
    assert dataclasses.replace(protocol).split(of(y.astype(float)), 3, 1).sha256 == first.sha256
    others = [protocol.split(of(z), *seeds) for z, *seeds in ((y, 3, 2), (y, 4, 1), (labels(60, 40, 1), 3, 1))]
    assert len({split.sha256 for split in (first, *others)}) == 4


def test_seed_and_repeat_do_not_add_up():
    y = labels(60, 40)
    tests = [tuple(CrossValidation().split(of(y), seed, repeat).test) for seed in range(5) for repeat in range(5)]
    assert len(set(tests)) == 25


def test_both_classes_with_too_few_samples_are_named():
    with pytest.raises(RequestError) as caught:
        CrossValidation(folds=4).split(of(labels(4, 4)), 0, 0)
    assert len(caught.value.faults) == 2
    for fault, name in zip(caught.value.faults, ("positive", "negative"), strict=True):
        assert f"{name} samples, 4 of 8: the 4 folds" in fault
        assert "protocol.folds" in fault


def outcome(protocol, y, repeat):
    try:
        protocol.split(of(y), 0, repeat)
    except RequestError as error:
        return str(error)
    return "split"


@given(PROTOCOLS_DRAWN, st.integers(1, 15), st.integers(1, 40))
@example(CrossValidation(folds=5), 6, 30)  # 9 in the test part, 1.5 and 7.5 of the classes: which is rounded up?
@example(Holdout(), 3, 3)
def test_a_request_is_refused_for_all_repeats_or_for_none(protocol, n_pos, n_neg):
    assert len({outcome(protocol, labels(n_pos, n_neg), repeat) for repeat in range(8)}) == 1


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (CrossValidation(test_size=0.0), ["protocol.test_size is 0.0"]),
        (CrossValidation(test_size=math.nan, folds=1), ["protocol.test_size is nan", "protocol.folds is 1"]),
        (CrossValidation(test_size=1, folds=2.5), ["protocol.test_size is 1", "protocol.folds is 2.5"]),
        (Holdout(test_size="a", validation_size=-1.0), ["protocol.test_size is 'a'", "protocol.validation_size is -1"]),
        (Holdout(test_size=0.5, validation_size=0.5), ["protocol.test_size + protocol.validation_size is 1"]),
        (Nested(1, 2.5), ["protocol.outer is 1", "protocol.folds is 2.5"]),
        (Official(), ["test split"]),
        (Official((3, 3), 1.5), ["protocol.validation_size is 1.5", "protocol.test_rows is (3, 3)"]),
        (Official([-1, 3]), ["protocol.test_rows is (-1, 3)"]),
        (Official([0, 2.5]), ["protocol.test_rows is (0, 2.5)"]),
        (Official(7), ["protocol.test_rows is 7"]),
        (Permutations(), ["training size"]),
        (Permutations(3, 1), ["protocol.n_train is 3", "protocol.folds is 1"]),
        (Permutations(10.0, "all"), ["protocol.n_train is 10.0", "protocol.folds is 'all'"]),
        (Permutations(True, True), ["protocol.n_train is True", "protocol.folds is True"]),
        (TimeOrdered(1, 1.0, 1, 0), ["origins is 1", "min_part is 1.0", "folds is 1", "shuffled is 0"]),
        *((sound, []) for sound in (CrossValidation(), Holdout(), Nested(), Official((0, 10)), Permutations(10))),
        (TimeOrdered(), []),
    ],
)
def test_every_parameter_out_of_range_is_named(protocol, words):
    faults = protocol.faults()
    assert len(faults) == len(words)
    assert all(word in fault for word, fault in zip(words, faults, strict=True))
