"""Recompute stored records from their test scores, rerun a sample of them, and compare every answer.

Metrics of all records follow from their scores and the labels that are here, whatever a worker or an author wrote. Only
a rerun shows that the solver gives these scores: of a share of forged records, a random sample finds one with the
probability that :func:`power` returns.
"""

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from npbench import session
from npbench.errors import RequestError
from npbench.evaluation.job import Job
from npbench.planning.forecast import changes
from npbench.planning.plan import Sources
from npbench.records.fields import ASKED, SCHEMA, Role, names
from npbench.records.reading import LABEL
from npbench_benchmark.board.stored_request import as_request_errors, job_of
from npbench_benchmark.board.submission import SUBMITTED, rescored

OF_SPLIT = ("status", "split_sha256", "n_test_positive", "n_test_duplicates", "roc")  # answers that follow from scores
CLOCKS = ("select_cpu_seconds", "fit_cpu_seconds")
MAX_DIFFERENCE = 1e-9  # relative; sums in another order differ by less
MAX_SPEED_RATIO = 10  # between machines
MIN_SECONDS = 0.1  # in shorter times noise is larger
SHARE, POWER = 0.05, 0.95


@dataclass
class Verified:
    """A stored job and what computing it here gave."""

    record: Mapping[str, Any]
    differing: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # answers stored and here
    limits: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # of equal estimates, by another version
    environment: list[str] = field(default_factory=list)  # what differs in data, code, versions, machine
    fault: str = ""  # why the job cannot be compared
    seconds: tuple[float, float] = (0.0, 0.0)  # of training, stored and here

    @property
    def is_same(self) -> bool:
        """True if every answer agrees."""
        return not self.fault and not self.differing


def power(n_records: int, size: int, share: float = SHARE) -> float:
    """Return the probability that a sample has a forged record if a share of all records is forged.

    The number of forged records in a sample drawn without replacement is hypergeometric, so none is found with
    probability C(N - f, n) / C(N, n), of N records, f = ceil(share * N) of them forged, and n in the sample.
    """
    forged = math.ceil(share * n_records - 1e-9)  # 0.05 * 140 is above 7
    return 1 - math.comb(n_records - forged, size) / math.comb(n_records, size) if n_records else 0.0


def sample_size(n_records: int, share: float = SHARE, least: float = POWER) -> int:
    """Return the size of the smallest sample whose :func:`power` is ``least`` or more."""
    return next((size for size in range(n_records) if power(n_records, size, share) >= least), n_records)


def sample(records: pl.DataFrame, size: int, seed: int) -> list[dict[str, Any]]:
    """Return ``size`` of the records that can be rerun, or all.

    They depend on the records and the seed, not on the order of the records. Scores of other programs have no job, and
    time limits and memory depend on the machine.
    """
    known = records.filter(pl.col("status").is_in(["ok", "failed"]), pl.col("distribution").ne_missing(SUBMITTED))
    ordered = known.sort(ASKED)
    places = sorted(random.Random(seed).sample(range(len(ordered)), min(size, len(ordered))))
    return ordered[places].to_dicts()


def recompute(records: Sequence[Mapping[str, Any]], scores: pl.DataFrame) -> Iterator[Verified]:
    """Yield the comparison of each record with what follows from its test scores; records without any have a fault."""
    sources = Sources()
    kept = {row["key"]: row for row in scores.iter_rows(named=True)}
    for record in records:
        one = Verified(record)
        try:
            if record["key"] not in kept:
                raise RequestError("its test scores are not stored: run it with execution.keep_scores=true")
            with as_request_errors("its settings"):
                here = rescored(record, kept[record["key"]], sources)
            _compare(one, here, [name for name in (*OF_SPLIT, *_metrics(record)) if _follows(name, record, here)])
            if record["distribution"] == SUBMITTED:  # nothing was trained here
                one.differing |= {name: (record[name], None) for name in CLOCKS if record[name] is not None}
        except RequestError as error:
            one.fault = str(error)
        yield one


