import io

import pytest
from rich.console import Console

from npbench.console import duration
from npbench.execution.progress import JobProgress

RECORD = {"status": "ok", "solver": "np_svm", "dataset": "breast", "repeat": 0}


def written(statuses, *, terminal, seconds_each, preparations=0):
    stream, now = io.StringIO(), [0.0]
    console = Console(file=stream, force_terminal=terminal, width=120)
    with JobProgress(len(statuses), "np_svm on breast", console, clock=lambda: now[0]) as bar:
        now[0] += preparations
        bar.restart()
        for status in statuses:
            now[0] += seconds_each
            bar.record({**RECORD, "status": status})
    return stream.getvalue()


def test_a_terminal_shows_a_bar_with_the_count_and_the_last_job():
    text = written(["ok", "failed"], terminal=True, seconds_each=1)
    assert "2/2" in text
    assert "np_svm on breast, repeat 0" in text
    assert "1 failed" in text


def test_elsewhere_a_short_run_is_quiet():
    assert written(["ok"] * 5, terminal=False, seconds_each=1) == ""


def test_elsewhere_a_long_run_prints_a_line_now_and_then():
    lines = written(["ok", "failed", "ok", "ok"], terminal=False, seconds_each=20).splitlines()
    assert lines == ["2 of 4 jobs done, 1 failed, about 40 s left."]


def test_preparations_do_not_count():
    lines = written(["ok", "failed", "ok", "ok"], terminal=False, seconds_each=20, preparations=1000).splitlines()
    assert lines == ["2 of 4 jobs done, 1 failed, about 40 s left."]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (3599, "59 min"), (7200, "2 h"), (90000, "25 h")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
