"""The page in a headless browser, and the data inside it after unpacking."""

import base64
import functools
import json
import re
import shutil
import tempfile
import zlib
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npbench.records.reading import conformed
from npbench.report import files
from npbench.report.chart import Chart, Panel, Series, Surface
from npbench.report.render import drawing, page
from npbench.report.render.palette import Palette
from npbench.report.render.record_columns import SHOWN_DIGITS, columns
from npbench.report.sections.ranking import diagram
from npbench.report.select.collect import Collection
from npbench.report.sheet import Section, Sheet
from sample_files import sha256

DOCS = Path(__file__).parents[2] / "docs"
N_RECORDS = 240
EVIL = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'> %{x} &lt;b&gt;"
LABELS = ("gen", "np_svm C=1", f"np_svm C=10 {EVIL}")
CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PHONE = {"width": 375, "height": 760, "deviceScaleFactor": 1, "mobile": True}
FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking")
FLAGS += ("disable-component-update", "disable-sync", "window-size=1300,900")


def records(n=N_RECORDS):
    """Return records of three labels on two data sets; one in forty failed and has no rates."""
    rng, number = np.random.default_rng(0), np.arange(n)
    failed, rho = number % 40 == 39, np.array([0.05, 0.1])[number // 6 % 2]
    labels = [LABELS[i % 3] for i in number]
    about = {"label": labels, "solver": [label.split()[0] for label in labels], "problem": "np", "rho": rho}
    about |= {"repeat": number, "run_id": "one", "stored_at": "2026-01-01T00:00:00.000000000Z"}
    frame = pl.DataFrame(
        {
            "key": [sha256(str(i)) for i in number],
            "dataset": [("pima", "breast")[i // 3 % 2] for i in number],
            "problem_params": [f'{{"rho":{one}}}' for one in rho],
            "status": np.where(failed, "failed", "ok"),
            "error": np.where(failed, EVIL, ""),
            "traceback": np.where(failed, f"Traceback\n{EVIL}", ""),
            "p_fa": pl.Series(rng.uniform(size=n)).set(pl.Series(failed), None),
            "seconds": rng.exponential(size=n),
            **about,
        }
    )
    rates = frame.select("label", "rho", "p_fa")
    return conformed(frame.drop("label", "rho", "p_fa")).with_columns(rates)


BOARD = [  # method, problem, setting, place, area; the missing place comes last in both directions
    ("gen", "np", "rho=0.1", 10.0, None),
    (EVIL, "np", "rho=0.1", 9.5, None),
    ("sgd", "np", "rho=0.1", None, None),
    ("sgd", "np", "rho=0.05", 10.0, None),
    ("auc", "pauc", "range", 2.0, 0.5),
]
EACH = [("gen", "rho=0.1", "pima"), ("gen", "rho=0.05", "pima"), (EVIL, "rho=0.1", "pima"), (EVIL, "rho=0.1", "cm1")]


def explorers():
    """Return a table with choices, and one to which the names of the first lead."""
    columns = ["method", "problem", "setting", "place", "area"]
    board = Sheet("board", columns, BOARD, detail=True, chosen={"problem": "np", "setting": "rho=0.1"})
    chosen = {"method": "gen", "setting": "", "data set": ""}
    return [board, Sheet("each", ["method", "setting", "data set"], EACH, detail=True, chosen=chosen)]


def sections():
    lines = [Series(label, [0.05, 0.1], [0.04 + i, 0.1 + i]) for i, label in enumerate(LABELS)]
    many = np.linspace(0, 1, 60)
    curve = Series("gen", many, many**0.5, many**0.5 * 0.9, many**0.4)
    row = [Panel("breast", "rho", "P_fa", lines, identity="rho"), Panel("breast", "rho", "P_nd", lines)]
    rates = Chart("rates", f"Rates {EVIL}", [row], ["search.C=[" + "0.12345," * 40 + "]"])
    roc = Chart("roc", "ROC", [[Panel("ROC", "FPR", "TPR", [curve], x_log=True, window=(0.0, 0.1))]])
    surface = Surface([1, 10], [0.1, 1, 10], np.array([[1, 2], [3, np.nan], [5, 6]]), (10, 1), "loss")
    search = Chart("search", "Search", [[Panel("loss", "C", "gamma", surface=surface, x_log=True, y_log=True)]])
    ranks = diagram(LABELS, (1.2, 2.0, 2.8), [(1.0, 2.2), (1.2, 2.4), (2.5, 3.0)], (1, 1, 3))
    sheet = Sheet(f"Table {EVIL}", ["solver", "p_fa"], [[EVIL, "0.1±0.02"]], [EVIL])
    return [
        Section(f"np {EVIL}", [sheet], [rates], [EVIL]),
        Section("Explore", explorers()),
        *(Section(f"More {i}", charts=[roc], notes=["filled\n" * 9] * 40) for i in range(3)),
        Section("Search", charts=[search, Chart("ranks", "Ranks", [[ranks]])]),
    ]


@functools.cache  # drawing takes seconds
def pictures():
    charts = {chart.name: chart for section in sections() for chart in section.charts}
    palette, drawn = Palette([*LABELS, "place=1", "place=3"]), {}
    with tempfile.TemporaryDirectory() as folder, patch.object(drawing, "METADATA", {"svg": {}}):
        for name, chart in charts.items():
            (svg,) = drawing.save_drawing(drawing.draw(chart, palette), name, Path(folder))
            drawn[name] = svg.read_text(encoding="utf-8")
    return {**drawn, "own": drawn["roc"]}  # of an experiment, not a chart of a section


def written(path, n=N_RECORDS):
    command = ["solver=gen", EVIL, f"results={'a' * 90}"]
    runs = [{"run_id": "one", "command": command, "run_started": "2026-01-01T10:00:00"}]
    page.write(path, sections(), Collection(records(n), [], runs), pictures())
    return path


def unpacked(data):
    return zlib.decompress(base64.b64decode(data)).decode()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Start one browser for the module that logs its console and every request."""
    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("needs chromium and chromedriver on the PATH")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Return the browser with the page open and its table built."""
    path = written(tmp_path_factory.mktemp("report") / "report.html")
    browser.get(path.as_uri())
    until(browser, "return document.querySelector('#table tbody tr') !== null")
    yield browser
    messages = [line for line in browser.get_log("browser") if "example.invalid" not in line["message"]]
    assert messages == []
    events = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    sent = (event for event in events if event["method"] == "Network.requestWillBeSent")
    requested = [event["params"]["request"]["url"] for event in sent]
    assert path.as_uri() in requested
    assert [url for url in requested if url.startswith(("http", "ws", "ftp"))] == []


def until(driver, script, *arguments):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 60, 0.05).until(lambda _: driver.execute_script(script, *arguments))


def typed(driver, name, text):
    """Type a filter and return the number of records left once the table is updated."""
    done = """
        const [name, text, done] = arguments;
        const input = document.querySelector(`[aria-label="${name}"]`);
        input.value = text;
        const status = document.querySelector("#table [role=status]");
        new MutationObserver(() => done(status.textContent)).observe(status, { childList: true, characterData: true });
        input.dispatchEvent(new Event("input"));
    """
    return int(driver.execute_async_script(done, name, text).split(" of ")[0].replace(",", ""))


def clear(driver):
    button = "[...document.querySelectorAll('.tools button')].find(b => b.textContent === 'Clear')"
    driver.execute_script(f"{button}.click()")


PLACE = """
    const heads = [...document.querySelectorAll("#table thead tr:first-child th")];
    const place = heads.findIndex((head) => head.textContent === arguments[0]);
"""


def column_cells(driver, name):
    cells = "return [...document.querySelectorAll('#table tbody tr')].map((row) => row.cells[place].textContent)"
    return driver.execute_script(PLACE + cells, name)


def sort_by(driver, name):
    """Press a column name; return the direction it shows and the cells below it."""
    driver.execute_script(f"{PLACE} heads[place].querySelector('button').click()", name)
    direction = "return document.querySelector('#table thead tr').cells[place].getAttribute('aria-sort')"
    return driver.execute_script(PLACE + direction, name), column_cells(driver, name)


def test_texts_stay_text_and_the_policy_forbids_requests_and_other_scripts(opened):
    assert opened.execute_script("return window.evil") is None
    assert opened.execute_script("return document.querySelectorAll('img').length") == 0
    texts = opened.execute_script(
        "return [...document.querySelectorAll('h2, caption, figcaption, #errors pre, td, #runs code, .legend, .note')]"
        ".map(e => e.textContent)"
    )
    assert sum(EVIL in text for text in texts) >= 9
    refused = "fetch('https://example.invalid/').then(() => 'got', () => 'refused').then(arguments[0])"
    assert opened.execute_async_script(refused) == "refused"
    own = "const own = document.createElement('script'); own.textContent = 'window.evil = 2'; document.body.append(own)"
    opened.execute_script(own)
    assert opened.execute_script("return window.evil") is None
    opened.get_log("browser")  # reports the violations


def test_figures_are_built_near_the_window_with_titles_on_points(opened):
    built = "return document.querySelectorAll('.drawing')[arguments[0]].querySelector('svg') !== null"
    opened.execute_script("scrollTo(0, 0)")
    until(opened, built, 0)
    n = opened.execute_script("return document.querySelectorAll('.drawing').length")
    assert n == 7
    assert not opened.execute_script(built, n - 1)
    titles = opened.execute_script("return [...document.querySelectorAll('circle title')].map(e => e.textContent)")
    assert "gen\nbreast\nrho: 0.05\nP_fa: 0.04" in titles
    assert any(EVIL in title for title in titles)
    at_point = (
        "const circle = document.querySelector('.chart circle'); circle.scrollIntoView();"
        "const { x, y, width } = circle.getBoundingClientRect();"
        "return document.elementFromPoint(x + width / 2, y + width / 2).querySelector('title') !== null"
    )
    assert opened.execute_script(at_point)
    opened.execute_script("document.querySelector('.sheet').open = false; dispatchEvent(new Event('beforeprint'))")
    assert opened.execute_script(built, n - 1)
    assert opened.execute_script("return document.querySelector('details.sheet').open")


def test_theme_changes_page_and_figures(opened):
    colour = (
        "const style = (name) => getComputedStyle(document.querySelector(name));"
        "return [style('body').color, style('.chart text').fill, style('.chart [style*=currentcolor i]').stroke]"
    )
    opened.execute_script("scrollTo(0, 0)")
    until(opened, "return document.querySelector('.chart svg') !== null")
    seen = {}
    for _ in range(3):
        opened.execute_script("document.getElementById('theme').click()")
        name = opened.execute_script("return document.getElementById('theme').textContent")
        colours = opened.execute_script(colour)
        assert len(set(colours)) == 1
        seen[name] = colours[0]
    assert set(seen) == {"Theme: dark", "Theme: light", "Theme: system"}
    assert seen["Theme: dark"] != seen["Theme: light"]


def test_search_and_filters_agree_with_polars(opened):
    frame = records()
    search = "Search all records"
    for name, text, expected in [
        (search, "PIMA", frame.filter(dataset="pima")),
        (search, "gen rho=0.1", frame.filter(solver="gen", rho=0.1)),
        (search, frame["key"][7][:12], frame[7:8]),
        ("Filter of dataset", "!pima", frame.filter(dataset="breast")),
        ("Filter of label", "=np_svm C=1", frame.filter(label="np_svm C=1")),
        ("Filter of p_fa", "0.1..0.2", frame.filter(pl.col("p_fa").is_between(0.1, 0.2))),
        ("Filter of p_fa", ">0.5", frame.filter(pl.col("p_fa") > 0.5)),
        ("Filter of repeat", "17", frame.filter(repeat=17)),
    ]:
        assert typed(opened, name, text) == len(expected), (name, text)
        clear(opened)
    typed(opened, "Filter of dataset", "pima")
    assert typed(opened, "Filter of p_fa", "<0.3") == len(frame.filter(pl.col("p_fa") < 0.3, dataset="pima"))
    clear(opened)
    assert typed(opened, "Filter of p_fa", "small") == N_RECORDS
    invalid = "return document.querySelector('[aria-label=\"Filter of p_fa\"]').getAttribute('aria-invalid')"
    assert opened.execute_script(invalid) == "true"
    clear(opened)


def test_columns_sort_both_ways_with_missing_values_last(opened):
    n_failed = 6
    for name in ("p_fa", "seconds"):
        values = records()[name].drop_nulls().sort()
        for direction, expected in (("ascending", values[:50]), ("descending", values.reverse()[:50])):
            shown, cells = sort_by(opened, name)
            assert shown == direction
            assert [float(cell) for cell in cells[:50]] == pytest.approx(expected.to_list(), rel=1e-3)
            show_all_rows(opened)
            cells = column_cells(opened, name)
            assert len(cells) == N_RECORDS
            assert [cell == "–" for cell in cells] == [place >= len(values) for place in range(N_RECORDS)]
            assert len(values) == N_RECORDS - (n_failed if name == "p_fa" else 0)
        assert sort_by(opened, name)[0] == "none"


def show_all_rows(driver):
    for _ in range(N_RECORDS // 100 + 1):
        driver.execute_script(
            "const scroll = document.querySelector('#table .scroll'); scroll.scrollTop = scroll.scrollHeight;"
            "scroll.dispatchEvent(new Event('scroll'))"
        )


def test_one_record_opens_and_closes_by_keyboard(opened):
    from selenium.webdriver.common.keys import Keys

    opened.execute_script("document.querySelector('.more').focus()")
    opened.switch_to.active_element.send_keys(Keys.ENTER)
    shown = opened.execute_script("return document.querySelector('dialog[open]').textContent")
    assert records()["key"][0][:12] in shown
    opened.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(opened, "return document.querySelector('dialog[open]') === null")
    assert opened.execute_script("return document.activeElement.className") == "more"


def test_controls_have_names_and_tables_captions_and_columns_are_chosen(opened):
    nameless = opened.execute_script(
        "return [...document.querySelectorAll('button, input, select, summary, [tabindex=\"0\"]')]"
        ".filter(e => !(e.textContent.trim() || e.ariaLabel || e.closest('label'))).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert opened.execute_script("return [...document.querySelectorAll('table')].every(t => t.caption)")
    assert opened.execute_script("return document.documentElement.lang") == "en"
    heads = "return [...document.querySelectorAll('#table thead th button')].map(b => b.textContent)"
    assert "rho" not in opened.execute_script(heads)
    opened.execute_script("[...document.querySelectorAll('.chooser label')].find(l => l.textContent === 'rho').click()")
    assert "rho" in opened.execute_script(heads)


def test_narrow_window_needs_no_horizontal_scrolling(opened):
    metrics = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        opened.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert until(opened, "return document.documentElement.scrollWidth <= 375")
        opened.execute_script("document.querySelector('.chooser').open = false")
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
def test_hundred_thousand_records_are_searched_and_sorted(browser, tmp_path):
    n = 100_000
    path = written(tmp_path / "report.html", n)
    assert path.stat().st_size < 12e6
    browser.get(path.as_uri())
    until(browser, "return document.querySelector('#table tbody tr') !== null")
    frame = records(n)
    assert typed(browser, "Search all records", "gen pima") == len(frame.filter(solver="gen", dataset="pima"))
    clear(browser)
    assert typed(browser, "Filter of p_fa", "<0.01") == len(frame.filter(pl.col("p_fa") < 0.01))
    clear(browser)
    _, cells = sort_by(browser, "seconds")
    assert [float(cell) for cell in cells[:50]] == pytest.approx(frame["seconds"].sort()[:50].to_list(), rel=1e-3)


def test_page_has_no_address_and_without_figures_it_has_all_records(tmp_path):
    text = written(tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="(?!#|data:,)', text) == []
    script = re.search(r'<script type="module">(.*)</script>\n</body>', text, re.DOTALL)[1]
    assert "://" not in script
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert page.source_of(script) in policy
    assert "default-src 'none'" in policy
    drawings = [unpacked(data) for data in re.findall(r'"><script type="text/plain">([^<]+)<', text)]
    assert len(drawings) == 7
    assert all(svg.startswith("<svg") for svg in drawings)
    page.write(tmp_path / "report.html", sections(), Collection(records()))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<figure" not in text
    data = re.search(r'id="records-data">([^<]*)<', text)[1]
    assert len(json.loads(unpacked(data))[0]["values"]) == N_RECORDS


@pytest.mark.parametrize(("folder", "name"), [("mine/report", "mine"), ("report/a<b", "a&lt;b")])
def test_title_begins_with_the_name_of_the_folder(tmp_path, folder, name):
    files.write(tmp_path / folder, [], Collection(records(1), []), lambda step: None)
    text = (tmp_path / folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r"<title>(.*)</title>", text)[1].startswith(f"{name} - ")


def test_rare_errors_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_ERRORS", 0)
    text = written(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 more error" in text
    assert 'class="failure"' not in text


@given(
    st.lists(st.none() | st.floats(allow_nan=False), min_size=1),
    st.lists(st.none() | st.sampled_from(["a", "b</script>", "é"]), min_size=1),
)
def test_columns_keep_their_values(numbers, texts):
    n = min(len(numbers), len(texts))
    frame = pl.DataFrame(
        {"problem_params": ["{}"] * n, "number": numbers[:n], "error": texts[:n]},
        {"problem_params": pl.String, "number": pl.Float64, "error": pl.String},
    )
    stored = json.loads(json.dumps(list(columns(frame)), allow_nan=False))
    values = {column["name"]: column["values"] for column in stored}
    assert values["problem_params"] == [""] * n
    read = [None if value is None else float(value) for value in values.get("number", [None] * n)]
    for value, number in zip(read, numbers[:n], strict=True):
        assert value is None if number is None else value == pytest.approx(number, rel=10.0 ** (1 - SHOWN_DIGITS))
    assert values.get("error", [None] * n) == texts[:n]


def test_equal_errors_are_counted_with_one_traceback_and_columns_for_programs_are_omitted():
    (failure,) = page.failures(records())
    assert (failure["n_jobs"], failure["error"], failure["status"]) == (6, EVIL, "failed")
    assert failure["traceback"].startswith("Traceback")
    several = records().with_columns(error=pl.concat_str(pl.lit("e"), "repeat"))
    assert len(page.failures(several)) == 6
    frame = records().with_columns(trace=pl.lit("{}"), versions=pl.lit("{}"))
    found = {column["name"]: column for column in columns(frame)}
    assert not {"trace", "versions", "traceback", "git_commit"} & set(found)
    assert found["problem_params"]["values"][0] == "rho=0.05"
    shown = "label dataset problem problem_params repeat status p_fa seconds"
    assert [name for name, column in found.items() if column["shown"]] == shown.split()


def explored(driver, table):
    """Return the heads and the rows in sight of a table with choices, and its status."""
    script = """
        const sheet = document.querySelectorAll(".explorer")[arguments[0]];
        const seen = (row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => cell.textContent.trim());
        const rows = [...sheet.querySelectorAll("tr")].map(seen);
        return [rows[0], rows.slice(1), sheet.querySelector("[role=status]").textContent];
    """
    return driver.execute_script(script, table)


def choose(driver, name, value):
    script = """
        const labels = [...document.querySelector(".explorer").querySelectorAll("label")];
        const select = labels.find((one) => one.textContent.startsWith(arguments[0])).querySelector("select");
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));
    """
    driver.execute_script(script, name, value)


def test_choices_show_the_rows_and_the_columns_that_say_something(opened):
    heads, rows, status = explored(opened, 0)
    assert (heads, [row[0] for row in rows]) == (["method", "place"], ["gen", EVIL, "sgd"])
    assert status == "3 of 5 rows"
    choose(opened, "problem", "pauc")  # without the setting that is chosen
    assert explored(opened, 0)[:2] == [["method", "place", "area"], [["auc", "2", "0.5"]]]
    choose(opened, "problem", "np")
    choose(opened, "setting", "")
    heads, rows, _ = explored(opened, 0)
    assert (heads, len(rows)) == (["method", "setting", "place"], 4)
    choose(opened, "setting", "rho=0.1")


def test_the_address_keeps_the_choices(opened, browser):
    address = opened.current_url
    choose(opened, "setting", "")
    shown, kept = explored(opened, 0)[1], opened.current_url
    choose(opened, "setting", "rho=0.1")
    assert (opened.current_url, len(shown)) == (address, 4)  # as at first
    unknown = f"{address}#1.setting=%3Cscript%3E&1.none=1&9.problem=np&%"
    found = []
    for opening in (kept, unknown, address):
        browser.get("about:blank")
        browser.get(opening)
        found.append(explored(browser, 0)[1])
    assert found[:2] == [shown, shown]  # a value that no row has is any
    assert len(found[2]) == 3
    until(browser, "return document.querySelector('#table tbody tr') !== null")  # as the other tests need it


def test_columns_of_numbers_are_sorted_with_missing_ones_last(opened):
    found = []
    for _ in range(3):
        opened.execute_script("document.querySelectorAll('.explorer th button')[3].click()")
        found.append([row[1] for row in explored(opened, 0)[1]])
    assert found == [["9.5", "10", "-"], ["10", "9.5", "-"], ["10", "9.5", "-"]]


def test_rows_that_share_a_place_share_a_colour(opened):
    script = """
        const rows = [...document.querySelector(".explorer tbody").rows];
        return rows.map((row) => [row.cells[3].textContent, getComputedStyle(row.cells[3]).borderLeftColor]);
    """
    choose(opened, "problem", "")
    choose(opened, "setting", "")
    found = opened.execute_script(script)
    choose(opened, "problem", "np")
    choose(opened, "setting", "rho=0.1")
    assert len(found) > len({place for place, _ in found}) == len({(*one,) for one in found})  # one colour a place
    assert len({colour for _, colour in found}) == len({place for place, _ in found})


def test_a_name_leads_to_its_rows_in_the_other_table(opened):
    script = "[...document.querySelectorAll('.link')].find((one) => one.textContent === arguments[0]).click()"
    opened.execute_script(script, EVIL)
    assert explored(opened, 1)[1] == [["pima"], ["cm1"]]  # the setting is chosen, too
    assert opened.execute_script("return document.activeElement.value") == EVIL
    assert opened.execute_script("return window.evil") is None
    opened.execute_script(script, "gen")
    assert explored(opened, 1)[1] == [["pima"]]


def test_on_a_phone_tables_scroll_and_names_stay_in_sight(opened):
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        assert opened.execute_script("return document.documentElement.scrollWidth") <= 375
        moved = """
            const scroll = document.querySelector(".explorer .scroll");
            scroll.querySelector("table").style.width = "60rem";
            scroll.scrollLeft = 200;
            const left = scroll.querySelector("td.name").getBoundingClientRect().left;
            return [scroll.scrollLeft, left - scroll.getBoundingClientRect().left];
        """
        distance, left = opened.execute_script(moved)
        assert distance == 200
        assert 0 <= left < 5
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_page_without_records_has_no_table_of_them(browser, tmp_path):
    path = tmp_path / "page.html"
    page.write(path, [Section("Explore", explorers())], Collection(records(0), []))
    browser.get(path.as_uri())
    assert len(explored(browser, 0)[1]) == 3
    assert browser.execute_script("return document.getElementById('records')") is None
    assert [line for line in browser.get_log("browser") if "example.invalid" not in line["message"]] == []


@pytest.mark.parametrize("width", [375, 1200])
def test_no_name_is_broken_within_a_word(browser, tmp_path, width):
    path, words = tmp_path / "page.html", ["random_forest_leaves", "calibration_size=aligned"]
    sheet = Sheet("wide", ["method", *map(str, range(12))], [[" ".join(words), *[0.125] * 12]])
    page.write(path, [Section("All", [sheet])], Collection(records(0), []))
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE | {"width": width})
    try:
        browser.get(path.as_uri())
        counted = """
            const text = document.querySelector("td.long").firstChild;
            return arguments[0].map((word) => {
                const range = document.createRange(), start = text.data.indexOf(word);
                range.setStart(text, start);
                range.setEnd(text, start + word.length);
                return range.getClientRects().length;
            });
        """
        assert browser.execute_script(counted, words) == [1, 1]
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
