"""Classifiers "one", "int" and "all" over testing asymmetries: Tables 1 and 2 of Bach, Heckerman and Horvitz (2006).

Records are of a solver whose stages are, for each testing asymmetry, the classifier of each kind (``svm_path`` with
``solver.stages=asymmetries``), with ``execution.trace=true`` and the metrics p_fa and p_nd; a repeat is an outer fold.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics import signed_rank
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, estimate, number, spread
from npbench.report.stats.paired import mean_limits
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, printed_for
from npbench_papers.verdicts import NOT_KNOWN, explained, judge, judge_mean

TRAININGS = ("one", "int", "all")
ONE, INT, ALL = range(3)
PAIRS = ("one>all", "all>one", "int>all", "all>int", "one>int", "int>one")
# Columns of Table 2 with their formats; the paper has no values for the last.
FORMS = dict.fromkeys(TRAININGS, ".2f") | {"gain": "z.0f", "asymmetry": ".3f", "train_asymmetry": ".3f", "own": ".2f"}
TEST_LEVEL = 0.05
SHARE_TOLERANCE = 5.0  # per cent of the asymmetries
TRACE_COLUMNS = ("asymmetry", "kind", "train_asymmetry", "test_p_fa", "test_p_nd")
PRINTED_SCALE = 200  # the paper's costs are 2 asymmetry and 2 (1 - asymmetry), in per cent
GAIN_TOLERANCE = 10.0  # per cent of the cost of one
EXTREME = 0.1  # distance from 0 or 1 of an extreme testing asymmetry


@dataclass(frozen=True)
class Compared:
    """The three trainings on the outer folds of one data set."""

    records: pl.DataFrame  # with or without a trace
    asymmetry: np.ndarray  # testing asymmetries, ascending
    p_fa: np.ndarray  # on test parts, of shape (n_folds, 3, n_asymmetries)
    p_nd: np.ndarray
    train_asymmetry: np.ndarray

    @property
    def cost(self) -> np.ndarray:
        """Cost of a test sample for each fold, kind and testing asymmetry."""
        return self.cost_at(self.asymmetry, self.p_fa, self.p_nd)

    def cost_at(self, asymmetry: np.ndarray | float, p_fa: np.ndarray, p_nd: np.ndarray) -> np.ndarray:
        """Return ``asymmetry pi_pos P_nd + (1 - asymmetry) pi_neg P_fa``, with the shares of the classes."""
        share_pos = self.about["n_positive"] / self.about["n_samples"]
        return asymmetry * share_pos * p_nd + (1 - asymmetry) * (1 - share_pos) * p_fa

    @property
    def about(self) -> dict[str, Any]:
        """The data set, by name and size."""
        return self.records.row(0, named=True)

    @property
    def setting(self) -> tuple[str, str]:
        """The data set and the rule for C_pos + C_neg."""
        params = json.loads(self.about["params"])
        total = f"{params['total']:g}" if params["total"] else f"explored, {params['tied_total']} of ties"
        return self.about["dataset"], total


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 1: the share of the asymmetries at which one kind costs significantly more than another.

    Printed, by ``dataset``: per cent for each of ``PAIRS``. The verdict is on the share at which ``one`` costs more
    than ``all``, the gain that the paper claims.
    """
    rows: list[Row] = []
    known: list[str] = []
    for name, settings in groupby(compared(records), lambda one: one.about["dataset"]):
        paper = printed_for(printed, dataset=name)
        for one in settings:
            shares = [100 * share for share in acceptance(one.cost)] if len(one.cost) else []
            loss = number(_loss(one.cost) if len(one.cost) else None, ".1f")
            here = [number(share, ".1f") for share in shares] or [MISSING] * len(PAIRS)
            word = judge(here[0].value, paper.get(PAIRS[0]), SHARE_TOLERANCE, neutral=100 * TEST_LEVEL)
            known.append(word)
            rows.append([*one.setting, *here, loss, ahead(shares), count(len(one.cost), len(one.records)), word])
        theirs = [number(paper.get(pair), ".1f") for pair in PAIRS]
        rows.append(["", "paper", *theirs, "", ahead([paper[pair] for pair in PAIRS if pair in paper]), "", ""])
    margin = f"The verdict is on one>all, to {SHARE_TOLERANCE:g} points; same side: the same is ahead, beyond 5 %."
    notes = [
        "a>b: percentage of the testing asymmetries at which a costs more than b by a one-sided signed-rank test "
        "over the outer folds at 5 %. Ahead: by one>all and all>one, at more than 5 % of the asymmetries. Loss: where "
        "all>int, what all costs more than int, in per cent.",
        "Neighbouring asymmetries share classifiers and samples: a share describes them and is not a series of tests.",
        *explained(margin, known),
    ]
    columns = ["data", "C_pos + C_neg", *PAIRS, "loss", "ahead", "folds", "verdict"]
    return [Sheet("Proportions of acceptance of six one-sided tests", columns, rows, notes)]


