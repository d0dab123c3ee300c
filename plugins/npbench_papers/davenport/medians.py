"""Strategies of a solver by the median score over permutations: Table 1 of Davenport, Baraniuk and Scott (2006)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
import polars as pl

from npbench.report.select.measured import values
from npbench.report.select.strategies import Setting, settings
from npbench.report.sheet import NONE, Sheet, difference, figure, spread
from npbench.report.stats.inference import median_interval, wilcoxon

FORMS = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".3f", "seconds": "g", "n_candidates": ".0f"}
SIGNIFICANCE = 0.05


def table(
    records: pl.DataFrame,
    printed: Sequence[Mapping[str, Any]],
    *,
    baselines: Sequence[str],
    others: Sequence[str],
    by: str = "strategy",
    ratios: Sequence[tuple[str, str]] = (),
    line: Mapping[str, int] | None = None,
    test_part: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Sheet]:
    """Return rates and median scores for each data set, then speed-ups, then whether ``others`` are ahead.

    Parameters
    ----------
    records : DataFrame
        For the problem np, with the metric ``np_score``.
    printed : sequence of mapping
        By ``dataset`` and ``strategy``, with any of ``p_fa``, ``p_nd``, ``np_score`` (its median), ``seconds`` and
        ``n_candidates``.
    baselines, others : sequence of str
        The strategies, in the order of the rows.
    by : str
        The parameter of the solver that names the strategy.
    ratios : sequence of (str, str)
        Pairs of strategies, the slow one first.
    line : mapping of one str to int
        A searched parameter, and how many values it has in the paper. What a search along lines saves over the full
        grid is proportional to that number, so that the paper's speed-ups are also shown for the grid searched here.
    test_part : mapping of str to mapping of str to str
        What is to be said of the data: for each value of the records' column ``test_part`` (drawn, fixed, published) a
        sentence by data set.
    """
    found = list(settings(records, by, printed))
    sheets = [_scores(setting, [*baselines, *others], test_part or {}) for setting in found]
    return [*sheets, _speed(found, ratios, line or {}), _order(found, baselines, others)]


def _scores(setting: Setting, strategies: Sequence[str], test_part: Mapping[str, Mapping[str, str]]) -> Sheet:
    groups = {strategy: setting.records.filter(strategy=strategy) for strategy in strategies}
    rows = [
        row
        for strategy, same in groups.items()
        if len(same)
        for row in _beside(_here(strategy, same, setting.paper(strategy)), _printed(setting.paper(strategy)))
    ]
    return Sheet(
        f"{setting.name}, rho={setting.rho:g}: rates, mean±standard deviation; np_score, median and its 95 % interval; "
        "mean seconds of selection and fit",
        ["strategy", "", *FORMS, "ok", "verdict"],
        rows,
        list(_data_notes(setting, test_part)),
    )


def _here(strategy: str, same: pl.DataFrame, paper: Mapping[str, Any]) -> list[str]:
    good = same.filter(status="ok")
    scores, seconds, candidates = (values(good, name) for name in ("np_score", "seconds", "n_candidates"))
    words = ("better than the paper", "not told apart", "worse than the paper")
    return [
        strategy,
        "here",
        spread(values(good, "p_fa")),
        spread(values(good, "p_nd")),
        _middle(scores),
        f"{float(f'{fmean(seconds):.3g}'):g}" if seconds else NONE,
        f"{fmean(candidates):.0f}" if candidates else NONE,
        f"{len(good)}/{len(same)}",
        _compared(scores, paper.get("np_score"), words),
    ]


def _printed(paper: Mapping[str, Any]) -> list[str]:
    return ["", "paper", *(figure(paper.get(name), form) for name, form in FORMS.items()), "", ""]


def _beside(here: list[str], paper: list[str]) -> Iterator[list[str]]:
    yield from (here, paper)
    apart = [difference(*both) for both in zip(here[2:-2], paper[2:-2], strict=True)]
    if set(apart) != {NONE}:
        yield ["", "here - paper", *apart, "", ""]


def _middle(sample: Sequence[float], form: str = ".3f") -> str:
    """Return the median, and its interval where there is one."""
    if not sample:
        return NONE
    interval = median_interval(sample)
    return f"{median(sample):{form}}" + (f" [{interval[0]:{form}}, {interval[1]:{form}}]" if interval else "")


def _compared(sample: Sequence[float], theirs: float | None, words: tuple[str, str, str]) -> str:
    """Return the word for a median whose interval is below the paper's figure, holds it, or is above it."""
    if not sample:
        return "not measured"
    if theirs is None:
        return NONE
    interval = median_interval(sample)
    if interval is None:
        return "too few"
    below, level, above = words
    return below if interval[1] < theirs else above if interval[0] > theirs else level


