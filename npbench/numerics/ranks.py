"""Kernels for ranks of many scores in O(n): selection by a histogram, and search in sorted values by a table of places.

Both map values to buckets of equal width, a monotone map, so that comparisons remain exact; only the time depends on
how evenly the values fill the buckets. Loops without unpredictable branches take a few nanoseconds per value.
"""

import numpy as np
from numba import njit

SELECTION_BUCKETS = 4096  # their counts stay in the first-level cache
BUCKETS_PER_VALUE = 4  # so that few values share a bucket and searches are short
LARGEST_RATE = 1e300  # buckets per unit; beyond it, all values share one bucket


@njit(cache=True, nogil=True)
def bucket_rate(least, largest, n_buckets):
    """Return the buckets per unit, or 0 if the range is too small or too large to be divided."""
    rate = n_buckets / (largest - least) if largest > least else 0.0
    return rate if rate < LARGEST_RATE else 0.0


@njit(cache=True, nogil=True)
def bucket_of(value, least, rate):
    """Return the bucket of a value; 0 if they share one, also where ``value - least`` overflows, and for NaN."""
    place = (value - least) * rate
    return int(place) if place > 0.0 else 0


@njit(cache=True, nogil=True)
def largest_and_candidates(scores, members, k):
    """Return the members with scores certainly among the k largest, and the bucket from which the rest is taken.

    Both are in the order of ``members``. O(members).
    """
    # buckets of equal width between the extremes
    least, largest = np.inf, -np.inf
    for i in members:
        least, largest = min(least, scores[i]), max(largest, scores[i])
    rate = bucket_rate(least, largest, SELECTION_BUCKETS)

    # bucket of the k-th largest
    sizes = np.zeros(SELECTION_BUCKETS + 1, np.int64)
    for i in members:
        sizes[bucket_of(scores[i], least, rate)] += 1
    boundary, above = SELECTION_BUCKETS, 0
    while above + sizes[boundary] < k:
        above += sizes[boundary]
        boundary -= 1

    # collect both groups; an entry that does not belong is overwritten by the next
    selected, candidates = np.empty(above + 1, np.int64), np.empty(sizes[boundary] + 1, np.int64)
    n_selected = n_candidates = 0
    for i in members:
        bucket = bucket_of(scores[i], least, rate)
        selected[n_selected], candidates[n_candidates] = i, i
        n_selected += bucket > boundary
        n_candidates += bucket == boundary
    return selected[:above], candidates[: sizes[boundary]]


def largest(scores: np.ndarray, members: np.ndarray, k: int) -> np.ndarray:
    """Return the k members with the largest scores, in any order; of tied ones, those last in ``members``."""
    selected, candidates = largest_and_candidates(scores, members, k)
    order = np.argsort(scores[candidates], kind="stable")
    return np.concatenate([selected, candidates[order[len(order) - (k - len(selected)) :]]])


@njit(cache=True, nogil=True)
def count_smaller(ascending, queries):
    """Return ``np.searchsorted(ascending, queries)``, the number of values smaller than each query; all finite.

    O(values + queries) for smooth distributions, in any order of the queries; at worst a binary search for each.
    """
    m = len(ascending)
    n_buckets, least = BUCKETS_PER_VALUE * m, ascending[0]
    rate = bucket_rate(least, ascending[m - 1], n_buckets)

    # place[b]: number of values in buckets before b; the widest bucket gives the number of search steps
    place = np.zeros(n_buckets + 2, np.int32)  # half the cache of int64
    for value in ascending:
        place[bucket_of(value, least, rate) + 1] += 1
    first_step = 1
    for b in range(n_buckets + 1):
        while 2 * first_step <= place[b + 1]:
            first_step *= 2
        place[b + 1] += place[b]

    # all values in later buckets exceed the query, so that steps beyond its bucket fail; so do those to the padding
    padded = np.full(m + 2 * first_step, np.inf)
    padded[:m] = ascending
    counts = np.empty(len(queries), np.int64)
    for i in range(len(queries)):
        query = queries[i]
        low = int(place[min(bucket_of(min(query, ascending[m - 1]), least, rate), n_buckets)])
        step = first_step
        while step > 0:
            low += step * (padded[low + step - 1] < query)
            step >>= 1
        counts[i] = low
    return counts


def count_at_most(ascending: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return, for each query, the number of values smaller than it or equal, as :func:`count_smaller` does."""
    return np.asarray(count_smaller(ascending, np.nextafter(queries, np.inf)))
