"""Record type and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from polars.datatypes import DataType

# 2: trace and n_test_positive; 3: test_part; 4: missing, categories, split_sha256, n_test_duplicates; 5: roc, output;
# 6: gram_seconds.
# Columns that older records lack are null when read, or have the value in FEATURES.
SCHEMA_VERSION = 6

# Options for the features, and the value they have in records written before the option existed.
FEATURES: dict[str, str | None] = {"preprocess": None, "missing": "refuse", "categories": "one_hot"}

# Every record has these columns, null where they do not apply. Metrics and the numbers of the problem (rho, ...) are
# additional Float64 columns. Columns marked JSON hold canonical JSON: equal values have equal texts.
SCHEMA: dict[str, type[DataType]] = {
    "schema_version": pl.Int64,  # of this table
    "key": pl.String,  # identity of the job, SHA-256
    "status": pl.String,  # ok, failed, timeout, out_of_memory, crashed
    "stored_at": pl.String,  # UTC, ISO 8601; of two records with the same key the later counts
    # Request
    "solver": pl.String,
    "params": pl.String,  # fixed parameters, JSON
    "search": pl.String,  # candidate values by parameter, JSON
    "dataset": pl.String,
    "dataset_params": pl.String,  # settings of the data set, JSON
    "problem": pl.String,
    "problem_params": pl.String,  # JSON
    "protocol": pl.String,
    "protocol_params": pl.String,  # JSON
    **dict.fromkeys(FEATURES, pl.String),
    "metrics": pl.String,  # names, JSON
    "seed": pl.Int64,
    "repeat": pl.Int64,
    # What else the answer depends on
    "distribution": pl.String,  # that ships the solver
    "distribution_version": pl.String,
    "code_sha256": pl.String,
    "code": pl.String,  # source hash by package, JSON
    "versions": pl.String,  # version by distribution, JSON
    "data_sha256": pl.String,
    "n_samples": pl.Int64,
    "n_features": pl.Int64,
    "n_positive": pl.Int64,
    "test_part": pl.String,  # drawn, fixed (protocol.test_rows) or published (with the data)
    "split_sha256": pl.String,  # of the rows trained on, tested on, and validated on in each fold
    "n_test_positive": pl.Int64,
    "n_test_duplicates": pl.Int64,  # test rows with the features of a row trained or validated on
    # Choice and final fit
    "chosen_params": pl.String,  # JSON
    "selection_loss": pl.Float64,  # validation loss of the choice
    "n_candidates": pl.Int64,
    "n_unconverged": pl.Int64,  # fits of the selection that did not converge
    "n_iter": pl.Int64,
    "converged": pl.Boolean,
    "objective": pl.Float64,
    "duality_gap": pl.Float64,
    "solver_status": pl.String,  # the solver's status_
    "roc": pl.String,  # true-positive rates on the test part at each of npbench.numerics.roc_grid.FPR_GRID, JSON
    "trace": pl.String,  # values of each step by name, JSON; null without execution.trace
    "n_warnings": pl.Int64,
    "warnings": pl.String,  # the first texts, one per line
    "output": pl.String,  # end of what the job printed
    # Failure
    "error_type": pl.String,
    "error": pl.String,
    "traceback": pl.String,
    "exit_code": pl.Int64,  # of a crashed worker; minus the number of the signal that killed it
    # Cost; wall clock unless named cpu
    "seconds": pl.Float64,  # the whole job, without compilation
    "compile_seconds": pl.Float64,  # warm-up before the job, outside its clock
    "select_seconds": pl.Float64,
    "select_cpu_seconds": pl.Float64,
    "fit_seconds": pl.Float64,
    "fit_cpu_seconds": pl.Float64,
    "gram_seconds": pl.Float64,  # the solver's gram_seconds_, a part of the fit
    "predict_seconds": pl.Float64,
    "predict_cpu_seconds": pl.Float64,
    "peak_memory_mb": pl.Float64,  # resident, 10^6 bytes
    "memory_before_mb": pl.Float64,  # resident when the job started, without what earlier jobs left
    "peak_memory_of": pl.String,  # job, or process if the system cannot separate them
    # Run and machine
    "n_jobs": pl.Int64,  # workers running in parallel
    "n_threads": pl.Int64,  # of each worker
    "run_id": pl.String,
    "run_started": pl.String,
    "cpu": pl.String,
    "cores": pl.Int64,
    "ram_gb": pl.Float64,
    "load_average": pl.Float64,  # when the run started
    "os": pl.String,
    "python": pl.String,
    "numpy_version": pl.String,
    "scipy_version": pl.String,
    "numba_version": pl.String,
    "scikit_learn_version": pl.String,
    "polars_version": pl.String,
    "npbench_version": pl.String,
    "blas": pl.String,
    "blas_version": pl.String,
    "git_commit": pl.String,  # of npbench, if it runs from a checkout
    "git_dirty": pl.Boolean,
}

# A file without these columns holds no records.
ESSENTIAL = ["key", "status", "stored_at"]

# What a user asked for, whatever code, library versions and data answered it.
ASKED = ["solver", "params", "search", "dataset", "dataset_params", "problem", "problem_params", "protocol"]
ASKED += ["protocol_params", *FEATURES, "seed", "repeat"]

# Columns of JSON objects that tables parse.
OBJECTS = ["params", "search", "dataset_params", "problem_params", "protocol_params", "code", "versions"]
OBJECTS += ["chosen_params"]

TEST_SCORES = "test_scores"  # bytes on their way to the store, which writes them to a file of their own

# Text of any origin and length; other text is made by npbench.
FREE_TEXT = ("solver_status", "warnings", "output", "error_type", "error", "traceback")
MAX_TEXT = 100_000  # characters of free text
MAX_INT = 2**63 - 1

Primitive = str | int | float | bool | None


class Record(dict[str, Primitive]):
    """One row: primitives by column, in a form that can always be stored.

    Text that UTF-8 cannot encode is escaped, free text longer than :data:`MAX_TEXT` is cut, and integers outside the
    range of 64 bits become the nearest integer inside it.

    Parameters
    ----------
    columns : mapping of str to str, int, float, bool or None
        ``key`` and ``status`` must be among them.

    Raises
    ------
    TypeError
        If a value is not a primitive.

    Examples
    --------
    >>> Record({"key": "k", "status": "ok", "n_iter": 2**70})["n_iter"] == 2**63 - 1
    True
    """

    def __init__(self, columns: Mapping[str, Primitive]) -> None:
        super().__init__({name: _storable(name, value) for name, value in columns.items()})
        missing = [name for name in ("key", "status") if not isinstance(self.get(name), str)]
        if missing:
            raise TypeError(f"a record needs text in {' and '.join(missing)}")

    @property
    def key(self) -> str:
        """Identity of the job."""
        return str(self["key"])

    @property
    def status(self) -> str:
        """How the job ended: ok, failed, timeout, out_of_memory or crashed."""
        return str(self["status"])


def _storable(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if name in FREE_TEXT and len(value) > MAX_TEXT:
            value = f"{value[:MAX_TEXT]} [{len(value) - MAX_TEXT} more characters]"
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, (bool, float)) or name == TEST_SCORES:
        return value
    if isinstance(value, int):
        return max(-MAX_INT - 1, min(value, MAX_INT))
    raise TypeError(f"column {name!r} holds {value!r}, expected text, a number, a bool or None")
