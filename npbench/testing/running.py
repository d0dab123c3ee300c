"""Run checks where they may crash, hang and print: in a process of their own."""

import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from npbench.execution.local import how_it_died
from npbench.execution.pool import Allow, Outcome, Returned, outcomes
from npbench.execution.processes import Died, TimedOut
from npbench.testing.check import Check, Skipped


@dataclass(frozen=True)
class Result:
    """Outcome of a check (ok, failed or skipped), the reason and, for a closer look, where it failed and its output."""

    outcome: str
    reason: str = ""
    details: str = ""


def results(checks: Sequence[Check], time_limit: float) -> Iterator[Result]:
    """Run checks one after the other and yield the result of each, whatever they do to their process."""
    tasks = ((check, time_limit) for check in checks)
    with closing(outcomes([Performer], tasks)) as ended:
        for _, outcome in ended:
            yield _result(outcome)


class Performer:
    """Runs a check in its process."""

    def __call__(self, task: tuple[Check, float], allow: Allow) -> tuple[str, str, str]:
        """Return the outcome, its reason and where it failed."""
        check, time_limit = task
        allow(time_limit)
        try:
            check()
        except Skipped as skipped:
            return "skipped", str(skipped), ""
        except (AssertionError, SystemExit) as failed:
            return "failed", str(failed) or type(failed).__name__, "".join(traceback.format_exception(failed))
        return "ok", "", ""


def _result(outcome: Outcome) -> Result:
    match outcome:
        case Returned([str(word), str(reason), str(where)]):
            return Result(word, reason, where + outcome.output if word == "failed" else "")
        case TimedOut(seconds=seconds):
            reason = f"It did not end within {seconds:g} s: --time-limit SECONDS changes that limit."
        case Died(exit_code=code, fault=fault):
            reason = f"It ends the process of the caller: {fault or how_it_died(code)}."
        case _:
            reason = "It wrote into the channel of npbench."
    return Result("failed", reason, outcome.output)
