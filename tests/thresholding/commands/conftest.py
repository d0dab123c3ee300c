"""Commands without their pictures, which take three quarters of the time."""

import pytest

from npbench.thresholding.commands import monitor, score_files


@pytest.fixture
def drawn():
    """Let the commands of a test draw their pictures."""


@pytest.fixture(autouse=True)
def _quick_pictures(request, monkeypatch):
    """Write an empty file for each picture, unless a test asks for ``drawn``."""
    if "drawn" not in request.fixturenames:
        for module in (monitor, score_files):
            monkeypatch.setattr(module, "save_picture", lambda figure, path: path.touch())
