"""Findings of each published experiment in a few words: the paper's and ours.

The numbers in these words are read from the tables of the experiment, so that they follow the records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from npbench.report.sheet import Cell, Sheet


def span(values: Sequence[float], decimals: int = 1) -> str:
    """Return "a to b" for the smallest and the largest value."""
    low, high = (f"{value:.{decimals}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Tables:
    """The tables of an experiment."""

    sheets: Sequence[Sheet]

    def having(self, column: str) -> Tables:
        """Return the tables with a column."""
        return Tables([sheet for sheet in self.sheets if column in sheet.columns])

    def rows(self, column: str) -> Iterator[dict[str, Cell]]:
        """Yield the rows of the tables with a column."""
        for sheet in self.having(column).sheets:
            yield from (dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.cells)

    def numbers(self, column: str, **equal: str) -> list[float]:
        """Return the numbers of a column, from rows with the given texts in other columns."""
        rows = (row for row in self.rows(column) if all(row[name].text == text for name, text in equal.items()))
        values = (row[column].value for row in rows)
        return [float(value) for value in values if value is not None and math.isfinite(value)]

    def span(self, column: str, decimals: int = 1, **equal: str) -> str:
        """Return the smallest and the largest number of a column."""
        return span(self.numbers(column, **equal), decimals)

    def shares(self, column: str) -> str:
        """Return "a of b" for a column of texts "a/b", added up."""
        counts = [row[column].text.split("/") for row in self.rows(column)]
        return f"{sum(int(a) for a, _ in counts)} of {sum(int(b) for _, b in counts)}"


Headline = tuple[str, str]  # the paper's finding and npbench's


def _speedup(tables: Tables) -> Headline:
    speed = tables.having("pairs")
    return f"annealing {speed.span('paper')} times faster", f"{speed.span('here')} times"


def _cells(solver: str, other: str, claim: str) -> Callable[[Tables], Headline]:
    def found(tables: Tables) -> Headline:
        lower, kept = tables.shares("lower P_nd"), tables.shares(f"{solver} keeps rho")
        return claim, f"fewer misses than {other} in {lower}, `rho` kept in {kept}"

    return found


def _starts(tables: Tables) -> Headline:
    ends = Tables([sheet for sheet in tables.sheets if ": objective" in sheet.title])
    pairs = zip(ends.numbers("median"), ends.numbers("usual start"), strict=True)
    farthest = max(abs(median / usual - 1) for median, usual in pairs)
    return "starts end close to the usual one", f"median objectives at most {100 * farthest:.0f} % from it"


def _footnote(tables: Tables) -> Headline:
    compared = tables.having("paper's speed-up")
    paper, here = ([1 / ratio for ratio in compared.numbers(name)] for name in ("paper's speed-up", "seconds"))
    return f"AC-SVM up to {max(paper):.1f} times faster", f"{span(here)} times"


def _rcv1(tables: Tables) -> Headline:
    paper, here = (tables.span(name, 2, solver="sgd") for name in ("paper p_nd", "p_nd"))
    return f"stochastic method misses {paper}", here


def _gains(tables: Tables) -> Headline:
    methods = ("q_svm", "q_nn")
    paper, here = (
        span([gain for method in methods for gain in tables.numbers(name, solver=method)])
        for name in ("in the paper", "over scorer")
    )
    return f"{paper} % more accepted than a scorer", f"{here} %"


def _both(tables: Tables) -> Headline:
    (lowest,) = (row["lowest at"].text for row in tables.rows("lowest at") if row["curve"].text == "by both")
    return "varying both is best", f"lowest misses at {lowest} rates"


def _ahead(tables: Tables) -> Headline:
    by_rule: dict[str, list[str]] = {}
    for row in tables.rows("ahead"):
        by_rule.setdefault(row["C_pos + C_neg"].text, []).append(row["ahead"].text)
    paper = by_rule.pop("paper")
    ours = span([found.count("all") for found in by_rule.values()], 0)
    return f"`all` ahead on {paper.count('all')} of {len(paper)} sets", f"{ours}, by the rule for the total"


def _cheaper(tables: Tables) -> Headline:
    in_each, on_first = (_sets_cheaper_than_one(tables, name) for name in ("all", "as trained on fold 1"))
    paper = in_each.pop("paper")
    ours = f"{span([*in_each.values()], 0)} if chosen in each fold, {span([*on_first.values()], 0)} as on the first"
    return f"`all` cheaper than `one` on {paper} of 11 sets", ours


def _sets_cheaper_than_one(tables: Tables, name: str) -> Counter[str]:
    """Count the data sets by the rule for the total, of those with a number in the column."""
    found: Counter[str] = Counter()
    for row in tables.rows(name):
        cost, one = row[name].value, row["one"].value
        if cost is not None and one is not None:
            found[row["C_pos + C_neg"].text] += cost < one
    return found


def _steps(tables: Tables) -> Headline:
    return "9 steps of the projection suffice", f"at most {max(tables.numbers('most')):.0f} steps"


def _course(tables: Tables) -> Headline:
    courses = [Tables([sheet]).numbers("type II") for sheet in tables.having("KKT residual").sheets]
    return "a falling type II risk", "; ".join(f"{values[0]:.2g} to {values[-1]:.2g}" for values in courses)


def _risks(tables: Tables) -> Headline:
    rates, surrogates = (tables.numbers(f"type I, {kind}", part="test") for kind in ("0/1", "surrogate"))
    here = "; ".join(f"{rate:.2g} and {surrogate:.2g}" for rate, surrogate in zip(rates, surrogates, strict=True))
    return "type I on test data near 0, surrogate at most 0.1", here


def _descent(tables: Tables) -> Headline:
    paper, here = (tables.having("ratio").span(name) for name in ("paper, this grid", "seconds"))
    return f"coordinate descent {paper} times faster, for this grid", f"{here} times"


def _structural(tables: Tables) -> Headline:
    areas = tables.having("without these")
    paper, here = (areas.span(name, 2, method="pauc_struct") for name in ("paper", "without these"))
    return f"structural SVM reaches {paper}", f"{here} where `w = 0` is not optimal"


def _curves(tables: Tables) -> Headline:
    gains = tables.numbers("pauc_struct - auc_svm")
    return "structural SVM ahead of the full AUC", f"at {sum(gain > 0 for gain in gains)} of {len(gains)} shares"


def _order(tables: Tables) -> Headline:
    areas = tables.having("without these")
    means = list(zip(areas.numbers("paper"), areas.numbers("here"), strict=True))
    agree = [(a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in combinations(means, 2) if a[0] != b[0]]
    return "structural SVM for the range ahead", f"order as in the paper in {sum(agree)} of {len(agree)} pairs"


def _fastest(tables: Tables) -> Headline:
    ratios = tables.numbers("fit / pauc_struct", solver="auc_svm")
    quicker = sum(ratio < 1 for ratio in ratios)
    return "full AUC faster than structural SVM", f"in {quicker} of {len(ratios)} ranges"


def _iterations(tables: Tables) -> Headline:
    return "iterations grow with `C`", f"{tables.span('largest / smallest C')} times"


def headline(experiment: str, sheets: Sequence[Sheet]) -> Headline:
    """Return the headline of an experiment from its tables; dashes if none is defined."""
    return HEADLINES.get(experiment, lambda _: ("-", "-"))(Tables(sheets))


_KERNELS = _cells("np_svm", "AC-SVM", "misses as AC-SVM or fewer, but more on pageblocks")
_LINEAR = _cells("np_svm", "AC-SVM", "fewer misses than AC-SVM on magic")
HEADLINES: dict[str, Callable[[Tables], Headline]] = {
    "bach_figure4": _both,
    "bach_table1": _ahead,
    "bach_table2": _cheaper,
    "barlaud_figure3": _steps,
    "barlaud_figure4": _course,
    **dict.fromkeys(("barlaud_figures5_7", "barlaud_figures8_10_like"), _risks),
    **dict.fromkeys(("davenport_table1", "davenport_table1_full"), _descent),
    "gasso_figure3": _starts,
    **dict.fromkeys(("gasso_figure4", "gasso_figure4_full"), _KERNELS),
    **dict.fromkeys(("gasso_figure5", "gasso_figure5_full"), _LINEAR),
    "gasso_figure6_like": _cells("sgd", "SVMperf", "constant cost at every `rho`"),
    "gasso_footnote6": _footnote,
    **dict.fromkeys(("gasso_table2", "gasso_table2_secant", "gasso_table3", "gasso_table3_secant"), _speedup),
    "gasso_table4_like": _rcv1,
    "gasso_table5": _gains,
    **dict.fromkeys(("narasimhan_figure4_like", "narasimhan_figure5_like", "narasimhan_learning_curves"), _curves),
    "narasimhan_figure7": _fastest,
    "narasimhan_figures8_9": _iterations,
    **dict.fromkeys(("narasimhan_table2_like", "narasimhan_table5_like"), _order),
    "narasimhan_table4": _structural,
}
