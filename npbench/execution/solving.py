"""The processes that run a solver's code: a server that has imported it and warmed up, and one process for each fit."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npbench.contracts import resolve
from npbench.data.file_limits import at_most, status_mb
from npbench.execution.channel import Channel
from npbench.execution.processes import THREAD_VARIABLES, serve_forks
from npbench.numerics import numba_cache

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from npbench.evaluation.fitting import Fitting, Step
    from npbench.numerics.shared_fits import Notes

COMPILER_MB = 1000.0  # memory that the warm-up may allocate where a job may use less
STAGES = {"selecting parameters": "select", "fitting": "fit", "predicting": "predict"}  # by phase of a fit
IMPORTING, WARMING_UP = "importing the solver", "warming up on toy data"


def serve_fits(channel: Channel) -> None:
    """Warm up for each kind of fit that the starter announces, and fork a process for each fit."""
    _warm_up(channel)
    serve_forks(channel.socket, functools.partial(_warm_up, channel))


def _warm_up(channel: Channel) -> None:
    """Import a solver and fit on toy data, perhaps after other kinds of fits."""
    toy, memory_mb = channel.receive()
    _base_mb.cache_clear()
    _base_mb()  # the limits of jobs count from here
    _load(channel, toy, memory_mb)
    _libraries.cache_clear()
    _libraries()
    gc.freeze()  # or the collector would write to the memory that all fits share
    channel.answer({"ready": len([*Path("/proc/self/task").iterdir()]) == 1})


def serve_fit(channel: Channel, toy: Fitting | None, memory_mb: float) -> None:
    """Fit once and answer with the steps."""
    from npbench.evaluation.fitting import steps  # scikit-learn, which the command does not need
    from npbench.numerics.shared_fits import Notes, sharing

    _base_mb()
    if toy:
        _load(channel, toy, memory_mb)
        channel.answer({"ready": True})
    fitting: Fitting
    fitting, known = channel.receive()
    notes = Notes(known or {}, lambda seconds: channel.answer({"saved": seconds}))
    if fitting.n_threads > 1:  # for libraries loaded already and for those loaded later; the server has one
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(fitting.n_threads)))
        _libraries().limit(limits=fitting.n_threads)
    before = status_mb("VmRSS")
    with at_most(memory_mb, _base_mb()), contextlib.nullcontext() if known is None else sharing(notes):
        for facts, arrays in _with_saved(steps(fitting), notes):
            if "ended" in facts:
                facts["ended"] |= {"peak_memory_mb": status_mb("VmHWM"), "memory_before_mb": before}
                facts["ended"] |= {"peak_memory_of": "process" if toy else "job", **_gpu()}  # where both were in one
                noted = notes.new.values()
                channel.answer({"noted": [*notes.new], "facts": [one for one, _ in noted]}, [one for _, one in noted])
                ctypes.CDLL(None).fflush(None)  # the output buffers of C libraries
            channel.answer(facts, arrays)


def _gpu() -> dict[str, Any]:
    """Return the GPU that this process used through PyTorch, and the peak memory of its tensors."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    with contextlib.suppress(Exception):  # whatever a solver has imported by that name
        if cuda.is_initialized():
            return {"gpu": str(cuda.get_device_name()), "peak_gpu_memory_mb": cuda.max_memory_allocated() / 1e6}
    return {}


def _with_saved(answers: Iterator[Step], notes: Notes) -> Iterator[Step]:
    """Yield the steps of a fit, with the times that it would take if nothing were reused."""
    saved: dict[str, float] = {}
    stage = ""
    for facts, arrays in answers:
        for clock, seconds in notes.saved.items():
            saved[f"{stage}_{clock}"] = saved.get(f"{stage}_{clock}", 0.0) + seconds
        notes.saved = dict.fromkeys(notes.saved, 0.0)
        stage = STAGES.get(facts.get("phase", ""), stage)
        if "ended" in facts:
            facts["ended"] |= {name: facts["ended"][name] + saved[name] for name in saved if name in facts["ended"]}
        yield facts, arrays


def _load(channel: Channel, toy: Fitting, memory_mb: float) -> None:
    from npbench.evaluation.fitting import steps

    os.environ["NUMBA_NUM_THREADS"] = str(toy.n_threads)  # read once, at import; other libraries start no thread here
    channel.answer({"phase": IMPORTING})
    with contextlib.suppress(Exception, SystemExit):  # the fit will say why
        for target in (toy.request.solver.estimator, toy.request.solver.selection):
            resolve(target)
    channel.answer({"phase": WARMING_UP})
    channel.answer({"compiling": False})
    logging.getLogger("npbench").addHandler(logging.NullHandler())  # the parent says what is compiled
    gc.disable()  # collection takes a sixth of the time to compile, and frees 100 MB
    numba_cache.on_compilation.append(lambda begins: channel.answer({"compiling": begins}))
    with at_most(max(memory_mb, COMPILER_MB), _base_mb()):
        for _ in steps(toy):
            pass
    numba_cache.on_compilation.clear()
    gc.enable()


@functools.cache
def _libraries() -> ThreadpoolController:
    """Return the libraries with threads: the search takes milliseconds, so fits inherit them from their server."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@functools.cache
def _base_mb() -> float:
    """Return what this process, or the one that it was forked from, had allocated at the first call."""
    return status_mb("VmData")
