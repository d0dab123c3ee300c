from functools import partial

import pytest

from npbench.data import cache
from npbench.user_cache import cached, remembered_folder


@pytest.fixture
def calls(tmp_path, monkeypatch):
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path))
    return []


def test_result_is_computed_once_for_each_identity(calls):
    def make(value):
        calls.append(value)
        return value

    for name in ("a", "b", "a"):
        assert cached("kind", name.encode(), partial(make, [name])) == [name]
    assert cached("other", b"a", lambda: make(["c"])) == ["c"]
    assert calls == [["a"], ["b"], ["c"]]


def test_only_wanted_results_are_remembered(calls):
    for _ in range(2):
        assert cached("checks", b"a", lambda: calls.append(1) or ["fault"], keep=lambda faults: not faults)
    assert calls == [1, 1]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_damaged_entry_is_computed_again(calls, content):
    cached("kind", b"a", lambda: [1])
    (entry,) = (remembered_folder() / "kind").iterdir()
    entry.write_bytes(content)
    assert cached("kind", b"a", lambda: [2]) == [2]
    assert cached("kind", b"a", lambda: [3]) == [2]


def test_cache_that_cannot_be_written_is_ignored(calls, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "file"))
    assert cached("kind", b"a", lambda: [1]) == [1]


def test_cleaning_the_cache_forgets(calls):
    cached("kind", b"a", lambda: [1])
    cache.clean(unused_for=60)
    assert cached("kind", b"a", lambda: [2]) == [1]
    cache.clean(unused_for=0)
    assert cached("kind", b"a", lambda: [2]) == [2]
