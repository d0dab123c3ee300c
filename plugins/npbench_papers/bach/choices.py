"""Classifiers "one", "int" and "all" over testing asymmetries: Tables 1 and 2 of Bach, Heckerman and Horvitz (2006).

Records are of a solver whose stages are, for each testing asymmetry, the classifier of each kind (``svm_path`` with
``solver.stages=asymmetries``), with ``execution.trace=true`` and the metrics p_fa and p_nd; a repeat is an outer fold.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics import signed_rank
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, number, spread
from npbench_papers.claims import with_claims
from npbench_papers.records import Printed, printed_for
from npbench_papers.verdicts import NOT_KNOWN, explained, judge, judge_mean

TRAININGS = ("one", "int", "all")
PAIRS = ("one>all", "all>one", "int>all", "all>int", "one>int", "int>one")
# Columns of Table 2 with their formats; the paper has no values for the last.
FORMS = {"asymmetry": ".3f", **dict.fromkeys([*TRAININGS, "first"], ".2f"), "train_asymmetry": ".3f", "others": ".3f"}
TEST_LEVEL = 0.05
SHARE_TOLERANCE = 5.0  # per cent of the asymmetries
TRACE_COLUMNS = ("asymmetry", "kind", "train_asymmetry", "test_p_fa", "test_p_nd")
PRINTED_SCALE = 200  # the paper's costs are 2 asymmetry and 2 (1 - asymmetry), in per cent
GAIN_TOLERANCE = 2.0  # on the paper's scale


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
    def setting(self) -> str:
        """Choice of the total of the costs."""
        params = json.loads(self.about["params"])
        return f"{params['total']:g}" if params["total"] else f"explored, {params['tied_total']} of ties"


@with_claims
def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 1: at which share of the asymmetries one kind costs significantly more than another.

    Printed, by ``dataset``: per cent for each of ``PAIRS``. The verdict is on the share at which ``one`` costs more
    than ``all``, the gain that the paper claims.
    """
    rows: list[Row] = []
    known: list[str] = []
    for name, settings in groupby(compared(records), lambda one: one.about["dataset"]):
        paper = printed_for(printed, dataset=name)
        for one in settings:
            shares = [100 * share for share in acceptance(one.cost)] if len(one.cost) else []
            here = [number(share, ".1f") for share in shares] or [MISSING] * len(PAIRS)
            first, neutral = shares[0] if shares else None, 100 * TEST_LEVEL
            word = judge(first, paper.get(PAIRS[0]), SHARE_TOLERANCE, neutral=neutral)
            known.append(word)
            rows.append([name, one.setting, *here, ahead(shares), count(len(one.cost), len(one.records)), word])
        theirs = [number(paper.get(pair), ".1f") for pair in PAIRS]
        rows.append(["", "paper", *theirs, ahead([paper[pair] for pair in PAIRS if pair in paper]), "", ""])
    notes = [
        "a>b: the per cent of the testing asymmetries at which a costs more than b by a one-sided signed-rank test "
        "over the outer folds at 5 %. Ahead: by one>all and all>one, at more than 5 % of the asymmetries.",
        "Neighbouring asymmetries share classifiers and samples, so a share describes them and is no series of tests.",
        *explained(
            f"The verdict is on one>all, to {SHARE_TOLERANCE:g} points; in direction: the same is ahead.", known
        ),
    ]
    columns = ["data", "C_pos + C_neg", *PAIRS, "ahead", "folds", "verdict"]
    return [Sheet("Proportions of acceptance of six one-sided tests", columns, rows, notes)]


@with_claims
def mismatch(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 2: costs at the asymmetry with the largest gain on the first fold, measured on the others.

    Printed, by ``dataset``: ``asymmetry``, ``train_asymmetry``, and ``one``, ``int``, ``all`` as [mean, standard
    deviation].
    """
    rows: list[Row] = []
    for name, settings in groupby(compared(records), lambda one: one.about["dataset"]):
        paper = printed_for(printed, dataset=name)
        theirs = [number(paper.get(column), form) for column, form in FORMS.items()]
        for one in settings:
            here, gains = _largest(one) if len(one.p_fa) > 1 else ([MISSING] * len(FORMS), [])
            word = judge_mean(gains, _gain(theirs), GAIN_TOLERANCE, neutral=0)
            rows.append([name, one.setting, *here, word])
        rows.append(["", "paper", *theirs, ""])
    notes = [
        "At this asymmetry the cost of one exceeds that of all by most on the first outer fold. Costs, times 200 as in "
        "the paper, are mean±standard deviation over the other folds.",
        "As trained on fold 1: on every fold the classifier with the training asymmetry that the first fold selected "
        "for all, as in the paper, and the intercept of its training. In all, each fold selects its own asymmetry and "
        "intercept.",
        *explained(
            f"The verdict is on the gain as trained on fold 1, one minus this, to {GAIN_TOLERANCE:g}.",
            (row[-1] for row in rows),
        ),
    ]
    columns = ["data", "C_pos + C_neg", "asymmetry", *TRAININGS]
    columns += ["as trained on fold 1", "trained", "trained on the others", "verdict"]
    return [Sheet("Costs where training with another asymmetry gains most", columns, rows, notes)]


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


def _gain(cells: Sequence[Cell]) -> float | None:
    """Return the cost of one minus the cost of all, from cells in the order of ``FORMS``."""
    named = dict(zip(FORMS, cells, strict=True))
    one, other = named["one"].value, named["all"].value
    return None if one is None or other is None else one - other


def _largest(one: Compared) -> tuple[list[Cell], list[float]]:
    """Return a row of Table 2, and on each further fold the cost of one minus that as trained on the first."""
    cost, all_kind = one.cost, TRAININGS.index("all")
    place = int(np.argmax(cost[0, TRAININGS.index("one")] - cost[0, all_kind]))
    first, *trained = one.train_asymmetry[:, all_kind, place]
    # "one" is trained with its testing asymmetry, so it is the classifier with any training asymmetry.
    same = int(np.argmin(np.abs(one.asymmetry - first)))
    p_fa, p_nd = (rate[1:, TRAININGS.index("one"), same] for rate in (one.p_fa, one.p_nd))
    as_first = one.cost_at(one.asymmetry[place], p_fa, p_nd)
    others = PRINTED_SCALE * np.vstack([cost[1:, :, place].T, as_first])
    middle = float(np.median(trained))
    cells = [
        number(one.asymmetry[place]),
        *(spread(costs.tolist(), ".2f") for costs in others),
        number(first),
        Cell(f"{middle:.3f} [{min(trained):.3f}, {max(trained):.3f}]", middle),
    ]
    return cells, (others[0] - others[-1]).tolist()
