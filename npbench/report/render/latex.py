r"""Tables as LaTeX, for ``\input`` into a paper that uses booktabs and adjustbox."""

from collections.abc import Iterable, Iterator, Sequence

from npbench.report import escape
from npbench.report.sheet import Cell, Sheet

GREEK = {"rho", "alpha", "gamma", "lambda", "nu", "delta", "eta"}
MAX_ROWS = 40  # lines of one page
# An article has 80 characters of this size side by side, which adjustbox shrinks to three quarters at most.
SIZE, MAX_CHARACTERS = r"\footnotesize", 106
MAX_WORDS, WORDS_WIDTH, WORDS_A_LINE = 40, r"0.4\linewidth", 32  # longer texts are paragraphs, with such lines
MAX_FLOATS = 10  # that LaTeX still has to place
MAX_FIRST = 3  # columns that each part repeats
GAP = 2  # characters between columns


def table(sheet: Sheet, name: str = "") -> str:
    r"""Return a table with its title as the caption and its notes below; columns of numbers are aligned on the right.

    Of one that is larger than a page, return several, each with the first columns. Requires
    ``\usepackage{booktabs,adjustbox}``, and ``\usepackage[T1]{fontenc}`` for quotation marks. The label is
    ``tab:name``, of further parts ``tab:name-2``.

    >>> from npbench.report.sheet import Cell
    >>> rows = [["np_svm", Cell("0.03±0.01", 0.03, "best")], ["gen", Cell("0.12±0.10", 0.12, "above")]]
    >>> print(table(Sheet("Rates, 5 %", ["solver", "rho"], rows), "rates"), end="")
    \begin{table}
      \centering\footnotesize
      \caption{Rates, 5 \%}
      \label{tab:rates}
      \begin{adjustbox}{max width=\linewidth,max totalheight=0.8\textheight}
      \begin{tabular}{lr}
        \toprule
        solver & $\rho$ \\
        \midrule
        np\_svm & \textbf{0.03$\pm$0.01} \\
        gen & 0.12$\pm$0.10\rlap{*} \\
        \bottomrule
      \end{tabular}
      \end{adjustbox}
    \end{table}
    """
    fitting, aligned = list(_fitting(sheet)), [_aligned(sheet, column) for column in range(len(sheet.columns))]
    parts = [(rows, columns) for rows in _pages(sheet) for columns in fitting]
    lines: list[str] = []
    for number, (rows, columns) in enumerate(parts, start=1):
        counted = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        label = f"{name}-{number}" if number > 1 else name
        lines += [
            r"\begin{table}",
            rf"  \centering{SIZE}",
            rf"  \caption{{{escape.latex(sheet.title)}{counted}}}",
            *([rf"  \label{{tab:{label}}}"] if name else []),
            r"  \begin{adjustbox}{max width=\linewidth,max totalheight=0.8\textheight}",
            rf"  \begin{{tabular}}{{{''.join(aligned[column] for column in columns)}}}",
            r"    \toprule",
            _line(_head(sheet.columns[column]) for column in columns),
            r"    \midrule",
            *(_line(_text(row[column]) for column in columns) for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \end{adjustbox}",
            *(rf"  \par\smallskip {escape.latex(note)}" for note in sheet.notes if number == len(parts)),
            r"\end{table}",
            *([r"\clearpage"] if number % MAX_FLOATS == 0 else []),
        ]
    return "\n".join(lines) + "\n"


def _pages(sheet: Sheet) -> Iterator[Sequence[Sequence[Cell]]]:
    """Yield the rows of each part that fits the height."""
    start, height = 0, 0
    for place, texts in enumerate(sheet.texts):
        lines = max(-(-len(text) // WORDS_A_LINE) if len(text) > MAX_WORDS else 1 for text in texts)
        if height + lines > MAX_ROWS and place > start:
            yield sheet.cells[start:place]
            start, height = place, 0
        height += lines
    yield sheet.cells[start:]


def _fitting(sheet: Sheet) -> Iterator[Sequence[int]]:
    """Yield the columns of each part that fits the width: the first ones, up to the first of words, and some others."""
    widths = [GAP + min(_longest(sheet, column), MAX_WORDS) for column in range(len(sheet.columns))]
    words = (column for column, is_numeric in enumerate(sheet.numeric[:MAX_FIRST]) if not is_numeric)
    first = list(range(1 + next(words, 0)))
    shown, room = list(first), MAX_CHARACTERS - sum(widths[: len(first)])
    left = room
    for column in range(len(first), len(widths)):
        if widths[column] > left and shown != first:
            yield shown
            shown, left = list(first), room
        shown.append(column)
        left -= widths[column]
    yield shown


def _longest(sheet: Sheet, column: int) -> int:
    return max(len(sheet.columns[column]), *(len(row[column]) for row in sheet.texts), 0)


def _aligned(sheet: Sheet, column: int) -> str:
    if sheet.numeric[column]:
        return "r"
    return rf"p{{{WORDS_WIDTH}}}" if _longest(sheet, column) > MAX_WORDS else "l"


def _head(column: str) -> str:
    return rf"$\{column}$" if column in GREEK else escape.latex(column)


def _text(cell: Cell) -> str:
    text = escape.latex(cell.text)
    if cell.value is not None and text.startswith("-"):
        text = f"${text[0]}${text[1:]}"  # a minus, not a hyphen
    return {"best": rf"\textbf{{{text}}}", "above": rf"{text}\rlap{{*}}"}.get(cell.flag, text)


def _line(cells: Iterable[str]) -> str:
    return rf"    {' & '.join(cells)} \\"
