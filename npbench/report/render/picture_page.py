"""A page of tables and pictures in one HTML file that opens offline."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from npbench.report.sheet import Sheet

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin-bottom: 2rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid #8886; }
.number { text-align: right; }
img { max-width: 100%; background: white; }
div { overflow-x: auto; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
{% for line in text.splitlines() %}<p>{{ line }}</p>
{% endfor %}
{% for name, data in pictures %}<p><img alt="{{ name }}" src="data:image/png;base64,{{ data }}"></p>
{% endfor %}
{% for sheet in sheets %}<div><table><caption>{{ sheet.title }}</caption>
<tr>
{% for name in sheet.columns %}<th scope="col" class="{{ kind(sheet, loop.index0) }}">{{ name }}</th>{% endfor %}
</tr>
{% for row in sheet.texts %}<tr>
{% for cell in row %}<td class="{{ kind(sheet, loop.index0) }}">{{ cell }}</td>{% endfor %}
</tr>
{% endfor %}</table></div>
{% endfor %}
</body>
</html>
"""


def write(path: Path, title: str, text: str, sheets: Sequence[Sheet], pictures: Sequence[Path]) -> None:
    """Write the page.

    Parameters
    ----------
    path : Path
        The file, in an existing folder.
    title, text : str
        Heading, and paragraphs below it, one a line.
    sheets : sequence of Sheet
        Tables, in order.
    pictures : sequence of Path
        PNG files to show before the tables.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    images = [(one.stem, base64.b64encode(one.read_bytes()).decode("ascii")) for one in pictures]
    page = environment.from_string(TEMPLATE).render(title=title, text=text, sheets=sheets, pictures=images, kind=_kind)
    path.write_text(page, encoding="utf-8", newline="\n")


def _kind(sheet: Sheet, place: int) -> str:
    return "number" if sheet.numeric[place] else "word"
