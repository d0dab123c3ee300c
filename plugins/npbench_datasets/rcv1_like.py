"""A stand-in for RCV1 of the same size, density and class counts: bags of words after Zipf's law."""

import math

import numpy as np
from scipy import sparse
from scipy.optimize import brentq

from npbench_datasets.ranges import between, integer, refuse, sizes

DRAWS_AT_ONCE = 1 << 22  # limits the memory


def load_rcv1_like(
    n_pos: int = 684_494,
    n_neg: int = 119_920,
    n_features: int = 47_152,
    density: float = 0.0016,
    separation: float = 0.17,
    seed: int = 0,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw documents as bags of words, weighted by TF/IDF, of unit norm.

    Words come in pairs. A document of 1 + Poisson(m) draws takes the k-th pair with a probability proportional to
    ``log(1 + 1/k)``, about 1/k, and from the pair the word associated with the document's class with probability
    ``(1 + separation) / 2``. The length m makes the expected number of distinct words ``density n_features``. A word
    that occurs tf times in the document, and in a share s of all documents, has the weight
    ``(1 + log tf) (1 - log s)``; the row is then divided by its norm.

    Parameters
    ----------
    n_features : int
        Number of words, even, at least 2; by default as in table I of Gasso et al. (2011).
    density : float
        Share of the entries of X that are not zero, in ]0, 0.2[ and above 1 / n_features.
    separation : float
        Association of words with a class, in ]0, 1[. By default a linear classifier misses about a tenth of the
        positives at rho = 0.05, as in table IV of Gasso et al. (2011).
    """
    faults = sizes(n_pos, n_neg, seed) + integer(2, n_features=n_features)
    refuse(faults + between(0, 0.2, density=density) + between(0, 1, separation=separation))
    words = density * n_features
    odd = f"dataset.n_features is {n_features}: it must be even, as words come in pairs."
    few = f"dataset.density is {density:g}, {words:g} words a document: raise it above {1 / n_features:.3g}."
    refuse([fault for fault, is_so in ((odd, n_features % 2), (few, words <= 1)) if is_so])
    vocabulary = _Vocabulary(n_features, words, separation)
    per_chunk = max(1, int(DRAWS_AT_ONCE / vocabulary.length))
    first, *others = np.random.SeedSequence(seed).spawn(1 + math.ceil((n_pos + n_neg) / per_chunk))
    labels = np.repeat(np.array([1, -1], dtype=np.int8), [n_pos, n_neg])
    y = np.random.default_rng(first).permutation(labels)
    parts = (y[start : start + per_chunk] for start in range(0, len(y), per_chunk))
    chunks = [vocabulary.documents(part, np.random.default_rng(own)) for part, own in zip(parts, others, strict=True)]
    return sparse.vstack(chunks, format="csr"), y


class _Vocabulary:
    def __init__(self, n_features: int, n_distinct: float, separation: float) -> None:
        self.n_pairs = n_features // 2
        pair = np.log1p(1.0 / np.arange(1, self.n_pairs + 1)) / math.log(self.n_pairs + 1)
        self.lean = (1 + separation) / 2  # probability of the word of the pair that is associated with the class
        word = np.concatenate([self.lean * pair, (1 - self.lean) * pair])

        def missing(length: float) -> float:
            # Each word occurs a Poisson number of times, except for the first draw.
            return n_distinct - np.sum(1 - (1 - word) * np.exp(-length * word))

        # Expected draws of a document, beyond the first.
        self.length = brentq(missing, 0.0, n_features * math.log(n_features + 1))
        share = -np.expm1(-(self.length + 1) * pair / 2)
        self.weight = np.repeat(1 - np.log(share), 2)  # inverse document frequency of each word

    def documents(self, y: np.ndarray, random: np.random.Generator) -> sparse.csr_array:
        """Return one row for each label."""
        lengths = 1 + random.poisson(self.length, len(y))
        row = np.repeat(np.arange(len(y)), lengths)
        pair = np.exp(random.random(len(row)) * math.log(self.n_pairs + 1)).astype(np.int64) - 1
        second = (random.random(len(row)) < self.lean) == (np.repeat(y, lengths) > 0)
        word = 2 * np.minimum(pair, self.n_pairs - 1) + second  # exp may round up to n_pairs + 1
        place, count = np.unique(row * 2 * self.n_pairs + word, return_counts=True)
        row, word = np.divmod(place, 2 * self.n_pairs)
        value = (1 + np.log(count)) * self.weight[word]
        value /= np.sqrt(np.bincount(row, value**2))[row]
        start = np.searchsorted(row, np.arange(len(y) + 1))
        indices, indptr = word.astype(np.int32), start.astype(np.int32)  # 64-bit indices would waste memory
        return sparse.csr_array((value, indices, indptr), shape=(len(y), 2 * self.n_pairs))
