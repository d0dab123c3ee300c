"""Output and exit codes of ``npbench data``, on data sets and folders made by the tests."""

import functools
import threading
from dataclasses import fields, replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from npbench import registry
from npbench.contracts import Dataset, Mirror, Original, Wheel
from npbench.data import BinaryData, sources
from npbench.data.cache import share
from sample_files import data_file
from sample_files import put as put_content

NOTHING = "http://127.0.0.1:9"
PLUGIN = registry.Provider("npbench_toys", "npbench-toys", "3.1")
WHEEL = Wheel(package="toy-data", version="1.0", sha256="0" * 64, licence="WTFPL")


def described(name, content=b"1,2\n", url=NOTHING):
    return data_file(f"toys/{name}", content, f"{url}/{name}")


def put(folder, name, content=b"1,2\n"):
    return put_content(folder / "raw" / "toys" / name, content)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """One data folder and a cache."""
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("NPBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NPBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(sources, "_checkout_folders", lambda root: [])
    monkeypatch.setattr(sources, "RETRIES", 0)
    return tmp_path


@pytest.fixture
def known(folders, monkeypatch):
    """Return a function that makes its arguments the only data sets."""

    def install(*datasets):
        table = registry.Registry(
            datasets={dataset.name: dataset for dataset in datasets},
            providers={("dataset", dataset.name): PLUGIN for dataset in datasets},
        )
        monkeypatch.setattr(registry, "installed", lambda: table)

    return install


@pytest.fixture
def server(folders):
    """Serve ``1,2`` as some files; ``missing`` is not there."""
    for name in ("a", "b", "original"):
        put_content(folders / "served" / name, b"1,2\n")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folders / "served")) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture
def ended(npbench):
    """Return a function that runs ``npbench data ...`` and returns its exit code, stdout and stderr."""
    return functools.partial(npbench, "data")


def line_of(name, text):
    (line,) = (line for line in text.splitlines() if line.startswith(f"  {name} "))
    return " ".join(line.split())


def test_list_shows_what_is_here(folders, known, ended):
    original = Original(load="toys:original", files=(described("original", bytes(9)),))
    known(
        Dataset(name="here", load="toys:a", files=(described("a"),), n_samples=7, n_features=3),
        Dataset(name="part", load="toys:b", files=(described("a"), described("b", bytes(2_000_000)))),
        Dataset(name="absent", load="toys:c", files=(described("c", bytes(3_000)),), original=original),
        Dataset(name="cut", load="toys:d", files=(described("d"),)),
        Dataset(name="drawn", load="toys:e", source="drawn by us"),
    )
    put(folders / "data", "a")
    cut = put(folders / "cache", "d", b"1,")
    code, out, _ = ended("list")
    assert code == 0
    assert line_of("here", out) == "here 7 x 3 4 bytes here"
    assert line_of("part", out) == "part 2.0 MB in part 1 of 2 files"
    assert line_of("absent", out) == "absent 3.0 kB to fetch original is not here"
    assert line_of("cut", out).startswith("cut 4 bytes WRONG")
    assert str(cut)[-20:] in "".join(out.split())
    assert line_of("drawn", out) == "drawn drawn by us"
    assert out.splitlines()[-1] == "2.0 MB are not here and can be fetched."
    put(folders / "data", "original")
    assert line_of("absent", ended("list")[1]).endswith("original is here and read instead")


def test_info_shows_every_field(folders, known, npbench):
    toy = Dataset(
        name="toy",
        load="toys:toy",
        title="Toys in a box",
        positive="red ones",
        source="the attic",
        licence="CC0",
        citation="Nobody (1999)",
        files=(described("a", b"right"), described("b"), described("c", bytes(12_345))),
        original=Original(load="toys:original", files=(described("original", bytes(9)),)),
        mirror=Mirror(load="toys:mirror", files=(replace(described("mirror", bytes(8)), wheel=WHEEL),)),
        n_samples=11,
        n_features=22,
        n_positive=33,
        test_rows=(44, 55),
        n_train=66,
        protocol="nested",
        preprocess="unit_norm",
        missing="keep",
        categories="codes",
        named_by="origin",
    )
    known(toy)
    right, wrong = put(folders / "data", "a", b"right"), put(folders / "cache", "b", b"9,9\n")
    also = put(folders / "cache", "a", b"right")
    code, out, _ = npbench("info", "toy")
    assert code == 0
    text = " ".join(out.split())
    for field in fields(Dataset):
        value = getattr(toy, field.name)
        assert value, f"{field.name} is not looked for"
        if field.name not in ("files", "original", "mirror"):
            assert str(value) in text
    for file in toy.all_files:
        for part in (file.path, f"{file.size} bytes", file.sha256, file.url):
            assert part in text
    assert f"here {right}, hash right here {also}, hash right" in text
    assert f"WRONG {wrong} is not the file" in text
    assert text.count("in none of the data folders") == 3
    for part in (f"{WHEEL.package} {WHEEL.version}", WHEEL.licence, "npbench_toys (npbench-toys 3.1)"):
        assert part in text


def test_info_shows_the_settings(npbench):
    code, out, _ = npbench("info", "synthetic")
    assert code == 0
    assert "n_pos: 1250\nn_neg: 1250\n" in out
    assert "positive: mean (1.5, 1.5)" in out


def test_path_prints_the_folders(folders, ended):
    assert ended("path") == (0, f"{folders / 'data'}\n{folders / 'cache'}\n", "")


