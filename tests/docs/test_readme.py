"""README and docs: every command and all code is run, and what the software wrote into them is up to date."""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from npbench import cli, hookspecs, registry
from npbench.records import schema
from npbench.records.store import RecordStore

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLE = ROOT / "docs" / "examples" / "npbench-nearest-mean"
RAW = {"pima", "spambase"}
# What installs or develops npbench itself cannot be run from inside its tests: .ci/run types it, or the same by hand.
LEFT_TO_CI = (
    "python3 -m venv",
    "python -m pip",
    "ruff",
    "codespell",
    "validate",
    "mypy",
    "cog",
    "mkdocs",
    "asv",
)
# What measures for an hour is left to .github/workflows/asv.yml; asv preview waits for a browser.
MEASURES = ("asv machine", "asv run", "asv continuous", "asv publish", "asv preview")


# A line that ends with the path of a file, then perhaps a comment for cog, then the block.
NAMED = r"(?:`(npbench-[\w./-]+)`:\n\n(?:<!-- [^\n]* -->\n\n)?)?"


def fences(page):
    """Yield the file that a fenced block of a page is to be saved as, if it says so, its language and its text."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(rf"{NAMED}^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match.groups()


def below(page, line):
    """Return the first bash block below a line, as .ci/run finds it."""
    text = page.read_text(encoding="utf-8").partition(f"\n{line}\n")[2]
    return re.search(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def site(tmp_path_factory, monkeypatch):
    """Return a folder that packages can be installed into, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("site")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    registry.installed.cache_clear()
    yield folder
    registry.installed.cache_clear()
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {path.name for path in folder.iterdir()}:
            del sys.modules[name]


