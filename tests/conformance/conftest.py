"""Checks of descriptions as if a plugin provided them."""

import dataclasses
from pathlib import Path

import pytest

from npbench import registry
from npbench.testing import check_dataset, check_metric, check_solver

FAULTY = Path(__file__).parents[1] / "faulty"
CHECKS = {"dataset": check_dataset, "metric": check_metric, "solver": check_solver}


@pytest.fixture
def faulty_path(monkeypatch):
    """Let npbench_faulty be imported."""
    monkeypatch.syspath_prepend(FAULTY)


@pytest.fixture
def checks_of(monkeypatch, faulty_path):
    """Return a function from a description to its checks by name."""
    installed = registry.installed()

    def by_name(described):
        kind = type(described).__name__.lower()
        provider = registry.Provider("npbench_made_up", "npbench-made-up", "1.0")
        found = dataclasses.replace(
            installed,
            **{f"{kind}s": {**getattr(installed, f"{kind}s"), described.name: described}},
            providers={**installed.providers, (kind, described.name): provider},
        )
        monkeypatch.setattr(registry, "installed", lambda: found)
        return {check.name: check for check in CHECKS[kind](described.name)}

    return by_name
