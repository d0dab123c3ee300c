"""Tables of the benchmark, for each setting of the problem."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from npbench.report.sections.ranking import PLACES_NOTE, limits
from npbench.report.select.recorded_settings import protocol_text, protocols
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, ends, number
from npbench.report.stats.ranks import fewest_to_separate, ranking
from npbench_benchmark.charts import settings
from npbench_benchmark.leaderboard import League, Standing, bounded, by_dataset, judge, leagues, np_scores, table

FEW_NEGATIVES = 320  # in a data set
SATURATED, WEAK = 0.06, 0.5  # misses of the median method, below and above
WEIGHTS = (0.25, 1.0, 2.0, 5.0)  # of the excess, in scores
SEPARATED = 3  # methods for which a note says how many data sets would separate them

BOUND_COLUMNS = ["method", "promise", "verdict", "answers", "above rho", "share", "95 % limits", "allowed"]
BOUND_COLUMNS += ["P_fa", "P_fa/rho, 95 %"]
RANK_COLUMNS = ["method", "data sets", "place", "places", "rank", "P_nd", "common", "at rho", "score"]
RANK_COLUMNS += ["seconds", "candidates", "unconverged", "efficient"]
LOST_NOTE = "A job without an answer counts as one that accepts nothing, in every column but the seconds."
BOUND_NOTES = [
    "Promise: guaranteed with probability 1 - delta, proved on average, measured (kept in simulations), or none.",
    "Share of test parts with P_fa > rho, with Clopper and Pearson's limits for independent test parts; those of one "
    "data set overlap, so the limits are too narrow. Allowed: the share to expect if the promise is kept, by the "
    "numbers of negatives. A promise on average is judged by the mean P_fa, with the noise of its beta-binomial "
    "distribution. Exceeded: beyond these limits, or this noise.",
    "P_fa: mean over data sets. P_fa/rho, 95 %: 95 % of the test parts have no more.",
    LOST_NOTE,
]
SCORES = {"np_score": "P_nd + max(0, P_fa - rho) / rho, at most 1, without the noise of test parts"}
RANK_NOTES = [
    PLACES_NOTE,
    "P_nd: misses. Common: on the data sets on which all of these methods have all answers. At rho: with a threshold "
    "that makes P_fa on the test part rho.",
    "Candidates: median number in a selection. Unconverged: share of final fits. Seconds: of the processor, in "
    "selection and fit, geometric mean. Efficient: no other of these methods scores better in less time.",
    LOST_NOTE,
]
KIND_NOTE = (
    "Mean ranks on some of the data sets, with their number. Common: those of all settings. Few: under "
    f"{FEW_NEGATIVES} negatives. Saturated, weak: the median method misses under {SATURATED:.0%}, over {WEAK:.0%}."
).replace("%", " %")
WEIGHT_NOTE = (
    "Mean ranks by P_nd + w max(0, P_fa - rho) / rho for some weights w; as the score, but with the noise of test "
    "parts; by misses, with 1 where the test part is above rho; and by misses at rho."
)


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return for each setting who keeps the bound, the leagues, and details; last the protocol of each data set."""
    groups = list(settings(records))
    common = set.intersection(*({*group["dataset"]} for _, group in groups))
    return [*(sheet for text, group in groups for sheet in _sheets(text, group, common)), _datasets(records)]


def places(records: pl.DataFrame, keys: Sequence[str]) -> list[Sheet]:
    """Return the places of the methods with these records among all methods with the same promise."""
    own = frozenset(keys)
    found = [(text, league) for text, group in settings(records) for league in leagues(group)]
    rows = [
        _placed(text + league.title, one, league, is_own=bool(one.keys & own))
        for text, league in found
        if any(one.keys & own for one in league.methods)
        for one in [*_near(league.standings, own), *(one for one in league.broken if one.keys & own)]
    ]
    columns = ["setting", "method", "place", "data sets", "rank", "P_nd", "score", "promise"]
    note = "The best method, and > those of this run between their neighbours."
    return [Sheet("places: among the stored methods", columns, rows, [note, _scored(records)])]


def _near(found: Sequence[Standing], own: frozenset[str]) -> list[Standing]:
    """Return the best method, those with some of these keys, and the neighbours of each."""
    ours = [place for place, one in enumerate(found) if one.keys & own]
    shown = {0, *(place + step for place in ours for step in (-1, 0, 1))}
    return [one for place, one in enumerate(found) if place in shown]


