"""The page of errata names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_named_test_exists(path, name):
    assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")


def test_page_names_tests():
    assert len(NAMED) > 10