def test_an_absent_folder_is_a_bad_request(folders, ended, monkeypatch):
    monkeypatch.setenv("NPBENCH_DATA", str(folders / "nowhere"))
    for word in ("list", "path", "verify"):
        code, _, err = ended(word)
        assert code == 2
        assert err.startswith(f"npbench: NPBENCH_DATA names {folders / 'nowhere'}, which is not a folder")


def test_verify_reads_every_copy_once(folders, known, ended):
    known(
        Dataset(name="one", load="toys:a", files=(described("a"), described("b"))),
        Dataset(name="two", load="toys:a", files=(described("a"), described("c"))),
    )
    copies = [put(folders / place, name) for name in ("a", "b") for place in ("data", "cache")]
    code, out, _ = ended("verify")
    *files, summary = out.splitlines()
    assert (code, files) == (0, [f"right  {path}" for path in copies])
    assert summary == "4 right, 0 wrong; 1 of 3 files are not here."
    code, out, _ = ended("verify", "two")
    assert (code, "absent toys/c" in out) == (0, True)


def test_verify_fails_if_any_copy_is_wrong(folders, known, ended):
    known(Dataset(name="one", load="toys:a", original=Original(load="toys:b", files=(described("a"),))))
    put(folders / "data", "a")
    wrong = put(folders / "cache", "a", b"1,3\n")
    code, out, _ = ended("verify")
    assert code == 1
    assert f"WRONG  {wrong}" in out
    assert "1 right, 1 wrong" in out


def test_fetch_downloads_absent_files(folders, known, ended, server):
    known(Dataset(name="toy", load="toys:a", files=(described("a"), described("b", url=server))))
    here = put(folders / "data", "a")
    brought = folders / "cache" / "raw" / "toys" / "b"
    for fetched in (["b"], []):
        code, out, err = ended("fetch", "toy")
        assert (code, out) == (0, f"toy: {here} (4 bytes)\ntoy: {brought} (4 bytes)\n")
        assert [line.split()[1].rstrip(":") for line in err.splitlines()] == fetched
    assert brought.read_bytes() == b"1,2\n"


def test_fetch_continues_after_a_failure(folders, known, ended, server):
    known(
        Dataset(name="gone", load="toys:a", files=(described("missing", url=server),)),
        Dataset(name="there", load="toys:a", files=(described("b", url=server),)),
    )
    code, out, err = ended("fetch", "gone", "there", "gone")
    assert code == 1
    assert out == f"there: {folders / 'cache' / 'raw' / 'toys' / 'b'} (4 bytes)\n"
    assert err.startswith("npbench: toys/missing is in none of the data folders")
    assert "404" in err
    assert len(err.splitlines()) == 2  # with that of the file that was fetched


def test_fetch_does_not_replace_a_wrong_copy(folders, known, ended, server):
    known(Dataset(name="toy", load="toys:a", files=(described("a", url=server),)))
    wrong = put(folders / "cache", "a", b"1,3\n")
    code, out, err = ended("fetch", "toy")
    assert (code, out) == (1, "")
    assert err.startswith(f"npbench: {wrong} is not the file")
    assert wrong.read_bytes() == b"1,3\n"


def test_an_original_is_fetched_on_request(folders, known, ended, server):
    original = Original(load="toys:b", files=(described("original", url=server),))
    known(
        Dataset(name="toy", load="toys:a", files=(described("a", url=server),), original=original),
        Dataset(name="plain", load="toys:a", files=(described("a"),)),
    )
    assert ended("fetch", "toy")[0] == 0
    assert next(sources.copies(original.files[0]), None) is None
    assert ended("fetch", "--original", "toy")[0] == 0
    assert next(sources.copies(original.files[0])) == folders / "cache" / "raw" / "toys" / "original"
    code, _, err = ended("fetch", "--original", "plain")
    assert code == 2
    assert "'plain' has no original" in err


def test_fetch_loads_data_of_libraries(known, ended):
    breast = registry.installed().datasets["breast"]
    known(breast, Dataset(name="drawn", load="no_such_module:draw", source="drawn by us"))
    code, out, _ = ended("fetch", "breast", "drawn")
    assert code == 0
    assert out.splitlines() == [f"breast: 569 x 30; {breast.source}", "drawn: nothing to download; drawn by us"]


def test_clean_reports_what_it_removed(folders, ended):
    data = BinaryData.checked([[1.0], [2.0]], [1, -1])
    folder = folders / "cache" / "arrays" / data.sha256
    share(data)
    for words, n_removed in ([], 0), (["--unused-for", "0"], 1):
        code, out, _ = ended("clean", *words)
        assert (code, out.split()[0]) == (0, str(n_removed))
        assert folder.is_dir() == (n_removed == 0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fetsh", "pima"], "Unknown command of npbench data 'fetsh': did you mean 'fetch'?"),
        (["fetch", "pimma"], "Unknown dataset 'pimma': did you mean 'pima'?"),
        (["verify", "pimma"], "Unknown dataset 'pimma'"),
        (["clean", "--unused-for=-1"], "--unused-for is -1"),
        (["clean", "--unused-for=nan"], "--unused-for is nan"),
    ],
)
def test_one_fault_is_one_line(ended, words, expected):
    code, out, err = ended(*words)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"npbench: {expected}")


@pytest.mark.parametrize("words", [["fetch"], ["list", "pima"], ["clean", "--all"], ["--everything"]])
def test_usage_errors(ended, words):
    code, out, err = ended(*words)
    assert (code, out) == (2, "")
    assert "usage: npbench data" in err
    for help_words in ([], ["--help"]):
        code, out, _ = ended(*help_words)
        assert (code, "verify" in out) == (0, True)
