"""Commands without their pictures, which take three quarters of the time."""

import pytest
from matplotlib.figure import Figure

from npbench.thresholding.commands import compare, metrics, monitor, score_files, threshold


@pytest.fixture
def drawn():
    """Let the commands of a test draw their pictures and save them."""


@pytest.fixture
def saved():
    """Let the commands of a test save their pictures, which are empty."""


@pytest.fixture(autouse=True)
def _quick_pictures(request, monkeypatch):
    """Draw nothing and write an empty file for each picture, unless a test asks for ``drawn`` or ``saved``."""
    asked = {"drawn", "saved"} & {*request.fixturenames}
    if "drawn" not in asked:
        for module, draw in ((compare, "_drawn"), (metrics, "_drawn"), (threshold, "_drawn"), (monitor, "_chart")):
            monkeypatch.setattr(module, draw, lambda *_: Figure())
    if not asked:
        for module in (monitor, score_files):
            monkeypatch.setattr(module, "save_picture", lambda figure, path: path.touch())