@with_claims
def forced(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 1 where "one" may not be kept, and what that costs more than where it may, fold by fold."""
    is_forced = pl.col("params").str.contains('"level":1,', literal=True)
    kept = {one.setting: one.cost for one in compared(records.filter(~is_forced))}
    pairs = ((one, kept.get(one.setting, ())) for one in compared(records.filter(is_forced)))
    more = {one.setting: (one.cost - cost).mean(axis=2) for one, cost in pairs if len(one.cost) == len(cost) > 1}
    for total in {total: None for _, total in more}:
        more["mean of all", total] = np.mean([cost for (_, rule), cost in more.items() if rule == total], axis=0)
    rows: list[Row] = []
    for setting, costs in more.items():
        as_int, as_all = (_limited(PRINTED_SCALE * costs[:, kind], ".3f") for kind in (INT, ALL))
        rows.append([*setting, as_int, as_all, number(as_all.numbers["low"])])
    note = "Cost, times 200, minus that where one may be kept, with 95 % limits over folds. At least: the lower limit."
    sheet = Sheet("Costs of forced choices", ["data", "C_pos + C_neg", "int", "all", "all, at least"], rows, [note])
    return [*table(records.filter(is_forced), printed), sheet]


@with_claims
def mismatch(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 2: costs at the asymmetry with the largest gain on the first fold, measured on the others.

    Further records are of fits with a training asymmetry and ``solver.shift=null``: "all" is the one with the training
    asymmetry that the first fold selects. Printed, by ``dataset``: ``asymmetry``, ``train_asymmetry``, and ``one``,
    ``int``, ``all`` as [mean, standard deviation].
    """
    is_given = pl.col("params").str.contains('"shift":null', literal=True)
    given = {
        (row["dataset"], about["asymmetry"], about["train_asymmetry"], row["repeat"]): (row["p_fa"], row["p_nd"])
        for row in records.filter(is_given, status="ok").to_dicts()
        if (about := json.loads(row["params"]) | json.loads(row["problem_params"]))
    }
    rows: list[Row] = []
    found = list(compared(records.filter(~is_given)))
    for one in found:
        paper = printed_for(printed, dataset=one.about["dataset"])
        if paper.get("asymmetry") != paper.get("train_asymmetry"):
            paper["gain"] = 100 * (1 - paper["all"][0] / paper["one"][0])
        here, gains = _largest(one, given) if len(one.cost) == len(one.records) > 1 else ([MISSING] * len(FORMS), [])
        word = judge_mean(gains, paper.get("gain"), GAIN_TOLERANCE, neutral=0)
        theirs = [number(paper.get(column), form) for column, form in FORMS.items()]
        rows += [[one.about["dataset"], *here, word], ["paper", *theirs, ""]]
    margin = "Gain: of all over one, in per cent of the cost of one, with 95 % limits. The verdict is on it, to "
    margin += f"{GAIN_TOLERANCE:g} points; there is none where the paper trains with the testing asymmetry."
    notes = [
        "At this asymmetry, cost of one minus cost of all is largest on the first outer fold. Costs, times 200 as in "
        "the paper, are mean±standard deviation over the other folds.",
        "On every fold all has the training asymmetry that the first fold selected, as in the paper, and the intercept "
        "of least cost on the inner folds; it is one if nothing gains on the first fold. Own: each fold selects both.",
        *explained(margin, (row[-1] for row in rows)),
    ]
    columns = ["data", *TRAININGS, "gain", "asymmetry", "trained", "own", "verdict"]
    sheet = Sheet("Costs where training with another asymmetry gains most", columns, rows, notes)
    return [sheet, _extremes([one for one in found if len(one.cost) > 1])]


def compared(records: pl.DataFrame) -> Iterator[Compared]:
    """Yield the kinds of each data set and setting, in the order of the records."""
    for _, group in records.group_by("dataset", "params", "seed", maintain_order=True):
        ordered = group.sort("repeat")
        folds = [json.loads(trace) for trace in ordered.filter(status="ok")["trace"].drop_nulls()]
        usable = [_by_kind(fold) for fold in folds if all(fold.get(name) for name in TRACE_COLUMNS)]
        if not usable:
            yield Compared(ordered, np.empty(0), *np.empty((3, 0, 3, 0)))
            continue
        asymmetry, _, trained, p_fa, p_nd = np.stack(usable, axis=1)
        yield Compared(ordered, asymmetry[0, 0], p_fa, p_nd, trained)


def acceptance(cost: np.ndarray) -> list[float]:
    """Return the share of asymmetries at which each of ``PAIRS`` is accepted, from costs as in :class:`Compared`."""
    of = {kind: cost[:, number].T for number, kind in enumerate(TRAININGS)}
    pairs = (pair.split(">") for pair in PAIRS)
    return [float(np.mean(signed_rank.tails(of[more] - of[less])[0] <= TEST_LEVEL)) for more, less in pairs]


def _loss(cost: np.ndarray) -> float | None:
    """Return the cost of all over that of int, minus 1, in per cent where the test finds it larger."""
    worse = signed_rank.tails((cost[:, ALL] - cost[:, INT]).T)[0] <= TEST_LEVEL
    return 100 * float(cost[:, ALL, worse].sum() / cost[:, INT, worse].sum() - 1) if worse.any() else None


def ahead(shares: Sequence[float]) -> str:
    """Return which of "one" and "all" is ahead, from shares in per cent in the order of ``PAIRS``."""
    if not shares:
        return NOT_KNOWN
    all_ahead, one_ahead = (share > 100 * TEST_LEVEL for share in shares[:2])
    if all_ahead == one_ahead:
        return "each at some" if all_ahead else "neither"
    return "all" if all_ahead else "one"


def _by_kind(fold: Mapping[str, Sequence[float]]) -> np.ndarray:
    """Return the columns of a trace, each by training and ascending asymmetry."""
    columns = np.array([fold[name] for name in TRACE_COLUMNS], dtype=float)
    order = np.lexsort((columns[0], columns[1]))
    return columns[:, order].reshape(len(TRACE_COLUMNS), len(TRAININGS), -1)


def _largest(one: Compared, given: Mapping[tuple[Any, ...], tuple[float, float]]) -> tuple[list[Cell], list[float]]:
    """Return a row of Table 2, and the gain of all on each further fold in per cent of the mean cost of one."""
    gain = one.cost[0, ONE] - one.cost[0, ALL]
    place = int(np.argmax(gain))
    asymmetry, first = float(one.asymmetry[place]), float(one.train_asymmetry[0, ALL, place])
    as_one, as_int, own = (PRINTED_SCALE * one.cost[1:, :, place].T).tolist()
    fits = [given.get((one.about["dataset"], asymmetry, first, repeat)) for repeat in one.records["repeat"][1:]]
    as_first = [] if None in fits else (PRINTED_SCALE * one.cost_at(asymmetry, *np.array(fits).T)).tolist()
    as_all = as_first if gain[place] > 0 else as_one
    gains = [100 * (cost - less) / (fmean(as_one) or 1.0) for cost, less in zip(as_one, as_all, strict=False)]
    values = zip(FORMS, [as_one, as_int, as_all, gains, [asymmetry], [first], own], strict=True)
    return [(_limited if column == "gain" else spread)(some, FORMS[column]) for column, some in values], gains


def _limited(values: Sequence[float] | np.ndarray, form: str) -> Cell:
    """Return the mean of values with its 95 % limits."""
    return estimate(float(np.mean(values)), mean_limits(values), form, len(values)) if len(values) else MISSING


def _extremes(found: Sequence[Compared]) -> Sheet:
    """Return what another training asymmetry gains near both ends of the testing asymmetries."""
    rows: list[Row] = []
    for one in found:
        sides = ((f"to {EXTREME:g}", one.asymmetry), (f"from {1 - EXTREME:g}", 1 - one.asymmetry))
        for end, asked in ((end, at <= EXTREME) for end, at in sides if at.min() <= EXTREME):
            apart = np.abs(one.asymmetry[asked] - 0.5) - np.abs(one.train_asymmetry[:, ALL, asked] - 0.5)
            gains = PRINTED_SCALE * (one.cost[:, ONE] - one.cost[:, ALL])[:, asked].mean(axis=1)
            shares = [number(100 * float(np.mean(sign * apart > 1e-9)), ".0f") for sign in (1, -1)]
            others = (fold[np.abs(fold) > 1e-9] for fold in apart)
            of_others = _limited([100 * float(np.mean(fold > 0)) for fold in others if len(fold)], ".0f")
            rows.append([one.about["dataset"], end, *shares, of_others, _limited(gains, ".2f")])
    notes = [
        "Per cent of asymmetries and folds at which all is trained with a less, or a more, extreme asymmetry than the "
        "testing one; otherwise with the same. Less of both: in per cent of less and more; at random, it would be 90.",
        "Gain: cost of one minus cost of all, times 200, mean over these asymmetries. Limits are over folds, at 95 %.",
    ]
    columns = ["data", "testing asymmetry", "less extreme", "more extreme", "less of both", "gain"]
    return Sheet(f"Extreme testing asymmetries: to {EXTREME:g} and from {1 - EXTREME:g}", columns, rows, notes)
