"""Thresholds at order statistics of the negatives' scores, in memory and in a file."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from scipy.stats import norm

from npbench import from_json
from npbench.numerics.thresholds import umbrella
from npbench.thresholding.commands import threshold

from .benchmark import Benchmark, compile_all

RHO = DELTA = 0.05


class Umbrella(Benchmark):
    """Bound by memory: a copy of the scores is partitioned, some three passes over 8 n bytes; the rank is O(log n)."""

    params = (10_000, 100_000, 1_000_000)
    unit = "how far the true rate is from rho"

    def prepare(self, n):
        return np.random.default_rng(0).normal(size=n)

    def task(self, problem):
        return umbrella(problem, RHO, DELTA)

    def quality(self, problem):
        return abs(RHO - norm.sf(self.task(problem)))


class Parquet(Benchmark):
    """Bound by sorting: scores are decoded, sorted in runs of two million and written, in the memory of a few runs."""

    params = (1_000_000, 4_000_000, 16_000_000)
    unit = "how far the true rate is from rho"

    def prepare(self, n):
        folder, random = TemporaryDirectory(), np.random.default_rng(0)
        label = (random.random(n) < 0.1).astype(int)
        table = pl.DataFrame({"score": random.normal(size=n) + label, "label": label})
        table.write_parquet(Path(folder.name, "scores.parquet"))
        return folder

    def task(self, folder):
        with redirect_stdout(StringIO()):
            threshold.run([f"{folder.name}/scores.parquet", "--output", folder.name])
        return from_json(Path(folder.name, "threshold.json").read_text()).value

    def quality(self, folder):
        return abs(RHO - norm.sf(self.task(folder)))


def setup_cache():
    compile_all(Umbrella, Parquet)
