"""Statistics: which setting is better, with tests and ranks for each problem."""

from collections.abc import Iterator

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.sections import excess, pairs, ranking
from npbench.report.select.metrics import shown_of
from npbench.report.select.pairing import SAME_ROWS
from npbench.report.sheet import Section
from npbench.report.stats.paired import MIN_VALUES

NEEDED_COLUMNS = ["status", "label", "dataset", "n_samples", "problem_params", *SAME_ROWS, "split_sha256"]

ONE_SETTING = (
    "Nothing to compare: no two settings share two splits. Run several on the same data with the same protocol and "
    "seed, as in npbench -m solver=A,B dataset=NAME repeats=10."
)
ONE_REPEAT = "No test is possible with one repeat of each setting: run with repeats=10."
FEW_REPEATS = (
    f"With fewer than {MIN_VALUES} repeats there are no 95 % limits, and no signed-rank test can reach 5 %: run with "
    "repeats=10 or more."
)
OVERLAP_NOTE = (
    "Repeats are random splits of the same samples and overlap. The signed-rank test (p) treats them as independent "
    "and is optimistic: it holds for further splits of these data. The corrected resampled t-test of Nadeau and Bengio "
    "(p corrected) allows for the overlap. If only the former is significant, the verdict ends with 'on these splits'."
)
READING_NOTE = (
    "First - second is the Hodges-Lehmann estimate of the shift, with the limits of the signed-rank test, adjusted as "
    "its p-value is. A verdict needs limits without 0: with many equal pairs, p <= 5 % may not suffice. Effect is "
    "the matched-pairs rank-biserial correlation, -1 to 1. Both p-values are two-sided and adjusted by Holm's method "
    f"for all pairs of a data set and protocol; of more than {pairs.MAX_PAIRS}, those with the best mean are shown."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return for each problem the limits of rates, the tests of pairs, and the ranks over data sets."""
    made = [_section(of_one, problem) for problem in PROBLEMS if len(of_one := records.filter(problem=problem))]
    return [section for section in made if section.sheets or section.notes]


def _section(records: pl.DataFrame, problem: str) -> Section:
    metrics = shown_of(records)
    limits = [f"{metric}_{end}" for metric in metrics for end in ("low", "high")]
    records = records.select(*NEEDED_COLUMNS, *metrics, *(name for name in limits if name in records.columns))
    paired = [sheet for metric in metrics if (sheet := pairs.sheet(records, problem, metric))]
    ranks = [one for metric in metrics for one in ranking.rankings(records, problem, metric)]
    sheets = [*excess.sheets(records, problem), *paired, *(sheet for sheet, _ in ranks)]
    charts = [chart for _, chart in ranks if chart]
    notes = list(_notes(records, problem, paired=bool(paired)))
    return Section(f"Statistics of problem {problem}", sheets, charts, notes)


def _notes(records: pl.DataFrame, problem: str, *, paired: bool) -> Iterator[str]:
    yield from advice(records, paired=paired)
    if paired:
        yield OVERLAP_NOTE
        yield READING_NOTE
        for metric, bound in PROBLEMS[problem].bounds.items():
            yield f"Other metrics are compared and ranked whether or not {metric} keeps {bound}."


def advice(records: pl.DataFrame, *, paired: bool) -> Iterator[str]:
    """Yield advice on missing repeats and settings in records of one problem; ``paired`` if two share two splits."""
    good = records.filter(status="ok")
    most = good.group_by("dataset", "data_sha256", "problem_params", "label").len()["len"].max()
    if most == 1:
        yield ONE_REPEAT
    elif not paired:
        yield ONE_SETTING
    elif isinstance(most, int) and most < MIN_VALUES:
        yield FEW_REPEATS
