"""``npbench info`` and the list of all kinds."""

import pytest
from rich.console import Console

from npbench.commands.catalogue import KINDS
from npbench.commands.list import show_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("centroid", ("Nearest centroid", "shrinkage", "searched over", "npbench solver=centroid")),
        ("np_svm", ("Gasso", "max_iter: 200", "Half-width of the ramp", "npbench solver=np_svm")),
        ("random_forest_umbrella", ("variant of", "scorer", "umbrella", "n_estimators")),
        ("pauc_struct", ("npbench solver=pauc_struct dataset=breast problem=pauc",)),
        ("blobs", ("npbench dataset=blobs", "Settings")),
        ("file", ("delimiter: null", "dataset.path=...")),
        ("np_score", ("lower", "P_nd + max(0, P_fa - rho) / rho", "metrics=[np_score]")),
        ("qvalue", ("q-value", "q_svm", "problem=qvalue")),
        ("gasso_table5", ("Table V", "sweeps:", "npbench +experiment=gasso_table5")),
    ],
)
def test_info_shows(name, expected, stranger, npbench):
    code, text, _ = npbench("info", name)
    assert code == 0
    assert [words for words in expected if words not in text] == []


def test_info_describes_a_solver_whose_code_cannot_be_imported(install, npbench):
    text = "import npbench\nfrom npbench.contracts import Solver\n\n\n@npbench.hookimpl\ndef npbench_solvers():\n"
    install("npbench-x", npbench_x=f'{text}    return [Solver(name="absent", estimator="no_such:X", solves=("np",))]\n')
    code, text, _ = npbench("info", "absent")
    assert (code, "npbench solver=absent" in text) == (0, True)


def test_info_describes_a_variant_of_a_data_set(npbench):
    code, text, _ = npbench("info", "ringnorm20_large")
    assert (code, "ringnorm20" in text, "n_pos" in text) == (0, True, True)


def test_info_names_what_is_near(npbench):
    assert "did you mean" not in npbench("info", "nosuch")[2]
    code, _, error = npbench("info", "pima", "np_svmm")
    assert (code, "'np_svm'" in error) == (2, True)


def test_every_name_is_on_one_screen_or_counted(stranger):
    console = Console(width=80, record=True)
    show_names(console)
    lines = console.export_text().splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    for kind, one in KINDS.items():
        n_hidden = sum(int(line.split()[1]) for line in lines if line.endswith(f"npbench list {kind}s"))
        start = next(at for at, line in enumerate(lines) if f"{kind}=" in line or f"{kind}s=" in line)
        shown = []
        for line in lines[start + 1 :]:
            if not line.startswith("  ") or "npbench list" in line:
                break
            shown += line.replace(",", " ").split()
        assert len(shown) + n_hidden == len(one.found())


@pytest.fixture
def variant(install):
    """Return a function that installs a plugin with one file of a solver."""

    def put(name, text):
        hook = "import npbench\n\n\n@npbench.hookimpl\ndef npbench_config_packages():\n    return ['variants']\n"
        path = install("npbench-x", npbench_x=hook) / "variants" / "solver" / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_bytes(text)

    return put


def test_a_variant_without_a_comment_is_listed_and_described(variant, npbench):
    variant("bare", b"defaults: [gen]\nridge: 0.5\n")
    code, text, _ = npbench("info", "bare")
    assert (code, "ridge: 0.5" in text) == (0, True)
    assert "bare" in npbench("list", "solvers")[1]


def test_a_file_that_cannot_be_read_costs_its_own_entry_only(variant, npbench):
    variant("odd", b"# \xe9\ndefaults: [gen]\n")
    code, text, _ = npbench("list", "solvers")
    assert (code, "cannot be read" in text, "np_svm" in text) == (0, True, True)
    code, _, error = npbench("info", "odd")
    assert (code, len(error.splitlines()), "odd" in error) == (2, 1, True)


def test_as_many_data_sets_are_listed_as_a_wrong_name_counts(npbench):
    n_listed = len(KINDS["dataset"].found())
    assert f"all {n_listed}" in npbench("dataset=brest")[2]