@pytest.fixture
def shell(site, tmp_path, monkeypatch):
    """Return a function that runs a line in bash, beside docs, where npbench and Python are these."""
    (tmp_path / "docs").symlink_to(ROOT / "docs", target_is_directory=True)
    commands = site / "bin"
    commands.mkdir()
    installer = f"{ROOT / 'tests' / 'pip_install.py'} {site}"
    of_python = {"npbench": "-m npbench", "pytest": "-m pytest -p no:cacheprovider", "pip": installer, "python": ""}
    for name, arguments in of_python.items():
        shift = "shift; " if name == "pip" else ""  # the word install
        (commands / name).write_text(f'#!/bin/sh\n{shift}exec "{sys.executable}" {arguments} "$@"\n')
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")

    def run(line):
        return subprocess.run(["bash", "-euo", "pipefail", "-c", line], capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def here(shell, capsys):
    """Return a function that runs a line in this process if it plans or lists, which spares seconds, or in bash."""

    def run(line):
        words = shlex.split(line)
        if words[:2] not in (["npbench", "plan"], ["npbench", "list"]):
            done = shell(line)
            if words[0] == "pip":
                importlib.invalidate_caches()
                registry.installed.cache_clear()
            return done
        with pytest.raises(SystemExit) as ended:
            cli.main(words[1:])
        return subprocess.CompletedProcess(line, ended.value.code, *capsys.readouterr())

    return run


def needs_absent_data(line):
    from npbench.data import sources

    named = RAW & set(re.split(r"\W+", line))
    files = [file for name in named for file in registry.installed().dataset(name).files]
    return any(sources.find(file) is None for file in files)


def rehearsed(line):
    """Return the line with a run, or the report of one, replaced by its plan; other reports have no records here.

    Tests are collected only.
    """
    if line.startswith("pytest "):
        return line.replace("pytest", "pytest --collect-only", 1)
    if line.startswith("npbench report") and "--experiment" not in line:
        return "npbench report --help"
    line = line.replace("npbench report --experiment ", "npbench plan +experiment=")
    run = re.match(r"npbench (?!list|data |check |new |plan|-s|--)|npbench$", line)
    return line.replace("npbench", "npbench plan", 1) if run else line


def follow(page, shell, change):
    """Run the commands of a page in their order, each after ``change``, and save the files that it shows.

    Skips at the end if data were missing.
    """
    left_out, names = [], {}
    for path, language, text in fences(page):
        if path:
            Path(path).write_text(text, encoding="utf-8")
            continue
        if language == "python" and change is as_it_is:
            exec(text, names)
        for line in text.splitlines() if language == "bash" else ():
            if line.startswith(LEFT_TO_CI):
                continue
            if needs_absent_data(line):
                left_out.append(line)
                continue
            done = shell(change(line))
            if "in none of the data folders" in done.stderr:  # nor could it be downloaded
                left_out.append(line)
                continue
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    if left_out:
        pytest.skip(f"ran all but those whose raw data are in no data folder: {left_out}")


def as_it_is(line):
    """Return the line; with two repeats where it has ten, and planned only where that takes minutes still."""
    return rehearsed(line) if "results=results/anew" in line else re.sub(r"repeats=1\d\b", "repeats=2", line)


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@needs_bash
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_accepted(page, here):
    follow(page, here, rehearsed)


@pytest.mark.slow
@needs_bash
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_every_piece_of_code_runs(page, shell):
    follow(page, shell, as_it_is)


def test_what_is_left_to_ci_is_what_ci_types():
    ci = (ROOT / ".ci" / "run").read_text()
    typed = [below(ROOT / page, line) for page, line in re.findall(r'type_them "?(?:\$copy/)?(\w+\.md)"? "(.*)"', ci)]
    assert len(typed) == 5
    for page in PAGES:
        for _, language, text in fences(page):
            for line in text.splitlines() if language == "bash" else ():
                if line.startswith(LEFT_TO_CI) and not line.startswith(MEASURES):
                    assert any(line in block.splitlines() for block in typed), f"{page.name}: {line}"


def test_the_two_commands_of_the_readme_are_one_line_each():
    (start,) = below(ROOT / "README.md", "## Start").splitlines()
    (test,) = below(ROOT / "README.md", "## Test").splitlines()
    assert start.endswith("-m npbench")
    assert "-m pytest -n auto" in test


def test_what_the_software_wrote_into_readme_and_docs_is_up_to_date():
    pytest.importorskip("cogapp")
    checked = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "--diff", "-I", str(ROOT / "docs"), *map(str, PAGES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, f"cog -r -I docs README.md docs/*.md writes them anew\n{checked.stdout}"
    assert checked.stdout.count("Checking") == len(PAGES)


def test_every_hook_is_documented():
    hooks = [name for name in vars(hookspecs) if name.startswith("npbench_")]
    assert hooks
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert [name for name in hooks if f"`{name}(" not in text] == []


def test_every_column_is_documented():
    text = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| \w+ \|", text, re.MULTILINE) == list(schema.SCHEMA)


def test_the_readme_shows_the_example_plugin_verbatim():
    shown = [text for *_, text in fences(ROOT / "README.md")]
    for path in [EXAMPLE / "pyproject.toml", *sorted((EXAMPLE / "npbench_nearest_mean").glob("*.py"))]:
        assert path.read_text(encoding="utf-8") in shown, path.name


def test_a_solver_takes_twenty_lines():
    sources = (EXAMPLE / "npbench_nearest_mean").glob("*.py")
    lines = [line for source in sources for line in source.read_text(encoding="utf-8").splitlines() if line]
    assert len(lines) == 20


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_figures_show_the_published_records(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs")
    import figures

    rates = figures.published()
    assert figures.digest(rates).encode() in figures.FIGURE.read_bytes(), "python docs/figures.py draws it anew"
    top, bottom = figures.draw(rates).axes[0::2][:2]
    drawn = dict(zip(*top.lines[1].get_data(), strict=True))
    breast = rates.filter(dataset="breast")
    for rho in breast["rho"].unique():
        assert drawn[rho] == pytest.approx(breast.filter(rho=rho)["p_nd"].mean())
    assert bottom.get_ylabel() == figures.TITLES["p_fa"]
    for name in figures.EXPERIMENTS:
        image = (figures.IMAGES / f"{name}.png").read_bytes()
        assert figures.digest(figures.of_experiment(name)).encode() in image, "python docs/figures.py draws it anew"


def test_the_published_records_are_those_of_the_command_in_the_readme():
    frame = RecordStore(ROOT / "results" / "published" / "records").frame()
    counts = frame.group_by("dataset", "rho").len().sort("dataset", "rho")
    assert counts.rows() == [(data, rho, 10) for data in ("breast", "pima") for rho in (0.01, 0.05, 0.1, 0.2)]
    assert set(frame["status"]) == {"ok"}
    assert set(frame["git_dirty"]) == {False}
    (command,) = (line for line in (ROOT / "README.md").read_text().splitlines() if "results=results/anew" in line)
    (run_id,) = set(frame["run_id"])
    description = (ROOT / "results" / "published" / "runs" / f"{run_id}.json").read_text(encoding="utf-8")
    text = description + frame.write_csv()
    assert json.loads(description)["command"] == command.split()[1:]
    for folder in ("/home/", "/root", "/Users/", "/tmp", "/work", "C:\\"):
        assert folder not in text
