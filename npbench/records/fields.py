"""The columns of a record: one table that the schema, identities, labels, filters and pairings derive from."""

from dataclasses import dataclass
from enum import Flag, auto

import polars as pl
from polars.datatypes import DataType

# 2: trace and n_test_positive; 3: test_part; 4: missing, categories, split_sha256, n_test_duplicates; 5: roc, output;
# 6: gram_seconds; 7: method, gpu, peak_gpu_memory_mb.
# Columns that older records lack are null when read, or have the value in FEATURES.
SCHEMA_VERSION = 7
COLLAPSED = "collapsed"  # solver_status of a fit with w = 0 as its certified optimum, scored by a fallback


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
    REPORTED = auto()  # the process of the solver reports it; all others are measured elsewhere
    MACHINE = auto()  # may explain why an answer differs
    OBJECT = auto()  # JSON object
    TEXT = auto()  # text of any origin and length; other text is made by npbench


NO_ROLE = Role(0)


@dataclass(frozen=True)
class Field:
    """One column."""

    name: str
    dtype: type[DataType]
    roles: Role = NO_ROLE
    about: str = ""  # meaning, for the documentation
    prefix: str | None = None  # start of the names of its settings on the command line
    older: str | None = None  # value in records that were written before the column existed


R = Role
Text, Int, Float, Bool = pl.String, pl.Int64, pl.Float64, pl.Boolean
SETTING = R.ASKED | R.IDENTITY
PARAMS = SETTING | R.METHOD | R.LABEL | R.OBJECT
DATASET_PARAMS = R.ASKED | R.TASK | R.LABEL | R.ROWS | R.OBJECT
PROTOCOL = SETTING | R.TASK | R.SPLIT | R.ROWS | R.COST
FEATURE = SETTING | R.TASK | R.LABEL | R.FEATURES
OPTION = "[option](features.md) for the features"

