"""Binary heaps for kernels that visit samples in ascending order of a key until some condition holds.

That takes O(n + k log n) for k of n samples, a sort O(n log n); ``np.argsort`` would compile for two seconds more.
"""

from numba import njit
from numba.extending import register_jitable


@njit(cache=True, nogil=True)
def heapify(heap, count, key):
    """Order the first ``count`` samples of ``heap`` so that none has a smaller ``key`` than its parent."""
    for place in range(count // 2 - 1, -1, -1):
        _sink(heap, count, key, place)


@njit(cache=True, nogil=True)
def pop(heap, count, key):
    """Return the sample with the smallest key; the first ``count - 1`` places become the heap of the others."""
    first = heap[0]
    heap[0] = heap[count - 1]
    _sink(heap, count - 1, key, 0)
    return first


@register_jitable
def _sink(heap, count, key, place):
    """Move the sample at ``place`` down to where no child has a smaller key."""
    # children move up until the sample has none that is smaller
    sample = heap[place]
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if not key[heap[child]] < key[sample]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = sample
