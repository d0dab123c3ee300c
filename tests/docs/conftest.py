"""Scripts of the docs, imported by name."""

import importlib
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "docs" / "build"


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a module of docs/build."""
    monkeypatch.syspath_prepend(BUILD)
    return importlib.import_module
