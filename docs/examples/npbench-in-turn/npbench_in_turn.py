import time

from npbench import hookimpl


@hookimpl
def npbench_executors():
    return {"in_turn": "npbench_in_turn:records"}


def records(jobs, limits, context, *, pause: float = 0.0):
    from npbench.execution import local

    for job in jobs:
        yield from local.records([job], limits, context)
        time.sleep(pause)
