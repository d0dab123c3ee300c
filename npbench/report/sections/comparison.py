"""What the records tell about which setting is better: limits, tests and ranks, a section for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.section import Section
from npbench.report.sections import excess, pairs, ranking
from npbench.report.select.measured import values
from npbench.report.select.pairing import PLACE, about, asked, headline
from npbench.report.sheet import NONE, Sheet
from npbench.report.stats.intervals import FEWEST, RESAMPLES, Limits, mean_limits

NEEDED = ["status", "label", "dataset", "data_sha256", "n_samples", "problem_params", *PLACE[1:], "split_sha256"]

ONE_SETTING = (
    "No two settings have two splits in common, so that there is nothing to compare: run several on the same data with "
    "the same protocol and seed, as in npbench -m solver=A,B dataset=NAME repeats=10."
)
ONE_REPEAT = "There is one repeat of each setting, and no test can be made of it: run with repeats=10."
FEW_REPEATS = (
    f"With fewer than {FEWEST} repeats there are no 95 % limits, and no signed-rank test can reach 5 %: run with "
    "repeats=10 or more."
)
OVERLAP = (
    "Repeats are random splits of the same samples and overlap. The signed-rank test (p) takes them for independent "
    "and is optimistic: it speaks of further splits of these data. The corrected resampled t-test of Nadeau and Bengio "
    "(p corrected) allows for the overlap; where only the former tells two settings apart, the verdict ends with "
    "'on these splits'."
)
READING = (
    "First - second is the Hodges-Lehmann estimate of the shift, with the limits that belong to the signed-rank test; "
    "effect is the matched-pairs rank-biserial correlation, -1 to 1; A is Vargha and Delaney's, the chance that the "
    "first has the higher figure on splits drawn apart. Both p-values are two-sided and adjusted by Holm's method for "
    f"all pairs of a data set and protocol; of more than {pairs.ALL_PAIRS} pairs those with the best mean are shown."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return for each problem the limits of rates and means, the tests of pairs, and the ranks over data sets.

    Parameters
    ----------
    records : DataFrame
        The latest record of each job with ``label``, of any problems.
    """
    return [
        section
        for problem in PROBLEMS
        for section in _section(records.filter(problem=problem), problem)
        if section.sheets or section.notes
    ]


def _section(records: pl.DataFrame, problem: str) -> Iterator[Section]:
    if records.is_empty():
        return
    figures = headline(problem)
    records = records.select(*NEEDED, f"^({'|'.join(figures)})(_low|_high)?$")
    paired = [sheet for figure in figures if (sheet := pairs.sheet(records, problem, figure))]
    ranks = [one for figure in figures for one in ranking.rankings(records, problem, figure)]
    sheets = [*excess.sheets(records, problem), *_means(records, problem), *paired, *(sheet for sheet, _ in ranks)]
    charts = [chart for _, chart in ranks if chart]
    notes = list(_notes(records, problem, paired=bool(paired)))
    yield Section(f"Statistics of problem {problem}", sheets, charts, notes)


def _notes(records: pl.DataFrame, problem: str, *, paired: bool) -> Iterator[str]:
    yield from lacking(records, paired=paired)
    if paired:
        yield OVERLAP
        yield READING
        for figure, bound in PROBLEMS[problem].bounds.items():
            yield f"Other figures are compared and ranked whether or not {figure} keeps {bound}."


def lacking(records: pl.DataFrame, *, paired: bool) -> Iterator[str]:
    """Yield a sentence on what records of one problem lack for tests, and how to get it.

    Parameters
    ----------
    records : DataFrame
        Of one problem, with ``label``.
    paired : bool
        Whether two settings have two splits in common.
    """
    good = records.filter(status="ok")
    most = good.group_by("dataset", "data_sha256", "problem_params", "label").len()["len"].max()
    if most == 1:
        yield ONE_REPEAT
    elif not paired:
        yield ONE_SETTING
    elif isinstance(most, int) and most < FEWEST:
        yield FEW_REPEATS


def _means(records: pl.DataFrame, problem: str) -> list[Sheet]:
    """Return the table of means with limits, of what has limits."""
    setting = ["dataset", "problem_params", "label"]
    good = records.filter(status="ok").filter(pl.len().over(setting) >= FEWEST).sort(*setting, "seed", "repeat")
    figures = [figure for figure in headline(problem) if _finite(good, figure)]
    groups = list(good.group_by(setting, maintain_order=True))
    samples = [_finite(same, figure) for figure in figures for _, same in groups]
    cells = [_cell(sample, limits) for sample, limits in zip(samples, mean_limits(samples), strict=True)]
    rows = [
        [str(dataset), *asked(str(text)), str(label), str(len(same)), *cells[number :: len(groups)]]
        for number, ((dataset, text, label), same) in enumerate(groups)
    ]
    title = f"Means over repeats, with 95 % limits by the bootstrap (BCa, {RESAMPLES} resamples)"
    columns = [*about(problem), "solver", "repeats", *figures]
    return [Sheet(title, columns, rows, name=f"{problem}-means", detail=True)] if figures else []


def _finite(records: pl.DataFrame, figure: str) -> list[float]:
    return values(records.filter(pl.col(figure).is_finite()), figure) if figure in records.columns else []


def _cell(sample: list[float], limits: Limits | None) -> str:
    if not sample:
        return NONE
    return f"{fmean(sample):.3f}" + (f" [{limits[0]:.3f}, {limits[1]:.3f}]" if limits else "")
