import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from npbench import registry
from npbench.data.loading import load
from npbench.errors import RequestError, unknown_name

GOOD = """
from npbench import hookimpl
from npbench.contracts import Dataset

@hookimpl
def npbench_datasets():
    return [Dataset(name="{name}", load="a:b")]
"""


COMMAND = """
@hookimpl
def npbench_commands():
    return {{"{}": "a"}}
"""


def hook(body, arguments="", name="npbench_datasets"):
    return f"from npbench import hookimpl\n@hookimpl\ndef {name}({arguments}):\n    {body}"


def described(arguments, kind="Dataset"):
    """Return a plugin with one description of these arguments."""
    hooks = {"Dataset": "npbench_datasets", "Metric": "npbench_metrics", "Solver": "npbench_solvers"}
    return f"from npbench.contracts import {kind}\n" + hook(f"return [{kind}({arguments})]", name=hooks[kind])


NO_NAMES = ["[/]", "\x1b[2J", "a\0", "x" * 20_000, "", "../x", "a/b", "a b", "-x", "\u202ea", "a\n", None, 3]
BROKEN = {
    **{f"name_{number}": (described(f"name={name!r}, load='a:b'"), "name") for number, name in enumerate(NO_NAMES)},
    "solver_name": (described("name='[/]', estimator='a:b', solves=()", "Solver"), "[/]"),
    "metric_name": (described("name='a b', compute='a:b', direction='none'", "Metric"), "a b"),
    "command_name": (hook("return {'[/]': 'a'}", name="npbench_commands"), "[/]"),
    "title_is_none": (described("name='a', load='a:b', title=None"), "title"),
    "problem_is_a_number": (described("name='a', estimator='a:b', solves=(1,)", "Solver"), "solves"),
    "endless_reason": (hook("raise OSError('x' * 10**6)"), "xxx"),
    "import_fails": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "syntax_fails": ("def", "SyntaxError"),
    "hook_raises": (hook("raise OSError('disk gone')"), "OSError: disk gone"),
    "hook_misspelt": (hook("return []", name="npbench_dataset"), "unknown hook 'npbench_dataset'"),
    "argument_invented": (hook("return []", "config"), "config"),
    "not_descriptions": (hook("return ['pima']"), "npbench_datasets returned 'pima', which is not a Dataset"),
    "one_is_none": (GOOD.format(name="ghost").replace("]", ", None]"), "returned None, which is not a Dataset"),
    "exits": ("raise SystemExit('bye')", "SystemExit: bye"),
    "ends": ("class End(BaseException): pass\nraise End('of all')", "End: of all"),
    "not_a_list": (hook("return 3"), "'int'"),
    "second_raises": (GOOD.format(name="ghost") + hook("return 1 / 0", name="npbench_metrics"), "ZeroDivisionError"),
}


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Return a function that writes a plugin's module and returns its entry point."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return EntryPoint(name=name, value=name, group="npbench")

    return write


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_plugin_is_set_aside_with_its_reason(plugin, fault):
    source, reason = BROKEN[fault]
    found = registry.load([plugin(f"npbench_{fault}", source), plugin("npbench_sound", GOOD.format(name="sound"))])
    assert list(found.datasets) == ["sound"]
    (unavailable,) = found.unavailable
    assert unavailable.provider.module == f"npbench_{fault}"
    assert reason in str(unavailable)
    assert len(str(unavailable)) < 1000


def test_an_unknown_name_lists_unavailable_plugins(plugin):
    lost, sound = plugin("npbench_lost", "import no_such_package"), plugin("npbench_b", GOOD.format(name="b"))
    found = registry.load([lost, sound])
    with pytest.raises(RequestError, match=r"Unknown dataset 'bb': did you mean 'b'\?.*npbench_lost.*no_such_package"):
        found.dataset("bb")


@pytest.mark.parametrize("sides", [("left", "right"), ("left", "right", "third")])
def test_a_name_that_several_plugins_provide_belongs_to_none_and_nothing_else_is_lost(plugin, sides):
    sources = {f"npbench_{side}": GOOD.format(name="twin") + COMMAND.format(side) for side in sides}
    found = registry.load([plugin(name, source) for name, source in sources.items()])
    assert (found.datasets, sorted(found.commands)) == ({}, sorted(sides))
    assert [one.provider.module for one in found.unavailable] == list(sources)
    with pytest.raises(RequestError, match=r"'twin'.*npbench_left.*npbench_right"):
        found.dataset("twin")
    same = COMMAND.format("twin")
    found = registry.load([plugin(f"npbench_{side}_{len(sides)}", same) for side in sides])
    assert (found.commands, len(found.unavailable)) == ({}, len(sides))


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, "authors of npbench-guest"),
        ('{"url":"https://example.org/guest.whl"}', "authors of npbench-guest"),
        ('{"url":"file:///home/me/my%20guest","dir_info":{"editable":true}}', "/home/me/my guest"),
        ("damaged", "authors of npbench-guest"),
    ],
)
def test_an_author_is_told_where_to_mend_and_a_user_whom_to_ask(install, origin, expected):
    folder = install("npbench-guest", npbench_guest=GOOD.format(name="guest"))
    if origin:
        next(folder.glob("*.dist-info")).joinpath("direct_url.json").write_text(origin)
    registry.installed.cache_clear()
    registry._name_and_version.cache_clear()
    with pytest.raises(RequestError, match=f"'a:b'.*{expected}"):
        load(registry.installed().dataset("guest"))


