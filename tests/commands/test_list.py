import subprocess
import sys

from rich.console import Console

from npbench.commands.list import KINDS, show

HEAVY = ("numpy", "scipy", "sklearn", "numba", "polars", "pyarrow", "hydra")


def listed(*kinds, width=80):
    console = Console(width=width, record=True)
    show(kinds, console)
    return console.export_text()


def test_each_kind_is_listed(stranger):
    text = listed(*KINDS)
    for expected in ("np_svm", "centroid", "Nearest centroid", "npbench-stranger 1.2", "blobs", "p_fa", "qvalue"):
        assert expected in text


def test_unavailable_plugins_and_reasons(stranger):
    assert "No module named 'no_such_library'" in " ".join(listed("solvers").split())


def test_listing_imports_nothing_heavy():
    code = (
        "import sys, npbench.cli\n"
        "try: npbench.cli.main(['list'])\n"
        f"except SystemExit as end: sys.exit(end.code or ', '.join(m for m in {HEAVY} if m in sys.modules) or None)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "np_svm" in ended.stdout


def test_inherited_paper_is_listed():
    lines = [line.strip() for line in listed("experiments", width=160).splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith("davenport_table1_full"))
    assert lines[place].endswith("in full")
    assert lines[place + 1] == "Davenport, Baraniuk and Scott (2006), Table 1"


def test_variants_are_listed_with_their_solver():
    lines = [line.strip() for line in listed("solvers", width=160).splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith("random_forest "))
    assert lines[place].endswith("A random forest, thresholded")
    assert lines[place + 1] == "variant of scorer"
