"""The site as mkdocs builds it: what search finds, links between pages, fonts, and no other host."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ADDRESS, REPOSITORY = "https://owner.example/npbench/", "https://code.example/owner/npbench"
pytestmark = pytest.mark.slow  # mkdocs builds the whole site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built for a repository."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    addresses = {"NPBENCH_SITE": ADDRESS, "NPBENCH_REPOSITORY": REPOSITORY, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=os.environ | addresses, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def index(site):
    return json.loads((site / "search" / "search_index.json").read_text())


@pytest.mark.parametrize(
    ("word", "page"),
    [
        *[(name, "command-line") for name in ("time_limit", "memory_limit", "retry_timeouts")],
        *[("keep_scores", "records"), ("lightgbm", "scorer"), ("gpu", "plugins"), ("cuda", "plugins")],
        *[(word, "glossary") for word in ("conformal", "sensitivity", "specificity", "recall", "precision", "power")],
        *[
            ("drift", "fraud"),
            ("retrain", "glossary"),
            ("noise", "glossary"),
            ("macos", "quickstart"),
            ("windows", "quickstart"),
        ],
    ],
)
def test_search_finds_a_word_on_its_page(word, page, index):
    separator = re.compile(index["config"]["separator"])
    found = {
        document["location"].partition("/")[0]
        for document in index["docs"]
        if any(token.startswith(word) for token in separator.split(re.sub(r"<[^>]*>", " ", document["text"]).lower()))
    }
    assert page in found


def pages(site):
    return {path.parent.relative_to(site).as_posix(): path.read_text() for path in site.rglob("index.html")}


def test_pages_lead_to_the_next_to_the_previous_and_to_the_source(site):
    found = pages(site)
    assert len(found) > 50
    for name, page in found.items():
        assert name == "." or "md-footer__link--prev" in page, name
        assert "md-footer__link--next" in page or name == "changelog", name
        assert f'href="{REPOSITORY}"' in page, name
        assert 'data-md-component="source"' not in page, "asks the host of the repository for its stars"
        assert f'<link rel="canonical" href="{ADDRESS}' in page, name


def test_no_page_loads_anything_from_another_host(site):
    loading = r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?((?:https?:)?//[^"' >]+)"""
    styled = r"""<link[^>]*rel=["']?(?:stylesheet|preconnect|icon)[^>]*href=["']?((?:https?:)?//[^"' >]+)"""
    for name, page in pages(site).items():
        assert re.findall(loading, page) + re.findall(styled, page) == [], name
    for style in site.rglob("*.css"):
        assert re.findall(r"url\(.?(?:https?:)?//", style.read_text()) == [], style


def test_the_font_has_the_tables_and_characters_of_all_formulas(site):
    ttlib = pytest.importorskip("fontTools.ttLib")
    (url,) = re.findall(r'src: url\("([^"]+)"\)', (site / "site.css").read_text())
    assert (site / url).stat().st_size < 150_000
    font = ttlib.TTFont(site / url)
    assert "MATH" in font
    assert "Open Font License" in font["name"].getDebugName(13)
    formulas = [text for page in pages(site).values() for text in re.findall(r"<math.*?</math>", page, re.S)]
    assert len(formulas) > 30
    shown = set(re.sub(r"<[^>]*>|&#?\w+;|\s", "", "".join(formulas)))
    assert {character for character in shown if ord(character) not in font.getBestCmap()} == set()


def test_llms_txt_lists_the_navigation_with_addresses(site):
    text = (site / "llms.txt").read_text()
    assert text.startswith("# npbench\n\n> ")
    sections = [
        next(iter(entry)) for entry in yaml.safe_load(config())["nav"] if isinstance(next(iter(entry.values())), list)
    ]
    assert re.findall(r"^## (.*)$", text, re.M) == sections
    listed = set(re.findall(rf"^- \[[^]]+\]\({ADDRESS}([^)]*)\)", text, re.M))
    assert listed == {"" if name == "." else f"{name}/" for name in pages(site)}


