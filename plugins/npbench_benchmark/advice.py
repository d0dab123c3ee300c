"""What to use when, and how far a ranking carries: sentences as functions of the records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import polars as pl

from npbench.records.fields import COLLAPSED
from npbench.report.select.labels import method_labels
from npbench.report.stats.paired import MIN_VALUES, SIGNIFICANCE_LEVEL, hodges_lehmann, shift_interval
from npbench.values import counted, listed
from npbench_benchmark import leaderboard
from npbench_benchmark.leaderboard import League, Setting, Standing, bounded, separable, settings

LOGISTIC = "sklearn.linear_model.LogisticRegression"
# Linear methods that train for a range of the curve, by the names that users type.
FOR_RANGE = ("pauc_struct", "pauc_dc", "pauc_sbcd", "pauc_minimax", "asvm", "greedy_pauc", "tau_fpl_ranked")
# A fit with w = 0 as its optimum; a scorer has only the warning.
LEARNT_NOTHING = (pl.col("solver_status") == COLLAPSED) | pl.col("warnings").str.contains(
    "w = 0 is optimal", literal=True
)
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

        Seconds count to two digits; between equals, the better is named.
        """
        near = [one for one in sharing(self.league) if one.ranked <= self.best.ranked + NEAR]
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
    return [*map(" ".join, advice(records)), reach(records)]


def advice(records: pl.DataFrame, quote: Quote = str) -> list[list[str]]:
    """Return sentences on what to use for each promise, the strongest first, and for large data sets.

    They name the method with the lowest mean rank in the first place of its league, the cheapest that shares this
    place and is nearly as good, and the first with few negatives if that is another one, at settings with enough data
    sets to separate methods, if there are any. Without a bound, a sentence says whether linear methods that train for a
    range gain on logistic regression.
    """
    made = _by_promise(separable(settings(records)), quote)
    if made and not bounded(records):
        made[-1] += gains(records, quote)  # of the only league
    return [*made, *large(records, quote)]


def _by_promise(found: Sequence[Setting], quote: Quote, *, is_timed: bool = False) -> list[list[str]]:
    """Return the sentences about each league, with the seconds of the best if asked for."""
    of_promise: dict[str, list[First]] = {}
    for setting in found:
        parts = {one.promise: one for one in setting.among(setting.kinds()["few"])}
        for league in setting.leagues:
            part = parts.get(league.promise)
            is_enough = part is not None and MIN_VALUES <= len(part.datasets) < len(league.datasets)
            firsts = of_promise.setdefault(league.promise, [])
            if league.standings:
                firsts.append(First(setting, league, part if is_enough else None))
    return [_on_league(promise, firsts, quote, is_timed) for promise, firsts in of_promise.items()]


def sharing(league: League) -> list[Standing]:
    """Return the methods that share the first place: all of them on data sets that are too few to separate any."""
    return [s for s in league.standings if s.place == league.standings[0].place or len(league.datasets) < MIN_VALUES]


def _on_league(promise: str, firsts: Sequence[First], quote: Quote, is_timed: bool) -> list[str]:
    if not firsts:
        return [f"{_head(promise)}: no method keeps its promise."]
    n = min(len(one.league.datasets) for one in firsts)
    is_enough = n >= MIN_VALUES
    best = []
    for alike in _alike(firsts):
        parts = [_at_bound(one, is_timed=is_timed, is_enough=is_enough, in_full=one is firsts[0]) for one in alike]
        best.append(f"{quote(alike[0].best.label)} {'misses' if promise else 'reaches'} {', '.join(parts)}")
    also = "" if promise in ("", "none") else " or to judge a promise"
    caution = "" if is_enough else f" ({counted(n, 'data set')}, too few to separate methods{also})"
    sentences = [f"{_head(promise)}{caution}: {'; '.join(best)}.", *_on_common(firsts, quote)]
    if any(one.league.broken for one in firsts):
        left = [f"{len(one.league.broken)} of {len(one.league.methods)}" for one in firsts]
        sentences.append(f"Left out, as they exceed rho beyond what their promise allows: {', '.join(left)} methods.")
    cheap = [
        f"{quote(one.cheapest.label)} at {one.setting.value} ({_reached(one.cheapest)} in {_seconds(one.cheapest)}, "
        f"not {_seconds(one.best)}{_alarms(one.cheapest)})"
        for one in firsts
        if one.cheapest.label != one.best.label
    ]
    if cheap:
        by, where = " by score" if promise == "none" else "", "in the same place and " if is_enough else ""
        sentences.append(f"Cheaper, {where}at most {NEAR} worse{by}: {'; '.join(cheap)}.")
    for one in firsts:
        if one.few is not None and one.best.label not in {other.label for other in sharing(one.few)}:
            few, first = f"fewer than {leaderboard.FEW_NEGATIVES} negatives", one.few.standings[0]
            where = f"{few} ({len(one.few.datasets)} data sets) at {one.setting.value}"
            sentences.append(f"With {where}: {quote(first.label)} ({_reached(first)} in {_seconds(first)}).")
    return [*sentences, *(_with_promise(firsts, quote) if promise == "none" else ())]


