r"""Text of records as a file name, Markdown, LaTeX, HTML, a cell of CSV or one line: nothing in it is interpreted.

Records may come from strangers. All text that leaves a report passes one of these functions, and
:func:`npbench.console.printable` for control characters and marks that change the direction of writing.
"""

import re
from typing import Any

from npbench.console import printable

MAX_LINE = 500  # characters
MAX_STEM = 100
MAX_NAME_BYTES = 200  # file systems allow 255
FILE_NAME = re.compile(r"\w[\w.+-]{0,119}", re.ASCII)
FORMULA = ("=", "+", "-", "@")  # first letters of a spreadsheet's formula
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$])")
LATEX_WORDS = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
LATEX_SIGNS = {"±": r"\pm", "≤": r"\le", "≥": r"\ge", "×": r"\times", "−": "-", "²": "^2", "χ": r"\chi"}
LATEX_SIGNS |= {"ρ": r"\rho", "α": r"\alpha", "γ": r"\gamma", "λ": r"\lambda", "ν": r"\nu", "δ": r"\delta"}
LATEX = {
    **{letter: rf"\{letter}" for letter in "{}%&#_$"},
    **{letter: rf"\text{word}{{}}" for letter, word in LATEX_WORDS.items()},
    **{letter: f"${command}$" for letter, command in LATEX_SIGNS.items()},
    "[": "{[}",  # otherwise read as an option of the line above
}


def is_file_name(text: str) -> bool:
    """Return whether a text names a file in a folder as it stands: it leaves no folder and hides nothing.

    >>> is_file_name("20260101T000000-1a2b3c4d"), is_file_name("../x"), is_file_name(".x"), is_file_name("")
    (True, False, False, False)
    """
    return FILE_NAME.fullmatch(text) is not None


def file_stem(title: str) -> str:
    """Return a text as a file name without ending."""
    return re.sub(r"[^\w.]+", "-", title.lower(), flags=re.ASCII)[:MAX_STEM].strip("-.") or "table"


def file_name(*words: str) -> str:
    """Return the words as a file name without ending."""
    name = "_".join(re.sub(r"[^\w.]+", "-", word).strip("-") for word in words)
    return name.encode()[:MAX_NAME_BYTES].decode(errors="ignore")


def flat(text: str) -> str:
    """Return text on one line."""
    return printable(" ".join(text.splitlines()))


def line(text: str) -> str:
    """Return text on one line of at most :data:`MAX_LINE` characters, as terminals show it."""
    shown = flat(text)
    return shown if len(shown) <= MAX_LINE else f"{shown[:MAX_LINE]}..."


def markdown(text: str) -> str:
    """Return text on one line, escaped for Markdown."""
    return MARKDOWN.sub(r"\\\1", printable(" ".join(text.split())))


def latex(text: str) -> str:
    """Return text on one line, escaped for LaTeX."""
    text = re.sub(r'(^|[\s([])"', r"\1``", text.strip()).replace('"', "''")  # " needs T1 fonts
    return "".join(LATEX.get(letter, letter) for letter in printable(" ".join(text.split())))


def html(value: Any) -> Any:
    """Return a value as a template shows it, which escapes marks of HTML itself: without control characters."""
    return value if hasattr(value, "__html__") else printable(str(value))


def csv(text: str) -> str:
    """Return words for a cell of CSV: a spreadsheet would run them as a formula if they began like one."""
    text = printable(text.strip())
    return f"'{text}" if text.startswith(FORMULA) and text != "-" else text
