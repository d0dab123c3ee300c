"""Precedence of records where folders hold several of one job: published, then one's own, then submissions.

A submission, below ``submissions/NAME``, holds records of the solver ``NAME`` only, typed as ``NAME`` or ``NAME_...``,
and none of a name that published records have. Others are left out: nobody's submission changes another's results.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

from npbench.records.files import PUBLISHED, RECORDS, SUBMISSIONS
from npbench.records.provenance import ROOT
from npbench.records.reading import read

OWN = ""


def origin(source: Path) -> str:
    """Return where records come from: PUBLISHED, the name of a submission, or OWN.

    >>> origin(Path("results/submissions/mine/records")), origin(Path("results/records"))
    ('mine', '')
    """
    path = source.resolve()
    for folder in reversed((path, *path.parents)):  # nothing inside a submission is published
        # Work may go on below any folder, such as submissions/paper: only records directly in it are a submission.
        is_workplace = any(place.is_relative_to(folder) for place in (Path.cwd(), ROOT))
        is_direct = path.relative_to(folder).parts[:1] in ((), (RECORDS,))
        if folder.name == PUBLISHED and not is_workplace:
            return PUBLISHED
        if folder.parent.name == SUBMISSIONS and (is_direct or not is_workplace):
            return folder.name
    return OWN


def read_by_precedence(sources: Iterable[Path], on_fault: Callable[[str], None]) -> pl.DataFrame:
    """Return the records of some sources by rising precedence; see :func:`npbench.records.reading.read`."""
    groups: dict[str, list[Path]] = {}
    for source in sources:
        groups.setdefault(origin(source), []).append(source)
    published = read(groups.pop(PUBLISHED, []), on_fault)
    own = read(groups.pop(OWN, []), on_fault)
    taken = {*published["solver"], *published["method"]}
    submitted = [_of_its_method(read(paths, on_fault), name, taken, on_fault) for name, paths in groups.items()]
    found = [frame for frame in (*submitted, own, published) if len(frame)]
    if len(found) <= 1:
        return found[0] if found else own
    return pl.concat(found, how="diagonal_relaxed").unique("key", keep="last", maintain_order=True)


def _of_its_method(records: pl.DataFrame, name: str, taken: set[str], on_fault: Callable[[str], None]) -> pl.DataFrame:
    """Return the records of a submission that are of its own method."""
    if name in taken:
        on_fault(f"The submission {name} is left out: published records have that name.")
        return records.clear()
    typed = pl.col("method")
    is_own = (pl.col("solver") == name) & (typed.is_null() | (typed == name) | typed.str.starts_with(f"{name}_"))
    is_own &= ~typed.is_in(list(taken - {None}))
    if len(others := records.filter(~is_own.fill_null(False))):
        whose = ", ".join(map(str, others["solver"].unique(maintain_order=True)))[:100]
        allowed = f"records of the solver {name} only, typed as {name} or {name}_..."
        on_fault(f"{len(others)} records of {whose} in the submission {name} are left out: it may hold {allowed}")
    return records.filter(is_own.fill_null(False))