def _placed(text: str, one: Standing, league: League, *, is_own: bool) -> Row:
    n = len(league.standings)
    return [
        text,
        Cell(f"> {one.label}", flag="best") if is_own else one.label,
        Cell(f"{one.place} of {n}", one.place, further=(("of", n),)) if one.place else MISSING,
        count(one.n_datasets, len(league.datasets) or one.n_datasets),
        number(one.rank or None, ".2f"),
        number(one.p_nd),
        number(one.score),
        one.verdict or MISSING,
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


def _sheets(text: str, records: pl.DataFrame, common: Collection[str]) -> Iterator[Sheet]:
    results = by_dataset(records)
    found = leagues(records, results)
    for league in found:
        title = f"{text}: ranking{league.title}"
        rows = [_ranked(one, len(league.datasets)) for one in league.standings]
        notes = [_judged(league, records), *_left(league), *RANK_NOTES, *_separation(league)]
        yield Sheet(title, RANK_COLUMNS, rows, notes, title.replace(":", ""))
    if bounded(records):
        kept = [_kept(one) for league in found for one in league.methods]
        yield Sheet(f"{text}: who keeps the bound", BOUND_COLUMNS, kept, BOUND_NOTES, f"{text} bound")
        kinds = _kinds(records, results, common)
        yield from (_by_kind(text, league, kinds) for league in found)
        yield from (_by_weight(text, league, results) for league in found if league.promise == "none")
        yield _scorers(text, found, results)
    yield _scores(text, found, results)
    yield _each(text, found, results)


def _judged(league: League, records: pl.DataFrame) -> str:
    by = "score" if league.promise in ("", "none") else "misses"
    return f"Ranked by {by}, mean over repeats; lower is better. {_scored(records)}"


def _scored(records: pl.DataFrame) -> str:
    metric = judge(records)
    return f"Score: {SCORES.get(metric, f'1 - {metric}')}."


def _left(league: League) -> Iterator[str]:
    """Yield a note on the methods that leave a league."""
    if league.broken:
        names = ", ".join(f"{one.label} ({one.above} of {one.n_jobs} above rho)" for one in league.broken)
        yield f"Left out, since they exceed rho beyond what the promise allows: {names}."


def _separation(league: League) -> Iterator[str]:
    """Yield a note on the number of data sets that would separate the first methods of a league."""
    first = [one.label for one in league.standings[:SEPARATED] if one.n_datasets == len(league.datasets)]
    if len(first) > 1 and len(league.datasets) > 1:
        needed = [fewest_to_separate(league.values[:, [0, place]]) for place in range(1, len(first))]
        numbers = ["over 10,000" if n > 10_000 else f"{math.ceil(n)}" for n in needed]
        texts = [f"{n} from {name}" for n, name in zip(numbers, first[1:], strict=True)]
        yield f"Data sets that would separate {first[0]} by rank, with 80 % power: {', '.join(texts)}."


def _kept(one: Standing) -> Row:
    return [
        one.label,
        one.promise,
        one.verdict or MISSING,
        count(one.n_good, one.n_jobs),
        number(one.above, "d"),
        number(one.share),
        Cell("[{:.3f}, {:.3f}]".format(*one.share_limits), further=ends(one.share_limits)),
        MISSING if math.isnan(one.allowed) else number(one.allowed, ".2g"),
        number(one.p_fa),
        number(one.most_alarms, ".2f"),
    ]


def _ranked(one: Standing, n_datasets: int) -> Row:
    return [
        one.label,
        count(one.n_datasets, n_datasets),
        number(one.place, "d"),
        limits(one.place_limits),
        number(one.rank, ".2f"),
        number(one.p_nd),
        number(one.p_nd_common),
        number(one.at_rho),
        number(one.score),
        MISSING if math.isnan(one.seconds) else number(one.seconds, ".2g"),
        number(one.n_candidates, ".0f"),
        number(one.unconverged, ".2f"),
        "yes" if one.is_efficient else "",
    ]


def _kinds(records: pl.DataFrame, results: pl.DataFrame, common: Collection[str]) -> dict[str, Collection[str]]:
    """Return kinds of data sets by name, each with its data sets."""
    sizes = dict(records.group_by("dataset").agg((pl.col("n_samples") - pl.col("n_positive")).first()).iter_rows())
    median = dict(results.group_by("dataset").agg(pl.col("p_nd").median()).iter_rows())
    few = {name for name, n in sizes.items() if n is not None and n < FEW_NEGATIVES}
    return {
        "all": sizes.keys(),
        "common": common,
        "few": few,
        "many": sizes.keys() - few,
        "saturated": {name for name, misses in median.items() if misses < SATURATED},
        "others": {name for name, misses in median.items() if SATURATED <= misses <= WEAK},
        "weak": {name for name, misses in median.items() if misses > WEAK},
    }


def _by_kind(text: str, league: League, kinds: Mapping[str, Collection[str]]) -> Sheet:
    shown = {kind: [name in names for name in league.datasets] for kind, names in kinds.items()}
    columns = ["method", *(f"{kind} ({sum(rows)})" for kind, rows in shown.items())]
    ranks = [ranking(league.values[rows]).ranks for rows in shown.values()]
    title = f"{text}: ranks by kind of data{league.title}"
    return _rank_sheet(title, columns, [one.label for one in league.standings], ranks, KIND_NOTE)


def _by_weight(text: str, league: League, results: pl.DataFrame) -> Sheet:
    results = results.with_columns(pl.Series(f"w = {w:g}", np_scores(results, w)) for w in WEIGHTS)
    names = [one.label for one in league.standings]
    own = results.filter(pl.col("label").is_in(names))
    columns = {**{f"w = {w:g}": f"w = {w:g}" for w in WEIGHTS}, "with noise": "each_part", "1 if above": "kept_misses"}
    columns["at rho"] = "at_rho"
    ranks = [ranking(table(own, names, column)[1]).ranks for column in columns.values()]
    return _rank_sheet(f"{text}: ranks by other scores{league.title}", ["method", *columns], names, ranks, WEIGHT_NOTE)


def _rank_sheet(
    title: str, columns: Sequence[str], names: Sequence[str], ranks: Sequence[np.ndarray], note: str
) -> Sheet:
    rows: list[Row] = [
        [name, *(number(None if math.isnan(rank) else rank, ".1f") for rank in row)]
        for name, row in zip(names, np.transpose(ranks).tolist(), strict=True)
    ]
    return Sheet(title, columns, rows, [note], title.replace(":", ""), detail=True)


def _scorers(text: str, found: Sequence[League], results: pl.DataFrame) -> Sheet:
    """Return the misses of all methods with thresholds at rho on the test part: what their scores are worth."""
    every = [one for league in found for one in league.methods]
    names = [one.label for one in every]
    ranked = ranking(table(results, names, "at_rho")[1])
    rows: list[Row] = [
        [
            every[one].label,
            every[one].promise,
            number(ranked.places[one], "d"),
            limits(ranked.place_limits[one]),
            number(ranked.ranks[one], ".2f"),
            number(every[one].at_rho),
        ]
        for one in np.lexsort([ranked.ranks, ranked.places]).tolist()
    ]
    note = (
        "Misses with a threshold that makes P_fa on the test part rho. Nobody knows it, so that promises do not count. "
        "Methods that hold out negatives train on fewer."
    )
    columns = ["method", "promise", "place", "places", "rank", "at rho"]
    return Sheet(f"{text}: scorers alone", columns, rows, [note], f"{text} scorers", detail=True)


def _scores(text: str, found: Sequence[League], results: pl.DataFrame) -> Sheet:
    names = [one.label for league in found for one in league.methods]
    datasets, scores = table(results, names, "score")
    rows: list[Row] = [[name, *map(_score, row)] for name, row in zip(datasets, scores.tolist(), strict=True)]
    title = f"{text}: score by data set"
    return Sheet(title, ["data set", *names], rows, [], title.replace(":", ""), detail=True)


def _score(value: float) -> Cell:
    return MISSING if math.isnan(value) else number(value)


def _each(text: str, found: Sequence[League], results: pl.DataFrame) -> Sheet:
    """Return a row for each data set and method, the best of a promise first."""
    promises = {one.label: one.promise for league in found for one in league.methods}
    by = pl.when(pl.col("promise").is_in(["", "none"])).then("score").otherwise("p_nd")
    alike = ["dataset", "promise"]
    results = results.with_columns(promise=pl.col("label").replace_strict(promises, return_dtype=pl.String))
    ranked = results.with_columns(rank=by.rank().over(alike)).sort(*alike, "rank", "label")
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
    columns = ["data set", "promise", "method", "rank", "score", "P_fa", "P_nd", "above rho", "answers", "seconds"]
    return Sheet(f"{text}: methods by data set", columns, rows, [], f"{text} methods by data set", detail=True)
