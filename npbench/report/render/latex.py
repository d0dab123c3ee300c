r"""Tables as LaTeX, for ``\input`` into a paper that uses booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from npbench.report import escape
from npbench.report.sheet import Cell, Sheet

GREEK = {"rho", "alpha", "gamma", "lambda", "nu", "delta", "eta"}


def table(sheet: Sheet, name: str = "") -> str:
    r"""Return a table with its title as the caption and its notes below; columns of numbers are aligned on the right.

    Requires ``\usepackage{booktabs}``, and ``\usepackage[T1]{fontenc}`` for quotation marks. The label is ``tab:name``.

    >>> from npbench.report.sheet import Cell
    >>> rows = [["np_svm", Cell("0.03±0.01", 0.03, "best")], ["gen", Cell("0.12±0.10", 0.12, "above")]]
    >>> print(table(Sheet("Rates, 5 %", ["solver", "rho"], rows), "rates"), end="")
    \begin{table}
      \centering
      \caption{Rates, 5 \%}
      \label{tab:rates}
      \begin{tabular}{lr}
        \toprule
        solver & $\rho$ \\
        \midrule
        np\_svm & \textbf{0.03$\pm$0.01} \\
        gen & 0.12$\pm$0.10\rlap{*} \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape.latex(sheet.title)}}}",
        *([rf"  \label{{tab:{name}}}"] if name else []),
        rf"  \begin{{tabular}}{{{''.join('r' if numeric else 'l' for numeric in sheet.numeric)}}}",
        r"    \toprule",
        _line(rf"$\{column}$" if column in GREEK else escape.latex(column) for column in sheet.columns),
        r"    \midrule",
        *(_line(map(_text, row)) for row in sheet.cells),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(rf"  \par\smallskip {escape.latex(note)}" for note in sheet.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _text(cell: Cell) -> str:
    text = escape.latex(cell.text)
    if cell.value is not None and text.startswith("-"):
        text = f"${text[0]}${text[1:]}"  # a minus, not a hyphen
    return {"best": rf"\textbf{{{text}}}", "above": rf"{text}\rlap{{*}}"}.get(cell.flag, text)


def _line(cells: Iterable[str]) -> str:
    return rf"    {' & '.join(cells)} \\"
