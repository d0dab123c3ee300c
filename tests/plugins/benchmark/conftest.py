"""Commands of the board, as a user types them."""

import pytest


@pytest.fixture
def npbench(npbench):
    """Return a function that runs the words of a command, and returns its exit code and what it prints."""

    def run(*words):
        code, *printed = npbench(*words)
        return code, "".join(printed)

    return run
