"""What is installed, and which way imports run."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import npbench
from npbench.config.search_path import config_dir

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("npbench_*/__init__.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(path for folder in ("npbench", "plugins") for path in (ROOT / folder).rglob("*.py"))
LONGEST_MODULE = 400


def imports(path):
    """Yield the absolute names of the modules that a file imports, ``from a import b`` as a and as a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def npbench_imports(path):
    return {name for name in imports(path) if name.partition(".")[0].startswith("npbench")}


def test_imports_are_found_in_all_their_forms(tmp_path):
    (tmp_path / "a.py").write_text("import a.b\ndef f():\n    from c import d as e\n")
    assert list(imports(tmp_path / "a.py")) == ["a.b", "c", "c.d"]


def test_every_plugin_folder_is_an_entry_point():
    declared = PROJECT["project"]["entry-points"]["npbench"]
    assert sorted(declared.values()) == [path.name for path in PLUGINS]
    installed = {point.value for point in metadata.entry_points(group="npbench") if point.dist.name == "npbench"}
    assert installed == set(declared.values()), "entry points are read at installation: install again"


def test_every_package_is_typed():
    for package in (ROOT / "npbench", *PLUGINS):
        assert (package / "py.typed").is_file(), package.name


def test_the_version_has_one_source():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert npbench.__version__ == metadata.version("npbench")
    assert f"\nversion: {npbench.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_configuration_is_found_where_npbench_is_installed():
    assert (config_dir() / "config.yaml").is_file()


def test_numerics_imports_nothing_of_npbench_but_itself():
    for path in (ROOT / "npbench" / "numerics").glob("*.py"):
        outside = {name for name in npbench_imports(path) if not name.startswith("npbench.numerics")}
        assert outside - {"npbench"} == set(), path.name


def test_core_imports_no_plugin():
    for path in (ROOT / "npbench").rglob("*.py"):
        assert {name for name in npbench_imports(path) if name.partition(".")[0] != "npbench"} == set(), path.name


def test_no_plugin_imports_another():
    for plugin in PLUGINS:
        for path in plugin.rglob("*.py"):
            roots = {name.partition(".")[0] for name in npbench_imports(path)}
            assert roots <= {"npbench", plugin.name}, path.name


def test_what_reports_runs_nothing():
    names = ("execution", "cluster", "submission", "task", "workers", "measurement", "run")
    running = tuple(f"npbench.{name}" for name in names)
    paths = [ROOT / "npbench" / f"{name}.py" for name in ("reading", "store", "schema", "summary", "listing")]
    for path in [*paths, *(ROOT / "npbench" / "report").glob("*.py")]:
        assert not {i for i in npbench_imports(path) if i.startswith(running)}, path.name


def test_requirements_are_what_is_imported():
    # Names on the index where they differ from those of the modules.
    called = {"sklearn": "scikit-learn", "hydra": "hydra-core", "omegaconf": "hydra-core", "yaml": "hydra-core"}
    called["hydra_plugins"] = "hydra-submitit-launcher"
    own = {"npbench", *(path.name for path in PLUGINS)}
    used = {name.partition(".")[0] for path in SOURCES for name in imports(path)} - set(sys.stdlib_module_names) - own
    extras = PROJECT["project"]["optional-dependencies"]
    required, drawing, clusters, launchers = (
        {re.split(r"[><=\s]", line)[0] for line in lines}
        for lines in (PROJECT["project"]["dependencies"], extras["report"], extras["dask"], extras["slurm"])
    )
    # pyarrow is there for those who read the records with pandas or Arrow; what draws need not be there, nor clusters.
    assert {called.get(name, name) for name in used} - drawing - clusters - launchers == required - {"pyarrow"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_modules_stay_readable(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_linters_are_the_same_before_a_commit_and_in_ci():
    pinned = dict(line.split("==") for line in PROJECT["dependency-groups"]["lint"])
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    revisions = dict(re.findall(r"/(\S+)\n    rev: v(\S+)", hooks))
    for repository, name in {"ruff-pre-commit": "ruff", "codespell": "codespell", "validate-pyproject": None}.items():
        (found,) = (rev for key, rev in revisions.items() if key.endswith(repository))
        assert found == pinned[name or repository]


@pytest.mark.slow
def test_the_wheel_holds_packages_plugins_and_configuration(tmp_path):
    pytest.importorskip("build")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)], check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {str(path.relative_to(ROOT / "plugins")) for path in (ROOT / "plugins").rglob("*.py")}
    expected |= {str(path.relative_to(ROOT / "plugins")) for path in (ROOT / "plugins").rglob("*.yaml")}
    expected |= {str(path.relative_to(ROOT)) for path in (ROOT / "npbench").rglob("*.py")}
    expected |= {f"npbench/{path.relative_to(ROOT)}" for path in (ROOT / "conf").rglob("*.yaml")}
    expected |= {str(path.relative_to(ROOT)) for path in (ROOT / "npbench" / "report" / "html").iterdir()}
    assert expected <= names
    roots = {name.partition("/")[0] for name in names}
    packages = {"npbench", *(path.name for path in PLUGINS)}
    assert {root for root in roots if not root.endswith(".dist-info")} == packages
