"""Commands of the board, as a user types them."""

from __future__ import annotations

import pytest

from npbench import cli


@pytest.fixture
def npbench(capsys):
    """Return a function that runs the words of a command, and returns its exit code and what it prints."""

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main(list(words))
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out + printed.err

    return run
