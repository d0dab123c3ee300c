r"""Tables as LaTeX, for ``\input`` into a paper that uses booktabs and siunitx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from npbench.report import escape
from npbench.report.select.metrics import symbols
from npbench.report.sheet import Cell, Sheet

NUMBER = re.compile(r"([+-]?)(\d+)(?:\.(\d+))?(?:±(\d+)(?:\.(\d+))?)?(\*?)")  # as Cell shows it
SETUP = r"  \sisetup{separate-uncertainty, detect-weight, mode=text}"
GREEK = {"rho", "alpha", "gamma", "lambda", "nu", "delta", "eta"}


def table(sheet: Sheet, name: str = "") -> str:
    r"""Return a table with its title as the caption and its notes below.

    Requires ``\usepackage{booktabs,siunitx}``, and ``\usepackage[T1]{fontenc}`` for quotation marks. The label is
    ``tab:name``.

    >>> from npbench.report.sheet import Cell
    >>> rows = [["np_svm", Cell("0.03±0.01", 0.03, "best")], ["gen", Cell("0.12±0.10", 0.12, "above")]]
    >>> print(table(Sheet("Rates, 5 %", ["solver", "p_fa"], rows), "rates"), end="")
    \begin{table}
      \centering
      \sisetup{separate-uncertainty, detect-weight, mode=text}
      \caption{Rates, 5 \%}
      \label{tab:rates}
      \begin{tabular}{lS[table-format=1.2(2){*}]}
        \toprule
        {solver} & {p\_fa} \\
        \midrule
        np\_svm & \bfseries 0.03 \pm 0.01 \\
        gen & 0.12 \pm 0.10{*} \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    forms = [_form(column) if numeric else "l" for column, numeric in zip(sheet.by_column, sheet.numeric, strict=True)]
    known = {**{name: rf"$\{name}$" for name in GREEK}, **symbols()}
    heads = [f"{{{known.get(column) or escape.latex(column)}}}" for column in sheet.columns]
    lines = [
        r"\begin{table}",
        r"  \centering",
        *([SETUP] if any(form.startswith("S") for form in forms) else []),
        rf"  \caption{{{escape.latex(sheet.title)}}}",
        *([rf"  \label{{tab:{name}}}"] if name else []),
        rf"  \begin{{tabular}}{{{''.join(forms)}}}",
        r"    \toprule",
        _line(heads),
        r"    \midrule",
        *(_line(map(_text, row, forms)) for row in sheet.cells),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(rf"  \par\smallskip {escape.latex(note)}" for note in sheet.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _form(column: Sequence[Cell]) -> str:
    """Return the type of a column of numbers: S with the widths of its parts, or r if a text is more than a number."""
    found = [NUMBER.fullmatch(str(cell)) for cell in column if not cell.is_missing]
    parts = [match.groups(default="") for match in found if match]
    if not parts or len(parts) < len(found):
        return "r"
    sign = "-" if any(part[0] for part in parts) else ""
    whole, decimals = (max(len(part[place]) for part in parts) for place in (1, 2))
    uncertain = max(len(f"{part[3]}{part[4]}".lstrip("0")) for part in parts)
    spread = f"({uncertain})" if any(part[3] for part in parts) else ""
    star = "{*}" if any(part[5] for part in parts) else ""
    return f"S[table-format={sign}{whole}.{decimals}{spread}{star}]"


def _text(cell: Cell, form: str) -> str:
    bold = cell.flag == "best"
    if not form.startswith("S"):
        return rf"\textbf{{{escape.latex(str(cell))}}}" if bold else escape.latex(str(cell))
    if cell.is_missing:
        return f"{{{escape.latex(cell.text)}}}"
    number = str(cell).replace("±", r" \pm ").replace("*", "{*}")
    return rf"\bfseries {number}" if bold else number


def _line(cells: Iterable[str]) -> str:
    return rf"    {' & '.join(cells)} \\"
