"""Text that every terminal can show."""

from __future__ import annotations

import io
import time
import warnings

import pytest
from rich.console import Console

from npbench import console
from npbench.console import print_warnings_as_lines, printable, status


def test_only_control_characters_are_escaped():
    assert printable("0.1±0.2 ≤ ρ\tä 漢\n") == "0.1±0.2 ≤ ρ\tä 漢\n"
    assert printable("\x1b[2J \x7f \x9b \u202e \udcff") == r"\x1b[2J \x7f \x9b \u202e \udcff"


def test_a_warning_is_one_line_and_comes_once(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        print_warnings_as_lines()
        for _ in range(2):
            warnings.warn("odd \x1b[2J record", stacklevel=1)
    assert capsys.readouterr().err.splitlines() == [r"npbench: odd \x1b[2J record"]


def test_spinner_needs_a_cursor_that_moves(capsys, monkeypatch):
    """Notebooks and CI ask for colours, and would show each frame as a line."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with status("Waiting"):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["[/]", "[bold]x", "\x1b[2J", "x[/].csv"])
def test_a_spinner_shows_names_as_they_are(name, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(console, "STDERR", Console(file=shown, force_terminal=True, width=80))
    with console.status(f"Loading {name}"):
        pass
    assert console.printable(name) in shown.getvalue()
