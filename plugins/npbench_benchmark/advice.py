"""What to use when, and how far a ranking carries: sentences as functions of the records."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import polars as pl

from npbench.problem import PROBLEMS
from npbench.report.select.labels import method_labels
from npbench.report.stats.paired import MIN_VALUES, SIGNIFICANCE_LEVEL, hodges_lehmann, shift_interval
from npbench.values import counted, listed
from npbench_benchmark import leaderboard
from npbench_benchmark.leaderboard import League, Setting, Standing, bounded, separable, settings

LOGISTIC = "sklearn.linear_model.LogisticRegression"
# Linear methods that train for a range of the curve, as typed.
FOR_RANGE = ("pauc_struct", "pauc_dc", "pauc_sbcd", "pauc_minimax", "asvm", "greedy_pauc")
HEADS = {"": "Partial AUC", "none": "No promise"}  # of lines; the others begin with their promise
KEEL = "keel_"  # start of the names of its data sets
MAX_NAMED = 5  # data sets in a sentence
NEAR = 0.02  # misses or score by which a cheaper method may be worse

Quote = Callable[[str], str]  # marks a name in a sentence


class First(NamedTuple):
    """First place of a league at one setting of the problem, and the same methods where negatives are few."""

    setting: Setting
    league: League
    few: League | None  # on the data sets with few negatives, if these are enough

    @property
    def best(self) -> Standing:
        """The method with the lowest mean rank of those that share the place."""
        return self.league.standings[0]

    @property
    def cheapest(self) -> Standing:
        """The fastest of those that share the place, are nearly as good and take half the seconds; else the best.

        Seconds count to two digits; of the same, the better is named.
        """
        near = [one for one in _sharing(self.league) if one.ranked <= self.best.ranked + NEAR]
        fast = (one for one in near if 2 * one.seconds <= self.best.seconds)
        return min(fast, key=lambda one: (float(f"{one.seconds:.2g}"), one.ranked), default=self.best)

    def reached(self, datasets: Iterable[str]) -> float:
        """Return the misses of the best on some of the data sets, or its area."""
        column = "p_nd" if self.league.promise else "score"
        found = self.setting.results.filter(pl.col("dataset").is_in(list(datasets)), label=self.best.label)
        mean: float = found.select(pl.mean(column)).item()
        return mean if self.league.promise else 1 - mean


def lines(records: pl.DataFrame, printed: Sequence[Any]) -> list[str]:
    """Return the sentences that a report begins with."""
    return [*advice(records), reach(records)]


def advice(records: pl.DataFrame, quote: Quote = str) -> list[str]:
    """Return what to use for each promise, the strongest first, and for large data sets.

    Named are the method with the lowest mean rank in the first place of its league, the cheapest that shares this
    place and is nearly as good, and the first with few negatives where it is another; at settings with enough data sets
    to separate methods, if there are any. Without a bound, a sentence says whether linear methods that train for a
    range gain on logistic regression.
    """
    found: dict[str, list[First]] = {}
    for setting in separable(settings(records)):
        parts = {one.promise: one for one in setting.among(setting.kinds()["few"])}
        for league in setting.leagues:
            part = parts.get(league.promise)
            is_enough = part is not None and MIN_VALUES <= len(part.datasets) < len(league.datasets)
            firsts = found.setdefault(league.promise, [])
            if league.standings:
                firsts.append(First(setting, league, part if is_enough else None))
    name = next(iter(PROBLEMS[records["problem"][0]]().parameters()))
    made = [_line(promise, firsts, name, quote) for promise, firsts in found.items()]
    return [*(made if bounded(records) else [" ".join([*made, *gains(records, quote)])]), *large(records, quote)]


def _sharing(league: League) -> list[Standing]:
    return [one for one in league.standings if one.place == league.standings[0].place]


def _line(promise: str, firsts: Sequence[First], name: str, quote: Quote) -> str:
    """Return the sentences about a league."""
    if not firsts:
        return f"{_head(promise)}: no method keeps its promise."
    common = set.intersection(*({*one.league.datasets} for one in firsts))
    best = (
        f"{quote(alike[0].best.label)} {_reached([one.best for one in alike])} at {name} "
        f"{', '.join(one.setting.value for one in alike)}{_of_place(alike)}{_on_common(alike, common)}"
        f"{_alarms([one.best for one in alike])}{_verdict([one.best for one in alike])}"
        for alike in _alike(firsts, "best")
    )
    sentences = [f"{_head(promise)}: {'; '.join(best)}."]
    cheap = [
        f"{quote(alike[0].cheapest.label)} at {', '.join(one.setting.value for one in alike)} "
        f"({_reached([one.cheapest for one in alike])}{_alarms([one.cheapest for one in alike])}, in "
        f"{_seconds(one.cheapest for one in alike)}, not {_seconds(one.best for one in alike)})"
        for alike in _alike([one for one in firsts if one.cheapest.label != one.best.label], "cheapest")
    ]
    if cheap:
        sentences.append(f"Cheaper, in the same place and at most {NEAR} worse: {'; '.join(cheap)}.")
    for one in firsts:
        if one.few is not None and one.best.label not in {other.label for other in _sharing(one.few)}:
            few, first = f"fewer than {leaderboard.FEW_NEGATIVES} negatives", one.few.standings[0]
            where = f"{few} ({len(one.few.datasets)} data sets) at {one.setting.value}"
            sentences.append(f"With {where}: {quote(first.label)} ({_reached([first])} in {_seconds([first])}).")
    return " ".join(sentences)


def _of_place(alike: Sequence[First]) -> str:
    """Return of how many methods the best is one, with a comma before it, if it shares the first place."""
    sizes = [len(_sharing(one.league)) for one in alike]
    return f", one of {', '.join(map(str, sizes))} in the first place" if max(sizes) > 1 else ""


def _on_common(alike: Sequence[First], common: Collection[str]) -> str:
    """Return what the best reaches on the data sets of all settings, in brackets, if it had more."""
    if not common or all(len(one.league.datasets) == len(common) for one in alike):
        return ""
    values = ", ".join(f"{one.reached(common):.2f}" for one in alike)
    return f" ({values} on the {len(common)} data sets that these bounds share)"


def _head(promise: str) -> str:
    return HEADS.get(promise) or promise.capitalize()


def _alike(firsts: Sequence[First], what: str) -> list[list[First]]:
    """Return the settings in groups that name the same method."""
    return [list(group) for _, group in groupby(firsts, key=lambda one: str(getattr(one, what).label))]


def _reached(found: Sequence[Standing]) -> str:
    is_bounded = bool(found[0].promise)
    values = (one.p_nd if is_bounded else 1 - one.score for one in found)
    return f"{'misses' if is_bounded else 'reaches'} {', '.join(f'{value:.2f}' for value in values)}"


def _alarms(found: Sequence[Standing]) -> str:
    """Return what is known of the false alarms of a method, with a comma before it."""
    if found[0].promise == "on average":
        return f", with a mean P_fa of {', '.join(f'{one.p_fa:.3f}' for one in found)}"
    return f", above rho on {_percent(found, 'share')} %" if found[0].promise else ""


def _verdict(found: Sequence[Standing]) -> str:
    """Return the verdicts on a promise, one if all are equal, and what it allows."""
    if found[0].promise in ("", "none"):
        return ""
    allowed = "" if found[0].promise == "on average" else f" where {_percent(found, 'allowed')} % are allowed"
    verdicts = [one.verdict for one in found]
    return f"{allowed}: {', '.join(verdicts if len({*verdicts}) > 1 else verdicts[:1])}"


def _percent(found: Sequence[Standing], name: str) -> str:
    return ", ".join(f"{100 * getattr(one, name):.0f}" for one in found)


def _seconds(found: Iterable[Standing]) -> str:
    return f"{', '.join(f'{one.seconds:.2g}' if one.seconds < 99.5 else f'{one.seconds:.0f}' for one in found)} s"


def large(records: pl.DataFrame, quote: Quote = str) -> Iterator[str]:
    """Yield a sentence on the data sets with very many samples, if there are any: the best method for each promise."""
    found = settings(records.filter(pl.col("n_samples") > leaderboard.LARGE))
    firsts: dict[str, list[First]] = {}
    answers: dict[str, bool] = {}
    for setting in found:
        for league in setting.leagues:
            if league.standings:
                firsts.setdefault(league.promise, []).append(First(setting, league, None))
            for one in league.methods:
                answers[one.label] = answers.get(one.label, True) and one.n_good == one.n_jobs
    named = (f"{_head(promise).lower()}, {_bests(of_promise, quote)}" for promise, of_promise in firsts.items())
    if found:
        where = f"Over {leaderboard.LARGE:,} samples ({counted(found[0].records['dataset'].n_unique(), 'data set')})"
        lost = f"{sum(not good for good in answers.values())} of {len(answers)} methods"
        yield f"{where}: {'; '.join(named)}. {lost} end without an answer on some of them."


def _bests(firsts: Sequence[First], quote: Quote) -> str:
    """Return the best methods of a league with what they reach in how many seconds, by settings."""
    return ", ".join(
        f"{quote(alike[0].best.label)} {_reached([one.best for one in alike])} at "
        f"{', '.join(one.setting.value for one in alike)} in {_seconds(one.best for one in alike)}"
        for alike in _alike(firsts, "best")
    )


def gains(records: pl.DataFrame, quote: Quote = str) -> Iterator[str]:
    """Yield what the best linear method that trains for each range gains on logistic regression.

    The gain is the Hodges-Lehmann shift over data sets, with limits of the signed-rank test at 5 % for all of these
    methods together. A data set goes the other way if each of its splits does.
    """
    clauses = [clause for setting in settings(records) for clause in _gains_at(setting, quote)]
    if clauses:
        yield f"Linear methods that train for the range, against logistic regression: {'; '.join(clauses)}."


def _gains_at(setting: Setting, quote: Quote) -> Iterator[str]:
    records = setting.records
    order = [one.label for league in setting.leagues for one in league.standings]
    logistic = set(setting.results.filter(pl.col("params").str.contains(LOGISTIC, literal=True))["label"])
    linear, rivals = ([label for label in order if label in names] for names in (FOR_RANGE, logistic))
    if not (linear and rivals):
        return
    scores = records.select("dataset", "repeat", method_labels(records), score=leaderboard.score_of(records))
    pairs = scores.filter(pl.col("label").is_in([linear[0], rivals[0]]))
    wide = pairs.pivot("label", index=["dataset", "repeat"], values="score").drop_nulls()
    gain = wide.group_by("dataset").agg(gain=pl.col(rivals[0]) - pl.col(linear[0])).sort("dataset")
    differences = gain["gain"].list.mean().to_numpy()
    limits = shift_interval(differences, SIGNIFICANCE_LEVEL / len(linear))
    if limits is None:
        return
    sign = -1 if limits[0] > 0 else 1
    other = gain.filter((pl.col("gain").list.eval(pl.element() * sign)).list.min() > 0)["dataset"].to_list()
    word = "gains" if limits[0] > 0 else "loses" if limits[1] < 0 else "does not gain"
    found = f"{hodges_lehmann(differences):+.3f} [{limits[0]:+.3f}, {limits[1]:+.3f}], {len(differences)} data sets"
    how = "on every split" if wide["repeat"].n_unique() > 1 else "on one split of each"
    where = f"{'worse' if word == 'gains' else 'better'} {how}: {listed(other, MAX_NAMED) or 'none'}"
    yield f"{quote(linear[0])} {word} at {setting.value} ({found}; {where})"


def reach(records: pl.DataFrame) -> str:
    """Return how far the ranking carries: where data sets come from, and how hard they are at the largest setting.

    Settings with too few data sets to separate methods are named, if others have enough.
    """
    every = settings(records)
    setting, enough = every[0], separable(every)
    n_few = {one.text: one.records["dataset"].n_unique() for one in every if one not in enough}
    too_few = [f" {text} is on {counted(n, 'data set')}, too few to separate methods." for text, n in n_few.items()]
    of, each = setting.kinds(), setting.records.unique("dataset")
    is_minority = each.select(pl.col("n_positive") * 2 < pl.col("n_samples")).to_series()
    n_keel = {kind: sum(name.startswith(KEEL) for name in names) for kind, names in of.items()}
    hard = (f"{len(of[kind])}, of which {n_keel[kind]} are KEEL's" for kind in ("saturated", "weak"))
    return (
        f"Of {len(of['all'])} data sets, {n_keel['all']} are KEEL's, and positives are the minority on "
        f"{is_minority.sum()}. Saturated, where the median method misses under {100 * leaderboard.SATURATED:.0f} % and "
        f"one or two samples decide ranks: {next(hard)}. Weak, where it misses over {100 * leaderboard.WEAK:.0f} %: "
        f"{next(hard)}.{''.join(too_few)}"
    )
