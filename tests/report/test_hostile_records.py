"""Records of strangers, hostile in every column of text: nothing breaks, is interpreted, or lies outside the folder."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from grids import SLOW
from npbench.records.fields import FIELDS, SCHEMA, Role
from npbench.report import escape, files
from npbench.report.assemble import assemble
from npbench.report.render import markdown, terminal
from npbench.report.select.collect import collect
from sample_files import put
from sample_records import record, stored

HOSTILE = {
    "path": "../../secret",
    "absolute path": "/etc/passwd",
    "HTML": "<script>alert(1)</script><img src=x onerror=y>",
    "Rich": "[/] [bold red]x[/] [link=http://e]y[/link]",
    "escapes": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "Markdown": "a|b `x` *y* [z](http://e)",
    "LaTeX": r"\input{/etc/passwd} $x$ %&_#{}~^",
    "NUL": "a\0b",
    "lines": "a\nb\r\n# c\n\n| d |",
    "endless": "x" * 20_000,
    "right to left": "\u202egnp.exe\u2066\u200f\u2028",
    "templates": "{{ 7 * 7 }}{% raw %}%(x)s{0}",
    "empty": "",
}
DIRECTIONS = set("\u202e\u2066\u200f")
SOUND = ("key", "stored_at", "problem", "problem_params", "status")


def hostile(text: str, number: int) -> dict[str, object]:
    """Return a record with this text in each column that may hold one, and as the name of a metric."""
    columns: dict[str, object] = {name: text for name, dtype in SCHEMA.items() if dtype == pl.String}
    objects = {name: json.dumps({text: text, "C": [text, 1]}) for name in columns if Role.OBJECT in FIELDS[name].roles}
    columns |= {**objects, "roc": json.dumps([text]), "trace": json.dumps({text: [1]}), "metrics": json.dumps([text])}
    fine = {"key": f"{number}", "repeat": number % 3, "status": ("ok", "ok", "failed")[number % 3], "p_fa": 0.1}
    kept = record(p_nd=0.2, np_score=0.3, **fine)
    return {**kept, **{name: value for name, value in columns.items() if name not in SOUND}, text[:90] or "-": 0.5}


class Elements(HTMLParser):
    """Names of elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found |= {tag, *(name for name, _ in attrs)}


@pytest.fixture
def written(monkeypatch):
    """Return a function that reports records in every form and returns the texts, by form."""
    monkeypatch.setattr(files, "figures", lambda *_: {})  # drawing takes seconds

    def report(*records):
        collection = collect([stored(*records)], {})
        sections = assemble(collection)
        console = Console(width=120, record=True, force_terminal=False)
        terminal.show(sections, console)
        files.write(Path("out"), sections, collection, lambda text: None)
        csv, tex = (
            "".join(one.read_text(encoding="utf-8") for one in Path("out/tables").glob(f"*.{form}"))
            for form in ("csv", "tex")
        )
        shown = {"terminal": console.export_text(), "Markdown": markdown.document(sections), "CSV": csv, "LaTeX": tex}
        return shown | {"page": Path("out/report.html").read_text(encoding="utf-8")}

    return report


@pytest.mark.parametrize("kinds", [[*HOSTILE], *(pytest.param([kind], marks=SLOW, id=kind) for kind in HOSTILE)])
def test_hostile_text_is_shown_as_text(written, kinds):
    put(Path("secret.json"), b'{"token": "TOKEN"}')
    sound = [record(key=f"sound{n}", repeat=n, p_fa=0.1, p_nd=0.2, np_score=0.3) for n in range(3)]
    plain = Elements(written(*sound)["page"]).found
    shown = written(*sound, *(hostile(HOSTILE[kinds[n % len(kinds)]], n) for n in range(max(6, 3 * len(kinds)))))
    for form, text in shown.items():
        controls = {letter for letter in text if letter < " " or letter in DIRECTIONS or "\x7f" <= letter < "\xa0"}
        assert controls <= {"\n", "\t"}, form
        assert "TOKEN" not in text
    assert Elements(shown["page"]).found - plain <= {"article", "h3", "pre", "details"}  # of errors in full
    assert "\\input" not in shown["LaTeX"]
    assert "<script>" not in shown["Markdown"]
    assert {path.name for path in Path().iterdir()} == {"secret.json", "results", "out"}


def test_a_page_shows_descriptions_of_its_own_runs_only(written):
    """A run_id is a name of a file in ``runs``, and no path to others."""
    put(Path("secret.json"), b'{"token": "TOKEN"}')
    put(Path("results/runs/good.json"), b'{"command": ["solver=gen"], "note": "SEEN"}')
    for name, content in {"list": b"[1]", "deep": b'{"a":' * 5000, "latin": b"\xe9", "odd": b'{"command": 3}'}.items():
        put(Path(f"results/runs/{name}.json"), content)
    Path("results/runs/linked.json").symlink_to(Path("secret.json").resolve())
    runs = [
        "good",
        "../../secret",
        "linked",
        "list",
        "deep",
        "latin",
        "odd",
        "x" * 20_000,
        "a\0b",
        str(Path.cwd() / "secret"),
    ]
    page = written(*(record(key=run, repeat=n, run_id=run) for n, run in enumerate(runs)))["page"]
    assert "SEEN" in page
    assert "TOKEN" not in page


@pytest.mark.parametrize("text", [*HOSTILE.values(), "..", ".hidden", "a/b", "a\\b", "con:x", "a b"])
def test_file_names_stay_in_their_folder(text):
    assert not escape.is_file_name(text)
    assert escape.is_file_name(escape.file_stem(text))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "columns",
    [
        *({"key": key} for key in (None, [1], {"a": "b"})),
        *({"status": None}, {"stored_at": None}, {"params": {"C": 1}, "solver": ["gen"]}),
        *({"problem_params": text} for text in ('{"rho":"0.1"}', '{"rho":[0.1]}', '{"rho":true}', '{"rho":NaN}')),
        {"problem_params": '{"rho":1' + 400 * "0" + "}"},
    ],
)
def test_records_without_a_sound_job_are_named_and_left_out(columns):
    stored(record(key="sound", p_fa=0.1))
    odd = [{**record(repeat=n, p_fa=0.1), "key": f"odd{n}", **columns} for n in range(2)]
    pl.DataFrame(odd).write_parquet("results/records/b.parquet")
    found = collect([Path("results")], {})
    assert found.records["key"].to_list() == ["sound"]
    assert found.faults
    assemble(found)


def test_numbers_beyond_sums_are_reported(written):
    written(*(record(key=str(n), repeat=n, p_fa=1e308, p_nd=-1e308, np_score=1e308) for n in range(3)))
