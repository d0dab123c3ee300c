"""A list of the pages with their first sentences, for language models: hooks of mkdocs that write ``llms.txt``."""

import re
from pathlib import Path
from typing import Any

_navigation: list[Any] = []


def on_nav(nav: Any, **_: Any) -> None:
    """Keep the navigation."""
    _navigation[:] = nav.items


def on_post_build(config: Any) -> None:
    """Write ``llms.txt`` beside the home page: title, description, and a line for each page, by sections."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", "", *_listed(_navigation)]
    Path(config.site_dir, "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _listed(items: list[Any]) -> list[str]:
    """Return a line for each page, then the sections."""
    lines = [_line(item) for item in items if item.is_page]
    for section in (item for item in items if item.is_section):
        lines += ["", f"## {section.title}", "", *_listed(section.children)]
    return lines


def _line(page: Any) -> str:
    sentence = _first_sentence(page.content)
    return f"- [{page.title}]({page.canonical_url or page.url or '.'}){f': {sentence}' if sentence else ''}"


def _first_sentence(content: str) -> str:
    """Return the first sentence of a page's HTML as plain text, or nothing if the page begins with a block."""
    paragraph = re.search(r"<p>(?!<img)(.*?)</p>", content, re.DOTALL)
    text = " ".join(re.sub(r"<[^>]+>", "", paragraph[1] if paragraph else "").split())
    sentence = re.split(r"(?<=[a-z)]\.)(?<!\bal\.) (?=[A-Za-z])", text)[0]
    return sentence if re.match(r"[A-Z]|npbench", sentence) and sentence[-1] in ".?" else ""
