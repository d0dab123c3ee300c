"""What each published experiment of a paper found, in a few words beside the paper's: for the first table of a page.

Figures are read from the tables of the experiment, so that they follow the records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from npbench.report.sheet import Cell, Sheet


class Headline(NamedTuple):
    """The paper's finding and npbench's, in words."""

    paper: str
    here: str


def headline(experiment: str, sheets: Sequence[Sheet]) -> Headline:
    """Return the headline of an experiment from its tables; dashes if none is defined."""
    return HEADLINES.get(experiment, lambda _: Headline("-", "-"))(sheets)


def column(sheets: Sequence[Sheet], name: str, **equal: str) -> list[float]:
    """Return the numbers of a column in all tables that have it, from rows with the given texts in other columns."""
    found = []
    for row in _rows(sheets, name):
        if all(_text(row[other.replace("_", " ")]) == text for other, text in equal.items()):
            cell = row[name]
            value = cell.value if isinstance(cell, Cell) else None
            if isinstance(value, int | float) and math.isfinite(value):
                found.append(float(value))
    return found


def _rows(sheets: Sequence[Sheet], name: str) -> Iterator[dict[str, Cell | str]]:
    for sheet in sheets:
        if name in sheet.columns:
            for row in sheet.rows:
                yield dict(zip(sheet.columns, row, strict=True))


def _text(cell: Cell | str) -> str:
    return cell.text if isinstance(cell, Cell) else str(cell)


def span(values: Sequence[float], decimals: int = 1) -> str:
    """Return "a to b" for the smallest and the largest value.

    Examples
    --------
    >>> span([2.51, 3.0, 12.7])
    '2.5 to 12.7'
    """
    low, high = (f"{value:.{decimals}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def shares(sheets: Sequence[Sheet], name: str) -> str:
    """Return "a of b" for a column of texts "a/b", added up."""
    counts = [_text(row[name]).split("/") for row in _rows(sheets, name)]
    return f"{sum(int(a) for a, _ in counts)} of {sum(int(b) for _, b in counts)}"


def _times(sheets: Sequence[Sheet]) -> Headline:
    speed = [sheet for sheet in sheets if "pairs" in sheet.columns]
    paper, here = (span(column(speed, name)) for name in ("paper", "here"))
    return Headline(f"annealing {paper} times faster", f"{here} times")


def _cells(solver: str, other: str, claim: str) -> Callable[[Sequence[Sheet]], Headline]:
    def found(sheets: Sequence[Sheet]) -> Headline:
        lower, kept = shares(sheets, "lower P_nd"), shares(sheets, f"{solver} keeps rho")
        return Headline(claim, f"fewer misses than {other} in {lower}, `rho` kept in {kept}")

    return found


def _starts(sheets: Sequence[Sheet]) -> Headline:
    ends = [sheet for sheet in sheets if ": objective" in sheet.title]
    pairs = zip(column(ends, "median"), column(ends, "usual start"), strict=True)
    farthest = max(abs(median / usual - 1) for median, usual in pairs)
    return Headline("starts end close to the usual one", f"median objectives at most {100 * farthest:.0f} % from it")


def _footnote(sheets: Sequence[Sheet]) -> Headline:
    compared = [sheet for sheet in sheets if "paper's speed-up" in sheet.columns]
    paper, here = ([1 / ratio for ratio in column(compared, name)] for name in ("paper's speed-up", "seconds"))
    return Headline(f"AC-SVM up to {max(paper):.1f} times faster", f"{span(here)} times")


def _rcv1(sheets: Sequence[Sheet]) -> Headline:
    paper, here = (span(column(sheets, name, solver="sgd"), 2) for name in ("paper p_nd", "p_nd"))
    return Headline(f"stochastic method misses {paper}", here)


def _gains(sheets: Sequence[Sheet]) -> Headline:
    methods = ("q_svm", "q_nn hidden=5")
    paper, here = (
        span([gain for method in methods for gain in column(sheets, name, solver=method)])
        for name in ("in the paper", "over scorer")
    )
    return Headline(f"{paper} % more accepted than a scorer", f"{here} %")


def _both(sheets: Sequence[Sheet]) -> Headline:
    (row,) = (row for row in _rows(sheets, "lowest at") if row["curve"] == "by both")
    return Headline("varying both is best", f"lowest misses at {_text(row['lowest at'])} rates")


def _ahead(sheets: Sequence[Sheet]) -> Headline:
    by_rule: dict[str, list[str]] = {}
    for row in _rows(sheets, "ahead"):
        by_rule.setdefault(_text(row["C_pos + C_neg"]), []).append(_text(row["ahead"]))
    paper = by_rule.pop("paper")
    counts = [found.count("all") for found in by_rule.values()]
    ours = span([float(count) for count in counts], 0)
    return Headline(f"`all` ahead on {paper.count('all')} of {len(paper)} sets", f"{ours}, by the rule for the total")


def _cheaper(sheets: Sequence[Sheet]) -> Headline:
    in_each, of_first = (_cheaper_than_one(sheets, name) for name in ("all", "as trained on fold 1"))
    paper = in_each.pop("paper")
    here = (
        f"{span(list(in_each.values()), 0)} if chosen in each fold, {span(list(of_first.values()), 0)} as on the first"
    )
    return Headline(f"`all` cheaper than `one` on {paper} of 11 sets", here)


def _cheaper_than_one(sheets: Sequence[Sheet], name: str) -> dict[str, int]:
    """Return the number of data sets by the rule for the total, of those with a number in the column."""
    found: Counter[str] = Counter()
    for row in _rows(sheets, name):
        cost, one = row[name], row["one"]
        if isinstance(cost, Cell) and isinstance(one, Cell) and cost.value is not None and one.value is not None:
            found[_text(row["C_pos + C_neg"])] += cost.value < one.value
    return dict(found)


def _steps(sheets: Sequence[Sheet]) -> Headline:
    return Headline("9 steps of the projection suffice", f"at most {max(column(sheets, 'most')):.0f} steps")


def _course(sheets: Sequence[Sheet]) -> Headline:
    courses = [column([sheet], "type II") for sheet in sheets if "KKT residual" in sheet.columns]
    return Headline("a falling type II risk", "; ".join(f"{values[0]:.2g} to {values[-1]:.2g}" for values in courses))


def _risks(sheets: Sequence[Sheet]) -> Headline:
    rates, surrogates = (column(sheets, f"type I, {kind}", part="test") for kind in ("0/1", "surrogate"))
    here = "; ".join(f"{rate:.2g} and {surrogate:.2g}" for rate, surrogate in zip(rates, surrogates, strict=True))
    return Headline("type I on test data near 0, surrogate at most 0.1", here)


def _descent(sheets: Sequence[Sheet]) -> Headline:
    ratios = [sheet for sheet in sheets if "ratio" in sheet.columns]
    paper, here = (span(column(ratios, name)) for name in ("paper, this grid", "seconds"))
    return Headline(f"coordinate descent {paper} times faster, for this grid", f"{here} times")


def _structural(sheets: Sequence[Sheet]) -> Headline:
    areas = [sheet for sheet in sheets if "without these" in sheet.columns]
    paper, here = (span(column(areas, name, method="pauc_struct"), 2) for name in ("paper", "without these"))
    return Headline(f"structural SVM reaches {paper}", f"{here} where `w = 0` is not optimal")


def _curves(sheets: Sequence[Sheet]) -> Headline:
    gains = column(sheets, "pauc_struct - auc_svm")
    ahead = sum(gain > 0 for gain in gains)
    return Headline("structural SVM ahead of the full AUC", f"at {ahead} of {len(gains)} shares")


def _order(sheets: Sequence[Sheet]) -> Headline:
    areas = [sheet for sheet in sheets if "without these" in sheet.columns]
    means = [(paper, here) for paper, here in zip(column(areas, "paper"), column(areas, "here"), strict=True)]
    agree = [(a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in combinations(means, 2) if a[0] != b[0]]
    return Headline(
        "structural SVM for the range ahead", f"order as in the paper in {sum(agree)} of {len(agree)} pairs"
    )


def _fastest(sheets: Sequence[Sheet]) -> Headline:
    ratios = column(sheets, "fit / pauc_struct", solver="auc_svm")
    quicker = sum(ratio < 1 for ratio in ratios)
    return Headline("full AUC faster than structural SVM", f"in {quicker} of {len(ratios)} ranges")


def _iterations(sheets: Sequence[Sheet]) -> Headline:
    return Headline("iterations grow with `C`", f"{span(column(sheets, 'largest / smallest C'))} times")


HEADLINES: dict[str, Callable[[Sequence[Sheet]], Headline]] = {
    "bach_figure4": _both,
    "bach_table1": _ahead,
    "bach_table2": _cheaper,
    "barlaud_figure3": _steps,
    "barlaud_figure4": _course,
    "barlaud_figures5_7": _risks,
    "barlaud_figures8_10_like": _risks,
    "davenport_table1": _descent,
    "davenport_table1_full": _descent,
    "gasso_figure3": _starts,
    "gasso_figure4": _cells("np_svm", "AC-SVM", "tight bound, no more misses than AC-SVM"),
    "gasso_figure4_full": _cells("np_svm", "AC-SVM", "tight bound, no more misses than AC-SVM"),
    "gasso_figure5": _cells("np_svm", "AC-SVM", "as Figure 4, linear"),
    "gasso_figure5_full": _cells("np_svm", "AC-SVM", "as Figure 4, linear"),
    "gasso_figure6_like": _cells("sgd", "SVMperf", "constant cost at every `rho`"),
    "gasso_footnote6": _footnote,
    "gasso_table2": _times,
    "gasso_table2_secant": _times,
    "gasso_table3": _times,
    "gasso_table3_secant": _times,
    "gasso_table4_like": _rcv1,
    "gasso_table5": _gains,
    "narasimhan_figure4_like": _curves,
    "narasimhan_figure5_like": _curves,
    "narasimhan_figure7": _fastest,
    "narasimhan_figures8_9": _iterations,
    "narasimhan_learning_curves": _curves,
    "narasimhan_table2_like": _order,
    "narasimhan_table4": _structural,
    "narasimhan_table5_like": _order,
}
