import math

import numpy as np
import pytest

from npbench.problem import PROBLEMS, Cost, NeymanPearson, PartialAUC, QValue

Y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
SCORES = np.array([2.0, 1.0, 0.0, -1.0, 1.0, 0.0, -1.0, -2.0])  # of each class: two right, one undecided, one wrong
OUTSIDE = [0, 1, 0.0, 1.0, -0.1, 2.5, math.nan, math.inf, 10**400, True, "0.05", None]


@pytest.mark.parametrize("name", PROBLEMS)
def test_defaults_have_no_faults_and_fill_in_their_own_fields(name):
    problem = PROBLEMS[name]()
    assert problem.name == name
    assert problem.faults() == []
    assert type(problem)(**problem.parameters()) == problem


@pytest.mark.parametrize(("kind", "field"), [(NeymanPearson, "rho"), (QValue, "q"), (Cost, "asymmetry")])
@pytest.mark.parametrize("value", OUTSIDE, ids=repr)
def test_a_share_outside_the_open_interval_is_refused(kind, field, value):
    (fault,) = kind(**{field: value}).faults()
    assert fault.startswith(f"problem.{field} is {value!r}: ")
    assert not any(kind(**{field: extreme}).faults() for extreme in (1e-300, 0.001, 1 - 1e-16))


RANGES = [(0.1, 0.1), (0.2, 0.1), (-0.1, 0.5), (0, 1.1), (0.1,), (0, 0.1, 0.2), (0, math.nan), ("a", 1)]


@pytest.mark.parametrize("fpr_range", [*RANGES, 0.1, "ab", None, (0, None)])
def test_an_invalid_range_of_false_positive_rates_is_refused(fpr_range):
    (fault,) = PartialAUC(fpr_range).faults()
    assert fault.startswith("problem.fpr_range is ")


@pytest.mark.parametrize("tpr_range", [*RANGES, 0.1, "ab", None, (0, None)])
def test_an_invalid_range_of_true_positive_rates_is_refused(tpr_range):
    (fault,) = PartialAUC((0.0, 0.1), tpr_range).faults()
    assert fault.startswith("problem.tpr_range is ")


def test_the_two_way_area_is_over_pairs_of_both_ranges():
    two_way = PartialAUC((0.0, 0.5), (0.5, 1.0))
    # positives 0 and -1 against negatives 1 and 0: a tie among four pairs
    assert two_way.loss([(Y, SCORES)]) == pytest.approx(1 - 0.5 / 4)
    assert two_way.loss([(Y, SCORES), (Y, Y.astype(float))]) == pytest.approx((1 - 0.5 / 4) / 2)
    assert PartialAUC((0.0, 0.5), (0, 1)).loss([(Y, SCORES)]) == PartialAUC((0.0, 0.5)).loss([(Y, SCORES)])
    assert [m for m in range(1, 8) if PartialAUC((0.0, 1.0), (0.5, 0.7)).measurable(m, 1)] == [6]


def test_a_range_of_all_true_positive_rates_is_no_parameter():
    """Records from before the range was known have the same parameters."""
    assert PartialAUC((0.0, 0.1), [0, 1.0]).parameters() == {"fpr_range": (0.0, 0.1)}
    assert PartialAUC((0.0, 0.1), [0.5, 1]).parameters() == {"fpr_range": (0.0, 0.1), "tpr_range": (0.5, 1)}


def test_a_range_given_as_a_list_is_the_same_problem():
    assert hash(PartialAUC([0.0, 0.1])) == hash(PartialAUC((0.0, 0.1)))


@pytest.mark.parametrize(
    ("problem", "loss"),
    [
        (NeymanPearson(0.25), 0.5 + (0.5 - 0.25) / 0.25),
        (NeymanPearson(0.5), 0.5),
        (Cost(0.75), (0.75 * 2 + 0.25 * 2) / 8),
        (QValue(0.5), 1 - 1 / 2),
        (PartialAUC((0.0, 0.5)), 1 - (1.5 + 2.5) / 8),
    ],
    ids=str,
)
def test_losses_by_hand(problem, loss):
    assert problem.loss([(Y, SCORES)]) == pytest.approx(loss)


def test_rates_and_costs_are_pooled_where_rankings_are_averaged():
    # Two folds whose scores are not comparable: rankings within a fold are perfect, over both they are not.
    y = np.array([1, -1])
    folds = [(y, np.array([2.0, 1.0])), (y, np.array([-1.0, -2.0]))]
    assert PartialAUC((0.0, 1.0)).loss(folds) == 0.0
    assert QValue(0.5).loss(folds) == 0.0
    assert NeymanPearson(0.5).loss(folds) == 0.5
    assert Cost(0.5).loss(folds) == 0.25


@pytest.mark.parametrize("name", PROBLEMS)
def test_scores_that_are_not_numbers_have_the_largest_loss(name):
    problem = PartialAUC((0.0, 0.5)) if name == "pauc" else PROBLEMS[name]()
    worst = problem.loss([(Y, np.full(len(Y), np.nan))])
    assert worst >= problem.loss([(Y, -Y.astype(float))]) > problem.loss([(Y, Y.astype(float))])


def test_a_fold_that_the_problem_calls_measurable_has_a_loss():
    narrow = PartialAUC((0.02, 0.05))
    assert [n for n in range(120) if not narrow.measurable(1, n)] == [*range(40), *range(51, 60)]
    assert not narrow.measurable(0, 1000)
    assert all(PROBLEMS[name]().measurable(0, 1) for name in ("np", "cost", "qvalue"))
    for n in range(1, 120):
        fold = (np.repeat([1, -1], [1, n]), np.arange(n + 1.0))
        if narrow.measurable(1, n):
            assert narrow.loss([fold]) == 1.0
        else:
            with pytest.raises(ValueError, match="No negative is ranked"):
                narrow.loss([fold])
