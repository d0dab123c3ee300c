"""New packages: what is written passes its own checks at once, and nothing is overwritten."""

import errno
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from npbench.errors import RequestError
from npbench.testing.commands import new as scaffold

KINDS = ("solver", "dataset", "metric")


@pytest.mark.slow  # runs tests in a process of their own; .ci/run installs and checks a new solver
@pytest.mark.parametrize("kind", KINDS)
def test_new_package_passes_its_tests(kind, install):
    folder = scaffold.write(kind, "new_thing", Path("made"))
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    ((point, module),) = project["entry-points"]["npbench"].items()
    assert (point, module) == ("new_thing", "npbench_new_thing")
    site = install(project["name"], **{module: ""})  # as pip would
    (site / f"{module}.py").unlink()
    (site / module).symlink_to((folder / module).absolute())
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "tests")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert re.search(r"^\d+ passed", tested.stdout, re.MULTILINE), tested.stdout
    assert not any("$" in path.read_text() for path in (folder / "npbench_new_thing").rglob("*.py"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["solvers", "mine"], "Unknown kind of plugin 'solvers': did you mean 'solver'?"),
        (["solver", "Mine"], "'Mine'"),
        (["solver", "lambda"], "'lambda'"),
        (["solver", "np_svm"], "'np_svm' exists already, from npbench_np_svm"),
        (["metric", "np_svm"], "npbench_np_svm exists already"),
        (["solver", "taken"], "npbench-taken exists"),
        (["solver", "../up"], "up"),
        (["solver", "mine", "--into", "file"], "another place with --into"),
    ],
)
def test_a_refused_package_is_one_error_and_leaves_no_folder(npbench, arguments, expected):
    Path("npbench-taken").mkdir()
    Path("file").touch()
    code, _, errors = npbench("new", *arguments)
    (line,) = errors.splitlines()
    assert (code, expected in line) == (2, True)
    assert sorted(path.name for path in Path().iterdir()) == ["file", "npbench-taken"]


def test_next_step_is_printed(npbench):
    code, output, _ = npbench("new", "metric", "gain", "--into", "plugins")
    assert (code, "npbench check metric gain" in output) == (0, True)
    assert Path("plugins/npbench-gain/npbench_gain/figure.py").is_file()
    assert Path("plugins/npbench-gain/npbench_gain/py.typed").is_file()


def test_full_disk_leaves_no_partial_package(monkeypatch):
    def full(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(RequestError, match="No space left on device"):
            scaffold.write("solver", "mine", Path())
    assert not Path("npbench-mine").exists()
    scaffold.write("solver", "mine", Path())
