"""Tables of the benchmark, for each setting of the problem."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.sections.ranking import PLACES_NOTE, limits
from npbench.report.select.metrics import better
from npbench.report.select.recorded_settings import protocol_texts, protocols
from npbench.report.sheet import MISSING, Cell, Entry, Row, Sheet, count, interval, number, out_of
from npbench.report.stats.paired import MIN_VALUES
from npbench.report.stats.ranks import fewest_to_separate, mean_ranks, ranking
from npbench_benchmark import leaderboard
from npbench_benchmark.crossing import crossing
from npbench_benchmark.leaderboard import League, Setting, Standing, settings, table

KIND, TUNED = "kind of data", "tuned on the suite"
WEIGHTS = (0.25, 1.0, 2.0, 5.0)  # of the excess, in scores
SEPARATED = 3  # methods for which a note says how many data sets would separate them

LOST_NOTE = "In misses, scores, ranks and shares, a job without an answer counts as one that accepts nothing."
SCORES = {
    "np_score": ": P_nd + max(0, P_fa - rho) / rho, at most 1, without the noise of test parts",
    "pauc": ": the mean height of the ROC curve over fpr_range, with ties as straight lines",
}
RATE_NOTE = (
    "Above: test parts with P_fa > rho. Share: with Clopper and Pearson's limits for independent test parts; those of "
    "one data set overlap, so the limits are too narrow. Expected: so many above if the promise is kept, given the "
    "numbers of negatives. P_fa/rho: not exceeded on 95 % of the test parts. P_nd: misses. Common: misses where all of "
    "these methods have all answers."
)
VERDICT_NOTE = (
    "Promise: guaranteed with probability 1 - delta, proved on average, measured (kept in simulations), or none. It is "
    "exceeded beyond the limits of the share; on average, if the mean P_fa is above rho beyond its noise; or by one "
    "test part that a kept promise makes all but impossible. Worst: P_fa/rho on the least likely part. Methods that "
    "exceed their promise on all data sets have no place on any kind."
)
RANK_NOTES = [
    PLACES_NOTE,
    "Seconds: processor time of selection and fit, geometric mean. Candidates: median number in a selection. "
    "Unconverged: share of final fits.",
    LOST_NOTE,
]
KIND_NOTE = (
    f"Kinds of data: all; common to all settings; few, many: under {leaderboard.FEW_NEGATIVES} negatives or not; "
    f"saturated, weak: the median method misses under {leaderboard.SATURATED:.0%}, over {leaderboard.WEAK:.0%}; "
    f"others; large: over {leaderboard.LARGE:,} samples."
).replace("%", " %")
WEIGHT_NOTE = (
    "Mean ranks by P_nd + w max(0, P_fa - rho) / rho for several weights w; by the score with the noise of test "
    "parts; by misses, with 1 where the test part is above rho; and by misses at rho."
)


def tables(records: pl.DataFrame, printed: Sequence[Any]) -> list[Sheet]:
    """Return the leagues and details of each setting, then all standings and results."""
    sheets = [sheet for setting in settings(records) for sheet in _sheets(setting)]
    return [*sheets, *explorer([records]), _datasets(records)]


def explorer(frames: Sequence[pl.DataFrame]) -> list[Sheet]:
    """Return the tables that readers choose from, of records of one problem each: standings, and all results."""
    standings: list[dict[str, Entry]] = []
    results: list[dict[str, Entry]] = []
    for records in frames:
        problem, found = str(records["problem"][0]), settings(records)
        common = set.intersection(*({*setting.records["dataset"]} for setting in leaderboard.separable(found)))
        for setting in found:
            about: dict[str, Entry] = {"method": "", "problem": problem, "setting": setting.text}  # the first columns
            for kind, names in setting.kinds(common).items():
                for league in setting.among(names):
                    of = {**about, KIND: kind, "promise": league.promise or MISSING}
                    for one in league.methods:
                        answers, verdict = count(one.n_good, one.n_jobs), one.verdict or MISSING
                        worst = number(one.worst, ".2f")
                        also: dict[str, Entry] = {"answers": answers, "verdict": verdict, "worst": worst}
                        standings.append(of | _standing(one, league, problem) | also)
            results += [about | row for row in _each(setting, problem)]
    first = standings[0]
    shown = {name: str(first[name]) for name in ("problem", "setting", KIND, "promise")}
    of_method = {"method": str(first["method"]), "problem": shown["problem"], "setting": "", "data set": ""}
    notes = [KIND_NOTE, VERDICT_NOTE, RATE_NOTE, *RANK_NOTES]
    return [
        Sheet("leaderboard", *_by_column(standings), notes, "leaderboard", detail=True, chosen=shown),
        Sheet("methods by data set", *_by_column(results), [], "methods by data set", detail=True, chosen=of_method),
    ]


def places(records: pl.DataFrame, keys: Sequence[str]) -> list[Sheet]:
    """Return the places of the methods with these records among all methods with the same promise."""
    own, problem = frozenset(keys), str(records["problem"][0])
    rows = [
        {"setting": setting.text + league.title, **_standing(one, league, problem), **_mark(one, league, own)}
        for setting in settings(records)
        for league in setting.leagues
        if any(one.keys & own for one in league.methods)
        for one in [*_near(league.standings, own), *(one for one in league.broken if one.keys & own)]
    ]
    note = "The best method, and those of this run, marked >, between their neighbours."
    by = "misses, without a promise by " * leaderboard.bounded(records)
    return [Sheet("places: among the stored methods", *_by_column(rows), [note, f"Ranked by {by}{_scored(records)}"])]


def _mark(one: Standing, league: League, own: frozenset[str]) -> dict[str, Entry]:
    """Return the cells in which a place differs from a standing: the name, the place of how many, and the verdict."""
    n = len(league.standings)
    return {
        "method": Cell(f"> {one.label}", flag="best") if one.keys & own else one.label,
        "place": out_of(one.place, n) if one.place else MISSING,
        "verdict": one.verdict or MISSING,
    }


def _near(found: Sequence[Standing], own: frozenset[str]) -> list[Standing]:
    """Return the best method, those with some of these keys, and the neighbours of each."""
    ours = [place for place, one in enumerate(found) if one.keys & own]
    shown = {0, *(place + step for place in ours for step in (-1, 0, 1))}
    return [one for place, one in enumerate(found) if place in shown]


def _datasets(records: pl.DataFrame) -> Sheet:
    texts = protocol_texts(records)
    about = ["n_samples", "n_features", "n_positive", "protocol", "preprocess", "missing", "categories", "repeats"]
    found = (
        records.with_columns(protocol=texts, repeats=pl.col("repeat").n_unique().over("dataset"))
        .with_columns(pl.col(name).cast(pl.String).fill_null(MISSING.text) for name in about)
        .select("dataset", *about)
        .unique()
        .sort(pl.all())
    )
    is_one = texts.n_unique() == 1
    note = protocols(records) if is_one else f"{protocols(records)} Their results are not comparable."
    rows = [[Cell(text, float(text)) if text.isdecimal() else text for text in row] for row in found.rows()]
    columns = ["data set", "samples", "features", "positive", *about[3:]]
    return Sheet("data sets: sizes and protocols", columns, rows, [note], detail=is_one)


def _sheets(setting: Setting) -> Iterator[Sheet]:
    text, records, results = setting.text, setting.records, setting.results
    yield from (ranked(text, league, records) for league in setting.leagues)
    if leaderboard.bounded(records):
        yield from crossing(text, results)
        yield from (_by_weight(text, league, results) for league in setting.leagues if league.promise == "none")
        yield _scorers(setting)


def ranked(text: str, league: League, records: pl.DataFrame) -> Sheet:
    """Return the ranking of a league at one setting of the problem."""
    title = f"{text}: ranking{league.title}"
    cells = [_standing(one, league, records["problem"][0]) for one in league.standings]
    judged = f"Ranked by {_scored(records)}"
    if leaderboard.ranked_by(league.promise) == "p_nd":
        judged = "Ranked by misses, mean over repeats."
    names = ", ".join(f"{one.label} ({_evidence(one)})" for one in league.broken)
    left = [f"Left out, since they exceed rho beyond what the promise allows: {names}."] if names else []
    general = [RATE_NOTE, *RANK_NOTES] if league.promise else RANK_NOTES
    notes = [judged, *left, *_separation(league), *general]
    return Sheet(title, *_by_column(cells), notes, title.replace(":", ""))


def _by_column(rows: Sequence[dict[str, Entry]]) -> tuple[list[str], list[Row]]:
    """Return the columns of all rows, the common first, and the rows; what a row lacks is missing."""
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["method"]
    return columns, [[row.get(name) for name in columns] for row in rows]


def _scored(records: pl.DataFrame) -> str:
    metric = leaderboard.judge(records)
    name = "score" if leaderboard.bounded(records) else metric
    direction = better(records["problem"][0], metric)
    return f"{name}, mean over repeats; {direction} is better{SCORES.get(metric, '')}."


def _evidence(one: Standing) -> str:
    """Return the numbers by which the promise of a method is judged."""
    mean = f"mean P_fa {one.p_fa:.4f}" if one.promise == "on average" else f"{one.above} of {one.n_jobs} above rho"
    return f"{mean}, P_fa/rho {one.worst:.2f} on one part" if one.is_surprising else mean


def _separation(league: League) -> Iterator[str]:
    """Yield a note on the number of data sets that would separate the first methods of a league."""
    first = [one.label for one in league.standings[:SEPARATED] if one.n_datasets == len(league.datasets)]
    if len(first) > 1 and len(league.datasets) >= MIN_VALUES:
        needed = fewest_to_separate(league.values, range(1, len(first)))
        numbers = ["over 10,000" if n > 10_000 else f"{math.ceil(n)}" for n in needed]
        texts = [f"{n} from {name}" for n, name in zip(numbers, first[1:], strict=True)]
        yield f"Data sets that would separate {first[0]} by rank, with 80 % power: {', '.join(texts)}."


def _standing(one: Standing, league: League, problem: str) -> dict[str, Entry]:
    """Return the cells of a method by column: its place, its rates if a rate is bounded, and its cost."""
    score = {"score": number(one.score)} if one.promise == "none" else {}
    first: dict[str, Entry] = {
        **score,
        "P_nd": number(one.p_nd),
        "above": Cell(f"{one.above}/{one.n_jobs}", one.above, further=(("of", one.n_jobs),)),
    }
    if not math.isnan(one.allowed):
        judged = {"expected": number(one.allowed * one.n_jobs, ".1f")}
        if one.promise == "on average":
            judged = {"mean P_fa": number(one.p_fa, ".4f")}
        first |= {**judged, "verdict": one.verdict or MISSING}
    more = {"share": interval(one.share_limits), "P_fa/rho": number(one.most_alarms, ".2f")}
    return {
        "method": one.label,
        "place": number(one.place or None, "d"),
        **(first if one.promise else _area(one.score, problem)),
        "position": limits(one.place_limits),
        "rank": number(one.rank or None, ".2f"),
        **({**more, "common": number(one.p_nd_common)} if one.promise else {}),
        "data sets": count(one.n_datasets, len(league.datasets) or one.n_datasets),
        "seconds": _seconds(one.seconds),
        "candidates": number(one.n_candidates, ".0f"),
        "unconverged": number(one.unconverged, ".2f"),
        **({} if one.is_tuned is None else {TUNED: "yes" if one.is_tuned else "no"}),
    }


def _seconds(value: float) -> Cell:
    return number(value, leaderboard.seconds_form(value))


def _area(score: float, problem: str) -> dict[str, Entry]:
    """Return the judging metric of a problem without a bound, by its name."""
    metric = PROBLEMS[problem].judged_by
    return {metric: number(1.0 - score if better(problem, metric) == "higher" else score)}


def _by_weight(text: str, league: League, results: pl.DataFrame) -> Sheet:
    results = results.with_columns(pl.Series(f"w = {w:g}", leaderboard.np_scores(results, w)) for w in WEIGHTS)
    names = [one.label for one in league.standings]
    own = results.filter(pl.col("label").is_in(names))
    columns = {**{f"w = {w:g}": f"w = {w:g}" for w in WEIGHTS}, "with noise": "each_part", "1 if above": "kept_misses"}
    columns["at rho"] = "at_rho"
    ranks = [mean_ranks(table(own, names, column)[1]) for column in columns.values()]
    title = f"{text}: ranks by other scores{league.title}"
    shown = [[number(rank, ".1f") for rank in row] for row in np.transpose(ranks).tolist()]
    rows: list[Row] = [[name, *row] for name, row in zip(names, shown, strict=True)]
    return Sheet(title, ["method", *columns], rows, [WEIGHT_NOTE], title.replace(":", ""), detail=True)


def _scorers(setting: Setting) -> Sheet:
    """Return the misses of all methods with thresholds at rho on the test part: what their scores are worth."""
    every = [one for league in setting.leagues for one in league.methods]
    ranked = ranking(table(setting.results, [one.label for one in every], "at_rho")[1])
    rows: list[Row] = []
    for at in np.argsort(ranked.ranks, kind="stable").tolist():
        one, place, span = every[at], number(ranked.places[at], "d"), limits(ranked.place_limits[at])
        rows.append([one.label, one.promise, place, span, number(ranked.ranks[at], ".2f"), number(one.at_rho)])
    note = (
        "Misses with a threshold that makes P_fa on the test part rho. Nobody knows it, so promises do not count. "
        "Methods that hold out negatives train on fewer."
    )
    columns = ["method", "promise", "place", "position", "rank", "at rho"]
    return Sheet(f"{setting.text}: scorers alone", columns, rows, [note], f"{setting.text} scorers", detail=True)


def _each(setting: Setting, problem: str) -> Iterator[dict[str, Entry]]:
    """Yield a row for each method and data set, the best of a promise first."""
    promises = {one.label: one.promise for league in setting.leagues for one in league.methods}
    by = pl.when(pl.col("promise").is_in(["", "none"])).then("score").otherwise("p_nd")
    alike = ["dataset", "promise"]
    results = setting.results.with_columns(promise=pl.col("label").replace_strict(promises, return_dtype=pl.String))
    for row in results.with_columns(rank=by.rank().over(alike)).sort(*alike, "rank", "label").iter_rows(named=True):
        rates: dict[str, Entry] = {"P_fa": number(row["p_fa"]), "P_nd": number(row["p_nd"])}
        rates |= {"score": number(row["score"]), "above": number(row["above"], "d")}
        yield {
            "method": row["label"],
            "data set": row["dataset"],
            "promise": row["promise"] or MISSING,
            "rank": number(row["rank"], "g"),
            **(rates if row["promise"] else _area(row["score"], problem)),
            "answers": count(row["n_good"], row["n_jobs"]),
            "seconds": MISSING if row["log_seconds"] is None else _seconds(math.exp(row["log_seconds"])),
        }
