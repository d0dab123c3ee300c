"""Compare kernel machines of npbench with those of scikit-learn: LIBSVM, and Nystroem with LIBLINEAR or SGD.

`python tests/benchmarks/kernel_peers.py` stores the rows that it measures, and leaves out those that are stored. All
solve the same problem on one core, with a quarter of positives and 20 features: two Gaussian classes inside each other.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from npbench.numerics.threads import one_blas_thread
from npbench_ac_svm.estimator import ACSVM

sys.path.insert(0, str(Path(__file__).parent))
from landmark_selection import drawn
from store import here

STORED = Path(__file__).parents[2] / "results" / "published" / "kernel_peers.json"
RHO, GAMMA, C, LANDMARKS = 0.05, 0.05, 1.0, 1000
SMALL, LARGE = (16_000, 32_000), 256_000


def exact(n):
    """Return the classifiers with the exact kernel."""
    ours = ACSVM(gamma=GAMMA, C_pos=C, C_neg=C, n_components=None)
    return {"ac_svm": ours, "SVC (LIBSVM)": SVC(C=C, gamma=GAMMA, cache_size=ours.cache_size)}


def approximate(n):
    """Return the classifiers with landmarks."""
    features = Nystroem(gamma=GAMMA, n_components=LANDMARKS, random_state=0)
    return {
        "ac_svm, 1000 landmarks": ACSVM(gamma=GAMMA, C_pos=C, C_neg=C, n_components=LANDMARKS, random_state=0),
        "Nystroem + SGDClassifier": make_pipeline(features, SGDClassifier(alpha=1.0 / (C * n), random_state=0)),
        "Nystroem + LinearSVC": make_pipeline(features, LinearSVC(C=C, loss="hinge", random_state=0)),
    }


@one_blas_thread()
def measured(model, X, y, X_test, y_test):
    """Return CPU seconds of a fit, and the misses on new samples at the bound RHO."""
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    scores = model.decision_function(X_test)
    threshold = np.quantile(scores[y_test < 0], 1.0 - RHO)
    return {"seconds": round(seconds, 2), "misses": float(np.mean(scores[y_test > 0] <= threshold))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    tested = drawn(50_000, 99)
    ACSVM(gamma=GAMMA, n_components=None).fit(*drawn(500, 1))  # compiles
    ACSVM(gamma=GAMMA, n_components=100).fit(*drawn(6000, 1))
    for n, models in [(SMALL[0], exact), *((n, approximate) for n in (*SMALL, LARGE)), (SMALL[1], exact)]:
        for name, model in models(n).items():
            if not any((row["n"], row["method"]) == (n, name) for row in rows):
                rows.append({"n": n, "method": name, **measured(model, *drawn(n, 0), *tested), **here()})
                print(rows[-1], flush=True)
                STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
