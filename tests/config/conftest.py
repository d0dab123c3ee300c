"""Fixtures of tests of the configuration, which read it for each command."""

import pytest

from npbench.config import search_path


@pytest.fixture(scope="module")
def loader(stranger_of_module):
    """Loader for all tests."""
    search_path.register()
    with search_path.initialized() as hydra:
        yield hydra.config_loader


@pytest.fixture(autouse=True)
def _shared_configuration():
    """Share nothing: how configuration is read is what is tested here."""
