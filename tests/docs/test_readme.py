"""README and docs: every command and code block runs, generated parts and links are valid."""

import ast
import importlib
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from npbench import cli, registry
from npbench.testing import check_solver

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXPERIMENTS = ROOT / "plugins" / "npbench_papers" / "conf" / "experiment"
EXAMPLE = ROOT / "docs" / "examples" / "npbench-nearest-mean"
RAW = {"pima", "spambase"}
# Commands that install or develop npbench itself; .ci/run types them instead.
WRITTEN_BY_SITE = {"leaderboard.html"}  # by a hook of mkdocs.yml
LEFT_TO_CI = ("python3 -m venv", "python -m pip", "ruff", "codespell", "validate", "mypy", "cog", "mkdocs", "asv")
# Commands that run for an hour (.github/workflows/pages.yml runs them) or open a browser.
MEASURES = ("asv machine", "asv run", "asv continuous", "asv publish", "asv preview")
# Commands that tests may run in their own process.
HERE = (
    *("--help", "plan", "list", "new", "check", "data", "info", "report"),
    *("threshold", "metrics", "monitor", "compare", "fit"),
)
# A line that ends with the path of a file, an optional cog comment, then the block.
NAMED = r"(?:`(npbench-[\w./-]+)`:\n\n(?:<!-- [^\n]* -->\n\n)?)?"


def fences(page):
    """Yield target file (or None), language and text of each fenced block."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(rf"{NAMED}^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match.groups()


def below(page, line):
    """Return the first bash block below a line, as .ci/run does."""
    text = page.read_text(encoding="utf-8").partition(f"\n{line}\n")[2]
    return re.search(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def site(tmp_path_factory, monkeypatch):
    """Return a folder for packages, importable in this process and its children."""
    folder = tmp_path_factory.mktemp("site")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    monkeypatch.syspath_prepend(folder)
    registry.installed.cache_clear()
    yield folder
    for path in folder.iterdir():
        forget(path.stem)


@pytest.fixture
def shell(site, tmp_path, monkeypatch):
    """Return a function that runs a line in bash beside docs, with this npbench and Python."""
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
def here(shell, capsys, monkeypatch):
    """Return a function that runs most commands in this process, which saves seconds, and the rest in bash."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(line):
        words = shlex.split(line)
        if words[:2] == ["python", "-c"]:
            exec(words[2], {})
            return subprocess.CompletedProcess(line, 0, *capsys.readouterr())
        if words[0] != "npbench" or len(words) < 2 or words[1] not in HERE:
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
    """Return a quick form of a line that still checks its arguments: plans of runs, no long checks, tests collected."""
    if line.startswith("pytest "):
        return line.replace("pytest", "pytest --collect-only", 1)
    if line.startswith("npbench check solver"):
        return "npbench check --help"
    # Files of these come from Python blocks, or take a fit.
    if found := re.match("npbench (threshold|metrics|monitor|compare|fit) ", line):
        return f"{found[0]}--help"
    if line.startswith("npbench report") and "--experiment" not in line:
        return "npbench report --help"
    line = line.replace("npbench report --experiment ", "npbench plan +experiment=")
    run = re.match(r"npbench (?!list|info |data |check |new |plan|-s|--)|npbench$", line)
    line = line.replace("npbench", "npbench plan", 1) if run else line
    experiment = re.fullmatch(r"npbench plan \+experiment=(\w+)", line)  # composed in tests/plugins/papers
    return f"test -f {EXPERIMENTS / experiment[1]}.yaml" if experiment else line


def shortened(line):
    """Return the line with a single repeat."""
    return re.sub(r"\brepeats=\d+", "repeats=1", line) if not line.startswith("npbench plan") else line


def forget(package):
    """Let the next command in this process import a package whose files have changed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    registry.installed.cache_clear()


def follow(page, shell, change):
    """Run the commands of a page in order, each after ``change``, and save the files that it shows.

    Skip at the end if data were missing.
    """
    missing, names = [], {}
    for path, language, text in fences(page):
        if path:
            Path(path).write_text(text, encoding="utf-8")
            forget(Path(path).parent.name)
            continue
        if language == "python" and change is shortened:
            exec(text, names)
        for line in text.splitlines() if language == "bash" else ():
            if line.startswith(LEFT_TO_CI):
                continue
            if needs_absent_data(line):
                missing.append(line)
                continue
            done = shell(change(line))
            if "in none of the data folders" in done.stderr:  # and could not be downloaded
                missing.append(line)
                continue
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    if missing:
        pytest.skip(f"raw data in no data folder: {missing}")


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
FIRST = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]
OTHERS = [pytest.param(page, marks=pytest.mark.one_in(10)) for page in PAGES if page not in FIRST]


@needs_bash
@pytest.mark.parametrize("page", [*FIRST, *OTHERS], ids=lambda page: page.name)
def test_commands_are_accepted(page, here):
    follow(page, here, rehearsed)


@pytest.mark.slow  # fits models for every page
@needs_bash
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_code_run(page, shell):
    follow(page, shell, shortened)


def test_ci_types_the_commands_that_tests_leave_out():
    ci = (ROOT / ".ci" / "run").read_text()
    typed = [below(ROOT / page, line) for page, line in re.findall(r'type_them "?(?:\$copy/)?(\w+\.md)"? "(.*)"', ci)]
    assert len(typed) == 5
    for page in PAGES:
        typed_there = (text.splitlines() for _, language, text in fences(page) if language == "bash")
        for line in itertools.chain(*typed_there):
            if line.startswith(LEFT_TO_CI) and not line.startswith(MEASURES):
                assert any(line in block.splitlines() for block in typed), f"{page.name}: {line}"


def test_readme_shows_the_example_plugin_and_links_between_pages_resolve():
    shown = [text for *_, text in fences(ROOT / "README.md")]
    for path in [EXAMPLE / "pyproject.toml", *sorted((EXAMPLE / "npbench_nearest_mean").glob("*.py"))]:
        assert path.read_text(encoding="utf-8") in shown, path.name
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert target in WRITTEN_BY_SITE or (page.parent / target).exists(), f"{page.name}: {target}"


def code_of(source):
    """The methods of the only class of a module, without annotations and docstrings."""
    (found,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    methods = [node for node in found.body if isinstance(node, ast.FunctionDef)]
    for method in methods:
        method.returns = None
        for argument in (*method.args.args, *method.args.kwonlyargs):
            argument.annotation = None
        if ast.get_docstring(method):
            method.body = method.body[1:]
    return list(map(ast.unparse, methods))


def test_the_example_plugin_is_the_template_and_passes_its_checks(install):
    template = resources.files("npbench.testing.commands") / "templates" / "solver" / "estimator.py.txt"
    written = template.read_text(encoding="utf-8").replace("$class_name", "NearestMean")
    assert code_of((EXAMPLE / "npbench_nearest_mean" / "estimator.py").read_text(encoding="utf-8")) == code_of(written)
    site = install("npbench-nearest-mean", npbench_nearest_mean="")
    (site / "npbench_nearest_mean.py").unlink()
    (site / "npbench_nearest_mean").symlink_to(EXAMPLE / "npbench_nearest_mean")
    for check in check_solver("nearest_mean"):
        check()
