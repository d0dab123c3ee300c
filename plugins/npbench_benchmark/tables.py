"""Tables of the benchmark, for each setting of the problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from npbench.report.select.recorded_settings import protocol_text, protocols
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, ends, interval, number
from npbench.report.stats.paired import MIN_VALUES
from npbench.report.stats.ranks import critical_difference
from npbench_benchmark.charts import complete, settings
from npbench_benchmark.leaderboard import COMPARED, Standing, bounded, by_dataset, by_promise, judge, standings, table

BOUND_COLUMNS = ["method", "promise", "verdict", "jobs", "above rho", "share", "95 % limits", "allowed", "P_fa", "P_nd"]
RANK_COLUMNS = ["method", "data sets", "rank", "place", "less a source", "wins", "Elo", "95 % limits"]
RANK_COLUMNS += ["score", "seconds", "efficient"]
BOUND_NOTES = [
    "Promise: guaranteed with probability 1 - delta, proved on average, measured (kept in simulations), or none.",
    "Share of test parts with P_fa > rho, with Clopper and Pearson's limits for independent test parts; those of one "
    "data set overlap, so the limits are too narrow. Allowed: the share to expect if the promise is kept, by the "
    "numbers of negatives; without one a half, the share of a method whose true rate is rho. A promise on average is "
    "judged by the mean P_fa, with the noise of its beta-binomial distribution.",
    "P_fa, P_nd: false alarms, and misses of methods that keep the bound; means over data sets.",
]
SCORES = {"np_score": "the NP score, P_nd + max(0, P_fa - rho) / rho"}
RANK_NOTES = [
    "Methods with the same promise. A data set on which a job failed or took too long is lost. Place: by mean rank; "
    "less a source: the places if the data sets of one source are left out. Wins: share of comparisons won over all "
    "data sets and other methods. Elo: Bradley and Terry's model, centred near 1000, limits by the bootstrap over six "
    "data sets or more.",
    "Score and processor seconds of selection and fit: mean and geometric mean over data sets; a failed job scores 1, "
    "as if it accepted nothing. Efficient: no other method scores better in less time.",
]


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return for each setting who keeps the bound, the ranking, and details; last the protocol of each data set."""
    return [*(sheet for text, group in settings(records) for sheet in _sheets(text, group)), _datasets(records)]


def places(records: pl.DataFrame, keys: Sequence[str]) -> list[Sheet]:
    """Return the places of the methods with these records among all methods with the same promise."""
    own = frozenset(keys)
    found = [
        (text + promise, alike) for text, group in settings(records) for promise, alike in by_promise(standings(group))
    ]
    rows = [
        _placed(text, one, alike, is_own=bool(one.keys & own))
        for text, alike in found
        if any(one.keys & own for one in alike)
        for one in _near(alike, own)
    ]
    columns = ["setting", "method", "place", "data sets", "rank", "score", "bound"]
    note = "The best method, and > those of this run between their neighbours."
    return [Sheet("places: among the stored methods", columns, rows, [note, _scored(records)])]


def _near(found: Sequence[Standing], own: frozenset[str]) -> list[Standing]:
    """Return the best method, those with some of these keys, and the neighbours of each."""
    ours = [place for place, one in enumerate(found) if one.keys & own]
    shown = {0, *(place + step for place in ours for step in (-1, 0, 1))}
    return [one for place, one in enumerate(found) if place in shown]


def _placed(text: str, one: Standing, found: Sequence[Standing], *, is_own: bool) -> Row:
    most = max(other.n_datasets for other in found)
    return [
        text,
        Cell(f"> {one.label}", flag="best") if is_own else one.label,
        Cell(f"{one.place} of {len(found)}", one.place, further=(("of", len(found)),)),
        count(one.n_datasets, most),
        number(one.rank, ".2f"),
        number(one.score),
        one.verdict,
    ]


def _datasets(records: pl.DataFrame) -> Sheet:
    texts = pl.Series([protocol_text(*row) for row in records.select("protocol", "protocol_params").iter_rows()])
    about = ["n_samples", "n_features", "n_positive", "protocol", "preprocess", "missing", "categories", "repeats"]
    found = (
        records.with_columns(protocol=texts, repeats=pl.col("repeat").n_unique().over("dataset"))
        .with_columns(pl.col(name).cast(pl.String).fill_null(MISSING.text) for name in about)
        .select("dataset", *about)
        .unique()
        .sort(pl.all())
    )
    is_one = texts.n_unique() == 1
    note = protocols(records) if is_one else f"{protocols(records)} Their results do not compare."
    rows = [[Cell(text, float(text)) if text.isdecimal() else text for text in row] for row in found.rows()]
    columns = ["data set", "samples", "features", "positive", *about[3:]]
    return Sheet("data sets: sizes and protocols", columns, rows, [note], detail=is_one)


