"""Match the jobs of two sets of records by setting and split, and explain what does not match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from npbench.errors import RequestError
from npbench.records.fields import Role, names
from npbench.report.select.asked import STATED, by_stated, with_stated
from npbench.values import counted

SETTING = by_stated(names(Role.ASKED, without=Role.SPLIT))
SPLIT = names(Role.SPLIT)
OTHER = "_other"
HASHES = {"data_sha256": "data", "split_sha256": "splits"}
FORCE_HINT = "--force compares them nevertheless"


@dataclass(frozen=True)
class Matched:
    """Jobs in both sets of records."""

    jobs: pl.DataFrame  # a row for each: the columns of our record, and of the other one with the suffix ``_other``
    faults: Sequence[str]  # a sentence for each reason why the comparison is unfair
    n_ours: int  # settings that only our records have
    n_other: int


def matched(ours: pl.DataFrame, other: pl.DataFrame, *, force: bool) -> Matched:
    """Match the latest records of the jobs of two sets by setting and split, or raise a RequestError.

    ``force`` matches what is not comparable as well: different data and splits by the number of the repeat, and
    different parameters of a problem if no parameters agree.
    """
    ours, other = with_stated(ours), with_stated(other)
    same_problem = ours.join(other, on=["problem", "problem_params"], how="semi")
    relaxed = force and same_problem.is_empty()
    setting = [name for name in SETTING if name != "problem_params"] if relaxed else SETTING
    common = ours.select(setting).unique().join(other.select(setting).unique(), on=setting, nulls_equal=True)
    if common.is_empty():
        raise RequestError(_nothing_in_common(ours, other))
    same = _joined(ours, other, [*setting, *SPLIT])
    elsewhere = common.join(same.select(setting).unique(), on=setting, how="anti", nulls_equal=True)
    faults = ["The problem has other parameters there."] if relaxed else []
    faults += [*_other_splits(elsewhere), *_other_data(same)]
    if faults and not force:
        raise RequestError(*(f"{fault} {FORCE_HINT}." for fault in faults))
    mine, theirs = (frame.join(elsewhere, on=setting, how="semi", nulls_equal=True) for frame in (ours, other))
    by_number = _joined(mine, theirs, [*setting, "seed", "repeat"])
    jobs = pl.concat([same, by_number], how="diagonal_relaxed")
    if jobs.is_empty():
        raise RequestError("No repeat is in both: run them with the same seed, and one at least as often as the other.")
    return Matched(jobs, faults, *(frame.select(setting).n_unique() - len(common) for frame in (ours, other)))


def _joined(ours: pl.DataFrame, other: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Return the jobs of both that agree in ``on``, the last of several."""
    mine, theirs = (frame.unique(on, keep="last", maintain_order=True) for frame in (ours, other))
    # Every column of the other gets the suffix, even if ours has no column of that name.
    renamed = theirs.select(*on, pl.exclude(on).name.suffix(OTHER))
    return mine.join(renamed, on=on, nulls_equal=True, maintain_order="left")


def _nothing_in_common(ours: pl.DataFrame, other: pl.DataFrame) -> str:
    for what in ("problem", "dataset", "solver", "problem_params"):
        mine, theirs = (sorted(frame[what].unique()) for frame in (ours, other))
        if not set(mine) & set(theirs):
            listed = f"{', '.join(mine[:5])} here, {', '.join(theirs[:5])} there"
            hint = f" {FORCE_HINT}." if what == "problem_params" else ""
            return f"The two sets of records have no {what} in common: {listed}.{hint}"
    return f"No setting is in both{_nearest(ours, other)}."


def _nearest(ours: pl.DataFrame, other: pl.DataFrame) -> str:
    """Return the columns in which the two most similar settings of a solver on a data set differ."""
    mine, theirs = (frame.select(SETTING).unique(maintain_order=True) for frame in (ours, other))
    both = mine.join(theirs, on=["solver", "dataset"], suffix=OTHER, maintain_order="left").rows(named=True)
    apart = [(row, [name for name in SETTING if row[name] != row.get(f"{name}{OTHER}", row[name])]) for row in both]
    row, differing = min(apart, key=lambda pair: len(pair[1]), default=({}, []))
    if not differing:
        return ""
    shown = ", ".join("params" if name == STATED else name for name in differing)
    return f": {row['solver']} on {row['dataset']}, for example, has another {shown} there"


def _other_splits(elsewhere: pl.DataFrame) -> Iterator[str]:
    for dataset in elsewhere["dataset"].unique().sort():
        settings = counted(len(elsewhere.filter(dataset=dataset)), "setting")
        yield f"On {dataset}, the splits of {settings} differ: another protocol, other seeds or other repeats there."


def _other_data(same: pl.DataFrame) -> Iterator[str]:
    for column, what in HASHES.items():
        apart = same.filter(pl.col(column) != pl.col(f"{column}{OTHER}")).unique("dataset").sort("dataset")
        for dataset, mine, theirs in apart.select("dataset", column, f"{column}{OTHER}").rows():
            yield f"The {what} of {dataset} differ: SHA-256 {mine[:12]} here, {theirs[:12]} there."


def unverified(jobs: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence for data and for splits, if some jobs lack the hash that proves them equal."""
    good = jobs.filter(pl.col("status") == "ok", pl.col(f"status{OTHER}") == "ok")
    for column, what in HASHES.items():
        if unknown := len(good.filter(pl.any_horizontal(pl.col(column, f"{column}{OTHER}").is_null()))):
            assumed = f"the {what} are assumed to be equal: older records have no hash of their {what}"
            yield f"In {unknown} of {len(good)} pairs of jobs {assumed}."
