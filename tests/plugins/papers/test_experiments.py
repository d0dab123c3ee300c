"""The experiments of the papers: files compose into checked jobs, published records answer them, pages show them."""

import functools
import re
from pathlib import Path

import polars as pl
import pytest

import npbench_papers
from npbench.config.command_line import parse, requested
from npbench.contracts import resolve
from npbench.records.fields import ASKED, ESSENTIAL
from npbench.records.reading import conformed, latest, parts
from npbench.report.select.asked import answers, of_jobs, settings_of_jobs
from npbench_papers import claims

SHIPPED = sorted(path.stem for path in (Path(npbench_papers.__file__).parent / "conf" / "experiment").glob("*.yaml"))
JOBS = {"gasso_table2": 160, "gasso_table3": 160, "gasso_figure3": 100}


# Hundreds of combinations each, which take seconds; a smaller experiment of the same paper is composed beside them.
LARGE = {"gasso_figure4", "gasso_figure4_full", "gasso_figure5", "gasso_figure5_full", "narasimhan_learning_curves"}
LARGE |= {"narasimhan_figure7", "narasimhan_figures8_9", "narasimhan_table4", "narasimhan_table4_full"}
LARGE |= {"np_benchmark", "np_benchmark_real"}


@functools.cache
def composed(name):
    return requested(parse([f"+experiment={name}"]))


def records_of(name, columns=None):
    """Return the published records of an experiment, of all its files."""
    return pl.read_parquet(FILES[name].with_name(f"{name}.*parquet"), columns=columns)


def cases(names):
    return [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in sorted(names)]


@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", cases(SHIPPED))
def test_experiment_composes(name):
    found = composed(name)
    assert found.experiment.title
    assert found.experiment.paper
    jobs = sum(request.repeats for request in found.requests)
    assert jobs == JOBS.get(name, jobs) > 0


def test_all_experiments_are_found():
    assert len(SHIPPED) == 46


ROOT = Path(__file__).parents[3]
FILES = {path.stem: path for path in (ROOT / "results" / "published").glob("*/records/*.parquet")}
PAGES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
# By experiment, the folder of its records: a file of its name, or a command in the docs.
PUBLISHED = {name: path.parents[1] for name, path in FILES.items() if name in SHIPPED}
UNFINISHED = {"np_benchmark", "np_benchmark_drawn", "np_benchmark_time", "pauc_benchmark"}
COMMANDS = dict(re.findall(r"^npbench report --experiment (\w+) results=(\S+)$", PAGES, re.MULTILINE))
PUBLISHED |= {name: ROOT / folder for name, folder in COMMANDS.items()}


@functools.cache
def published(folder):
    faults = []
    columns = ["schema_version", *ESSENTIAL, *ASKED]
    return latest(parts(folder / "records", faults.append, columns), columns), faults


@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", cases(PUBLISHED))
def test_published_records_answer_every_job(name):
    """As ``npbench report --experiment NAME results=FOLDER`` finds them: by settings, from any code."""
    jobs = settings_of_jobs(composed(name).requests)
    records, faults = published(PUBLISHED[name])
    assert faults == []
    expected = records_of(name, ["key"]) if name in UNFINISHED else jobs
    assert len(of_jobs(jobs, records)) == len(expected) > 0


@pytest.mark.parametrize("name", cases({*FILES} & {*SHIPPED}))
def test_published_records_are_from_commits(name):
    made = records_of(name, ["git_commit", "git_dirty"])
    assert made["git_commit"].null_count() == 0
    assert not made["git_dirty"].any()


@pytest.mark.parametrize("name", sorted({*FILES} & {*SHIPPED} - {"guarantee"}))
def test_published_experiment_is_in_the_table_of_its_page(name):
    """`cog --check` compares the verdicts of that table."""
    page = ROOT / "docs" / f"{name.partition('_')[0]}.md"
    assert f"| `{name}` |" in page.read_text(encoding="utf-8")


@pytest.mark.slow  # reads all records of a paper and makes the tables of each experiment twice
@pytest.mark.parametrize("name", sorted({*FILES} & {*SHIPPED} - {"guarantee"}))
def test_report_gives_the_verdicts_of_the_page(name):
    """The report finds records by what was asked; the page reads the experiment's file."""
    experiment, requests = composed(name).experiment, composed(name).requests
    found = answers(name, settings_of_jobs(requests), FILES[name].parent, lambda fault: None)
    verdicts = []
    paths = {FILES[one] for one in (name, name.removesuffix("_forced"))}  # forced choices are compared with others
    for records in (found, conformed(pl.concat(map(pl.read_parquet, paths), how="diagonal_relaxed"))):
        sheets = resolve(experiment.table)(records, experiment.printed, **experiment.options)
        verdicts.append([row[:3] for sheet in sheets if sheet.title == claims.TITLE for row in sheet.texts])
    assert verdicts[0] == verdicts[1]


NUMBER = re.compile(r"(?<![\w.^])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?!\w)")


@pytest.mark.slow  # makes the tables of each experiment
@pytest.mark.parametrize("name", sorted({*FILES} & {*SHIPPED}))
def test_table_files_have_each_number_of_a_text(name):
    experiment = composed(name).experiment
    for sheet in resolve(experiment.table)(conformed(records_of(name)), experiment.printed, **experiment.options):
        assert "" not in sheet.columns
        for column, cells in zip(sheet.columns, sheet.by_column, strict=True):
            for cell in cells:
                shown = NUMBER.findall(cell.text) if cell.numbers else []
                assert len(shown) <= len(cell.numbers), (sheet.title, column, cell)
