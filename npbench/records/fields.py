"""The columns of a record: one table that the schema, identities, labels, filters and pairings derive from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Flag, auto
from typing import Any

import polars as pl
from polars.datatypes import DataType

from npbench.values import canonical

# 2: trace and n_test_positive; 3: test_part; 4: missing, categories, split_sha256, n_test_duplicates; 5: roc, output;
# 6: gram_seconds; 7: method.
# Columns that older records lack are null when read, or have the value in FEATURES.
SCHEMA_VERSION = 7


class Role(Flag):
    """Uses of a column; a column has several."""

    ESSENTIAL = auto()  # a file without these columns holds no records
    ASKED = auto()  # asked for by the user, whatever code, library versions and data answered it
    IDENTITY = auto()  # can change the answer, and so is part of the key of a job
    METHOD = auto()  # the method with its parameters
    TASK = auto()  # asked, and the same for all methods that are compared
    SPLIT = auto()  # chooses one split of a data set
    ROWS = auto()  # decides which rows of a data set its splits have
    BLOCK = auto()  # the same for values that are compared split by split
    FEATURES = auto()  # option for the features
    LABEL = auto()  # distinguishes settings of a method, in the order of preference
    COST = auto()  # decides how long a job takes
    ANSWER = auto()  # the same whenever a job is repeated in the same environment
    MACHINE = auto()  # may explain why an answer differs
    OBJECT = auto()  # JSON object
    TEXT = auto()  # text of any origin and length; other text is made by npbench


NO_ROLE = Role(0)


@dataclass(frozen=True)
class Field:
    """One column.

    Parameters
    ----------
    name : str
        Name of the column.
    dtype : type of DataType
        Polars type.
    roles : Role
        Uses.
    about : str
        Meaning, for the documentation.
    encode : callable, optional
        Value of the column for a :class:`npbench.evaluation.request.Request`.
    prefix : str, optional
        For settings in a JSON object: how their names begin on the command line.
    older : str, optional
        Value in records that were written before the column existed.
    """

    name: str
    dtype: type[DataType]
    roles: Role = NO_ROLE
    about: str = ""
    encode: Callable[[Any], Any] | None = None
    prefix: str | None = None
    older: str | None = None


def _json(attribute: str) -> Callable[[Any], str]:
    return lambda request: canonical(getattr(request, attribute))


def _name(attribute: str) -> Callable[[Any], str]:
    return lambda request: str(getattr(request, attribute).name)


def _feature(name: str) -> Callable[[Any], str]:
    return lambda request: str(request.features[name])


R = Role
SETTING = R.ASKED | R.IDENTITY
FEATURE = SETTING | R.TASK | R.LABEL | R.FEATURES
OPTION = "[option](features.md) for the features"

# By subject. Every record has these columns, null where they do not apply. Metrics and the numbers of the problem
# (rho, ...) are additional Float64 columns. "JSON" is canonical JSON: equal values have equal texts.
SUBJECTS: dict[str, list[Field]] = {
    "Record": [
        Field("schema_version", pl.Int64, about="of this table"),
        Field("key", pl.String, R.ESSENTIAL, "identity of the job, SHA-256"),
        Field("status", pl.String, R.ESSENTIAL | R.ANSWER, "ok, failed, timeout, out_of_memory, crashed"),
        Field("stored_at", pl.String, R.ESSENTIAL, "UTC, ISO 8601; of two records with the same key the later counts"),
    ],
    "Request": [
        Field("solver", pl.String, SETTING | R.METHOD | R.COST, "the plugin's", encode=_name("solver")),
        # A name for what the other columns say: it identifies nothing.
        Field(
            "method",
            pl.String,
            about="the choice of solver as typed, variants included",
            encode=lambda request: request.method or request.solver.name,
        ),
        Field(
            "params",
            pl.String,
            SETTING | R.METHOD | R.LABEL | R.OBJECT,
            "fixed parameters, JSON",
            _json("params"),
            "solver.",
        ),
        Field(
            "search",
            pl.String,
            SETTING | R.METHOD | R.LABEL | R.COST | R.OBJECT,
            "candidate values by parameter, JSON",
            _json("search"),
            "solver.search.",
        ),
        # The content of a data set can change the answer, but not its name.
        Field("dataset", pl.String, R.ASKED | R.TASK | R.BLOCK | R.COST, encode=_name("dataset")),
        Field(
            "dataset_params",
            pl.String,
            R.ASKED | R.TASK | R.LABEL | R.ROWS | R.OBJECT,
            "settings of the data set, JSON",
            _json("dataset_params"),
            "dataset.",
        ),
        Field("problem", pl.String, SETTING | R.TASK, encode=_name("problem")),
        Field(
            "problem_params",
            pl.String,
            SETTING | R.TASK | R.BLOCK | R.OBJECT,
            "JSON",
            lambda request: canonical(request.problem.parameters()),
            "problem.",
        ),
        Field("protocol", pl.String, SETTING | R.TASK | R.SPLIT | R.ROWS | R.COST, encode=_name("protocol")),
        Field(
            "protocol_params",
            pl.String,
            SETTING | R.TASK | R.SPLIT | R.ROWS | R.LABEL | R.BLOCK | R.COST | R.OBJECT,
            "JSON",
            lambda request: canonical({"name": request.protocol.name, **asdict(request.protocol)}),
            "protocol.",
        ),
        Field("preprocess", pl.String, FEATURE, OPTION, _feature("preprocess")),
        Field("missing", pl.String, FEATURE | R.ROWS, OPTION, _feature("missing"), older="refuse"),
        Field("categories", pl.String, FEATURE, OPTION, _feature("categories"), older="one_hot"),
        Field(
            "metrics",
            pl.String,
            R.IDENTITY,
            "names, JSON",
            lambda request: canonical(sorted(metric.name for metric in request.metrics)),
        ),
        Field("seed", pl.Int64, SETTING | R.TASK | R.SPLIT | R.ROWS, encode=lambda request: request.seed),
        Field("repeat", pl.Int64, SETTING | R.TASK | R.SPLIT),
    ],
    "What else the answer depends on": [
        Field("distribution", pl.String, R.IDENTITY, "that ships the solver"),
        Field("distribution_version", pl.String),
        Field("code_sha256", pl.String),
        Field("code", pl.String, R.IDENTITY | R.OBJECT, "source hash by package, JSON"),
        Field("versions", pl.String, R.IDENTITY | R.OBJECT, "version by distribution, JSON"),
        Field("data_sha256", pl.String, R.IDENTITY | R.BLOCK),
        Field("n_samples", pl.Int64, R.COST),
        Field("n_features", pl.Int64),
        Field("n_positive", pl.Int64),
        Field("test_part", pl.String, about="drawn, fixed (protocol.test_rows) or published (with the data)"),
        Field("split_sha256", pl.String, R.ANSWER, "of the rows trained on, tested on, and validated on in each fold"),
        Field("n_test_positive", pl.Int64, R.ANSWER),
        Field("n_test_duplicates", pl.Int64, R.ANSWER, "test rows with the features of a row trained or validated on"),
    ],
    "Choice and final fit": [
        Field("chosen_params", pl.String, R.ANSWER | R.OBJECT, "JSON"),
        Field("selection_loss", pl.Float64, R.ANSWER, "validation loss of the choice"),
        Field("n_candidates", pl.Int64),
        Field("n_unconverged", pl.Int64, about="fits of the selection that did not converge"),
        Field("n_iter", pl.Int64),
        Field("converged", pl.Boolean),
        Field("objective", pl.Float64),
        Field("duality_gap", pl.Float64),
        Field("solver_status", pl.String, R.TEXT, "the solver's status_"),
        Field(
            "roc",
            pl.String,
            R.ANSWER,
            "true-positive rates on the test part at each of npbench.numerics.roc_grid.FPR_GRID, JSON",
        ),
        Field("trace", pl.String, about="values of each step by name, JSON; null without execution.trace"),
        Field("n_warnings", pl.Int64),
        Field("warnings", pl.String, R.TEXT, "the first texts, one per line"),
        Field("output", pl.String, R.TEXT, "end of what the job printed"),
    ],
    "Failure": [
        Field("error_type", pl.String, R.TEXT),
        Field("error", pl.String, R.TEXT),
        Field("traceback", pl.String, R.TEXT),
        Field("exit_code", pl.Int64, about="of a crashed worker; minus the number of the signal that killed it"),
    ],
    "Cost; wall clock unless named cpu": [
        Field("seconds", pl.Float64, about="the whole job, without compilation"),
        Field("compile_seconds", pl.Float64, about="warm-up before the job, outside its clock"),
        Field("select_seconds", pl.Float64),
        Field("select_cpu_seconds", pl.Float64),
        Field("fit_seconds", pl.Float64),
        Field("fit_cpu_seconds", pl.Float64),
        Field("gram_seconds", pl.Float64, about="the solver's gram_seconds_, a part of the fit"),
        Field("predict_seconds", pl.Float64),
        Field("predict_cpu_seconds", pl.Float64),
        Field("peak_memory_mb", pl.Float64, about="resident, 10^6 bytes"),
        Field("memory_before_mb", pl.Float64, about="resident when the job started, without what earlier jobs left"),
        Field("peak_memory_of", pl.String, about="job, or process if the system cannot separate them"),
    ],
    "Run and machine": [
        Field("n_jobs", pl.Int64, about="workers running in parallel"),
        Field("n_threads", pl.Int64, R.MACHINE, "of each worker"),
        Field("run_id", pl.String),
        Field("run_started", pl.String),
        Field("cpu", pl.String, R.MACHINE),
        Field("cores", pl.Int64),
        Field("ram_gb", pl.Float64),
        Field("load_average", pl.Float64, about="when the run started"),
        Field("os", pl.String, R.MACHINE),
        Field("python", pl.String, R.MACHINE),
        Field("numpy_version", pl.String),
        Field("scipy_version", pl.String),
        Field("numba_version", pl.String),
        Field("scikit_learn_version", pl.String),
        Field("polars_version", pl.String),
        Field("npbench_version", pl.String),
        Field("blas", pl.String, R.MACHINE),
        Field("blas_version", pl.String, R.MACHINE),
        Field("git_commit", pl.String, about="of npbench, if it runs from a checkout"),
        Field("git_dirty", pl.Boolean),
    ],
}
FIELDS = {field.name: field for fields in SUBJECTS.values() for field in fields}


def names(role: Role, without: Role = NO_ROLE) -> list[str]:
    """Return the columns with a role and without another, in the order of the table.

    Examples
    --------
    >>> names(Role.SPLIT), names(Role.IDENTITY, without=Role.ASKED)[:2]
    (['protocol', 'protocol_params', 'seed', 'repeat'], ['metrics', 'distribution'])
    """
    return [field.name for field in FIELDS.values() if role in field.roles and not field.roles & without]


SCHEMA = {field.name: field.dtype for field in FIELDS.values()}
ESSENTIAL = names(Role.ESSENTIAL)
ASKED = names(Role.ASKED)
METHOD = names(Role.METHOD)
TASK = names(Role.TASK)
FEATURES = {name: FIELDS[name].older for name in names(Role.FEATURES)}
PREFIXES = {field.name: field.prefix for field in FIELDS.values() if field.prefix is not None}

TRAINING_SECONDS = pl.col("select_seconds") + pl.col("fit_seconds")
