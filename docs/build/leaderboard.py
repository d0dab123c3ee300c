"""The leaderboard of the site: one file that opens offline, with all published standings to choose from."""

import functools
import tempfile
from pathlib import Path

import polars as pl
from blocks import published
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from npbench import session
from npbench.report.render import page
from npbench.report.select.asked import of_jobs, settings_of_jobs
from npbench.report.select.collect import Collection
from npbench.report.sheet import Section
from npbench_benchmark.advice import lines
from npbench_benchmark.tables import explorer

NAME = "leaderboard.html"
EXPERIMENTS = ("np_benchmark", "pauc_benchmark")  # docs/benchmark*.md name them, too


@functools.cache
def asked(experiment: str) -> pl.DataFrame:
    """Return the published records of what an experiment asks for, as its report does."""
    requests = session.ask(["-m", f"+experiment={experiment}"]).requests
    return of_jobs(settings_of_jobs(requests), published(experiment))


def write(path: Path) -> None:
    """Write the page."""
    frames = [asked(experiment) for experiment in EXPERIMENTS]
    advice = [line for records in frames for line in lines(records, [])]
    sections = [Section("All methods", explorer(frames)), Section("What to use when", notes=advice)]
    page.write(path, sections, Collection(frames[0].clear().with_columns(label=pl.lit("")), []))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to the files of the site."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        write(path)
        files.append(File.generated(config, NAME, content=path.read_bytes()))
    return files
