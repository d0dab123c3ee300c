r"""Tables as LaTeX, for ``\input`` into a paper that uses booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from npbench.console import printable
from npbench.report.sheet import Sheet

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "$": r"\$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # otherwise read as an option of the line above
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "×": r"$\times$",
    "−": r"$-$",
    "ρ": r"$\rho$",
    "α": r"$\alpha$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "ν": r"$\nu$",
    "δ": r"$\delta$",
    "χ": r"$\chi$",
    "²": r"$^2$",
}


def table(sheet: Sheet) -> str:
    r"""Return a table with its title as the caption and its notes below.

    Requires ``\usepackage{booktabs}``, and ``\usepackage[T1]{fontenc}`` for quotation marks. Columns of numbers are
    aligned on the right.

    Examples
    --------
    >>> from npbench.report.sheet import Cell
    >>> print(table(Sheet("Rates, 5 %", ["solver", "p_fa"], [["np_svm", Cell("0.03±0.01", 0.03)]])), end="")
    \begin{table}
      \centering
      \caption{Rates, 5 \%}
      \begin{tabular}{lr}
        \toprule
        solver & p\_fa \\
        \midrule
        np\_svm & 0.03$\pm$0.01 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    form = "".join("r" if numeric else "l" for numeric in sheet.numeric)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(sheet.title)}}}",
        rf"  \begin{{tabular}}{{{form}}}",
        r"    \toprule",
        _line(sheet.columns),
        r"    \midrule",
        *map(_line, sheet.texts),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(rf"  \par\smallskip {escaped(note)}" for note in sheet.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return rf"    {' & '.join(escaped(cell) for cell in cells)} \\"


def escaped(text: str) -> str:
    r"""Return text on one line, escaped for LaTeX.

    Examples
    --------
    >>> escaped("p_fa\n50 %")
    'p\\_fa 50 \\%'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in printable(" ".join(text.split())))
