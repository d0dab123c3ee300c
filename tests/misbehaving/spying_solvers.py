"""Solvers that look for the labels of the test part, or remember more than they should."""

import gc
import sys
from pathlib import Path

import numpy as np
from misbehaving_solvers import Difference

from npbench.data import BinaryData
from npbench.evaluation import measure
from npbench.evaluation.splits import Split

CODE = 0x55  # of labels in files, so that a search of the memory does not find what it looks for
SEEN = {}


class Remembering(Difference):
    """Keeps the rows of all fits, as a cache of kernel values would, and scores those that it knows by their labels."""

    def fit(self, X, y):
        SEEN.update({row.tobytes(): label for row, label in zip(X, y, strict=True)})
        return super().fit(X, y)

    def decision_function(self, X):
        labels = np.array([SEEN.get(row.tobytes(), 0) for row in X])
        self.known_ = int(np.sum(labels != 0))
        return np.where(labels, labels, super().decision_function(X))


class Patching(Difference):
    """Replaces what measures it."""

    def fit(self, X, y):
        for name in ("score_metrics", "_measured", "checked", "record", "reported"):
            setattr(measure, name, lambda *args, **options: {"sum_of_scores": 1e9})
        sys.modules["misbehaving_solvers"].sum_of_scores = lambda *args, **options: 1e9
        return super().fit(X, y)


class Spy(Difference):
    """Notes in ``status_`` where it finds the labels of the test part, or data and splits as a whole."""

    def fit(self, X, y):
        self.y_ = y
        return super().fit(X, y)

    def decision_function(self, X):
        labels = np.frombuffer(Path(self.folder, "labels").read_bytes(), np.uint8)
        n = X.shape[0]
        if len(labels) == n:
            self.known_ = sum(map(len, (self.objects(n), self.files(), self.memory(labels.tobytes()))))
        return super().decision_function(X)

    def objects(self, n):
        frame, found = sys._getframe(), gc.get_objects()
        while frame := frame.f_back:
            found += frame.f_locals.values()
        found += [item for one in found if isinstance(one, (dict, tuple, list)) for item in gc.get_referents(one)]
        arrays = [one for one in found if isinstance(one, np.ndarray) and one.dtype == np.int8 and len(one) == n]
        return [one for one in found if isinstance(one, (BinaryData, Split))] + arrays

    def files(self):
        maps = Path("/proc/self/maps").read_text().splitlines()
        opened = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        return [line for line in maps + opened if ".npy" in line]

    def memory(self, coded):
        decode, found = bytes(byte ^ CODE for byte in range(256)), []
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:
            for line in Path("/proc/self/maps").read_text().splitlines():
                place, rights, *_ = line.split()
                start, end = (int(number, 16) for number in place.split("-"))
                if "rw" in rights and end - start < 2**28:
                    memory.seek(start)
                    if coded in memory.read(end - start).translate(decode):
                        found.append(line)
        return found


def known(y, scores, problem, estimator):
    return float(estimator.known_)
