"""Measure a whole selection of ``ac_svm`` with landmarks, without rungs: 4 bandwidths, 24 pairs of costs, 4 folds.

    python tests/benchmarks/landmark_selection.py --device cuda
    python tests/benchmarks/landmark_selection.py --samples 23200 --landmarks 300

On a GPU, ``--reduced`` lets PyTorch multiply matrices in TF32. Prints the seconds of the selection and of its last fit,
the parameters chosen, and misses at 5 % false alarms on 50,000 new samples.
"""

import argparse
import time

import numpy as np

from npbench import registry
from npbench.contracts import resolve
from npbench.problem import NeymanPearson

SEARCH = {"gamma": np.geomspace(0.005, 0.1, 4), "C_pos": np.geomspace(0.01, 10.0, 8), "C_neg": [0.03, 0.3, 3.0]}
RHO, N_FEATURES, N_FOLDS = 0.05, 20, 4


def drawn(n, seed):
    """Return two Gaussian classes inside each other, a quarter of them positive."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.25, 1, -1)
    X = rng.normal(size=(n, N_FEATURES)) * np.where(y > 0, 0.75, 1.0)[:, None]
    X[:, :3] += 0.5 * (y > 0)[:, None]
    return X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="device of PyTorch, such as cuda (default: NumPy)")
    parser.add_argument("--samples", type=int, default=232_000)
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--reduced", action="store_true", help="TF32 for products of matrices")
    parser.add_argument("--threads", type=int, default=1, help="bandwidths searched at a time")
    words = parser.parse_args()
    if words.reduced:
        import torch

        torch.set_float32_matmul_precision("high")
    solver = registry.installed().solver("ac_svm")

    def make(**params):
        settings = {"n_components": words.landmarks, "random_state": 0, "device": words.device}
        return resolve(solver.estimator)(**settings, **params)

    X, y = drawn(words.samples, 0)
    part = np.random.default_rng(1).integers(N_FOLDS, size=len(y))
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(N_FOLDS)]
    make(gamma=0.1).fit(X[:6000], y[:6000])  # compiles, and loads the libraries
    start, cpu = time.perf_counter(), time.process_time()
    found = resolve(solver.selection).__wrapped__(make, X, y, folds, NeymanPearson(RHO), SEARCH, words.threads)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{len(found.losses) * N_FOLDS} fits: {seconds:.1f} s, {cpu:.1f} CPU s")
    print(f"chosen: {found.params}, loss {found.loss:.4f}, {found.n_unconverged} fits not converged")
    start = time.perf_counter()
    model = make(**found.params).fit(X, y)
    print(f"last fit: {time.perf_counter() - start:.1f} s, {model.n_iter_} Newton steps")
    X, y = drawn(50_000, 99)
    scores = model.decision_function(X)
    threshold = np.quantile(scores[y < 0], 1.0 - RHO)
    print(f"misses at {RHO:.0%} false alarms: {np.mean(scores[y > 0] <= threshold):.4f}")


if __name__ == "__main__":
    main()