def test_the_order_of_entry_points_does_not_matter(plugin):
    points = [plugin(f"npbench_{name}", GOOD.format(name=name)) for name in ("one", "two")]
    assert list(registry.load(points).datasets) == list(registry.load(points[::-1]).datasets)


def test_shipped_plugins_are_available_and_provided_by_npbench():
    assert registry.installed().unavailable == []
    provider = registry.installed().providers["dataset", "pima"]
    assert (provider.module, provider.distribution) == ("npbench_datasets", "npbench")


@pytest.mark.parametrize(("kind", "name"), [("solver", "gen"), ("dataset", "pima"), ("metric", "auc")])
def test_each_kind_is_looked_up_by_name(kind, name):
    found = registry.installed()
    assert getattr(found, kind)(name).name == name
    with pytest.raises(RequestError, match=f"Unknown {kind} 'nothing_like_it'"):
        getattr(found, kind)("nothing_like_it")


def test_unknown_names_list_all_of_a_few_or_the_near_ones():
    assert "there are: a, b." in unknown_name("metric", "zzz", ["b", "a"])
    assert "there are: none." in unknown_name("metric", "auc", [])
    many = [f"name_{number}" for number in range(50)]
    assert "`npbench list solvers`" in unknown_name("solver", "zzz", many)
    for kind in ("solver", "column"):
        assert unknown_name(kind, "nam_1", many).count("'name_") == 3
        assert len(unknown_name(kind, "zzz", many)) < 250


def test_looking_up_imports_no_numerics():
    code = (
        "import sys, npbench.registry as r; r.installed()\n"
        "print(sorted({'numpy', 'sklearn', 'numba', 'polars', 'scipy', 'requests', 'rich'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("names", "datasets"), [("npbench-one", ["one"]), ("npbench_two : Npbench.One", ["one", "two"])]
)
def test_plugins_can_be_restricted_to_some(plugin, names, datasets):
    points = [plugin(f"npbench_{name}", GOOD.format(name=name)) for name in ("one", "two", "three")]
    assert list(registry.load(registry.wanted(points, names)).datasets) == datasets


def test_each_unknown_plugin_is_named(plugin):
    with pytest.raises(RequestError) as refused:
        registry.wanted([plugin("npbench_one", GOOD.format(name="one"))], "npbench_on,numpy,npbench_one")
    first, second = refused.value.faults
    assert "'npbench_on': did you mean 'npbench_one'?" in first
    assert "'numpy'" in second


def test_a_distribution_stands_for_all_of_its_plugins(install, monkeypatch):
    install("npbench-guest", npbench_guest=GOOD.format(name="guest"))
    assert "guest" in registry.installed().datasets
    monkeypatch.setenv("NPBENCH_PLUGINS", "npbench")
    registry.installed.cache_clear()
    assert "guest" not in registry.installed().datasets
    assert {"pima", "breast"} <= set(registry.installed().datasets)
    monkeypatch.setenv("NPBENCH_PLUGINS", " ")
    registry.installed.cache_clear()
    assert {"guest", "pima"} <= set(registry.installed().datasets)


def test_twins_stop_no_command_and_an_unknown_plugin_is_one_line(install, npbench, monkeypatch):
    for side in ("left", "right"):
        install(f"npbench-{side}", **{f"npbench_{side}": GOOD.format(name="twin")})
    registry.installed.cache_clear()
    code, output, _ = npbench("list", "datasets")
    assert code == 0
    assert all(part in output for part in ("pima", "'twin'", "npbench_left (npbench-left 1.0)", "npbench_right"))
    code, _, errors = npbench("dataset=twin")
    assert (code, errors.count("\n"), "npbench_right" in errors) == (2, 1, True)
    monkeypatch.setenv("NPBENCH_PLUGINS", "npbench_lef")
    registry.installed.cache_clear()
    code, output, errors = npbench("list", "datasets")
    assert (code, output, errors.count("\n"), "did you mean 'npbench_left'" in errors) == (2, "", 1, True)


def test_configuration_beside_the_module_is_found(tmp_path, monkeypatch):
    package = tmp_path / "npbench_with_conf"
    (package / "conf").mkdir(parents=True)
    source = hook("return ['elsewhere.conf']", name="npbench_config_packages")
    (package / "__init__.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("with_conf", "npbench_with_conf", "npbench")
    assert registry.load([point]).config_packages == ["elsewhere.conf", "npbench_with_conf.conf"]
