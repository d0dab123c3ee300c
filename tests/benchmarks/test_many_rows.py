"""A fit of each method to 10^6 rows: `python tests/benchmarks/test_many_rows.py` stores what each takes and misses.

Rows that are stored are left out. Each fit has a process of its own, and 15 minutes of processor time.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import npbench

STORED = Path(__file__).parents[2] / "results" / "published" / "many_rows.json"
N, N_TEST, N_FEATURES, RHO = 1_000_000, 40_000, 20, 0.05
CPU_SECONDS = 900
KERNEL = {"gamma": 0.05}
FITS = {  # by solver: its parameters, and whether rho is one of them
    "np_svm_linear": ({"C": 1.0}, True),
    "np_svm": ({"C": 1.0, **KERNEL}, True),
    "ac_svm_linear": ({"C_pos": 1.0, "C_neg": 4.0}, False),
    "ac_svm": ({"C_pos": 1.0, "C_neg": 4.0, **KERNEL}, False),
    "gen_linear": ({}, True),
    "gen": (KERNEL, True),
    "sgd": ({}, True),
    "sgd_nn": ({}, True),
    "svm_perf": ({}, False),
    "splitting": ({}, True),
    "tau_fpl": ({}, True),
    "top_push": ({}, False),
    "pat_mat_np": ({}, True),
    "pauc_struct": ({}, False),
    "pauc_minimax": ({}, False),
    "ensemble": ({}, True),
}


def drawn(n, seed):
    """Return samples of a wide Gaussian and, in a quarter of the rows, of a narrower one beside it: the positives."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.25, 1, -1)
    X = random.normal(size=(n, N_FEATURES))
    X[y > 0] *= 0.75
    X[y > 0, :3] += 0.5
    return X, y


def measured(solver):
    """Return seconds and peak memory of one fit, and the misses where P_fa of the test part is rho."""
    params, has_rho = FITS[solver]
    X, y = drawn(N, 0)
    model = npbench.solver(solver, **params, **({"rho": RHO} if has_rho else {}))
    model.fit(X[:2000], y[:2000])  # compiles
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    X, y = drawn(N_TEST, 1)
    scores = model.decision_function(X)
    threshold = np.quantile(scores[y < 0], 1 - RHO)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    status, misses = model.status_, float(np.mean(scores[y > 0] <= threshold))
    return {"cpu_seconds": round(seconds, 1), "peak_mb": round(peak), "misses_at_rho": misses, "status": status}


def alone(solver):
    """Return the row of a fit in a process of its own; without numbers if it ran out of time."""
    limited = f"ulimit -t {CPU_SECONDS + 60}; exec {sys.executable} {__file__} --one {solver}"
    found = subprocess.run(["bash", "-c", limited], check=False, capture_output=True, text=True)
    if found.returncode == 0:
        return json.loads(found.stdout)
    print(found.stderr[-500:], file=sys.stderr)
    return {"status": "time limit" if found.returncode < 0 else "refused"}


def test_every_method_has_a_row_and_kernels_find_the_narrow_class():
    rows = {row["solver"]: row for row in json.loads(STORED.read_text(encoding="utf-8"))}
    assert rows.keys() == FITS.keys()
    kernel, line = rows["np_svm"]["misses_at_rho"], rows["np_svm_linear"]["misses_at_rho"]
    assert kernel < 0.5 < line


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(sys.argv[2])))
        raise SystemExit
    from store import here

    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    known = {row["solver"] for row in rows}
    for solver in [name for name in FITS if name not in known]:
        rows.append({"solver": solver, "n": N, "features": N_FEATURES, **alone(solver), **here()})
        print(rows[-1], flush=True)
        STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
