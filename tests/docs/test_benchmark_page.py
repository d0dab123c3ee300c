"""The page of the benchmark and the pages and reports of its records say the same."""

import io
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from npbench_benchmark.leaderboard import settings

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "published"
EXPERIMENTS = {"np_benchmark": "np_benchmark", "pauc_benchmark": "pauc_scorers"}
pytestmark = pytest.mark.slow  # standings of 15,000 records


def tables(text, title):
    """Return the rows of each table by the match of a line above it."""
    plain = text.replace("\\", "").replace("**", "").replace("---:", "---")
    found = re.finditer(rf"^{title}\n\n((?:\|.*\n)+)", plain, re.MULTILINE)
    return {one.groups()[:-1]: [line.split(" | ") for line in one.groups()[-1].splitlines()] for one in found}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_page_and_the_report_have_the_same_cells_and_sentences(experiment, npbench, tmp_path):
    pages = [ROOT / "docs" / f"{name}.md" for name in ("benchmark", "benchmark-pauc")]
    # behind are tables of other methods on fewer data sets
    page = "".join(path.read_text(encoding="utf-8").partition("\n## Linear methods after")[0] for path in pages)
    results = PUBLISHED / EXPERIMENTS[experiment]
    npbench("report", "--experiment", experiment, f"results={results}", "--output", str(tmp_path))
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    shown = tables(page, r"\d+ data sets, `([^`]*)`(?:, promise: (\w+))?[^\n]*:")
    printed = tables(report, r"([^:\n]*): ranking(?:, promise: (\w+))?")
    same = [key for key in shown if key in printed]
    assert len(same) >= 3
    for key in same:
        assert shown[key][:1] + shown[key][2:] == printed[key][:1] + printed[key][2 : len(shown[key])]
    paragraphs, plain = sentences_of(report), re.sub("[`*]", "", page)
    assert len(paragraphs) >= 2
    for paragraph in paragraphs[:-1] if experiment.startswith("pauc") else paragraphs:
        assert all(sentence in plain for sentence in paragraph.split(". "))


def sentences_of(report):
    """Return the paragraphs of what a report says to use when, and of how far that carries."""
    return report.replace("\\", "").partition("# What to use when\n\n")[2].partition("\n\n# ")[0].split("\n\n")


@pytest.fixture
def leaderboard(script, tmp_path):
    path = tmp_path / "leaderboard.html"
    script("leaderboard").write(path)
    return path


def test_the_leaderboard_has_all_published_standings_and_one_script(leaderboard, script):
    text = leaderboard.read_text(encoding="utf-8")
    cells = set(re.findall(r"<td[^>]*>([^<\n]*)", text))
    for experiment in EXPERIMENTS:
        for setting in settings(script("leaderboard").asked(experiment)):
            assert {setting.text, *(one.label for league in setting.leagues for one in league.methods)} <= cells
    assert text.count('<script type="module">') == text.count("<script") == 1
    assert re.findall(r"""(?:https?:|src=["']?)//[^"' >]+""", text) == []


@pytest.mark.parametrize("width", [1280, 375])
def test_the_leaderboard_fits_a_screen_and_a_phone(leaderboard, script, width):
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("needs chromium and chromedriver on the PATH")
    pytest.importorskip("selenium")
    shots = script("screenshots")
    wide = "if (document.documentElement.scrollWidth > innerWidth) document.body.replaceChildren();"  # a white picture
    taken = shots.screenshots(leaderboard, {"one": (width, f"{shots.TO_TABLE}{wide}")})
    image = Image.open(io.BytesIO(taken["one"]))
    assert image.width == width
    assert len(image.convert("L").getcolors()) > 50
