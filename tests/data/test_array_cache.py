"""What was read once: opened from the cache while nothing has changed, and thrown away when asked."""

import hashlib
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from scipy import sparse

from npbench.contracts import DataFile, Dataset, Original
from npbench.data import BinaryData, array_cache, load, share
from npbench.data.sharing import arrays_folder
from npbench.errors import RequestError

MODULE = """
from pathlib import Path
import numpy as np
from scipy import sparse

def read(path, scale=1.0, as_csr=False):
    with Path("calls").open("a") as calls:
        calls.write("x")
    X = np.loadtxt(path, delimiter=",") * scale
    more = {"columns": ["first", "second"], "groups": [1, 1, 2]}
    return (sparse.csr_array(X) if as_csr else X), [1, -1, -1], more

def made(scale=1.0):
    with Path("calls").open("a") as calls:
        calls.write("x")
    return np.eye(2) * scale, [1, -1]

def fails(path):
    raise ValueError("no such thing")
"""
TEXT = "1,2\n3,0\n5,6\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A loader, a data folder with its file, and a cache of the test's own; calls are counted in a file."""
    (tmp_path / "counted_loaders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "counted_loaders", raising=False)
    (tmp_path / "data" / "toy").mkdir(parents=True)
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def toy(text=TEXT, loader="read", **changes):
    """Describe a data set, and put its file there."""
    path = Path(os.environ["NPBENCH_DATA"]) / "toy" / "toy.csv"
    path.write_text(text, newline="")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    file = DataFile(path="toy/toy.csv", sha256=sha256, size=len(text), url="http://127.0.0.1:9/x")
    return Dataset(**{"name": "toy", "load": f"counted_loaders:{loader}", "files": (file,), **changes})


def calls():
    return len(Path("calls").read_text()) if Path("calls").exists() else 0


@pytest.mark.parametrize("as_csr", [False, True])
def test_a_second_load_reads_no_file_and_is_the_same(as_csr):
    first, second = (load(toy(), as_csr=as_csr) for _ in range(2))
    assert calls() == 1
    assert sparse.issparse(second.X) == as_csr
    assert (first.X != second.X).sum() == 0
    assert np.array_equal(first.y, second.y)
    assert (second.name, second.columns, second.groups.tolist()) == ("toy", ("first", "second"), [0, 0, 1])
    anew = BinaryData(second.X, second.y, "anew", groups=second.groups, columns=second.columns)
    assert first.sha256 == second.sha256 == anew.sha256


def test_what_is_opened_lies_in_the_file_and_cannot_be_written():
    load(toy())
    opened = load(toy())
    assert isinstance(opened.X.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened.X[0, 0] = 7.0


def test_whatever_changes_the_answer_reads_anew(place):
    load(toy())
    load(toy(), scale=2.0)
    assert calls() == 2
    assert load(toy("1,2\n3,0\n5,7\n")).X[2, 1] == 7.0
    assert calls() == 3
    (place / "counted_loaders.py").write_text(MODULE + "\n# changed\n")
    load(toy())
    assert calls() == 4


def test_the_name_does_not_count_and_is_the_asked_one():
    load(toy())
    assert load(toy(name="other")).name == "other"
    assert calls() == 1


def test_the_original_and_the_files_in_its_stead_are_two_things(place):
    dataset = toy()
    load(dataset)
    (place / "data" / "toy" / "original.csv").write_text("9,9\n9,9\n9,9\n", newline="")
    sha256 = hashlib.sha256(b"9,9\n9,9\n9,9\n").hexdigest()
    file = DataFile(path="toy/original.csv", sha256=sha256, size=12, url="http://127.0.0.1:9/x")
    both = toy(original=Original(load="counted_loaders:read", files=(file,)))
    assert [load(both).X[0, 0] for _ in range(2)] == [9.0, 9.0]
    assert calls() == 2


def test_what_was_made_of_no_file_is_made_again():
    generator = Dataset(name="made", load="counted_loaders:made")
    assert [load(generator).n_samples for _ in range(2)] == [2, 2]
    assert calls() == 2
    assert not (array_cache.cache_folder() / "loaded").exists()


def test_a_file_that_was_altered_is_told_though_its_content_is_known(place):
    dataset = toy()
    load(dataset)
    (place / "data" / "toy" / "toy.csv").write_text("1,2\n")
    with pytest.raises(RequestError, match="is not the file"):
        load(dataset)


@pytest.mark.parametrize("fault", ["loader", "description"])
def test_what_is_wrong_is_not_kept(place, fault):
    wrong = toy(loader="fails") if fault == "loader" else toy(n_samples=4)
    for _ in range(2):
        with pytest.raises(RequestError, match=r"no such thing|n_samples = 3"):
            load(wrong)
    assert not (place / "cache").exists()


def test_a_description_is_held_against_what_is_kept():
    load(toy())
    with pytest.raises(RequestError, match="n_samples = 3"):
        load(toy(n_samples=4))


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(place, monkeypatch):
    (place / "afile").touch()
    monkeypatch.setenv("NPBENCH_CACHE", str(place / "afile"))
    assert [load(toy()).n_samples for _ in range(2)] == [3, 3]
    assert calls() == 2


def damage_index(cache):
    for entry in (cache / "loaded").iterdir():
        entry.write_text('{"sha256": 1')


def damage_arrays(cache):
    (array,) = cache.glob("arrays/*/X.npy")
    array.write_bytes(array.read_bytes()[:-8])


def remove_one(cache):
    (array,) = cache.glob("arrays/*/y.npy")
    array.unlink()


def remove_all(cache):
    shutil.rmtree(cache / "arrays")


@pytest.mark.parametrize("harm", [damage_index, damage_arrays, remove_one, remove_all])
def test_a_damaged_cache_is_made_anew(place, harm):
    X = np.array(load(toy()).X)
    harm(place / "cache")
    for _ in range(2):
        assert np.array_equal(load(toy()).X, X)
    assert calls() == 2


def test_several_may_read_and_keep_the_same_at_once(place):
    dataset, seen = toy(), []
    threads = [threading.Thread(target=lambda: seen.append(float(load(dataset).X.sum()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [17.0] * 8
    assert len(list((place / "cache").glob("loaded/*"))) == 1
    assert len(list((place / "cache").glob("arrays/*"))) == 1


def aged(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def test_cleaning_takes_what_was_not_used_for_long_and_says_how_much(place):
    old = load(toy()).sha256
    load(toy(), scale=3.0)
    folder = aged(arrays_folder() / old, 3600)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert array_cache.clean(7200) == (0, 0)
    assert array_cache.clean(1800) == (1, size)
    assert not folder.exists()
    assert len(list((place / "cache").glob("loaded/*"))) == 1
    load(toy(), scale=3.0)
    assert calls() == 2
    load(toy())
    assert calls() == 3


def test_opening_is_use():
    shared = share(load(toy()))
    aged(Path(shared.folder), 3600)
    shared.open()
    assert array_cache.clean(1800) == (0, 0)


def test_cleaning_leaves_complete_downloads_and_takes_those_that_broke_off(place):
    unfinished, whole = place / "cache" / "unfinished", place / "cache" / "raw" / "toy" / "toy.csv"
    for path in (whole, unfinished / "a.part", unfinished / "b.part", unfinished / "c.part"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    aged(whole, 3600), aged(unfinished / "a.part", 3600), aged(unfinished / "b.part", 3600)
    with FileLock(unfinished / "b.lock"):
        assert array_cache.clean(1800) == (1, 5)
    assert whole.is_file()
    assert sorted(path.name for path in unfinished.glob("*.part")) == ["b.part", "c.part"]


def test_cleaning_takes_what_a_killed_process_left(place):
    leavings = arrays_folder() / ".unfinished-abc"
    leavings.mkdir(parents=True)
    (leavings / "X.npy").write_bytes(b"123")
    assert array_cache.clean(0) == (1, 3)
    assert list(arrays_folder().iterdir()) == []


def test_cleaning_nothing():
    assert array_cache.clean(0) == (0, 0)


def test_what_is_opened_stays_readable_while_it_is_cleaned():
    opened = [load(toy()) for _ in range(2)][1]
    array_cache.clean(0)
    assert opened.X.sum() == 17.0


def test_the_index_names_content_and_shape():
    data = load(toy())
    (entry,) = (array_cache.cache_folder() / "loaded").iterdir()
    kept = json.loads(entry.read_text())
    assert kept == {"sha256": data.sha256, "shape": [3, 2], "columns": ["first", "second"]}
