"""Statistics: which setting is better, with limits, tests and ranks for each problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.sections import excess, pairs, ranking
from npbench.report.select.metrics import head, shown_of
from npbench.report.select.pairing import SAME_ROWS, setting_cells, setting_columns
from npbench.report.sheet import MISSING, Cell, Row, Section, Sheet, ends, number
from npbench.report.stats.paired import MIN_VALUES, RESAMPLES, Limits, mean_limits

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
    "its p-value is: they exclude 0 where it is significant. Effect is "
    "the matched-pairs rank-biserial correlation, -1 to 1. A is Vargha and Delaney's: the probability that the first "
    "has the higher value on independent splits. Both p-values are two-sided and adjusted by Holm's method for all "
    f"pairs of a data set and protocol; of more than {pairs.MAX_PAIRS} pairs those with the best mean are shown."
)


def sections(records: pl.DataFrame) -> list[Section]:
    """Return for each problem the limits of rates and means, the tests of pairs, and the ranks over data sets."""
    return [
        section
        for problem in PROBLEMS
        for section in _section(records.filter(problem=problem), problem)
        if section.sheets or section.notes
    ]


def _section(records: pl.DataFrame, problem: str) -> Iterator[Section]:
    if records.is_empty():
        return
    metrics = shown_of(records)
    limits = [f"{metric}_{end}" for metric in metrics for end in ("low", "high")]
    records = records.select(*NEEDED_COLUMNS, *metrics, *(name for name in limits if name in records.columns))
    paired = [sheet for metric in metrics if (sheet := pairs.sheet(records, problem, metric))]
    ranks = [one for metric in metrics for one in ranking.rankings(records, problem, metric)]
    of_one = [*excess.sheets(records, problem), *_means(records, problem, metrics)]
    sheets = [*of_one, *paired, *(sheet for sheet, _ in ranks)]
    charts = [chart for _, chart in ranks if chart]
    notes = list(_notes(records, problem, paired=bool(paired)))
    yield Section(f"Statistics of problem {problem}", sheets, charts, notes)


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


def _means(records: pl.DataFrame, problem: str, shown: Sequence[str]) -> list[Sheet]:
    setting = ["dataset", "problem_params", "label"]
    good = records.filter(status="ok").filter(pl.len().over(setting) >= MIN_VALUES).sort(*setting, "seed", "repeat")
    metrics = [metric for metric in shown if _finite(good, metric)]
    groups = list(good.group_by(setting, maintain_order=True))
    samples = [_finite(same, metric) for metric in metrics for _, same in groups]
    cells = [_cell(sample, limits) for sample, limits in zip(samples, mean_limits(samples), strict=True)]
    rows: list[Row] = [
        [str(dataset), *setting_cells(str(text)), str(label), len(same), *cells[place :: len(groups)]]
        for place, ((dataset, text, label), same) in enumerate(groups)
    ]
    title = f"Means over repeats, with 95 % limits by the bootstrap (BCa, {RESAMPLES} resamples)"
    columns = [*setting_columns(problem), "solver", "repeats", *map(head, metrics)]
    return [Sheet(title, columns, rows, name=f"{problem}-means", detail=True)] if metrics else []


def _finite(records: pl.DataFrame, metric: str) -> list[float]:
    return records.filter(pl.col(metric).is_finite())[metric].to_list() if metric in records.columns else []


def _cell(sample: list[float], limits: Limits | None) -> Cell:
    if not sample:
        return MISSING
    mean = fmean(sample)
    if limits is None:
        return number(mean)
    return Cell(f"{mean:.3f} [{limits[0]:.3f}, {limits[1]:.3f}]", mean, further=ends(limits))