def _sheets(text: str, records: pl.DataFrame) -> Iterator[Sheet]:
    found = standings(records)
    results = by_dataset(records)
    datasets, labels, scores = table(results)
    if bounded(records):
        kept = list(map(_kept, found))
        yield Sheet(f"{text}: who keeps the bound", BOUND_COLUMNS, kept, BOUND_NOTES, f"{text} bound")
    for promise, alike in by_promise(found):
        ranked = [_ranked(one, len(datasets)) for one in alike]
        notes = [_scored(records), *RANK_NOTES, *_difference(alike)]
        yield Sheet(f"{text}: ranking{promise}", RANK_COLUMNS, ranked, notes, f"{text} ranking{promise}")
    order = [labels.index(one.label) for one in found]
    columns = ["data set", *(one.label for one in found)]
    rows: list[Row] = [
        [name, *(_score(value) for value in row[order])] for name, row in zip(datasets, scores, strict=True)
    ]
    yield Sheet(f"{text}: score by data set", columns, rows, name=f"{text} score by data set", detail=True)
    yield _each(text, results, {one.label: one.promise for one in found})


def _scored(records: pl.DataFrame) -> str:
    metric = judge(records)
    return f"Score: {SCORES.get(metric, f'1 - {metric}')}, mean over repeats; lower is better."


def _kept(one: Standing) -> Row:
    return [
        one.label,
        one.promise,
        one.verdict,
        count(one.n_good, one.n_jobs),
        number(one.above, "d"),
        number(one.share),
        interval(one.share_limits) if one.n_good else MISSING,
        number(one.allowed, ".2g"),
        number(one.p_fa),
        MISSING if one.verdict == "exceeded" else number(one.p_nd),
    ]


def _ranked(one: Standing, n_datasets: int) -> Row:
    return [
        one.label,
        count(one.n_datasets, n_datasets),
        number(one.rank, ".2f"),
        number(one.place, "d"),
        _range(one.places_without),
        number(one.win_rate, ".2f"),
        number(one.elo, ".0f"),
        interval(one.elo_limits if n_datasets >= MIN_VALUES else None, ".0f"),
        number(one.score),
        MISSING if math.isnan(one.seconds) else number(one.seconds, ".2g"),
        "yes" if one.is_efficient else "",
    ]


def _range(places: tuple[int, int] | None) -> Cell:
    return Cell("-".join(map(str, dict.fromkeys(places))), further=ends(places)) if places else MISSING


def _score(value: float) -> Cell | str:
    return MISSING if math.isnan(value) else number(value) if math.isfinite(value) else "failed"


def _difference(found: Sequence[Standing]) -> list[str]:
    ranked = complete(found)
    if len(ranked) < 2 or ranked[0].n_datasets < 2:
        return []
    difference = critical_difference(len(ranked), ranked[0].n_datasets)
    return [
        f"Ranks of methods on all data sets differ significantly if they are {difference:.2f} apart (Nemenyi's "
        "critical difference at 5 %)."
    ]


def _each(text: str, results: pl.DataFrame, promises: Mapping[str, str]) -> Sheet:
    """Return a row for each data set and method, the best first."""
    columns = ["data set", "promise", "method", "rank", "score", "P_fa", "P_nd", "above rho", "jobs", "seconds"]
    results = results.with_columns(promise=pl.col("label").replace_strict(promises, return_dtype=pl.String))
    alike = ["dataset", "promise"]
    ranked = results.with_columns(rank=COMPARED.rank().over(alike)).sort(*alike, "rank", "label")
    rows: list[Row] = [
        [
            row["dataset"],
            row["promise"] or MISSING,
            row["label"],
            number(row["rank"], "g"),
            number(row["score"]),
            number(row["p_fa"]),
            number(row["p_nd"]),
            number(row["above"], "d"),
            count(row["n_good"], row["n_jobs"]),
            MISSING if row["log_seconds"] is None else number(math.exp(row["log_seconds"]), ".2g"),
        ]
        for row in ranked.iter_rows(named=True)
    ]
    return Sheet(f"{text}: methods by data set", columns, rows, name=f"{text} methods by data set", detail=True)
