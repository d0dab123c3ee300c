"""Whether Numba has compiled the kernels of solvers before: compiling takes seconds, once."""

from collections.abc import Iterable

from npbench.evaluation.job import Job
from npbench.numerics import numba_cache
from npbench.planning.plan import targets
from npbench.records import provenance
from npbench.user_cache import cached
from npbench.values import canonical


def kind_of(job: Job) -> str:
    """Return what is equal for jobs that compile the same kernels, on data of the same storage."""
    request = job.request
    # Names choose what is compiled, like that of a kernel. Numbers do not, and nor does the rule of a threshold.
    params = {name: value for name, value in request.params.items() if name not in request.solver.of_threshold}
    choices = {name: value for name, value in params.items() if isinstance(value, (str, bool))}
    return canonical([request.solver.name, request.problem.name, request.protocol.name, choices])


def not_compiled(jobs: Iterable[Job]) -> list[Job]:
    """Return a job of each solver with kernels, none in Numba's cache, unless its kind ran without compiling."""
    jobs = {_identity(job): job for job in jobs}.values()  # a plan has thousands of one kind
    of_solver = {job.request.solver.name: job for job in jobs}
    cold = {name for name, job in of_solver.items() if numba_cache.is_cold(provenance.sources(targets(job.request)))}
    left = (job for job in jobs if job.request.solver.name in cold and not compiles_nothing(job))
    return list({job.request.solver.name: job for job in left}.values())


def compiles_nothing(job: Job, *, known: bool = False) -> bool:
    """Return whether a job of this kind has run without compiling anything, or remember it where it is ``known``."""
    return cached("compiles_nothing", _identity(job), lambda: known)  # kept if true


def _identity(job: Job) -> bytes:
    return canonical([kind_of(job), job.code]).encode("utf-8", "backslashreplace")


def seconds_to_compile(jobs: Iterable[Job]) -> float:
    """Return an upper estimate of how long the kernels of jobs take to compile; shared kernels count once."""
    sources = {path for job in jobs for path in provenance.sources(targets(job.request))}
    return numba_cache.seconds_to_compile(sources)
