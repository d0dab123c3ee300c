"""Progress of a run: a bar on a terminal or in a notebook, elsewhere lines."""

import io
import sys
import warnings
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from npbench import progress
from npbench.console import duration
from npbench.progress import Progress

RECORD = {"status": "ok", "solver": "gen", "method": "gen_linear", "dataset": "breast", "repeat": 0}
JOB = SimpleNamespace(request=SimpleNamespace(columns={"method": "a"}, dataset=SimpleNamespace(name="b")))


def written(statuses, *, terminal=False, seconds_each=20, preparations=0, shows_jobs=True):
    stream, now = io.StringIO(), [0.0]
    console = Console(file=stream, force_terminal=terminal, width=120)
    bar = Progress(console, clock=lambda: now[0], shows_jobs=shows_jobs)
    with bar.of([JOB] * len(statuses)):
        if preparations:
            with bar.compiling(["np_svm"], 28.0):
                now[0] += preparations
        for status in statuses:
            now[0] += seconds_each
            bar.record({**RECORD, "status": status})
    return stream.getvalue()


def test_a_terminal_shows_a_bar_with_the_count_and_the_last_job():
    text = written(["ok", "failed"], terminal=True)
    assert "2/2" in text
    assert "gen_linear on breast, repeat 0" in text
    assert "1 failed" in text


@pytest.mark.parametrize("preparations", [0, 1000])
def test_elsewhere_a_long_run_prints_a_line_now_and_then(preparations):
    lines = written(["ok", "failed", "ok", "ok"], preparations=preparations).splitlines()
    assert lines == ["2 of 4 jobs done, 1 failed, about 40 s left."]


@pytest.mark.parametrize("terminal", [True, False])
def test_short_runs_and_jobs_that_need_not_be_shown_are_quiet(terminal):
    assert written(["ok", "failed", "ok", "ok"], terminal=terminal, shows_jobs=False).strip() == ""
    assert terminal or written(["ok"] * 5, seconds_each=1) == ""


def test_compiling_is_announced_with_an_estimate_and_the_time_goes_on(capsys):
    stream, now = io.StringIO(), [0.0]
    bar = Progress(Console(file=stream, force_terminal=True, width=150))
    bar._bar.get_time = lambda: now[0]
    with bar.of([JOB] * 5):
        with bar.compiling(["np_svm"], 28.0):
            now[0] = 25.0
            bar._bar.refresh()
            assert [task.total for task in bar._bar.tasks if task.visible] == [None]  # it moves
        (jobs,) = bar._bar.tasks
        assert (jobs.visible, jobs.total, jobs.elapsed) == (True, 5, 25.0)
    printed = stream.getvalue() + capsys.readouterr().err
    assert "np_svm" in printed
    assert "28 s" in printed
    assert "0:00:25" in printed


def test_a_notebook_shows_a_widget(monkeypatch):
    ipywidgets, display = MagicMock(), MagicMock()
    for name, module in {"ipywidgets": ipywidgets, "IPython": MagicMock(), "IPython.display": display}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(progress, "_has_widgets", lambda: True)
    bar = Progress(Console(force_jupyter=True))
    with bar.of([JOB] * 2):
        bar.record(RECORD)
    display.display.assert_any_call(ipywidgets.Output())


def test_a_notebook_without_widgets_shows_lines(monkeypatch):
    printed, times = [], iter(range(0, 1000, 100))
    monkeypatch.setattr(progress, "_has_widgets", lambda: False)
    console = Console(force_jupyter=True)
    monkeypatch.setattr(console, "print", lambda text, **_: printed.append(text))
    bar = Progress(console, clock=lambda: next(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with bar.of([JOB] * 2):
            bar.record(RECORD)
    assert "1 of 2" in printed[0]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1 s"), (59.6, "1 min"), (75, "1 min 15 s"), (3599, "59 min"), (7300, "2 h 1 min"), (9e4, "25 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
