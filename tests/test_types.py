"""Types of the public names, as mypy of a user sees them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow  # mypy takes seconds
def test_public_names_have_the_types_that_users_rely_on():
    pytest.importorskip("mypy")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "tests/typed_use.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