def _with_promise(firsts: Sequence[First], quote: Quote) -> Iterator[str]:
    """Yield the bounds at which a method that keeps a promise has a lower score than every method without one."""
    found = []
    for one in firsts:
        n, leagues = one.setting.results["dataset"].n_unique(), one.setting.leagues
        every = [other for league in leagues for other in league.standings if other.n_datasets == n >= MIN_VALUES]
        every.sort(key=lambda other: other.score)
        kept, free = (next((s for s in every if (s.promise == "none") is is_free), None) for is_free in (False, True))
        if kept and free and kept.score < free.score:
            who = f"{quote(kept.label)} ({kept.promise})"
            found.append(f"{who} has {kept.score:.2f} at {one.setting.value}, the lowest here {free.score:.2f}")
    if found:
        yield f"By score, misses plus relative excess, {'; '.join(found)}: giving up the promise gains nothing there."


def _at_bound(one: First, *, is_timed: bool, is_enough: bool, in_full: bool) -> str:
    """Return the numbers of the best at one bound; in full for the first bound, whose words the others leave out."""
    best, found = one.best, []
    name, parts, others = (f"{one.setting.text.partition('=')[0]} ", " test parts", " others") if in_full else [""] * 3
    has_promise = best.promise not in ("", "none") and is_enough
    verdict = f": {best.verdict}" if has_promise else ""
    if best.promise == "on average":
        found.append(f"{'mean P_fa ' * in_full}{best.p_fa:#.3g}{verdict}")
    elif best.promise:
        expected = f", {best.allowed * best.n_jobs:.1f} expected" if has_promise else ""
        found.append(f"{'above it on ' * in_full}{best.above} of {best.n_jobs}{parts}{expected}{verdict}")
    if is_enough and (n_others := len(one.league.standings) - 1):
        sharing_it = len(sharing(one.league)) - 1
        found.append(f"first with {sharing_it} of {n_others}{others}" if sharing_it else "first alone")
    value, spent = best.p_nd if best.promise else 1 - best.score, f" in {_seconds(best)}" * is_timed
    about = f" ({'; '.join(found)})" if found else ""
    return f"{value:.2f} at {name}{one.setting.value}{spent}{about}"


def _on_common(firsts: Sequence[First], quote: Quote) -> Iterator[str]:
    """Yield what the best of each setting reaches on the data sets of every setting, if some setting has more."""
    common = set.intersection(*({*one.league.datasets} for one in firsts))
    if common and any(len(one.league.datasets) > len(common) for one in firsts):
        groups = _alike(firsts)
        names = [f"{quote(alike[0].best.label)} " if len(groups) > 1 else "" for alike in groups]
        values = [", ".join(f"{one.reached(common):.2f}" for one in alike) for alike in groups]
        clauses = map("".join, zip(names, values, strict=True))
        yield f"On the {len(common)} data sets that these bounds share: {'; '.join(clauses)}."


def _head(promise: str) -> str:
    return HEADS.get(promise) or promise.capitalize()


