"""Completeness of the docs: solver pages, hooks, glossary, navigation, tutorials."""

import dataclasses
import functools
import json
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import npbench
from grids import slow
from npbench import contracts, hookspecs, registry
from npbench.problem import PROBLEMS
from npbench.records import fields
from npbench.testing.commands import new as scaffold
from npbench.testing.samples import blobs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PUBLISHED = ROOT / "results" / "published"
LOGIT = DOCS / "examples" / "npbench-logit"
SECTIONS = ["Problem", "Algorithm", "Parameters", "Complexity", "When to use it", "References"]
SOLVERS = sorted(
    name for name, solver in registry.installed().solvers.items() if solver.estimator.startswith("npbench_")
)


def read(page):
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.fixture
def built(script):
    """Return a function that reads a page as mkdocs builds it, with its reference tables."""
    reference = script("reference")
    return functools.cache(lambda page: reference.on_page_markdown(read(page)))


def sections(text):
    """Return the text below each second-level heading."""
    without_code = re.sub(r"^```.*?^```$", lambda code: code[0].replace("\n#", "\n "), text, flags=re.M | re.S)
    parts = re.split(r"^## (.*)\n", without_code, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def in_table(text):
    """Return the names in the first column of the tables."""
    cells = re.findall(r"^\| (`.*?`) \|", text, re.M)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def navigation(entries):
    """Yield heading and file of every page in the navigation."""
    for entry in entries:
        (heading, below) = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        yield from [(heading, below)] if isinstance(below, str) else ((heading, page) for _, page in navigation(below))


@functools.cache
def pages():
    configuration = (ROOT / "mkdocs.yml").read_text().replace("!ENV", "")  # a tag that only mkdocs reads
    return list(navigation(yaml.safe_load(configuration)["nav"]))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_has_a_page_in_the_navigation_with_all_sections(name):
    page = f"{name.replace('_', '-')}.md"
    assert ("Methods", page) in pages()
    found = sections(read(page))
    assert [heading for heading in found if heading in SECTIONS] == SECTIONS
    assert re.search(r"^```math|`[^`]*[=<][^`]*`", found["Problem"], re.M), "a formula"
    assert re.search(r"https://(doi\.org|arxiv\.org|hal\.|inria\.hal)|\b(19|20)\d\d\b", found["References"])


FEW_STEPS = {"pauc_boost": {"max_iter": 5}, "pauc_gbdt": {"max_iter": 5}, "pauc_sbcd": {"max_iter": 4}}


def on_the_page(name, built):
    """Return the estimator of a solver and the names in the tables of its page."""
    described = contracts.resolve(registry.installed().solvers[name].estimator)
    return described, in_table(sections(built(f"{name.replace('_', '-')}.md"))["Parameters"])


@pytest.mark.parametrize("name", SOLVERS)
def test_every_parameter_is_on_the_page(name, built):
    described, listed = on_the_page(name, built)
    assert set(described().get_params(deep=False)) - listed == set()


WITHOUT_KERNELS = ("gen", "scorer")  # others compile theirs, maybe in a second process


@pytest.mark.parametrize("name", [name if name in WITHOUT_KERNELS else slow((name,)) for name in SOLVERS])
def test_every_attribute_is_on_the_page(name, built):
    described, listed = on_the_page(name, built)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = described(**FEW_STEPS.get(name, {})).fit(*blobs())
    public = {attribute for attribute in vars(fitted) if re.fullmatch(r"[a-zA-Z]\w*_", attribute)}
    assert public - listed == set()


def test_navigation_lists_every_page_once():
    listed = sorted(page for _, page in pages())
    assert listed == sorted(
        page.relative_to(DOCS).as_posix() for page in (*DOCS.glob("*.md"), *DOCS.glob("speed/*.md"))
    )


def test_plugin_page_lists_hooks_and_contract_fields(built):
    page = built("plugins.md")
    for name, hook in vars(hookspecs).items():
        if name.startswith("npbench_"):
            (row,) = re.findall(rf"^\| `{name}\((.*)\)` \| `(.*)` \| (.+) \|$", page, re.M)
            assert row[0].split(", ") == [*hook.__code__.co_varnames[: hook.__code__.co_argcount]] or not row[0]
    for description in (contracts.Solver, contracts.Dataset, contracts.Metric):
        (stored,) = re.findall(rf"^\| `{description.__name__}` \| (.+) \|$", page, re.M)
        assert set(re.findall(r"`(\w+)`", stored)) == {field.name for field in dataclasses.fields(description)}
        table = page.partition(f"\n### {description.__name__}\n")[2].partition("\n### ")[0]
        assert {field.name for field in dataclasses.fields(description)} == in_table(table)


def test_glossary_defines_every_term_once():
    table = read("glossary.md")
    words = re.findall(r"^\| (.+?) \| .+ \|$", table, re.M)[1:]
    assert len(words) == len(set(words))
    values = re.findall(r"^\| (?:status|tag) \| (.*) \|$", table, re.M)
    defined = set(re.findall(r"[\w-]+", " ".join([*words, *values])))
    fields = {field.name for problem in PROBLEMS.values() for field in dataclasses.fields(problem)}
    headline = {name for problem in PROBLEMS.values() for name in problem.headline}
    statuses = {"ok", "failed", "timeout", "out_of_memory", "crashed"}
    tags = {tag for name in SOLVERS for tag in registry.installed().solvers[name].tags}
    assert (fields | headline | set(PROBLEMS) | statuses | tags) - defined == set()


def run_of(records, runs):
    """Return the one run whose records are stored: it succeeded from committed code and names no local path."""
    frame = pl.read_parquet(records)
    assert set(frame["status"]) == {"ok"}
    assert set(frame["git_dirty"]) == {False}
    (run_id,) = set(frame["run_id"])
    run = (runs / f"{run_id}.json").read_text(encoding="utf-8")
    for folder in ("/home/", "/root", "/Users/", "/tmp", "/work", "C:\\"):
        assert folder not in run + frame.write_csv()
    return json.loads(run)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stored_run_of_every_solver(solver):
    run_of(PUBLISHED / "methods" / "records" / f"{solver}.parquet", PUBLISHED / "methods" / "runs")


STORED = {
    "tutorial-comparison.md": ("tutorial", "tutorial_comparison.parquet"),
    "tutorial-method.md": ("tutorial", "tutorial_method.parquet"),
    "quickstart.md": (".", "*.parquet"),
}


@pytest.mark.parametrize("page", STORED)
def test_stored_records_come_from_the_command_of_the_page(page):
    folder, records = PUBLISHED / STORED[page][0], STORED[page][1]
    *command, results = run_of(folder / "records" / records, folder / "runs")["command"]
    assert results.startswith("results=")
    assert f"\nnpbench {' '.join(command)}\n" in read(page)


def test_stored_records_of_the_quick_start_are_complete():
    counts = pl.read_parquet(PUBLISHED / "records" / "*.parquet").group_by("dataset", "rho").len()
    expected = [(data, rho, 10) for data in ("breast", "pima") for rho in (0.01, 0.05, 0.1, 0.2)]
    assert counts.sort("dataset", "rho").rows() == expected


def test_tutorial_shows_the_files_that_differ_from_a_new_package():
    made = scaffold.write("solver", "logit", Path())
    shown = read("tutorial-method.md")
    for path in (LOGIT / "npbench_logit").rglob("*.*"):
        name, text = path.relative_to(LOGIT), path.read_text(encoding="utf-8") if path.suffix != ".pyc" else ""
        if text and text != (made / name).read_text(encoding="utf-8"):
            assert f"`npbench-logit/{name}`:" in shown
            assert text.strip() in shown
    new, own = ({path.relative_to(folder) for path in folder.rglob("*.*")} for folder in (made, LOGIT))
    assert new <= own


def test_built_pages_have_every_table_column_data_set_and_generator(built):
    listed = re.findall(r"^\| `(\w+)` \| \w+ \|", built("records.md"), re.M)
    assert listed == list(fields.SCHEMA)
    stored = read("records.md").partition("| subject | columns |")[2].partition("<!--")[0]
    assert re.findall(r"`(\w+)`", stored) == list(fields.SCHEMA)
    every = registry.installed().datasets.values()
    described = [dataset for dataset in every if not any(file.wheel for file in dataset.files)]
    assert {f"`{dataset.name}`" for dataset in described} <= set(re.findall(r"^\| (`\w+`) \|", built("data.md"), re.M))
    drawn = {dataset.name for dataset in described if dataset.source.startswith("drawn")}
    assert set(re.findall(r"^### (\w+)$", built("generators.md"), re.M)) == drawn
    marked = {page.name for page in DOCS.glob("*.md") if "<!-- reference:" in page.read_text(encoding="utf-8")}
    assert {"api.md", "data.md", "generators.md", "plugins.md", "records.md", "speed-others.md", "np-svm.md"} <= marked
    for page in marked:
        assert "<!-- reference:" not in built(page)
        assert len(built(page)) > len(read(page))


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_a_service_without_npbench_decides_by_the_stored_threshold(tmp_path):
    (code,) = re.findall(r"^```js\n(.*?)^```", read("without-npbench.md"), re.M | re.S)
    (tmp_path / "threshold").mkdir()

    def decided(found, scores):
        (tmp_path / "threshold" / "threshold.json").write_text(found.to_json())
        (tmp_path / "read.mjs").write_text(f"{code}\nconsole.log(JSON.stringify({scores}.map(decide)));")
        done = subprocess.run(["node", "read.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
        page, listed = done.stdout.splitlines()
        return page.split(), json.loads(listed)

    samples, words = np.arange(400.0) / 200, np.resize(["ok", "fraud"], 400)
    found = npbench.threshold(samples, words, pos_label="fraud")
    page, answers = decided(found, scores := [0.5, found.value, 4.0])
    assert page == answers == ["fraud" if above else "ok" for above in found.predict(scores)] == ["ok", "ok", "fraud"]
    abstaining = npbench.threshold(samples, words, pos_label="fraud", recall=0.9, abstain=True)
    ends = abstaining.lower, abstaining.value
    scores = [end + step for end in ends for step in (-0.01, 0.0, 0.01)]
    answer = {None: "don't know", False: "ok", True: "fraud"}
    assert decided(abstaining, scores)[1] == [answer[one] for one in abstaining.predict(scores)]
    with pytest.raises(subprocess.CalledProcessError):  # groups are no single threshold
        decided(npbench.threshold(samples, words, pos_label="fraud", by=np.repeat([0, 1], 200)), [0.5])


def test_errata_name_tests_that_exist():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", read("errata.md"))
    assert len(named) > 10
    for path, name in named:
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), f"{path}::{name}"


def test_one_workflow_publishes_the_site_and_sets_the_addresses_that_it_reads():
    workflows = {path.name: path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")}
    assert [name for name, text in workflows.items() if "deploy-pages" in text] == ["pages.yml"]
    readers = {"pages.yml": ROOT / "mkdocs.yml", "release.yml": ROOT / "hatch_build.py"}
    for workflow, reader in readers.items():
        names = set(re.findall(r"NPBENCH_[A-Z]+", reader.read_text()))
        assert {"NPBENCH_REPOSITORY", "NPBENCH_SITE"} <= names
        assert {name for name in names if f" {name}: " not in workflows[workflow]} == set()
