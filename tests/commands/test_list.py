import pytest
from rich.console import Console

from npbench.commands.catalogue import KINDS
from npbench.commands.list import show


def listed(*kinds, width=80):
    console = Console(width=width, record=True)
    show(kinds, console)
    return console.export_text()


def test_each_kind_is_listed_and_what_is_unavailable(stranger):
    text = " ".join(listed(*KINDS).split())
    found = ("np_svm", "centroid", "Nearest centroid", "npbench-stranger 1.2", "blobs", "p_fa", "qvalue")
    for expected in (*found, "No module named 'no_such_library'"):
        assert expected in text


@pytest.mark.parametrize(
    ("kind", "name", "title", "note"),
    [
        ("experiment", "davenport_table1_full", "in full", "Davenport, Baraniuk and Scott (2006), Table 1"),
        ("solver", "random_forest ", "A random forest, thresholded", "variant of scorer"),
    ],
)
def test_entries_have_a_title_and_a_note(kind, name, title, note):
    lines = [line.strip() for line in listed(kind, width=160).splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith(name))
    assert lines[place].endswith(title)
    assert lines[place + 1] == note
