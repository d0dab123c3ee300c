"""Classifiers "one", "int" and "all" over testing asymmetries: Tables 1 and 2 of Bach, Heckerman and Horvitz (2006).

Records are of a solver whose stages are, for each testing asymmetry, the classifier of each kind (``svm_path`` with
``solver.stages=asymmetries``), with ``execution.trace=true`` and the metrics p_fa and p_nd; a repeat is an outer fold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from npbench.numerics import signed_rank
from npbench.report.sheet import MISSING, Cell, Row, Sheet, count, number, spread
from npbench_papers.records import Printed, beside, printed_for

KINDS = ("one", "int", "all")
PAIRS = ("one>all", "all>one", "int>all", "all>int", "one>int", "int>one")
# Columns of Table 2 with their formats; the paper has none for the last.
FORMS = {"asymmetry": ".3f", **dict.fromkeys(KINDS, ".2f"), "train_asymmetry": ".3f", "trained_others": ".3f"}
SIGNIFICANCE = 0.05
NEEDED = ("asymmetry", "kind", "train_asymmetry", "test_p_fa", "test_p_nd")
PRINTED_SCALE = 200  # the paper's costs are 2 asymmetry and 2 (1 - asymmetry), in per cent
NOT_KNOWN = MISSING.text


@dataclass(frozen=True)
class Compared:
    """The kinds of one data set on its outer folds.

    Parameters
    ----------
    records : DataFrame
        All records of the data set, with or without a trace.
    asymmetry : array of shape (n_asymmetries,)
        Testing asymmetries, ascending.
    cost : array of shape (n_folds, 3, n_asymmetries)
        Cost of a test sample, ``asymmetry pi_pos P_nd + (1 - asymmetry) pi_neg P_fa`` with the shares of the classes in
        the data set, in the order of ``KINDS``.
    train_asymmetry : array of shape (n_folds, 3, n_asymmetries)
        Training asymmetries.
    """

    records: pl.DataFrame
    asymmetry: np.ndarray
    cost: np.ndarray
    train_asymmetry: np.ndarray

    @property
    def about(self) -> dict[str, Any]:
        """The data set, by name and size."""
        return self.records.row(0, named=True)


def table(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 1: at which share of the asymmetries one kind costs significantly more than another.

    Printed, by ``dataset``: per cent for each of ``PAIRS``.
    """
    rows: list[Row] = []
    known = []
    for one in compared(records):
        paper = printed_for(printed, dataset=one.about["dataset"])
        shares = [100 * share for share in acceptance(one.cost)] if len(one.cost) else []
        here = [number(share, ".1f") for share in shares] or [MISSING] * len(PAIRS)
        theirs, apart = beside(here, paper, dict.fromkeys(PAIRS, ".1f"))
        ours, printed_verdict = verdict(shares), verdict([paper[pair] for pair in PAIRS if pair in paper])
        agreed = "" if NOT_KNOWN in (ours, printed_verdict) else "agree" if ours == printed_verdict else "differ"
        known += [agreed] if agreed else []
        sizes = [number(one.about[name], "d") for name in ("n_features", "n_samples")]
        folds = count(len(one.cost), len(one.records))
        rows.append([one.about["dataset"], *sizes, "here", *here, folds, ours])
        rows.append(["", "", "", "paper", *theirs, "", printed_verdict])
        rows.append(["", "", "", "here - paper", *apart, "", agreed])
    notes = [
        f"Verdicts agree with the paper's on {known.count('agree')} of {len(known)} data sets.",
        "a>b: the per cent of the testing asymmetries at which a costs more than b by a one-sided signed-rank test "
        "over the outer folds at 5 %. The verdict is on one and all: which is ahead at more than 5 % of asymmetries.",
        "Neighbouring asymmetries share classifiers and samples, so a share describes them and is no series of tests.",
    ]
    columns = ["data", "d", "n", "", *PAIRS, "folds", "verdict"]
    return [Sheet("Proportions of acceptance of six one-sided tests", columns, rows, notes)]