def _alike(firsts: Sequence[First]) -> list[list[First]]:
    """Return the settings in groups that name the same method."""
    return [list(group) for _, group in groupby(firsts, key=lambda one: one.best.label)]


def _reached(one: Standing) -> str:
    return f"misses {one.p_nd:.2f}" if one.promise else f"reaches {1 - one.score:.2f}"


def _alarms(one: Standing) -> str:
    """Return what is known about the false alarms of a method, with a semicolon before it."""
    if one.promise == "on average":
        return f"; mean P_fa {one.p_fa:#.3g}"
    return f"; above rho on {one.above} of {one.n_jobs} test parts" if one.promise else ""


def _seconds(one: Standing) -> str:
    return f"{one.seconds:{leaderboard.seconds_form(one.seconds)}} s"


def large(records: pl.DataFrame, quote: Quote = str) -> list[list[str]]:
    """Return sentences on what to use for each promise on the data sets with very many samples, if there are any."""
    found = settings(records.filter(pl.col("n_samples") > leaderboard.LARGE))
    if not found:
        return []
    made = _by_promise(separable(found), quote, is_timed=True)
    for sentences in made:
        sentences[0] = f"Over {leaderboard.LARGE:,} samples, {sentences[0][0].lower()}{sentences[0][1:]}"
    answers = pl.concat(one.results for one in found).group_by("label").agg((pl.col("n_good") < pl.col("n_jobs")).any())
    lost = f"{answers['n_good'].sum()} of all {len(answers)} methods, with a promise or not,"
    made[-1].append(f"{lost} end without an answer on some of them.")
    return made


def gains(records: pl.DataFrame, quote: Quote = str) -> Iterator[str]:
    """Yield what the best linear method that trains for each range gains on logistic regression.

    The gain is the Hodges-Lehmann shift over data sets, with limits of the signed-rank test at 5 % for all of these
    methods together. A data set is named if all of its splits go one way, but not if it has one split.
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
    score, collapsed = leaderboard.score_of(records), LEARNT_NOTHING.fill_null(False)
    scores = records.select("dataset", "repeat", method_labels(records), score=score, is_collapsed=collapsed)
    pairs = scores.filter(pl.col("label").is_in([linear[0], rivals[0]]))
    wide = pairs.pivot("label", index=["dataset", "repeat"], values="score").drop_nulls()
    gain = wide.group_by("dataset").agg(gain=pl.col(rivals[0]) - pl.col(linear[0])).sort("dataset")
    differences = gain["gain"].list.mean().to_numpy()
    limits = shift_interval(differences, SIGNIFICANCE_LEVEL / len(linear))
    if limits is None:
        return
    ways = [("better", 1)] * (limits[0] <= 0) + [("worse", -1)] * (limits[1] >= 0)
    word = "gains" if limits[0] > 0 else "loses" if limits[1] < 0 else "is not seen to gain"
    found = f"{hodges_lehmann(differences):+.3f} [{limits[0]:+.3f}, {limits[1]:+.3f}], {len(differences)} data sets"
    of_several = gain.filter(pl.col("gain").list.len() > 1)
    named = []
    for way, sign in ways:
        always = of_several.filter((pl.col("gain").list.eval(pl.element() * sign)).list.min() > 0)
        named.append(f"{way} on every split: {listed(always['dataset'].to_list(), MAX_NAMED) or 'none'}")
    where = "; ".join(named)
    if of_several.is_empty():
        where = f"better on {(differences > 0).sum()}, worse on {(differences < 0).sum()}"
    fits = pairs.filter(label=linear[0])["is_collapsed"]
    learnt = f"; learnt nothing in {fits.sum()} of {counted(len(fits), 'fit')}" if fits.any() else ""
    yield f"{quote(linear[0])} {word} at {setting.value} ({found}; {where}{learnt})"


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
        f"{is_minority.sum()}. Saturated, where the median method misses under {100 * leaderboard.SATURATED:.0f} % at "
        f"{setting.text} and one or two samples decide ranks: {next(hard)}. Weak, where it misses over "
        f"{100 * leaderboard.WEAK:.0f} %: {next(hard)}.{''.join(too_few)}"
    )
