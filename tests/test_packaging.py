"""What is installed, and which way imports run."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
import zipfile
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import pytest

import npbench

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("npbench_*/__init__.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(path for folder in ("npbench", "plugins") for path in (ROOT / folder).rglob("*.py"))


@functools.cache  # several tests read all files
def imports(path):
    """Return the absolute names of the modules that a file imports, ``from a import b`` as a and as a.b."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def npbench_imports(path):
    return {name for name in imports(path) if name.partition(".")[0].startswith("npbench")}


def test_imports_are_found_in_all_their_forms(tmp_path):
    (tmp_path / "a.py").write_text("import a.b\ndef f():\n    from c import d as e\n")
    assert imports(tmp_path / "a.py") == ["a.b", "c", "c.d"]


def test_every_plugin_folder_is_an_entry_point():
    declared = PROJECT["project"]["entry-points"]["npbench"]
    assert sorted(declared.values()) == [path.name for path in PLUGINS]
    installed = {point.value for point in metadata.entry_points(group="npbench") if point.dist.name == "npbench"}
    assert installed == set(declared.values()), "entry points are read at installation: install again"


def test_every_package_is_typed_and_the_version_has_one_source():
    assert [package.name for package in (ROOT / "npbench", *PLUGINS) if not (package / "py.typed").is_file()] == []
    assert "version" in PROJECT["project"]["dynamic"]
    assert npbench.__version__ == metadata.version("npbench")
    assert f"\nversion: {npbench.__version__}\n" in (ROOT / "CITATION.cff").read_text()


KERNEL = {
    *("npbench", "contracts", "errors", "hookspecs", "problem", "registry", "signature", "values"),
    *("console", "user_cache"),
}
# Rooms that each room may import, besides the kernel; arrows run down only.
ARROWS = {
    "__main__": {"cli"},
    "cli": {"commands", "config", "execution"},
    "commands": {
        *("session", "progress", "planning", "report", "config", "estimators", "evaluation", "data", "records"),
        "thresholding.commands",  # its old path
    },
    # The commands of a room may use more than the room, which a caller of its functions imports.
    "testing.commands": {"testing"},
    "thresholding.commands": {
        *("thresholding", "session", "report", "data", "estimators", "numerics"),
        *("config", "planning", "evaluation"),  # fit makes the model of a request
    },
    "progress": {"evaluation"},
    "session": {"progress", "config", "planning", "execution", "evaluation", "records", "data"},
    "testing": {"session", "config", "planning", "execution", "evaluation", "records", "data"},
    "config": {"evaluation", "data", "records"},
    "execution": {"planning", "evaluation", "records", "data", "numerics"},
    "planning": {"evaluation", "records", "data", "numerics"},
    "report": {"config", "records", "numerics"},
    "metrics": {"thresholding"},
    "thresholding": {"data", "estimators", "numerics"},
    "estimators": {"evaluation", "numerics"},
    "evaluation": {"data", "records", "numerics"},
    "records": {"data"},
    "data": {"numerics"},
    "numerics": set(),
    **{name: set() for name in KERNEL},
    **{name: {"numerics"} for name in ("contracts", "problem", "registry")},
}
BOARD = {"session", "planning"}
EXECUTORS = {"npbench_dask": {"execution", "planning", "records"}}
LAUNCHERS = {"npbench_hydra": {"session", "progress", "config", "planning", "records", "report"}}
REPORTING = {"npbench_papers", "npbench_benchmark"}
# Inside the functions of npbench/__init__.py.
LAZY = {
    "npbench": {"data", "config", "session", "progress", "thresholding", "thresholding.commands", "metrics", "report"}
}


def room(name):
    """The room of a module of npbench: a folder, the commands in it, or a file of the kernel."""
    _, first, second, *_ = [*name.split("."), "npbench", ""]
    return f"{first}.commands" if second == "commands" else first


def modules(root, package="npbench"):
    paths = (root / package).rglob("*.py")
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def test_imports_between_rooms_run_down_only():
    core = modules(ROOT)
    for name, path in core.items():
        imported = {room(other) for other in npbench_imports(path) if other in core}
        own = room(name)
        if name == "npbench.problem" or own not in KERNEL:
            assert own in ARROWS, f"{name}: a new room needs a line in ARROWS"
        assert imported - {own} - KERNEL <= ARROWS[own] | LAZY.get(own, set()), name


