"""Repeats of a job that reached the time limit: left out with a record, in this run and in the next."""

from __future__ import annotations

from collections import Counter
from functools import partial

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from misbehaving_jobs import gaussians, jobs

from npbench.execution import local
from npbench.execution.run import NOT_RUN, Limits, RunContext, store_each, within_limit
from npbench.planning.plan import Jobs
from npbench.records.record import Record
from npbench.records.store import RecordStore

QUICK, SLOW = jobs(gaussians(), {"act": ""}, {"act": "hang"})
LIMITS = Limits(n_jobs=1, seconds=5.0)


def one_by_one(planned, limits, context):
    """Run jobs without workers: SLOW reaches the time limit."""
    for job in planned:
        slow = job.key_of(0) == SLOW.key_of(0)
        how = {"status": "timeout", "seconds": limits.seconds} if slow else {"status": "ok", "seconds": 0.1}
        yield Record({**job.columns, **how})


def run(planned: Jobs, store: RecordStore, timed_out=frozenset(), executor=one_by_one, limits=LIMITS):
    run_in = partial(within_limit, executor=executor, timed_out=timed_out)
    context, counts = RunContext({gaussians().sha256: gaussians()}), Counter()
    store_each(store, run_in(planned, limits, context), lambda record: counts.update([record.status]))
    return counts


@given(st.permutations([(job, [repeat]) for job in (QUICK, SLOW) for repeat in range(3)]))
def test_every_job_has_a_record_and_one_repeat_ran(parts):
    planned = Jobs(parts)
    records = list(within_limit(planned, LIMITS, RunContext({}), executor=one_by_one, timed_out=set()))
    assert sorted(record.key for record in records) == sorted(planned.keys())
    slow = [record for record in records if record.status == "timeout"]
    assert len(slow) == 3
    assert sum(record.get("seconds") is not None for record in slow) == 1


def test_workers_skip_repeats_too(tmp_path):
    store = RecordStore(tmp_path)
    planned = Jobs([(SLOW, range(3)), (QUICK, range(2))])
    assert run(planned, store, executor=local.records, limits=Limits(n_jobs=1, seconds=0.5)) == {"timeout": 3, "ok": 2}
    assert store.frame().filter(status="timeout")["seconds"].count() == 1


def test_the_next_run_starts_from_the_timeouts_that_are_stored(tmp_path):
    store, planned = RecordStore(tmp_path), Jobs([(SLOW, range(4)), (QUICK, range(2))])
    run(Jobs([(SLOW, [1])]), store)
    before = store.timed_out(5.0)
    assert before == {SLOW.key_of(1)}
    assert store.timed_out(6.0) == set()  # the limit was raised since
    todo = planned.without(store.done() | before)
    assert run(todo, store, planned.settings_of(before)) == {"timeout": 3, "ok": 2}
    assert store.timed_out(5.0) == before  # those left out have no seconds
    assert store.frame().filter(pl.col("error") == NOT_RUN).height == 3
