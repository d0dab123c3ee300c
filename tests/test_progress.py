"""Progress of a run: a bar on a terminal or in a notebook, elsewhere lines."""

import io
import sys
import warnings
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from npbench import progress
from npbench.console import duration
from npbench.progress import Progress, TerminalProgress

RECORD = {"status": "ok", "solver": "np_svm", "dataset": "breast", "repeat": 0}
JOB = SimpleNamespace(request=SimpleNamespace(solver=SimpleNamespace(name="a"), dataset=SimpleNamespace(name="b")))


def written(statuses, *, terminal=False, seconds_each=20, preparations=0, shows_jobs=True):
    stream, now = io.StringIO(), [0.0]
    console = Console(file=stream, force_terminal=terminal, width=120)
    bar = TerminalProgress(console, clock=lambda: now[0], shows_jobs=shows_jobs)
    with bar.of([JOB] * len(statuses)):
        now[0] += preparations
        bar.restart()
        for status in statuses:
            now[0] += seconds_each
            bar.record({**RECORD, "status": status})
    return stream.getvalue()


def test_a_terminal_shows_a_bar_with_the_count_and_the_last_job():
    text = written(["ok", "failed"], terminal=True)
    assert "2/2" in text
    assert "np_svm on breast, repeat 0" in text
    assert "1 failed" in text


def test_elsewhere_a_short_run_is_quiet():
    assert written(["ok"] * 5, seconds_each=1) == ""


@pytest.mark.parametrize("preparations", [0, 1000])
def test_elsewhere_a_long_run_prints_a_line_now_and_then(preparations):
    lines = written(["ok", "failed", "ok", "ok"], preparations=preparations).splitlines()
    assert lines == ["2 of 4 jobs done, 1 failed, about 40 s left."]


@pytest.mark.parametrize("terminal", [True, False])
def test_jobs_need_not_be_shown(terminal):
    assert written(["ok", "failed", "ok", "ok"], terminal=terminal, shows_jobs=False).strip() == ""


def test_silence(capsys):
    silent = Progress()
    silent.note("nothing")
    with silent.of([JOB]):
        silent.restart()
        silent.record(RECORD)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_shows_a_widget(monkeypatch):
    shown = []

    class Output(MagicMock):
        pass

    ipywidgets, ipython, display = ModuleType("ipywidgets"), ModuleType("IPython"), ModuleType("IPython.display")
    ipywidgets.Output = Output
    display.display = lambda *objects: shown.append(objects)
    for module in (ipywidgets, ipython, display):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(progress, "_has_widgets", lambda: True)
    bar = TerminalProgress(Console(force_jupyter=True))
    with bar.of([JOB] * 2):
        bar.record(RECORD)
    assert any(isinstance(one, Output) for objects in shown for one in objects)


def test_a_notebook_without_widgets_shows_lines(monkeypatch):
    printed, times = [], iter(range(0, 1000, 100))
    monkeypatch.setattr(progress, "_has_widgets", lambda: False)
    console = Console(force_jupyter=True)
    monkeypatch.setattr(console, "print", lambda text, **_: printed.append(text))
    bar = TerminalProgress(console, clock=lambda: next(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with bar.of([JOB] * 2):
            bar.record(RECORD)
    assert "1 of 2" in printed[0]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (3599, "59 min"), (7200, "2 h"), (90000, "25 h")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
