"""Rules for the data sets of the benchmark, written before any result on them.

Source
    A package on the package index carries the table, or scikit-learn does, so that nothing else has to be reached.
    Classification tables only. Left out: tables drawn by a program (banana, ring, twonorm, led7digit), complete
    enumerations of a rule (balance, car, kr-vs-k, monk-2, nursery, poker, tic-tac-toe), and damaged ones (heart, which
    lost decimal points). A table that npbench has under another name is used under that name.
Size
    200 to 50,000 rows; at most ten sets with more than 5,000, since a Gram matrix of 50,000 rows takes 20 GB. Of more
    than ten the largest are left out: letter.
Classes
    At least 30 positives and 160 negatives, and at most 130 of one class for each of the other. A bound rho is used
    where there are 16 / rho negatives. Half of them are tested on: 8 false alarms at the bound. Of the others a fold
    leaves three quarters, half of which set a threshold: the 3 / rho that the umbrella rule needs for delta = 0.05.
Duplicates
    At most 40 % of the rows have the features of an earlier one. No two sets share more than 1 % of their rows.
    Where tables overlap: the one that npbench has already; otherwise the one with the most rows; of those, the one
    with the fewest positives; of those, the first by name. At most two sets of one source table. Of crx and
    australian, which hold the same applications under other names, the one with more rows. Not yeast-1_vs_7, which
    holds rows of yeast6 without one of its columns.
Positive class
    That of npbench's own description. In other tables the class that the table calls positive; without one, the rarest
    class against all others, the first by name among equally rare ones.
Protocol
    One for all: half for testing, 4-fold cross-validation on the rest, columns standardized, missing values imputed.

Two sets with more than 100,000 rows are drawn by generators, for the cost of training.
"""

from __future__ import annotations

ROWS = (200, 50_000)
MANY_ROWS, MAX_LARGE_SETS = 5_000, 10
MIN_POSITIVES, MIN_NEGATIVES = 30, 160
MAX_IMBALANCE = 130
NEGATIVES_TIMES_RHO = 16
MAX_REPEATED_ROWS, MAX_COMMON_ROWS = 0.4, 0.01
MAX_PER_SOURCE = 2


def bounds(n_negatives: int) -> list[float]:
    """Return the bounds rho that a data set with this number of negatives is used with.

    Examples
    --------
    >>> bounds(160), bounds(320), bounds(1600)
    ([0.1], [0.1, 0.05], [0.1, 0.05, 0.01])
    """
    return [rho for rho in (0.1, 0.05, 0.01) if n_negatives * rho >= NEGATIVES_TIMES_RHO]