# By subject. Every record has these columns, null where they do not apply. Metrics and the numbers of the problem
# (rho, ...) are additional Float64 columns. "JSON" is canonical JSON: equal values have equal texts.
SUBJECTS: dict[str, list[Field]] = {
    "Record": [
        Field("schema_version", Int, about="of this table"),
        Field("key", Text, R.ESSENTIAL, "identity of the job, SHA-256"),
        Field("status", Text, R.ESSENTIAL | R.ANSWER, "ok, failed, timeout, out_of_memory, crashed"),
        Field("stored_at", Text, R.ESSENTIAL, "UTC, ISO 8601; of two records with the same key the later counts"),
    ],
    "Request": [
        Field("solver", Text, SETTING | R.METHOD | R.COST, "the plugin's"),
        # A name for what the other columns say: it identifies nothing.
        Field("method", Text, NO_ROLE, "the choice of solver as typed, variants included"),
        Field("params", Text, PARAMS, "fixed parameters, JSON", "solver."),
        Field("search", Text, PARAMS | R.COST, "candidates by parameter, JSON", "solver.search."),
        # The content of a data set can change the answer, but not its name.
        Field("dataset", Text, R.ASKED | R.TASK | R.BLOCK | R.COST),
        Field("dataset_params", Text, DATASET_PARAMS, "its settings, JSON", "dataset."),
        Field("problem", Text, SETTING | R.TASK),
        Field("problem_params", Text, SETTING | R.TASK | R.BLOCK | R.OBJECT, "JSON", "problem."),
        Field("protocol", Text, PROTOCOL),
        Field("protocol_params", Text, PROTOCOL | R.LABEL | R.BLOCK | R.OBJECT, "JSON", "protocol."),
        Field("preprocess", Text, FEATURE, OPTION),
        Field("missing", Text, FEATURE | R.ROWS, OPTION, older="refuse"),
        Field("categories", Text, FEATURE, OPTION, older="one_hot"),
        Field("metrics", Text, R.IDENTITY, "names, JSON"),
        Field("seed", Int, SETTING | R.TASK | R.SPLIT | R.ROWS),
        Field("repeat", Int, SETTING | R.TASK | R.SPLIT),
    ],
    "What else the answer depends on": [
        Field("distribution", Text, R.IDENTITY, "that ships the solver"),
        Field("distribution_version", Text),
        Field("code_sha256", Text),
        Field("code", Text, R.IDENTITY | R.OBJECT, "source hash by package, JSON"),
        Field("versions", Text, R.IDENTITY | R.OBJECT, "version by distribution, JSON"),
        Field("data_sha256", Text, R.IDENTITY | R.BLOCK),
        Field("n_samples", Int, R.COST),
        Field("n_features", Int),
        Field("n_positive", Int),
        Field("test_part", Text, about="drawn, fixed (protocol.test_rows) or published (with the data)"),
        Field("split_sha256", Text, R.ANSWER, "of the rows trained on, tested on, and validated on in each fold"),
        Field("n_test_positive", Int, R.ANSWER),
        Field("n_test_duplicates", Int, R.ANSWER, "test rows with the features of a row trained or validated on"),
    ],
    "Choice and final fit": [
        Field("chosen_params", Text, R.ANSWER | R.OBJECT | R.REPORTED, "JSON"),
        Field("selection_loss", Float, R.ANSWER | R.REPORTED, "validation loss of the choice"),
        Field("n_candidates", Int, R.REPORTED),
        Field("n_unconverged", Int, R.REPORTED, "fits of the selection that did not converge"),
        Field("n_iter", Int, R.REPORTED),
        Field("converged", Bool, R.REPORTED),
        Field("objective", Float, R.REPORTED),
        Field("duality_gap", Float, R.REPORTED),
        Field("solver_status", Text, R.TEXT | R.REPORTED, "the solver's status_"),
        Field("roc", Text, R.ANSWER, "true-positive rates on the test part at numerics.roc_grid.FPR_GRID, JSON"),
        Field("trace", Text, about="values of each step by name, JSON; null without execution.trace"),
        Field("n_warnings", Int, R.REPORTED),
        Field("warnings", Text, R.TEXT | R.REPORTED, "the first texts, one per line"),
        Field("output", Text, R.TEXT, "end of what the job printed"),
    ],
    "Failure": [
        Field("error_type", Text, R.TEXT | R.REPORTED),
        Field("error", Text, R.TEXT | R.REPORTED),
        Field("traceback", Text, R.TEXT | R.REPORTED),
        Field("exit_code", Int, about="of a crashed worker; minus the number of the signal that killed it"),
    ],
    "Cost; wall clock unless named cpu": [
        Field("seconds", Float, about="the whole job, without compilation"),
        Field("compile_seconds", Float, about="warm-up before the job, outside its clock"),
        Field("select_seconds", Float, R.REPORTED),
        Field("select_cpu_seconds", Float, R.REPORTED),
        Field("fit_seconds", Float, R.REPORTED, "of a fit that jobs shared, what it took in the job that made it"),
        Field("fit_cpu_seconds", Float, R.REPORTED),
        Field("gram_seconds", Float, R.REPORTED, "the solver's gram_seconds_, a part of the fit"),
        Field("predict_seconds", Float, R.REPORTED),
        Field("predict_cpu_seconds", Float, R.REPORTED),
        Field("peak_memory_mb", Float, R.REPORTED, "resident, 10^6 bytes"),
        Field("memory_before_mb", Float, R.REPORTED, "resident when the job started, without what earlier jobs left"),
        Field("peak_memory_of", Text, R.REPORTED, "job, or process if the system cannot separate them"),
        Field("peak_gpu_memory_mb", Float, R.REPORTED, "of tensors of PyTorch, 10^6 bytes"),
    ],
    "Run and machine": [
        Field("n_jobs", Int, about="workers running in parallel"),
        Field("n_threads", Int, R.MACHINE, "of each worker"),
        Field("run_id", Text),
        Field("run_started", Text),
        Field("cpu", Text, R.MACHINE),
        Field("gpu", Text, R.MACHINE | R.REPORTED | R.TEXT, "that the solver used through PyTorch"),
        Field("cores", Int),
        Field("ram_gb", Float),
        Field("load_average", Float, about="when the run started"),
        Field("os", Text, R.MACHINE),
        Field("python", Text, R.MACHINE),
        *(Field(f"{name}_version", Text) for name in ("numpy", "scipy", "numba", "scikit_learn", "polars", "npbench")),
        Field("blas", Text, R.MACHINE),
        Field("blas_version", Text, R.MACHINE),
        Field("git_commit", Text, about="of npbench, if it runs from a checkout"),
        Field("git_dirty", Bool),
    ],
}
FIELDS = {field.name: field for fields in SUBJECTS.values() for field in fields}


def names(role: Role, without: Role = NO_ROLE) -> list[str]:
    """Return the columns with a role and without another, in the order of the table."""
    return [field.name for field in FIELDS.values() if role in field.roles and not field.roles & without]


SCHEMA = {field.name: field.dtype for field in FIELDS.values()}
ESSENTIAL = names(Role.ESSENTIAL)
ASKED = names(Role.ASKED)
METHOD = names(Role.METHOD)
TASK = names(Role.TASK)
FEATURES = {name: FIELDS[name].older for name in names(Role.FEATURES)}
PREFIXES = {field.name: field.prefix for field in FIELDS.values() if field.prefix is not None}
