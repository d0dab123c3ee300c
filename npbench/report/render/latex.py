r"""Tables as LaTeX, for ``\input`` into a paper that uses booktabs and adjustbox."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from npbench.report import escape
from npbench.report.sheet import Cell, Sheet

GREEK = {"rho", "alpha", "gamma", "lambda", "nu", "delta", "eta"}
MAX_ROWS = 40  # lines of one page
# An article has 80 characters of this size side by side, which adjustbox shrinks to three quarters at most.
SIZE, LINE, MAX_CHARACTERS = r"\footnotesize", 80, 106
MAX_WORDS, WORDS_WIDTH, WORDS_A_LINE = 56, r"0.4\linewidth", 32  # longer texts are paragraphs with lines like these
RAGGED = r"\hyphenpenalty=10000\def\sloppy{\rightskip=0pt plus 1fil}"  # LaTeX begins these with \sloppy
MAX_FLOATS = 10  # that LaTeX still has to place
MAX_REPEATED = 70  # characters of the columns that each part repeats
GAP = 2  # characters between columns


def table(sheet: Sheet, name: str = "") -> str:
    r"""Return a table with its title as the caption and its notes below; columns of numbers are aligned on the right.

    For one that is larger than a page, return several, each with the columns that identify a row, or its number.
    Requires ``\usepackage{booktabs,adjustbox}``. The label is ``tab:name``, for further parts ``tab:name-2``.

    >>> from npbench.report.sheet import Cell
    >>> rows = [["np_svm", Cell("0.03±0.01", 0.03, "best")], ["gen", Cell("0.12±0.10", 0.12, "above")]]
    >>> print(table(Sheet("Rates, 5 %", ["solver", "rho"], rows), "rates"), end="")
    \begin{table}
      \centering\footnotesize
      \caption{Rates, 5 \%}
      \label{tab:rates}
      \begin{adjustbox}{max width=\linewidth,max totalheight=0.80\textheight}
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
    sheet, n_first = _identified(sheet)
    fitting, aligned = list(_fitting(sheet, n_first)), [_aligned(sheet, column) for column in range(len(sheet.columns))]
    parts = [(rows, columns) for rows in _pages(sheet) for columns in fitting]
    style = SIZE + RAGGED * any(one.startswith("p") for one in aligned)
    lines: list[str] = []
    for number, (rows, columns) in enumerate(parts, start=1):
        counted = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        label = f"{name}-{number}" if number > 1 else name
        notes = sheet.notes if number == len(parts) else []
        n_lines = sum(-(-len(text) // LINE) for text in (sheet.title, *notes))
        height = max(0.8 - 0.02 * max(n_lines - 4, 0), 0.3)  # share of the page that is left beside these
        lines += [
            r"\begin{table}",
            rf"  \centering{style}",
            rf"  \caption{{{escape.latex(sheet.title)}{counted}}}",
            *([rf"  \label{{tab:{label}}}"] if name else []),
            rf"  \begin{{adjustbox}}{{max width=\linewidth,max totalheight={height:.2f}\textheight}}",
            rf"  \begin{{tabular}}{{{''.join(aligned[column] for column in columns)}}}",
            r"    \toprule",
            _line(_head(sheet.columns[column]) for column in columns),
            r"    \midrule",
            *(_line(_text(row[column]) for column in columns) for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  \end{adjustbox}",
            *(rf"  \par\smallskip {escape.latex(note)}" for note in notes),
            r"\end{table}",
            *([r"\clearpage"] if number % MAX_FLOATS == 0 else []),
        ]
    return "\n".join(lines) + "\n"


def _pages(sheet: Sheet) -> Iterator[Sequence[Sequence[Cell]]]:
    """Yield the rows of each part that fits the height."""
    start, height = 0, 0
    paragraphs = [column for column, length in enumerate(sheet.longest) if length > MAX_WORDS]
    for place, texts in enumerate(sheet.texts):
        lines = max([1, *(-(-len(texts[column]) // WORDS_A_LINE) for column in paragraphs)])
        if height + lines > MAX_ROWS and place > start:
            yield sheet.cells[start:place]
            start, height = place, 0
        height += lines
    yield sheet.cells[start:]


def _identified(sheet: Sheet) -> tuple[Sheet, int]:
    """Return a table, with numbers of rows if need be, and how many first columns identify a row in each part."""
    widths, n = _widths(sheet), 1
    while n < len(widths) and len({tuple(row[:n]) for row in sheet.texts}) < len(sheet.rows):
        n += 1
    is_measured = any(cell.further for column in sheet.by_column[:n] for cell in column)
    if sum(widths) <= MAX_CHARACTERS or (sum(widths[:n]) <= MAX_REPEATED and not is_measured):
        return sheet, n
    rows = [[place, *row] for place, row in enumerate(sheet.rows, start=1)]
    return replace(sheet, columns=["#", *sheet.columns], rows=rows), 1


def _widths(sheet: Sheet) -> list[int]:
    return [GAP + (length if length <= MAX_WORDS else WORDS_A_LINE) for length in sheet.longest]


def _fitting(sheet: Sheet, n_first: int) -> Iterator[Sequence[int]]:
    """Yield the columns of each part that fits the width: the first ones and some others."""
    widths, first = _widths(sheet), list(range(n_first))
    shown, room = list(first), MAX_CHARACTERS - sum(widths[: len(first)])
    left = room
    for column in range(len(first), len(widths)):
        if widths[column] > left and shown != first:
            yield shown
            shown, left = list(first), room
        shown.append(column)
        left -= widths[column]
    yield shown


def _aligned(sheet: Sheet, column: int) -> str:
    if sheet.numeric[column]:
        return "r"
    return rf"p{{{WORDS_WIDTH}}}" if sheet.longest[column] > MAX_WORDS else "l"


def _head(column: str) -> str:
    return rf"$\{column}$" if column in GREEK else escape.latex(column)


def _text(cell: Cell) -> str:
    text = escape.latex(cell.text)
    if cell.value is not None and text.startswith("-"):
        text = f"${text[0]}${text[1:]}"  # a minus, not a hyphen
    return {"best": rf"\textbf{{{text}}}", "above": rf"{text}\rlap{{*}}"}.get(cell.flag, text)


def _line(cells: Iterable[str]) -> str:
    return rf"    {' & '.join(cells)} \\"