def test_no_module_is_part_of_a_circle():
    every = modules(ROOT)
    for plugin in PLUGINS:
        every |= modules(ROOT / "plugins", plugin.name)
    graph = {
        name: {other for other in npbench_imports(path) if not f"{name}.".startswith(f"{other}.")}
        for name, path in every.items()
        if name != "npbench"  # its functions import what they need when they are called
    }
    graph = {name: others & graph.keys() for name, others in graph.items()}
    list(TopologicalSorter(graph).static_order())  # raises CycleError


def test_core_imports_no_plugin():
    for path in (ROOT / "npbench").rglob("*.py"):
        assert {name for name in npbench_imports(path) if name.partition(".")[0] != "npbench"} == set(), path.name


def test_plugins_import_no_other_plugin_and_no_room_above_them():
    open_to_plugins = KERNEL | {"data", "estimators", "evaluation", "numerics", "thresholding"}
    core = modules(ROOT)
    for plugin in PLUGINS:
        for path in plugin.rglob("*.py"):
            allowed = open_to_plugins | ({"report", "records"} if plugin.name in REPORTING else set())
            allowed |= (EXECUTORS | LAUNCHERS).get(plugin.name, set())
            allowed |= BOARD if path.parent.name == "board" else set()
            imported = npbench_imports(path)
            assert {name.partition(".")[0] for name in imported} <= {"npbench", plugin.name}, path.name
            assert {room(name) for name in imported if name in core} <= allowed, path.name


def test_requirements_are_what_is_imported():
    # Names on the index where they differ from those of the modules.
    called = {"sklearn": "scikit-learn", "hydra": "hydra-core", "omegaconf": "hydra-core", "yaml": "hydra-core"}
    own = {"npbench", *(path.name for path in PLUGINS)}
    used = {name.partition(".")[0] for path in SOURCES for name in imports(path)} - set(sys.stdlib_module_names) - own
    required, extras = PROJECT["project"]["dependencies"], PROJECT["project"]["optional-dependencies"]
    optional = [line for name in ("report", "dask", "hydra", "lightgbm", "skops", "torch") for line in extras[name]]
    required, optional = ({re.split(r"[><=\s]", line)[0] for line in lines} for lines in (required, optional))
    assert {called.get(name, name) for name in used} - optional == required


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
    command = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    plugins, pages = ROOT / "plugins", ROOT / "npbench" / "report" / "render" / "html"
    expected = {str(path.relative_to(plugins)) for kind in ("py", "yaml") for path in plugins.rglob(f"*.{kind}")}
    expected |= {str(path.relative_to(ROOT)) for path in [*(ROOT / "npbench").rglob("*.py"), *pages.iterdir()]}
    expected |= {f"npbench/{path.relative_to(ROOT)}" for path in (ROOT / "conf").rglob("*.yaml")}
    assert expected <= names
    roots = {name.partition("/")[0] for name in names}
    packages = {"npbench", *(path.name for path in PLUGINS)}
    assert {root for root in roots if not root.endswith(".dist-info")} == packages


@pytest.fixture
def metadata_of_a_release(monkeypatch):
    """Return a function of the repository's address that returns the project's metadata."""
    core = pytest.importorskip("hatchling.metadata.core")
    manager = pytest.importorskip("hatchling.plugin.manager").PluginManager()

    def built(repository):
        monkeypatch.setenv("NPBENCH_REPOSITORY", repository)
        monkeypatch.setenv("NPBENCH_REVISION", "v1.0")
        return core.ProjectMetadata(str(ROOT), manager).core

    return built


def test_readme_of_a_release_has_absolute_links_and_the_metadata_its_addresses(metadata_of_a_release):
    address = "https://code.example/owner/npbench"
    found = metadata_of_a_release(address)
    assert f"]({address}/raw/v1.0/docs/img/guarantee.png)" in found.readme
    assert f"]({address}/blob/v1.0/CHANGELOG.md)" in found.readme
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", found.readme, flags=re.M | re.S))
    assert len(links) > 40
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    for link in links:
        path = re.sub(rf"{address}/(blob|raw)/v1.0/|#.*", "", link)
        assert path.startswith("https://") or (ROOT / path).is_file()
    assert address in found.urls.values()


def test_a_build_without_an_address_invents_none(metadata_of_a_release):
    found = metadata_of_a_release("")
    assert found.readme == (ROOT / "README.md").read_text(encoding="utf-8")
    assert found.urls == {}
