"""A pull request with a submission changes one small folder and nothing else."""

import importlib
from pathlib import Path

import pytest

from sample_files import put

PATH = Path(__file__).parents[1] / ".github" / "submission.py"
GOOD = [f"results/submissions/mine/{name}" for name in ("records/1-a.parquet", "runs/1.json", "submission.json")]


@pytest.fixture
def check(monkeypatch):
    monkeypatch.syspath_prepend(PATH.parent)
    return importlib.import_module(PATH.stem)


def written(paths, size=10):
    for path in map(Path, paths):
        put(path, bytes(size))


def test_one_folder_is_accepted(check):
    written(GOOD)
    assert check.faults(GOOD) == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["npbench/cli.py"], "npbench/cli.py"),
        (["results/submissions/other/records/1.parquet"], "mine, other"),
        (["results/submissions/mine/setup.py"], "setup.py"),
        (["results/submissions/mine/records/../../x.parquet"], "unexpected"),
        (["results/submissions/.gitkeep"], "one folder"),
    ],
)
def test_other_files_are_refused(check, more, expected):
    written(GOOD + more)
    assert any(expected in fault for fault in check.faults(GOOD + more))


def test_large_and_linked_files_are_refused(check):
    written(GOOD, size=check.MAX_BYTES)
    assert any("bytes" in fault for fault in check.faults(GOOD))
    Path(GOOD[1]).unlink()
    Path(GOOD[1]).symlink_to("/etc/passwd")
    assert any("regular" in fault for fault in check.faults(GOOD))
    assert check.faults([]) != []
