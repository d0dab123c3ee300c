"""The page of errata names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"))


def test_named_tests_exist():
    assert len(NAMED) > 10
    for path, name in NAMED:
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), f"{path}::{name}"