def _follows(name: str, record: Mapping[str, Any], here: Mapping[str, Any]) -> bool:
    """Return whether scores determine a metric: those of a model are NaN without it, and reruns compare them."""
    if name not in here or name in OF_SPLIT or record["distribution"] == SUBMITTED:
        return True
    has_both_classes = not math.isnan(here.get("auc", 0.0))
    return not (has_both_classes and _is_missing(here[name]))


def rerun(records: Sequence[Mapping[str, Any]]) -> Iterator[Verified]:
    """Run stored jobs here and yield the comparison of each."""
    sources, found = Sources(), [Verified(record) for record in records]
    jobs: list[tuple[Verified, Job]] = []
    for one in found:
        try:
            with as_request_errors("its settings"):
                job = job_of(one.record, sources)
            one.environment += changes(one.record, job)
            jobs.append((one, job))
        except RequestError as error:
            one.fault = str(error)
    data = {job.data.data_sha256: sources.data(job.request) for _, job in jobs}
    ran = session.answers([job for _, job in jobs], data)
    for one, job in jobs:
        here = ran[job.key]
        _compare(one, here, [*names(Role.ANSWER), *_metrics(one.record)])
        one.seconds = _training(one.record), _training(here)
        machines = [(name, one.record[name], here.get(name)) for name in names(Role.MACHINE)]
        one.environment += [f"{name} {stored} -> {now}" for name, stored, now in machines if stored != now]
    yield from found


def unequal_clocks(found: Sequence[Verified]) -> str:
    """Return a sentence if the training of rerun jobs took far more or less time than recorded, else an empty one."""
    long = [one.seconds for one in found if max(one.seconds) >= MIN_SECONDS]
    if not (odd := [seconds for seconds in long if max(seconds) > MAX_SPEED_RATIO * min(seconds)]):
        return ""
    stored, here = odd[0]
    what = f"Training times of {len(odd)} of {len(found)} jobs differ by a factor above {MAX_SPEED_RATIO}"
    return f"{what}: the first takes {here:.3g} s of processor time here, {stored:.3g} s in its record."


def _compare(one: Verified, here: Mapping[str, Any], compared: Sequence[str]) -> None:
    # A column that the record lacks is newer than the record, or was left out when the record was published.
    known = [name for name in compared if one.record[name] is not None or name not in SCHEMA]
    answers = {name: (one.record[name], here.get(name)) for name in known}
    one.differing = {name: pair for name, pair in answers.items() if not equal(*pair)}
    if any(cause.startswith("the code of ") for cause in one.environment):  # unknown if only scores are compared
        same = {f"{name}{end}" for name in answers.keys() - one.differing for end in ("_low", "_high")}
        one.limits = {name: one.differing.pop(name) for name in same & one.differing.keys()}
    if here.get("status") != one.record["status"]:
        one.fault = f"{here.get('status')} here: {here.get('error')}"


def _metrics(record: Mapping[str, Any]) -> list[str]:
    """Return all columns beyond the schema and the problem: reports read them, whichever metrics the record lists."""
    problem = json.loads(record["problem_params"])
    return [name for name in record if name not in SCHEMA and name != LABEL and name not in problem]


def _training(record: Mapping[str, Any]) -> float:
    return sum(record.get(name) or 0.0 for name in CLOCKS)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def equal(stored: Any, here: Any) -> bool:
    """Return whether two answers agree; numbers up to rounding in another order.

    Examples
    --------
    >>> equal(0.3, 0.1 + 0.2), equal(0.3, 0.31), equal(None, float("nan")), equal("[1]", "[1]")
    (True, False, True, True)
    """
    stored, here = (None if _is_missing(v) else v for v in (stored, here))
    if isinstance(stored, float) and isinstance(here, (int, float)):
        return math.isclose(stored, here, rel_tol=MAX_DIFFERENCE, abs_tol=MAX_DIFFERENCE)
    return bool(stored == here)