def config():
    """Return mkdocs.yml without its tags, which only mkdocs reads."""
    return (ROOT / "mkdocs.yml").read_text().replace("!ENV", "")


def test_benchmarks_across_commits_are_below_speed(site):
    page = (site / "speed" / "history" / "index.html").read_text()
    machines = [path for path in (ROOT / "results" / "published" / "speed" / "history").iterdir() if path.is_dir()]
    assert page.count("<h2") == len(machines) > 1  # times of several machines are not compared
    assert "history.Fit.time_fit(np_svm, 600)" in page
    assert page.count('<svg class="course"') >= 16 * len(machines)


@pytest.mark.parametrize("ratio", [1.5, 2.5])
def test_a_benchmark_that_became_slower_is_marked(ratio, tmp_path, script):
    folder = tmp_path / "a<b"
    folder.mkdir()
    (folder / "machine.json").write_text(json.dumps({"cpu": "|", "num_cpu": "2", "ram": "1 GB"}))
    (tmp_path / "benchmarks.json").write_text(json.dumps({"f.time": {"unit": "s", "version": "1"}, "version": 2}))
    columns = ["result", "params", "version"]
    for date, value, version in ((1, 1.0, "1"), (3, ratio, "1"), (2, 0.1, "0")):
        results = {"f.time": [[value, None], [["4", "5"]], version], "gone": [[1.0], [], "1"]}
        run = {"date": date, "commit_hash": "0123456789", "result_columns": columns, "results": results}
        (folder / f"{date}-env.json").write_text(json.dumps(run))
    module = script("speed_history")
    module.HISTORY = tmp_path
    text = module.history()
    assert "## a&lt;b" in text
    assert "f.time(4)" in text
    assert "f.time(5)" not in text
    assert text.count("<circle") == 2
    assert (f"**{ratio:.2f}**" in text) == (ratio > 2)


def test_machines_and_commits_are_compared_by_the_same_fits(tmp_path, script):
    (tmp_path / "benchmarks.json").write_text(json.dumps({"history.Fit": {"unit": "s", "version": "1"}}))
    for machine, values in {"old": (1.0,), "new": (3.0, 4.5)}.items():
        (tmp_path / machine).mkdir()
        for date, value in enumerate(values):
            results = {"history.Fit": [[value, 2 * value], [["'svm'"], ["150", "600"]], "1"]}
            run = {"date": date, "commit_hash": f"{date}" * 40, "results": results}
            run["result_columns"] = ["result", "params", "version"]
            (tmp_path / machine / f"{date}-env.json").write_text(json.dumps(run))
    module = script("speed_history")
    module.HISTORY = tmp_path
    assert "`new` takes 3.0 to 3.0 times as long as `old`" in module.machines("old", "new")
    text = module.last("new")
    assert "| ms at 00000000 | at 11111111 |" in text
    assert "| svm, 600 | 6000 | 9000 | 1.50 |" in text


def test_large_sizes_have_seconds_and_memory_of_the_last_commit(tmp_path, script):
    kinds = {"time_task": (1.5, 12.25), "peakmem_task": (2e8, 3e9)}
    known = {f"{name}.{kind}": {"unit": "s", "version": "1"} for name in ("np.Large", "np.Other") for kind in kinds}
    (tmp_path / "benchmarks.json").write_text(json.dumps(known))
    (tmp_path / "m").mkdir()
    for date in (0, 1):
        results = {name: [[n * (1 + date) for n in kinds[name.split(".")[2]]], [["10", "2000"]], "1"] for name in known}
        run = {"date": date, "commit_hash": f"{date}" * 40, "results": results}
        run["result_columns"] = ["result", "params", "version"]
        (tmp_path / "m" / f"{date}-env.json").write_text(json.dumps(run))
    module = script("speed_history")
    module.HISTORY = tmp_path
    text = module.largest("m", "np.Large")
    assert "CPU s at 11111111" in text
    assert "| `np.Large` | 2,000 | 24.5 | 6,000 MB |" in text
    assert "Other" not in text