def _data_notes(setting: Setting, test_part: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for (part,), same in setting.records.drop_nulls("test_part").group_by("test_part", maintain_order=True):
        told = test_part.get(str(part), {}).get(setting.dataset, "")
        yield f"Splits {part} ({len(same)} of {len(setting.records)} records). {told}".strip()
    if loose := setting.good["n_unconverged"].sum():
        yield f"{loose} fits of the selection missed their tolerance."


def _speed(found: Sequence[Setting], ratios: Sequence[tuple[str, str]], line: Mapping[str, int]) -> Sheet:
    places = dict.fromkeys(row for one in found for row in one.good.select("cpu", "n_jobs", "n_threads").rows())
    return Sheet(
        "Seconds of selection and fit, and candidates, as ratios on the same split: median and its 95 % interval",
        ["data", "rho", "ratio", "splits", "seconds", "paper", "paper, this grid", "verdict", "candidates"],
        [_ratio(setting, slow, fast, line) for setting in found for slow, fast in ratios],
        [f"Timed on {cpu}; jobs side by side: {jobs}, threads of each: {threads}." for cpu, jobs, threads in places],
    )


def _ratio(setting: Setting, slow: str, fast: str, line: Mapping[str, int]) -> list[str]:
    seconds, candidates = (
        np.divide(*setting.by_split(name, [slow, fast])).tolist() for name in ("seconds", "n_candidates")
    )
    slow_paper, fast_paper = (setting.paper(strategy).get("seconds") for strategy in (slow, fast))
    paper = slow_paper / fast_paper if slow_paper and fast_paper else None
    here = paper * _scale(setting, line) if paper else None
    return [
        setting.name,
        f"{setting.rho:g}",
        f"{slow} / {fast}",
        str(len(seconds)),
        _middle(seconds, ".2f"),
        figure(paper, ".1f"),
        figure(here, ".1f"),
        _compared(seconds, here, ("below the paper's", "not told apart", "above the paper's")),
        f"{median(candidates):.1f}" if candidates else NONE,
    ]


def _scale(setting: Setting, line: Mapping[str, int]) -> float:
    """Return how many values the parameter ``line`` has in the search here, over how many in the paper."""
    search = json.loads(setting.records["search"][0])
    return next((len(search[name]) / count for name, count in line.items() if name in search), 1.0)


def _order(found: Sequence[Setting], baselines: Sequence[str], others: Sequence[str]) -> Sheet:
    papers = ["paper: its", "paper: middle", "paper: best"]
    return Sheet(
        f"Median np_score of a baseline, of the middle and of the best of {', '.join(others)}; one-sided signed-rank "
        "test over the splits",
        ["data", "rho", "baseline", "its", "middle", "p", "best", "p of best", *papers, "verdict"],
        [_ahead(setting, baseline, others) for setting in found for baseline in baselines],
        [
            "The middle is the median of the medians, and of the scores on each split where it is tested. The best was "
            "chosen by its median: its p is multiplied by the number it was chosen from. The verdict is on the middle. "
            "Splits share samples: p and intervals speak of splits of these data, not of other data."
        ],
    )


def _ahead(setting: Setting, baseline: str, others: Sequence[str]) -> list[str]:
    present = [strategy for strategy in others if strategy in setting.good["strategy"]]
    base, *scores = setting.by_split("np_score", [baseline, *present])
    papers = map(figure, _order_printed(setting, baseline, others))
    start = [setting.name, f"{setting.rho:g}", baseline]
    if not (len(base) and present):
        return [*start, *[NONE] * 5, *papers, "not measured"]
    medians = [median(one) for one in scores]
    best = int(np.argmin(medians))
    p, p_best = wilcoxon(base - np.median(scores, axis=0), "greater"), wilcoxon(base - scores[best], "greater")
    return [
        *start,
        f"{median(base):.3f}",
        f"{median(medians):.3f}",
        _p(p),
        f"{medians[best]:.3f} {present[best]}",
        _p(p_best and min(1.0, p_best * len(present))),
        *papers,
        _verdict(median(medians) < median(base), p, len(base)),
    ]


def _order_printed(setting: Setting, baseline: str, others: Sequence[str]) -> list[float | None]:
    theirs, *printed = (setting.paper(strategy).get("np_score") for strategy in (baseline, *others))
    known = [one for one in printed if one is not None]
    return [theirs, median(known) if known else None, min(known, default=None)]


def _p(value: float | None) -> str:
    return NONE if value is None else f"{value:.2g}"


def _verdict(is_lower: bool, p: float | None, n_splits: int) -> str:
    if p is None:
        return "all equal"
    if 2.0**-n_splits > SIGNIFICANCE:  # the p-value of differences that all have the sign wanted
        return "too few"
    if p <= SIGNIFICANCE:
        return "ahead"
    return "ahead, within noise" if is_lower else "not ahead"
