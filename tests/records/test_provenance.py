"""Source hashes, versions and the facts of a run."""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn

from npbench.errors import RequestError
from npbench.records import provenance
from npbench.records.fields import SCHEMA


def forget():
    for function in (provenance._code, provenance._parsed, provenance._imported):
        function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package, or a module outside it, and hashes it."""
    monkeypatch.syspath_prepend(tmp_path)

    def hashed(files: dict[str, str], name: str = "hashed_package", folder: str = "hashed_package") -> str:
        for path in sorted(tmp_path.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for file in random.sample(sorted(files), len(files)):
            path = tmp_path / folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[file])
        forget()
        return provenance.code([f"{name}:Solver"])[name]

    yield hashed
    forget()


SOURCES = {
    "__init__.py": "import npbench; raise RuntimeError",
    "a.py": "x = 1",
    "sub/__init__.py": "",
    "sub/b.py": "y = 2",
}


def test_a_source_hash_depends_on_names_and_contents_of_python_files_alone(package):
    first = package(SOURCES)
    same = [
        dict(reversed(SOURCES.items())),
        {**SOURCES, "conf/x.yaml": "C: 1", "__pycache__/a.cpython-311.pyc": "junk"},
        {**SOURCES, "a.py": '"""Docstring."""\n\nx = 1  # comment\n'},
    ]
    assert {first} == set(map(package, same))
    different = [
        {**SOURCES, "a.py": "x = 2"},
        {**SOURCES, "a.py": "x = 1; 'not a docstring'"},
        {**SOURCES, "c.py": ""},
        {name: text for name, text in SOURCES.items() if name != "sub/b.py"},
        {("b.py" if name == "a.py" else name): text for name, text in SOURCES.items()},
        {**SOURCES, "a.py": "y = 2", "sub/b.py": "x = 1"},
        {**SOURCES, "a.py": "not Python"},
    ]
    assert len({first, *map(package, different)}) == 1 + len(different)
    assert "hashed_package" not in sys.modules  # hashing imports nothing
    modules = [package({"hashed_module.py": text}, "hashed_module", ".") for text in ("x = 1", "x = 2")]
    assert len({first, *modules}) == 3


def test_code_covers_the_packages_named_and_npbench_and_refuses_missing_ones():
    named = provenance.code(["npbench_np_svm.estimator:NPSVM", "json:loads"])
    assert set(named) == {"npbench", "npbench_np_svm", "json"}
    with pytest.raises(RequestError, match="absent_package"):
        provenance.code(["absent_package.sub:Class"])


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    root = tmp_path_factory.mktemp("copy") / "npbench"
    shutil.copytree(provenance.ROOT, root, ignore=shutil.ignore_patterns("__pycache__", "html"))
    return root


@pytest.fixture
def edited(copied, monkeypatch):
    """Return a function that hashes npbench for a solver while a file of the copied sources is changed."""
    monkeypatch.setattr(provenance, "ROOT", copied)

    def hashed(target: str = "npbench_np_svm.estimator:NPSVM", **changes: Callable[[str], str]) -> str:
        originals = {copied / path: (copied / path).read_text() for path in changes}
        for path, change in changes.items():
            (copied / path).write_text(change(originals[copied / path]))
        forget()
        try:
            return provenance.code([target])["npbench"]
        finally:
            for path, text in originals.items():
                path.write_text(text)

    yield hashed
    forget()


def with_code(text: str) -> str:
    return f"{text}\nADDED = 1\n"


def with_words(text: str) -> str:
    return f"# A comment.\n{text}".replace('"""', '"""Reworded: ', 1)


ANSWERING = [
    *(f"evaluation/{name}.py" for name in ("protocols", "splits", "measure", "preprocess", "selection", "grids")),
    *("problem.py", "numerics/ramp_svm.py", "numerics/gram.py", "estimators/kernel.py"),
]
OTHERS = ["execution/local.py", "records/store.py", "report/assemble.py", "cli.py", "numerics/network.py"]


def test_only_code_that_can_change_an_answer_changes_the_hash(edited):
    before = edited()
    for path in ANSWERING:
        assert edited(**{path: with_code}) != before, path
    assert edited(**dict.fromkeys(ANSWERING, with_words)) == before
    assert edited(**dict.fromkeys(OTHERS, with_code)) == before
    rules = {"thresholding/rules.py": with_code}  # for the scorer only
    assert edited(**rules) == before
    assert edited("npbench_scorer.estimator:Scorer", **rules) != edited("npbench_scorer.estimator:Scorer")


def test_imports_inside_functions_count(edited):
    def importing(text: str) -> str:
        return text + "def later():\n    from npbench.numerics import signed_rank\n    return signed_rank\n"

    with_import = edited(**{"evaluation/grids.py": importing})
    assert edited(**{"evaluation/grids.py": importing, "numerics/signed_rank.py": with_code}) != with_import
    assert edited(**{"numerics/signed_rank.py": with_code}) == edited()


def test_a_strangers_direct_requirements_count(tmp_path, monkeypatch):
    info = tmp_path / "npbench_nearest-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: npbench-nearest\nVersion: 2.5\n"
        "Requires-Dist: npbench>=0.1\nRequires-Dist: Pluggy>=1\nRequires-Dist: not-installed-anywhere\n"
        'Requires-Dist: hypothesis; extra == "test"\nRequires-Dist: colorama; sys_platform == "none"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    import pluggy

    numerical = {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    required = {"pluggy": pluggy.__version__, "not-installed-anywhere": "absent", "numba": provenance.version("numba")}
    assert provenance.versions(["npbench-nearest"]) == {"npbench-nearest": "2.5", **required, **numerical}
    assert set(provenance.versions(["npbench"])) == {"npbench", *provenance.NUMERICAL}


def test_libraries_that_answer_count_if_a_distribution_has_their_name():
    counted = set(provenance.versions(["npbench"], ["pandas", "npbench_scorer", "sklearn"]))
    assert counted == {"npbench", "pandas", *provenance.NUMERICAL}


def test_facts_are_primitives_with_a_column_each_and_name_neither_user_nor_machine():
    facts = provenance.facts()
    private = [name for name in (platform.node(), str(Path.home())) if name not in ("", "/")]
    assert not [value for value in facts.values() if any(name in str(value) for name in private)]
    assert set(facts) <= set(SCHEMA)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["numpy_version"] == np.__version__
    assert facts["python"] == platform.python_version()
    assert 1 <= facts["cores"] <= os.cpu_count()
    assert facts["blas"]
    assert provenance.facts()["run_id"] != facts["run_id"]
    root, commit = provenance.ROOT.parent, None
    if (root / ".git").exists():
        command = ["git", "-C", root, "log", "-1", "--format=%H"]
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert facts["git_commit"] == commit
    assert isinstance(facts["git_dirty"], bool if commit else type(None))


def test_the_blas_is_that_of_numpy_whichever_was_loaded_first(monkeypatch):
    versions = {"scipy": "0.3.30", "numpy": "0.3.31"}
    found = [{"user_api": "blas", "version": v, "filepath": f"/lib/{name}/blas.so"} for name, v in versions.items()]
    for order in (found, found[::-1]):
        monkeypatch.setattr("threadpoolctl.threadpool_info", lambda order=order: order)
        assert provenance.facts()["blas_version"] == "0.3.31"
