"""What to use when, and how far a ranking carries: sentences as functions of the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.select.labels import method_labels
from npbench.report.sheet import counted, some
from npbench.report.stats.paired import MIN_VALUES, SIGNIFICANCE_LEVEL, hodges_lehmann, shift_interval
from npbench_benchmark.leaderboard import (
    FEW_NEGATIVES,
    LARGE,
    SATURATED,
    WEAK,
    League,
    Standing,
    bounded,
    by_dataset,
    kinds,
    leagues,
    score_of,
    settings,
)

LOGISTIC = "sklearn.linear_model.LogisticRegression"
# Linear methods that train for a range of the curve, as typed.
FOR_RANGE = ("pauc_struct", "pauc_dc", "pauc_sbcd", "pauc_minimax", "asvm", "greedy_pauc")
HEADS = {"": "Partial AUC", "none": "No promise"}  # of lines; the others begin with their promise
KEEL = "keel_"  # start of the names of its data sets
MAX_NAMED = 5  # data sets in a sentence

Quote = Callable[[str], str]  # marks a name in a sentence


@dataclass(frozen=True)
class First:
    """The first place of a league at one setting of the problem."""

    setting: str  # value of the parameter, such as 0.1
    league: League  # some of its methods keep its promise
    few: League | None  # the same methods on the data sets with few negatives, if these are enough

    @property
    def best(self) -> Standing:
        """The method with the lowest mean rank."""
        return self.league.standings[0]

    @property
    def cheapest(self) -> Standing:
        """The fastest of those that share the place."""
        return min(_sharing(self.league), key=lambda one: (math.isnan(one.seconds), one.seconds, one.rank))

    @property
    def best_with_few(self) -> Standing | None:
        """The best with few negatives, if the best of all does not share this place."""
        if self.few is None or self.best.label in {one.label for one in _sharing(self.few)}:
            return None
        return self.few.standings[0]


def _sharing(league: League) -> list[Standing]:
    return [one for one in league.standings if one.place == league.standings[0].place]


def advice(records: pl.DataFrame, quote: Quote = str) -> list[str]:
    """Return what to use for each promise, the strongest first, and for large data sets.

    Named are the method with the lowest mean rank in the first place of its league, the cheapest that shares this
    place, and the first with few negatives where it is another. Without a bound, a sentence says whether linear methods
    that train for a range gain on logistic regression.
    """
    found: dict[str, list[First]] = {}
    for text, group in settings(records):
        results = by_dataset(group)
        whole = leagues(group, results)
        few = pl.col("dataset").is_in(list(kinds(group, results)["few"]))
        parts = {one.promise: one for one in leagues(group.filter(few), results.filter(few), _left(whole))}
        for league in whole:
            part = parts.get(league.promise)
            is_enough = part is not None and MIN_VALUES <= len(part.datasets) < len(league.datasets)
            firsts = found.setdefault(league.promise, [])
            if league.standings:
                firsts.append(First(text.partition("=")[2], league, part if is_enough else None))
    name = next(iter(PROBLEMS[records["problem"][0]]().parameters()))
    lines = [_line(promise, firsts, name, quote) for promise, firsts in found.items()]
    if not bounded(records):
        lines = [" ".join([*lines, *gains(records, quote)])]
    return [*lines, *large(records, quote)]


def lines(records: pl.DataFrame, printed: Sequence[Any]) -> list[str]:
    """Return the sentences that a report begins with."""
    return [*advice(records), reach(records)]


def _left(found: Sequence[League]) -> set[str]:
    return {one.label for league in found for one in league.broken}


def _line(promise: str, firsts: Sequence[First], name: str, quote: Quote) -> str:
    """Return the sentences about a league."""
    head = _head(promise)
    if not firsts:
        return f"{head}: no method keeps its promise."
    best = [_claim([(one.setting, one.best) for one in alike], name, quote) for alike in _alike(firsts, "best")]
    sentences = [f"{head}: {'; '.join(best)}."]
    others = [one for one in firsts if one.cheapest.label != one.best.label]
    if others:
        cheap = [_saving(alike, quote) for alike in _alike(others, "cheapest")]
        sentences.append(f"The cheapest that share the place: {'; '.join(cheap)}.")
    for one in firsts:
        if one.few is not None and (other := one.best_with_few):
            n = len(one.few.datasets)
            named = f"{quote(other.label)} ({_measured([other])}, {other.seconds:.2g} s)"
            sentences.append(f"With fewer than {FEW_NEGATIVES} negatives ({n} data sets) at {one.setting}: {named}.")
    return " ".join(sentences)


def _head(promise: str) -> str:
    return HEADS.get(promise) or promise.capitalize()


def _alike(firsts: Sequence[First], what: str) -> list[list[First]]:
    """Return the settings in groups that name the same method."""
    return [list(group) for _, group in groupby(firsts, key=lambda one: str(getattr(one, what).label))]


def _saving(alike: Sequence[First], quote: Quote) -> str:
    """Return where the same method is the cheapest, and what it costs."""
    found = [one.cheapest for one in alike]
    seconds = [_listed(f"{one.seconds:.2g}" for one in some) for some in (found, [one.best for one in alike])]
    where = f"{quote(found[0].label)} at {_listed(one.setting for one in alike)}"
    return f"{where} ({_measured(found)}, {seconds[0]} s in place of {seconds[1]} s)"


def _claim(settings: Sequence[tuple[str, Standing]], name: str, quote: Quote) -> str:
    """Return what a method reaches at some settings of the problem."""
    values, found = zip(*settings, strict=True)
    text = f"{quote(found[0].label)} {_measured(found)} at {name} {_listed(values)}"
    if found[0].promise == "on average":
        return f"{text}, with a mean P_fa of {_listed(f'{one.p_fa:.3f}' for one in found)}"
    if not found[0].promise:
        return text
    allowed = "" if found[0].promise == "none" else f" (allowed: {_listed(_percent(one.allowed) for one in found)} %)"
    return f"{text}, above rho on {_listed(_percent(one.share) for one in found)} % of the test parts{allowed}"


def _measured(found: Sequence[Standing]) -> str:
    if found[0].promise:
        return f"misses {_listed(f'{one.p_nd:.2f}' for one in found)}"
    return f"reaches {_listed(f'{1 - one.score:.2f}' for one in found)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def large(records: pl.DataFrame, quote: Quote = str) -> Iterator[str]:
    """Yield a sentence on the data sets with very many samples, if there are any, at the largest setting."""
    text, group = next(settings(records.filter(pl.col("n_samples") > LARGE)), ("", records.clear()))
    if group.is_empty():
        return
    found = leagues(group)
    lost = [one for league in found for one in league.methods if one.n_good < one.n_jobs]
    every = [one for league in found for one in league.methods]
    named = [
        f"{_head(league.promise).lower()}, {quote(one.label)} {_measured([one])} in {one.seconds:.2g} s"
        for league in found
        for one in league.standings[:1]
    ]
    where = f"Over {LARGE:,} samples ({counted(group['dataset'].n_unique(), 'data set')}, {text})"
    yield f"{where}: {'; '.join(named)}. {len(lost)} of {len(every)} methods end without an answer on one of them."


def gains(records: pl.DataFrame, quote: Quote = str) -> Iterator[str]:
    """Yield what the best linear method that trains for each range gains on logistic regression.

    The gain is the Hodges-Lehmann shift over data sets, with limits of the signed-rank test at 5 % for all of these
    methods together. A data set goes the other way if every repeat does.
    """
    clauses = [
        clause for text, group in settings(records) for clause in _gains_at(text.partition("=")[2], group, quote)
    ]
    if clauses:
        yield f"Linear methods that train for the range, against logistic regression: {'; '.join(clauses)}."


def _gains_at(setting: str, records: pl.DataFrame, quote: Quote) -> Iterator[str]:
    results = by_dataset(records)
    order = [one.label for league in leagues(records, results) for one in league.standings]
    logistic = set(results.filter(pl.col("params").str.contains(LOGISTIC, literal=True))["label"])
    linear, rivals = ([label for label in order if label in names] for names in (FOR_RANGE, logistic))
    if not (linear and rivals):
        return
    by_split = _gain(records, linear[0], rivals[0])
    differences = by_split.group_by("dataset", maintain_order=True).agg(pl.mean("gain"))["gain"].to_numpy()
    limits = shift_interval(differences, SIGNIFICANCE_LEVEL / len(linear))
    if limits is None:
        return
    sign = -1 if limits[0] > 0 else 1
    other = by_split.group_by("dataset").agg((pl.col("gain") * sign > 0).all()).filter("gain")["dataset"].sort()
    word = "gains" if limits[0] > 0 else "loses" if limits[1] < 0 else "does not gain"
    found = f"{hodges_lehmann(differences):+.3f} [{limits[0]:+.3f}, {limits[1]:+.3f}], {len(differences)} data sets"
    where = some(other.to_list(), MAX_NAMED) or "none"
    yield f"{quote(linear[0])} {word} at {setting} ({found}; the other way in every repeat: {where})"


def _gain(records: pl.DataFrame, label: str, rival: str) -> pl.DataFrame:
    """Return the gain of a method on another for each data set and repeat on which both have an answer."""
    labels = pl.Series(method_labels(records), dtype=pl.String)
    scores = records.filter(labels.is_in([label, rival])).select("dataset", "repeat", score=score_of(records))
    scores = scores.with_columns(label=labels.filter(labels.is_in([label, rival])))
    wide = scores.pivot("label", index=["dataset", "repeat"], values="score").drop_nulls()
    return wide.select("dataset", gain=pl.col(rival) - pl.col(label)).sort("dataset")


def reach(records: pl.DataFrame) -> str:
    """Return how far the ranking carries: where data sets come from, and how hard they are at the largest setting."""
    _, group = next(settings(records))
    of = kinds(group, by_dataset(group))
    sizes = group.unique("dataset").select(pl.col("n_positive") * 2 < pl.col("n_samples")).to_series()
    n_keel = sum(name.startswith(KEEL) for name in of["all"])
    return (
        f"Of {len(of['all'])} data sets, {n_keel} are KEEL's, and the positives are the minority on {sizes.sum()}. "
        f"{len(of['saturated'])} are saturated: the median method misses under {100 * SATURATED:.0f} %, and one or two "
        f"test samples decide ranks. {len(of['weak'])} are weak: it misses over {100 * WEAK:.0f} %."
    )