def mismatch(records: pl.DataFrame, printed: Printed) -> list[Sheet]:
    """Return Table 2: costs at the asymmetry with the largest gain on the first fold, measured on the others.

    Printed, by ``dataset``: ``asymmetry``, ``train_asymmetry``, and ``one``, ``int``, ``all`` as [mean, standard
    deviation].
    """
    rows: list[Row] = []
    for one in compared(records):
        name = one.about["dataset"]
        here = _largest(one) if len(one.cost) > 1 else [MISSING] * len(FORMS)
        theirs, apart = beside(here, printed_for(printed, dataset=name), FORMS)
        rows += [[name, "here", *here], ["", "paper", *theirs], ["", "here - paper", *apart]]
    notes = [
        "At this asymmetry the cost of one exceeds that of all by most on the first outer fold. Costs, times 200 as in "
        "the paper, are mean±standard deviation over the other folds. Each fold selects its own asymmetry and "
        "intercept; the paper uses the training asymmetry of the first fold for all."
    ]
    columns = ["data", "", "asymmetry", *KINDS, "trained", "trained on the others"]
    return [Sheet("Costs where training with another asymmetry gains most", columns, rows, notes)]


def compared(records: pl.DataFrame) -> Iterator[Compared]:
    """Yield the kinds of each data set, in the order of the records."""
    for _, group in records.group_by("dataset", "seed", maintain_order=True):
        ordered = group.sort("repeat")
        about = ordered.row(0, named=True)
        share_pos = about["n_positive"] / about["n_samples"]
        folds = [json.loads(trace) for trace in ordered.filter(status="ok")["trace"].drop_nulls()]
        usable = [_by_kind(fold) for fold in folds if all(fold.get(name) for name in NEEDED)]
        if not usable:
            yield Compared(ordered, np.empty(0), np.empty((0, 3, 0)), np.empty((0, 3, 0)))
            continue
        asymmetry, _, trained, p_fa, p_nd = np.stack(usable, axis=1)
        weight = asymmetry * share_pos
        cost = weight * p_nd + (1 - asymmetry) * (1 - share_pos) * p_fa
        yield Compared(ordered, asymmetry[0, 0], cost, trained)


def acceptance(cost: np.ndarray) -> list[float]:
    """Return the share of asymmetries at which each of ``PAIRS`` is accepted, from costs as in :class:`Compared`."""
    of = {kind: cost[:, number].T for number, kind in enumerate(KINDS)}
    pairs = (pair.split(">") for pair in PAIRS)
    return [float(np.mean(signed_rank.greater(of[more] - of[less]) <= SIGNIFICANCE)) for more, less in pairs]


def verdict(shares: Sequence[float]) -> str:
    """Return which of "one" and "all" is ahead, from shares in per cent in the order of ``PAIRS``.

    Examples
    --------
    >>> verdict([8.7, 0.0, 4.1, 0.0, 5.2, 0.0]), verdict([0.0] * 6), verdict([])
    ('all ahead', 'level', '-')
    """
    if not shares:
        return NOT_KNOWN
    all_ahead, one_ahead = (share > 100 * SIGNIFICANCE for share in shares[:2])
    if all_ahead and one_ahead:
        return "either"
    return "all ahead" if all_ahead else "one ahead" if one_ahead else "level"


def _by_kind(fold: Mapping[str, Sequence[float]]) -> np.ndarray:
    """Return the columns needed of a trace, each by kind and ascending asymmetry."""
    columns = np.array([fold[name] for name in NEEDED], dtype=float)
    order = np.lexsort((columns[0], columns[1]))
    return columns[:, order].reshape(len(NEEDED), len(KINDS), -1)


def _largest(one: Compared) -> list[Cell]:
    gain = one.cost[0, KINDS.index("one")] - one.cost[0, KINDS.index("all")]
    place = int(np.argmax(gain))
    others = PRINTED_SCALE * one.cost[1:, :, place]
    first, *trained = one.train_asymmetry[:, KINDS.index("all"), place]
    middle = float(np.median(trained))
    return [
        number(one.asymmetry[place]),
        *(spread(others[:, kind].tolist(), ".2f") for kind in range(len(KINDS))),
        number(first),
        Cell(f"{middle:.3f} [{min(trained):.3f}, {max(trained):.3f}]", middle),
    ]
