"""Search strategies by the median score over permutations: Table 1 of Davenport, Baraniuk and Scott (2006)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
import polars as pl

from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, estimate, number, spread
from npbench.report.stats.paired import median_interval
from npbench_papers.claims import with_claims
from npbench_papers.davenport.strategies import Setting, settings
from npbench_papers.records import Printed, difference, timing_notes, values
from npbench_papers.verdicts import SPEEDUP_TOLERANCE, explained, judge, judge_speedup

FORMS = {"p_fa": ".3f", "p_nd": ".3f", "np_score": ".3f", "seconds": "g", "n_candidates": ".0f"}
SCORE_TOLERANCE = 0.05


@with_claims
def table(
    records: pl.DataFrame,
    printed: Printed,
    *,
    strategies: Sequence[str],
    ratios: Sequence[tuple[str, str]],
    line: Mapping[str, int],
    test_part: Mapping[str, Mapping[str, str]],
) -> list[Sheet]:
    """Return rates and median scores for each data set, then speed-ups.

    Records are of the problem np, with the metric ``np_score``. Printed, by ``dataset`` and ``strategy``: any of
    ``p_fa``, ``p_nd``, ``np_score`` (its median), ``seconds`` and ``n_candidates``.

    ``strategies`` are in the order of the rows; ``ratios`` are pairs of them, slow one first. ``line`` is a searched
    parameter with its number of values in the paper: the speed-up of a search along lines is proportional to it, so the
    paper's is also shown for the grid searched here. ``test_part`` has notes by data set, for each value of that
    column.
    """
    found = list(settings(records, printed))
    sheets = [_scores(setting, strategies, test_part) for setting in found]
    return [*sheets, _speed(found, ratios, line)]


def _scores(setting: Setting, strategies: Sequence[str], test_part: Mapping[str, Mapping[str, str]]) -> Sheet:
    groups = {strategy: setting.records.filter(strategy=strategy) for strategy in strategies}
    rows = [row for strategy, same in groups.items() for row in _rows(strategy, same, setting.paper(strategy))]
    title = f"{setting.name}, rho={setting.rho:g}: rates, mean±standard deviation; "
    title += "np_score, median and its 95 % interval; mean processor seconds of selection and fit; "
    title += "share of splits whose 95 % limits of p_fa are above rho"
    margin = f"The verdict is on the median np_score, to {SCORE_TOLERANCE:g}."
    notes = [*_data_notes(setting, test_part), *explained(margin, (row[-1] for row in rows))]
    return Sheet(title, ["strategy", "numbers", *FORMS, "share p_fa_low > rho", "ok", "verdict"], rows, notes)


def _rows(strategy: str, same: pl.DataFrame, paper: Mapping[str, Any]) -> Iterator[Row]:
    """Yield our row, the paper's, and their difference if there is any; nothing without records."""
    if same.is_empty():
        return
    good = same.filter(status="ok")
    scores, seconds, candidates = (values(good, name) for name in ("np_score", "seconds", "n_candidates"))
    costs = [number(float(f"{fmean(seconds):.3g}") if seconds else None, "g")]
    costs += [number(fmean(candidates) if candidates else None, ".0f")]
    here = [spread(values(good, "p_fa")), spread(values(good, "p_nd")), _median(scores), *costs]
    above = [low > rho for low, rho in zip(values(good, "p_fa_low"), values(good, "rho"), strict=False)]
    share, ok = number(fmean(above) if above else None, ".2f"), count(len(good), len(same))
    word = judge(here[2].value, paper.get("np_score"), SCORE_TOLERANCE, limits=median_interval(scores), n=len(scores))
    yield [strategy, "here", *here, share, ok, word]
    theirs = [number(paper.get(name), form) for name, form in FORMS.items()]
    apart = [difference(*three) for three in zip(here, theirs, FORMS.values(), strict=True)]
    yield ["", "paper", *theirs, "", "", ""]
    if set(apart) != {MISSING}:
        yield ["", "here - paper", *apart, "", "", ""]


def _median(sample: Sequence[float], form: str = ".3f") -> Cell:
    if not sample:
        return MISSING
    return estimate(median(sample), median_interval(sample), form, len(sample))


def _data_notes(setting: Setting, test_part: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for (part,), same in setting.records.drop_nulls("test_part").group_by("test_part", maintain_order=True):
        note = test_part.get(str(part), {}).get(setting.dataset, "")
        yield f"Splits {part} ({len(same)} of {len(setting.records)} records). {note}".strip()
    if loose := setting.good["n_unconverged"].sum():
        yield f"{loose} fits of the selection missed their tolerance."


def _speed(found: Sequence[Setting], ratios: Sequence[tuple[str, str]], line: Mapping[str, int]) -> Sheet:
    timed = pl.col("strategy").is_in([strategy for pair in ratios for strategy in pair])
    notes = dict.fromkeys(note for setting in found for note in timing_notes(setting.good.filter(timed)))
    rows = [_ratio(setting, slow, fast, line) for setting in found for slow, fast in ratios]
    about = f"The verdict compares the ratio of seconds to the paper's on this grid, to {100 * SPEEDUP_TOLERANCE:g} %."
    title = "Processor seconds to train, and candidates, as ratios on the same split: median and its 95 % interval"
    columns = ["data", "rho", "ratio", "splits", "seconds", "paper", "paper, this grid", "verdict", "candidates"]
    return Sheet(title, columns, rows, [*notes, *explained(about, (row[-2] for row in rows))])


def _ratio(setting: Setting, slow: str, fast: str, line: Mapping[str, int]) -> Row:
    seconds, candidates = (
        np.divide(*setting.by_split(name, [slow, fast])).tolist() for name in ("seconds", "n_candidates")
    )
    slow_paper, fast_paper = (setting.paper(strategy).get("seconds") for strategy in (slow, fast))
    paper = slow_paper / fast_paper if slow_paper and fast_paper else None
    this_grid = paper * _scale(setting, line) if paper else None
    here, papers = _median(seconds, ".2f"), [number(one, ".1f") for one in (paper, this_grid)]
    word = judge_speedup(here.value, this_grid, median_interval(seconds), len(seconds))
    fewer = number(median(candidates) if candidates else None, ".1f")
    about: Row = [setting.name, number(setting.rho, "g"), f"{slow} / {fast}", number(len(seconds), "d")]
    return [*about, here, *papers, word, fewer]


def _scale(setting: Setting, line: Mapping[str, int]) -> float:
    """Return the ratio of the numbers of values of the parameter ``line``, here to the paper's."""
    search = json.loads(setting.records["search"][0])
    return next((len(search[name]) / n for name, n in line.items() if name in search), 1.0)
