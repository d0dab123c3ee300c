"""``asv continuous`` flags a commit that makes a kernel slower or its results worse, and no other."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("npbench", "plugins", "conf", "tests/benchmarks/asv", "tests/kernel_cache.py")
FILES = ("pyproject.toml", "README.md", "LICENSE", "asv.conf.json")
RANK = "return _above_rank(negatives, n - m)"
TWICE = "_above_rank(negatives.copy(), len(negatives) // 2)"
LINK = """
import sysconfig
from pathlib import Path

Path(sysconfig.get_path("purelib"), "installed.pth").write_text({folder!r})
"""


def of_this_environment(folder):
    """Make a folder of links to the installed packages except npbench and installers, so that no index is needed."""
    folder.mkdir()
    for found in Path(sysconfig.get_path("purelib")).iterdir():
        if not found.name.startswith(("npbench", "_npbench", "__editable__", "pip", "setuptools")):
            (folder / found.name).symlink_to(found)
    return folder


@pytest.fixture
def repository(tmp_path):
    """Return a temporary repository with this code on main, and a function that runs a command in it."""
    pytest.importorskip("asv", reason="asv is not installed")
    pytest.importorskip("hatchling", reason="without hatchling, wheels are built with one from an index")
    if not shutil.which("git"):
        pytest.skip("needs git")
    repo = tmp_path / "npbench"
    ignored = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (repo / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, repo / part, **({"ignore": ignored} if copy is shutil.copytree else {}))
    for file in FILES:
        shutil.copy(ROOT / file, repo / file)
    conf = json.loads((repo / "asv.conf.json").read_text())
    conf["build_command"] = [one.replace("wheel", "wheel --no-build-isolation") for one in conf["build_command"]]
    link = tmp_path / "link.py"
    link.write_text(LINK.format(folder=str(of_this_environment(tmp_path / "installed"))))
    install = "python -m pip install --no-deps --no-index {wheel_file}"
    conf["install_command"] = [f"in-dir={{env_dir}} {command}" for command in (install, f"python {link}")]
    (repo / "asv.conf.json").write_text(json.dumps(conf))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {**os.environ, "HOME": str(tmp_path), "PATH": path}
    home |= {f"GIT_{who}_{what}": "npbench@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def run(*command):
        return subprocess.run(command, cwd=repo, env=home, capture_output=True, text=True, check=False)

    for command in ("git init -qb main", "git add .", "git commit -qm start", "asv machine --yes"):
        assert run(*command.split()).returncode == 0
    return repo, run


def commit(repo, run, branch, file, old, new):
    run("git", "checkout", "-qb", branch, "main")
    text = (repo / file).read_text()
    assert text.count(old) == 1
    (repo / file).write_text(text.replace(old, new))
    assert run("git", "commit", "-qam", branch).returncode == 0


@pytest.mark.slow
@pytest.mark.long
def test_slower_and_worse_commits_are_flagged(repository):
    repo, run = repository
    broken = f"{TWICE}\n        {RANK.replace('n - m', 'n - m // 2')}"
    commit(repo, run, "slower", "npbench/numerics/thresholds.py", RANK, broken)
    commit(repo, run, "same", "README.md", "# npbench\n", "# npbench, again\n")
    largest = r"Umbrella\.t.*\(1000000\)"
    compare = ("asv", "continuous", "-f", "2", "-a", "rounds=1", "--bench", largest, "main")
    same, slower = (run(*compare, branch) for branch in ("same", "slower"))
    assert same.returncode == 0, same
    assert "BENCHMARKS NOT SIGNIFICANTLY CHANGED" in same.stdout
    assert slower.returncode == 1, slower
    flagged = slower.stdout.partition("Change")[2]
    assert "time_task(1000000)" in flagged
    assert "track_quality(1000000)" in flagged
    assert "PERFORMANCE DECREASED" in flagged
