"""Source hashes, versions and the facts of a run."""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn

import npbench
from npbench.errors import RequestError
from npbench.records import provenance
from npbench.records.schema import SCHEMA


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package of one name anew and hashes it."""
    monkeypatch.syspath_prepend(tmp_path)

    def hashed(files: dict[str, str]) -> str:
        for path in sorted(tmp_path.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name in random.sample(sorted(files), len(files)):
            path = tmp_path / "hashed_package" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name])
        provenance.source_sha256.cache_clear()
        return provenance.source_sha256("hashed_package")

    yield hashed
    provenance.source_sha256.cache_clear()


SOURCES = {"__init__.py": "raise RuntimeError", "a.py": "x = 1", "sub/__init__.py": "", "sub/b.py": "y = 2"}


def test_a_source_hash_depends_on_names_and_contents_of_python_files_alone(package):
    first = package(SOURCES)
    assert package(dict(reversed(SOURCES.items()))) == first
    assert package({**SOURCES, "conf/x.yaml": "C: 1", "__pycache__/a.cpython-311.pyc": "junk"}) == first
    different = [
        {**SOURCES, "a.py": "x = 2"},
        {**SOURCES, "c.py": ""},
        {name: text for name, text in SOURCES.items() if name != "sub/b.py"},
        {**{name: text for name, text in SOURCES.items() if name != "a.py"}, "b.py": "x = 1"},
        {**SOURCES, "a.py": "y = 2", "sub/b.py": "x = 1"},
    ]
    assert len({first, *map(package, different)}) == 1 + len(different)
    assert "hashed_package" not in sys.modules  # hashing imports nothing


def test_a_single_module_is_hashed_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    hashes = set()
    for text in ("x = 1", "x = 2"):
        (tmp_path / "hashed_module.py").write_text(text)
        provenance.source_sha256.cache_clear()
        hashes.add(provenance.source_sha256("hashed_module"))
    assert len(hashes) == 2


def test_a_package_that_is_not_there_is_an_error_in_words():
    with pytest.raises(RequestError, match="no package 'absent_package'"):
        provenance.code(["absent_package.sub:Class"])


def test_code_covers_the_packages_named_and_npbench():
    assert set(provenance.code(["npbench_np_svm.estimator:NPSVM", "json:loads"])) == {
        "npbench",
        "npbench_np_svm",
        "json",
    }


def test_of_npbench_only_what_can_change_an_answer_counts():
    root = Path(npbench.__file__).parent
    for name in provenance.ANSWERING:
        assert (root / name).exists(), f"{name} was renamed: say so in provenance.ANSWERING"
    sources = {path.relative_to(root).as_posix() for path in root.rglob("*.py")}
    counted = {name for name in sources if name.startswith(provenance.ANSWERING)}
    assert {"numerics/rates.py", "problem.py", "protocol.py", "measurement.py"} <= counted
    assert not {"cli.py", "store.py", "execution.py", "provenance.py", "registry.py"} & counted


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

    assert provenance.versions(["npbench-nearest"]) == {
        "npbench-nearest": "2.5",
        "pluggy": pluggy.__version__,
        "not-installed-anywhere": "absent",
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": provenance.version("numba"),
    }


def test_npbench_itself_counts_with_the_numerical_libraries_only():
    assert set(provenance.versions(["npbench"])) == {"npbench", *provenance.NUMERICAL}


def test_facts_are_primitives_with_a_column_each():
    facts = provenance.facts()
    assert set(facts) <= set(SCHEMA)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["numpy_version"] == np.__version__
    assert facts["python"] == platform.python_version()
    assert 1 <= facts["cores"] <= os.cpu_count()
    assert facts["blas"]
    assert provenance.facts()["run_id"] != facts["run_id"]


def test_facts_leave_out_whose_machine_it_is():
    texts = [str(value) for value in provenance.facts().values()]
    assert not [text for text in texts if platform.node() and platform.node() in text]
    assert not [text for text in texts if str(Path.home()) != "/" and str(Path.home()) in text]


def test_the_commit_is_that_of_the_checkout():
    root = Path(npbench.__file__).parent.parent
    if not (root / ".git").exists():
        assert provenance.facts()["git_commit"] is None
        return
    told = subprocess.run(["git", "-C", root, "log", "-1", "--format=%H"], capture_output=True, text=True, check=True)
    assert provenance.facts()["git_commit"] == told.stdout.strip()
    assert isinstance(provenance.facts()["git_dirty"], bool)
