"""Environments of the records: machines, versions, code and data, with a warning where they are mixed."""

import json
from collections.abc import Iterator

import polars as pl

from npbench.records.fields import SCHEMA_VERSION
from npbench.report.select.recorded_settings import protocol_texts, protocols
from npbench.report.sheet import Section, Sheet
from npbench.values import counted, listed

PLACE = ["problem", "dataset"]  # jobs that agree in these are compared with each other
MACHINE = {"cpu": "processor", "cores": "cores", "ram_gb": "RAM [GB]", "os": "system"}
SOFTWARE = {"python": "python", "blas": "BLAS", "blas_version": "BLAS version"}
COMMIT = {"npbench_version": "npbench", "git_commit": "commit", "git_dirty": "changed since"}
DATA = ["dataset", "dataset_params", "n_samples", "n_features", "n_positive", "protocol", "data_sha256"]
TITLE = "How it was run"
HASH_DIGITS = 12
MAX_PLACES = 5


def sections(records: pl.DataFrame) -> list[Section]:
    """Return one section: machines, versions, code and data, and warn if records come from different environments."""
    yes_or_no = pl.col("git_dirty").replace_strict({True: "yes", False: "no"}, default=None, return_dtype=pl.String)
    found = records.with_columns(protocol=protocol_texts(records)).group_by(DATA).len("jobs").sort(DATA)
    data = found.with_columns(_short("data_sha256"), pl.col("dataset_params").replace("{}", None))
    headers = ["data", "settings", "samples", "features", "positive", "protocol", "SHA-256", "jobs"]
    sheets = [
        _counted("Machines", records, {**MACHINE, **SOFTWARE}),
        _counted("Commits of npbench", records.with_columns(yes_or_no, _short("git_commit")), COMMIT),
        _named("Libraries", records, "versions", "version"),
        _named("Source code: SHA-256 of what results depend on", records, "code", "hash"),
        Sheet("Data sets", headers, data.rows(), detail=True),
    ]
    return [Section(TITLE, sheets, notes=list(_notes(records)))]


def _notes(records: pl.DataFrame) -> Iterator[str]:
    runs, times = counted(records["run_id"].n_unique(), "run"), records["stored_at"].drop_nulls()
    first, last = (str(stamp)[:16].replace("T", " ") for stamp in (times.min(), times.max()))
    which = "The latest record of a job counts, whatever code and library versions produced it."
    yield f"{counted(len(records), 'job')} of {runs}, stored from {first} to {last} UTC. {which}"
    yield from mixtures(records)
    yield from _mixed_times(records)
    yield protocols(records)
    if n_dirty := len(records.filter(pl.col("git_dirty"))):
        yield f"{counted(n_dirty, 'job')} ran code with uncommitted changes."
    if n_old := len(records.filter(pl.col("schema_version") < SCHEMA_VERSION)):
        yield f"{counted(n_old, 'record')} with a schema older than {SCHEMA_VERSION}; missing columns are empty."


def makers(records: pl.DataFrame) -> str:
    """Return a sentence about the commits and processors that made the records; empty if neither is known."""
    known = records.select("git_commit", "git_dirty").drop_nulls("git_commit").unique().sort(pl.all())
    commits = [commit[:HASH_DIGITS] + " with uncommitted changes" * bool(dirty) for commit, dirty in known.rows()]
    processors = records["cpu"].drop_nulls().unique().sort().to_list()
    made = {"by commit": commits, "on": processors}
    parts = [f"{word} {listed(names, MAX_PLACES)}" for word, names in made.items() if names]
    return f"Made {' '.join(parts)}." if parts else ""


def mixtures(records: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each difference on which results depend, among jobs that are compared with each other."""
    for column, what, current in (("code", "Source code", "code"), ("versions", "The version", "libraries")):
        mixed_names = _exploded(records, column).group_by(*PLACE, "part", "name").agg(pl.col("value").n_unique())
        if len(mixed_names := mixed_names.filter(pl.col("value") > 1).sort(*PLACE, "name")):
            names = ", ".join(mixed_names["name"].unique().sort())
            remedy = f"rerun the same commands with the current {current}"
            yield f"{what} of {names} differs among the jobs on {_places(mixed_names)}: {remedy}."
    contents = records.group_by("dataset", "dataset_params").agg(pl.col("data_sha256").n_unique())
    if len(several := contents.filter(pl.col("data_sha256") > 1)["dataset"].unique().sort()):
        yield f"The data of {', '.join(several)} changed between jobs: their results do not compare."


def _mixed_times(records: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for each difference among jobs that are compared with each other on which only times depend."""
    for columns, how in (
        (list(MACHINE), "on different machines"),
        (["n_jobs", "n_threads"], "with different numbers of parallel jobs or threads"),
    ):
        mixed = records.group_by(PLACE).agg(kinds=pl.struct(columns).n_unique()).filter(pl.col("kinds") > 1).sort(PLACE)
        if len(mixed):
            yield f"The jobs on {_places(mixed)} were timed {how}: their times do not compare."


def _exploded(records: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the entries of a JSON column: ``name``, ``value``, the ``part`` hashed and the number of ``jobs``."""
    counts = records.drop_nulls(column).group_by(*PLACE, "solver", column).len("jobs")
    rows = []
    for *place, solver, text, jobs in counts.rows():
        values = json.loads(text)
        # For npbench, a hash covers what the solver and the other packages import; any other package counts as a whole.
        used = " ".join([solver, *sorted(values)])
        rows += [(*place, used if name == "npbench" else "", name, str(value), jobs) for name, value in values.items()]
    schema = {**dict.fromkeys((*PLACE, "part", "name", "value"), pl.String), "jobs": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _places(mixed: pl.DataFrame) -> str:
    names = [f"{dataset} ({problem})" for problem, dataset in mixed.select(PLACE).unique(maintain_order=True).rows()]
    return listed(names, MAX_PLACES)


def _counted(title: str, records: pl.DataFrame, columns: dict[str, str]) -> Sheet:
    found = records.group_by(list(columns)).len("jobs").sort("jobs", *columns, descending=True)
    return Sheet(title, [*columns.values(), "jobs"], found.rows(), detail=True)


def _named(title: str, records: pl.DataFrame, column: str, header: str) -> Sheet:
    found = _exploded(records, column).group_by("name", "value").agg(pl.col("jobs").sum()).sort("name", "value")
    shown = found.with_columns(_short("value")) if column == "code" else found
    return Sheet(title, ["package", header, "jobs"], shown.rows(), name=title.partition(":")[0], detail=True)


def _short(column: str) -> pl.Expr:
    return pl.col(column).str.head(HASH_DIGITS)
